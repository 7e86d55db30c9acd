//! Code and prompts that run on an open page: `POST /v2/scrape/{id}/interact` and `POST /v2/browser/{id}/execute`
//! (docs/CONTRACT.md, "Interact").

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::attribution::Attribution;
use crate::browser::SessionUrls;
use crate::error::Invalid;
use crate::read::{self, Field, Fields};
use crate::words::words;

/// Maximum length of code, in characters.
pub const MAX_CODE_CHARS: usize = 100_000;
/// Maximum length of a prompt, in characters.
pub const MAX_ORDER_CHARS: usize = 10_000;
/// Maximum timeout of one call, in seconds.
pub const MAX_EXECUTE_S: u32 = 300;
/// Default timeout of one call, in seconds.
pub const DEFAULT_EXECUTE_S: u32 = 30;

words! {
    /// Language of the code.
    pub enum Language {
        /// JavaScript with a Playwright-style `page` object.
        Node = "node",
        /// Python with a Playwright-style `page` object.
        Python = "python",
        /// Shell with the `agent-browser` commands.
        Bash = "bash",
    }
}

/// Code or prompt to run on the page of a scrape. With both, the code runs first.
#[derive(Clone, PartialEq, Serialize, ToSchema)]
pub struct InteractRequest {
    /// Code to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 100000)]
    pub code: Option<String>,
    /// Instructions in natural language.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 10000)]
    pub prompt: Option<String>,
    /// Language of the code.
    #[schema(required = false, default = "node")]
    pub language: Language,
    /// Timeout of the call, in seconds.
    #[schema(required = false, default = 30, minimum = 1, maximum = 300)]
    pub timeout: u32,
    /// Client that makes the call.
    #[serde(flatten)]
    pub attribution: Attribution,
}

/// Code to run in a browser session.
#[derive(Clone, PartialEq, Serialize, ToSchema)]
pub struct ExecuteRequest {
    /// Code to run.
    #[schema(min_length = 1, max_length = 100000)]
    pub code: String,
    /// Language of the code.
    #[schema(required = false, default = "bash")]
    pub language: Language,
    /// Timeout of the call, in seconds.
    #[schema(required = false, default = 30, minimum = 1, maximum = 300)]
    pub timeout: u32,
    /// Client that makes the call.
    #[serde(flatten)]
    pub attribution: Attribution,
}

/// Result of running code or a prompt. Strings are never null.
// Some clients reject null.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Executed {
    /// Always true. Failures of the code itself are in `exitCode` and `error`.
    #[schema(default = true)]
    pub success: bool,
    /// Result of the prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Standard output of the code.
    pub stdout: String,
    /// Value of the last expression, as text.
    pub result: String,
    /// Standard error of the code.
    pub stderr: String,
    /// Exit code; 0 on success.
    pub exit_code: i32,
    /// Whether the code was stopped at its timeout.
    pub killed: bool,
    /// Whether an output was truncated because it was too long.
    pub truncated: bool,
    /// URLs of the session that ran the code.
    #[serde(flatten)]
    pub urls: Option<SessionUrls>,
    /// Error message of the code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Decodes the body of `POST /v2/scrape/{id}/interact`.
///
/// # Errors
/// [`Invalid`] with every fault (up to 20), each with the path of its field.
///
/// ```
/// let invalid = wire::decode_interact(serde_json::json!({ "code": " " })).unwrap_err();
/// assert_eq!(invalid.message, "`code` or `prompt` is required and must not be blank");
/// ```
pub fn decode_interact(body: Value) -> Result<InteractRequest, Invalid> {
    read::body(body, |fields| {
        let code = text(fields, "code", MAX_CODE_CHARS);
        let prompt = text(fields, "prompt", MAX_ORDER_CHARS);
        if let (Ok(None), Ok(None)) = (&code, &prompt) {
            fields.refuse("code", "or `prompt` is required and must not be blank");
        }
        let language = fields.take("language").and_then(Field::word).unwrap_or(Language::Node);
        let (timeout, attribution) = (timeout(fields), Attribution::read(fields));
        Some(InteractRequest { code: code.ok()?, prompt: prompt.ok()?, language, timeout, attribution })
    })
}

/// Decodes the body of `POST /v2/browser/{id}/execute`.
///
/// # Errors
/// [`Invalid`] with every fault (up to 20), each with the path of its field.
pub fn decode_execute(body: Value) -> Result<ExecuteRequest, Invalid> {
    read::body(body, |fields| {
        let code = text(fields, "code", MAX_CODE_CHARS);
        if let Ok(None) = code {
            fields.refuse("code", "is required and must not be blank");
        }
        let language = fields.take("language").and_then(Field::word).unwrap_or(Language::Bash);
        let (timeout, attribution) = (timeout(fields), Attribution::read(fields));
        Some(ExecuteRequest { code: code.ok()??, language, timeout, attribution })
    })
}

/// Reads a text; blank counts as absent. `Err` if it was refused.
fn text(fields: &mut Fields<'_>, key: &'static str, most: usize) -> Result<Option<String>, ()> {
    match fields.take(key) {
        None => Ok(None),
        Some(field) => field.text(0..=most).map(|text| Some(text).filter(|text| !text.trim().is_empty())).ok_or(()),
    }
}

fn timeout(fields: &mut Fields<'_>) -> u32 {
    fields.take("timeout").and_then(|field| field.whole32(1..=MAX_EXECUTE_S)).unwrap_or(DEFAULT_EXECUTE_S)
}

impl fmt::Debug for InteractRequest {
    /// Hides code and prompt: they may contain what is typed into pages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (code, prompt) = (self.code.is_some(), self.prompt.is_some());
        write!(f, "InteractRequest {{ code {code} prompt {prompt} {:?} {} s }}", self.language, self.timeout)
    }
}

impl fmt::Debug for ExecuteRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ExecuteRequest {{ {:?} {} s }}", self.language, self.timeout)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_clients_send_is_read() {
        let request =
            decode_interact(json!({ "prompt": "click it", "timeout": 20, "origin": "js-sdk@4.42.0" })).unwrap();
        assert_eq!((request.code, request.prompt.as_deref()), (None, Some("click it")));
        assert_eq!((request.language, request.timeout), (Language::Node, 20));
        let both = decode_interact(json!({ "code": "1", "prompt": " ", "language": "python" })).unwrap();
        assert_eq!((both.code.as_deref(), both.prompt, both.language), (Some("1"), None, Language::Python));
        let execute = decode_execute(json!({ "code": "ls" })).unwrap();
        assert_eq!((execute.code.as_str(), execute.language, execute.timeout), ("ls", Language::Bash, 30));
    }

    #[test]
    fn bounds_are_checked() {
        let check = |body: Value, path: &str| {
            let invalid = decode_interact(body.clone()).unwrap_err();
            assert_eq!(invalid.fields.iter().map(|field| field.path.as_str()).collect::<Vec<_>>(), [path], "{body}");
        };
        check(json!({}), "code");
        check(json!({ "code": "", "prompt": "\n" }), "code");
        check(json!({ "code": "x".repeat(MAX_CODE_CHARS + 1) }), "code");
        check(json!({ "prompt": "x".repeat(MAX_ORDER_CHARS + 1) }), "prompt");
        check(json!({ "code": 1 }), "code");
        check(json!({ "code": "1", "language": "ruby" }), "language");
        check(json!({ "code": "1", "timeout": 0 }), "timeout");
        check(json!({ "code": "1", "timeout": 301 }), "timeout");
        check(json!({ "code": "1", "cod": "1" }), "cod");
        assert_eq!(decode_execute(json!({ "code": " " })).unwrap_err().fields[0].path, "code");
        assert!(decode_execute(json!({ "code": "1", "prompt": "x" })).is_err());
    }

    #[test]
    fn texts_are_never_null() {
        let answer = serde_json::to_value(Executed { success: true, ..Executed::default() }).unwrap();
        assert_eq!(
            answer,
            json!({
                "success": true, "stdout": "", "result": "", "stderr": "", "exitCode": 0, "killed": false,
                "truncated": false,
            })
        );
    }
}
