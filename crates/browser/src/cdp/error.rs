//! Why a call over the debugging pipe failed.

use base::json::JsonError;
use serde_json::Value;

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CdpError {
    /// The process or the target is gone.
    #[error("the browser is gone")]
    Closed,
    /// The renderer of the target died.
    #[error("the renderer died")]
    Crashed,
    /// The page makes more than a page may that shares its browser with others.
    #[error("{what} over {limit}")]
    Noisy {
        /// What it makes.
        what: &'static str,
        /// How much it may.
        limit: u64,
    },
    /// The deadline of the call passed.
    #[error("no answer in time")]
    Timeout,
    /// The document that the call was about was replaced while it ran; or it never had one.
    #[error("the page went elsewhere")]
    Navigated,
    /// The world of the call is gone; nothing has run in it.
    #[error("the world of the call is gone")]
    NoContext,
    /// Chromium does not do it.
    #[error("{method}: {message}")]
    Refused {
        /// What was called.
        method: String,
        /// What Chromium says.
        message: String,
    },
    /// The answer is larger than any that is read.
    #[error("{method}: the answer is larger than {} MiB", limit >> 20)]
    TooLarge {
        /// What was called.
        method: String,
        /// The limit in bytes.
        limit: usize,
    },
    /// The answer has more values than are read.
    #[error("{method}: the answer has more than {limit} JSON values")]
    TooMany {
        /// What was called.
        method: String,
        /// The limit.
        limit: usize,
    },
    /// The call is larger than one may be to a page in a process that others use too.
    #[error(
        "{method}: more than {limit} bytes in one message to a page of a shared browser; send less at once, or use a session of its own"
    )]
    TooLong {
        /// What was called.
        method: String,
        /// The limit in bytes.
        limit: usize,
    },
    /// The function threw, or its promise was rejected.
    #[error("{name}: {message}")]
    Script {
        /// Name of the error's class, `Error` when something else was thrown.
        name: String,
        /// Its message.
        message: String,
    },
    /// The answer has another shape than the protocol says.
    #[error("{method}: the answer lacks {lacks}")]
    Malformed {
        /// What was called.
        method: String,
        /// What is missing.
        lacks: &'static str,
    },
}

/// What Chromium says when the world of a call was taken away under it.
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
    /// Reads the `error` member of an answer.
    pub(super) fn of(method: &str, error: &Value) -> Self {
        let message = error["message"].as_str().unwrap_or("no reason given");
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

    /// An answer was not read.
    pub(crate) fn unread(method: &str, error: &JsonError) -> Self {
        let method = method.to_owned();
        match error {
            JsonError::Values(limit) => Self::TooMany { method, limit: *limit },
            JsonError::Depth => Self::Malformed { method, lacks: "an end within 127 levels" },
            JsonError::Malformed(_) => {
                Self::Malformed { method, lacks: "the shape of the protocol, or text in Unicode" }
            }
        }
    }

    /// Reads the `exceptionDetails` of an evaluation.
    pub(crate) fn thrown(details: &Value) -> Self {
        let exception = &details["exception"];
        let text = exception["description"].as_str().or(exception["value"].as_str());
        let text = text.or(details["text"].as_str()).unwrap_or("no reason given");
        // The description of an error is its stack, which begins with the message.
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
        let of = |message: &str| CdpError::of("Page.x", &json!({"code": -32000, "message": message}));
        assert_eq!(of("Cannot find context with specified id"), CdpError::NoContext);
        assert_eq!(of("Execution context was destroyed."), CdpError::Navigated);
        assert_eq!(of("Session with given id not found."), CdpError::Closed);
        assert_eq!(of("not allowed").to_string(), "Page.x: not allowed");
    }
}
