//! Errors of calls over the debugging pipe.

use base::json::JsonError;
use serde_json::Value;

/// Reason why a call failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CdpError {
    /// The process or the target has ended.
    #[error("the browser or the page has ended")]
    Closed,
    /// The renderer of the target crashed.
    #[error("the renderer crashed")]
    Crashed,
    /// The page exceeds a limit for pages that share their browser with others.
    #[error("{what} exceeds {limit}")]
    Noisy {
        /// Limited quantity.
        what: &'static str,
        /// Limit.
        limit: u64,
    },
    /// The deadline of the call passed.
    #[error("the browser did not answer before the deadline")]
    Timeout,
    /// The document of the call was replaced while it ran, or there was none.
    #[error("the page navigated during the call")]
    Navigated,
    /// The execution context of the call is gone; nothing was executed.
    #[error("the execution context of the call is gone")]
    NoContext,
    /// Chromium refused the call.
    #[error("{method}: {message}")]
    Refused {
        /// Called method.
        method: String,
        /// Message of Chromium.
        message: String,
    },
    /// The answer exceeds the size limit.
    #[error("{method}: the answer is larger than {} MiB", limit >> 20)]
    TooLarge {
        /// Called method.
        method: String,
        /// Limit in bytes.
        limit: usize,
    },
    /// The answer has too many JSON values.
    #[error("{method}: the answer has more than {limit} JSON values")]
    TooMany {
        /// Called method.
        method: String,
        /// Maximum number of values.
        limit: usize,
    },
    /// The call exceeds the size limit for messages to a page of a shared browser.
    #[error(
        "{method}: more than {limit} bytes in one message to a page of a shared browser; send smaller messages, or use a session with its own browser"
    )]
    TooLong {
        /// Called method.
        method: String,
        /// Limit in bytes.
        limit: usize,
    },
    /// The function threw an exception, or its promise was rejected.
    #[error("{name}: {message}")]
    Script {
        /// Class name of the error; `Error` if something else was thrown.
        name: String,
        /// Message of the error.
        message: String,
    },
    /// The answer does not follow the protocol.
    #[error("{method}: malformed answer, expected {lacks}")]
    Malformed {
        /// Called method.
        method: String,
        /// Expected content.
        lacks: &'static str,
    },
}

/// Messages of Chromium for a call whose execution context was destroyed meanwhile.
const NAVIGATED: &[&str] = &[
    "Execution context was destroyed",
    "Inspected target navigated or closed",
    "Cannot find default execution context",
    "uniqueContextId not found",
    "No frame for given id found",
    "No frame with given id found",
    "Frame with the given id was not found",
];

impl CdpError {
    /// Converts the `error` member of an answer.
    pub(crate) fn from_answer(method: &str, error: &Value) -> Self {
        let message = error["message"].as_str().unwrap_or("no reason was given");
        if message.contains("Cannot find context with specified id") {
            return Self::NoContext;
        }
        if NAVIGATED.iter().any(|known| message.contains(known)) {
            return Self::Navigated;
        }
        if message.contains("Session with given id not found") {
            return Self::Closed;
        }
        Self::Refused { method: method.to_owned(), message: message.to_owned() }
    }

    /// Converts the error of parsing an answer.
    pub fn unread(method: &str, error: &JsonError) -> Self {
        let method = method.to_owned();
        match error {
            JsonError::Values(limit) => Self::TooMany { method, limit: *limit },
            JsonError::Depth => Self::Malformed { method, lacks: "at most 127 levels of nesting" },
            JsonError::Malformed(_) => {
                Self::Malformed { method, lacks: "valid JSON, in Unicode and in the shape of the protocol" }
            }
        }
    }

    /// Converts the `exceptionDetails` of an evaluation.
    pub fn thrown(details: &Value) -> Self {
        let exception = &details["exception"];
        let text = exception["description"].as_str().or(exception["value"].as_str());
        let text = text.or(details["text"].as_str()).unwrap_or("no reason was given");
        // The description of an error is its stack trace, which begins with the message.
        let first = text.split("\n    at ").next().unwrap_or(text);
        let name = exception["className"].as_str().filter(|_| exception["subtype"] == "error").unwrap_or("Error");
        let message = first.strip_prefix(name).map_or(first, |rest| rest.trim_start_matches(": "));
        Self::Script { name: name.to_owned(), message: message.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_thrown_is_named() {
        let details = json!({"text": "Uncaught", "exception": {"subtype": "error", "className": "TypeError",
            "description": "TypeError: x is not a function\n    at <anonymous>:1:1"}});
        let expect = CdpError::Script { name: "TypeError".to_owned(), message: "x is not a function".to_owned() };
        assert_eq!(CdpError::thrown(&details), expect);
        let details = json!({"text": "Uncaught (in promise)", "exception": {"type": "string", "value": "no"}});
        assert_eq!(CdpError::thrown(&details).to_string(), "Error: no");
    }

    #[test]
    fn a_lost_world_is_told_from_a_refusal() {
        let of = |message: &str| CdpError::from_answer("Page.x", &json!({"code": -32000, "message": message}));
        assert_eq!(of("Cannot find context with specified id"), CdpError::NoContext);
        assert_eq!(of("Execution context was destroyed."), CdpError::Navigated);
        assert_eq!(of("Session with given id not found."), CdpError::Closed);
        assert_eq!(of("not allowed").to_string(), "Page.x: not allowed");
    }
}
