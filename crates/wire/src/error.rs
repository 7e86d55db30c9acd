//! Error bodies (docs/CONTRACT.md, "Errors").

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::code::Code;
use crate::words::words;

words! {
    /// Reason why feedback was not accepted.
    pub enum FeedbackErrorCode {
        /// The team keeps no data (zero data retention), so no feedback either.
        TeamOptedOut = "TEAM_OPTED_OUT",
        /// The team has sent too much feedback today.
        DailyLimit = "DAILY_LIMIT",
        /// Internal error.
        Internal = "INTERNAL",
        /// Feedback cannot be stored at the moment.
        DbDisabled = "DB_DISABLED",
    }
}

/// Fault of a request body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FieldError {
    /// Path of the field, such as `formats[1].quality`; empty for the body itself.
    pub path: String,
    /// Reason, such as `must be a whole number from 1 to 100, got 101`. A reason that begins with the field's name is a
    /// complete sentence.
    pub message: String,
    /// Advice on how to fix the fault. Separate, because callers match some messages word for word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

impl FieldError {
    pub(crate) fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into(), advice: None }
    }

    fn names_itself(&self) -> bool {
        let name = self.path.rsplit('.').next().unwrap_or_default();
        self.message.strip_prefix(name).is_some_and(|rest| rest.starts_with(' '))
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => write!(f, "the body {}", self.message),
            path if self.names_itself() && !path.contains('.') => f.write_str(&self.message),
            path if self.names_itself() => write!(f, "`{path}`: {}", self.message),
            path => write!(f, "`{path}` {}", self.message),
        }
    }
}

/// Request body that violates the contract: 400 BAD_REQUEST.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Invalid {
    /// Message for the field `error`.
    pub message: String,
    /// Every fault, at most 20, in reading order.
    pub fields: Vec<FieldError>,
}

impl Invalid {
    /// Returns an error with a single fault.
    pub fn at(path: impl Into<String>, message: impl Into<String>) -> Self {
        let fault = FieldError::new(path, message);
        Self { message: fault.to_string(), fields: vec![fault] }
    }

    /// Returns the faults as JSON for `details`: an array of `{path, message, advice?}`.
    #[must_use]
    pub fn details(&self) -> Value {
        serde_json::to_value(&self.fields).unwrap_or_default()
    }
}

/// Body of every response that is not a success. `success`, `code` and `error` are always present.
// One client substitutes a code of its own for a missing one, another ignores bodies without `success`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrorBody {
    /// Always false.
    #[schema(default = false)]
    pub success: bool,
    /// Machine-readable error code.
    pub code: Code,
    /// Human-readable error message.
    pub error: String,
    /// Details, depending on `code`: the faults of a 400, or `state` and `retryAfterSeconds` of a resumable 408.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// Charge of a provider-tool call that is in flight or was made earlier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charge_id: Option<String>,
    /// Action that must be taken first, with code THIRD_PARTY_DATA_TERMS_REQUIRED.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requires_action: Option<RequiresAction>,
    /// Quota that a caller without a key has used up, with code RATE_LIMITED.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<UsedUp>,
    /// Seconds until a caller without a key may try again.
    #[serde(default, rename = "retry_after_seconds", skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<u64>,
    /// Reason why feedback was not accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback_error_code: Option<FeedbackErrorCode>,
}

impl ErrorBody {
    /// Returns a body with code and message only.
    pub fn new(code: Code, error: impl Into<String>) -> Self {
        Self {
            success: false,
            code,
            error: error.into(),
            details: None,
            charge_id: None,
            requires_action: None,
            reason: None,
            retry_after_seconds: None,
            feedback_error_code: None,
        }
    }

    /// Sets `details`.
    #[must_use]
    pub fn with_details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }
}

impl From<&Invalid> for ErrorBody {
    fn from(invalid: &Invalid) -> Self {
        Self::new(Code::BadRequest, invalid.message.clone()).with_details(invalid.details())
    }
}

/// Provider terms that an administrator must accept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RequiresAction {
    /// Kind of the required action.
    #[serde(rename = "type")]
    pub kind: RequiredActionKind,
    /// Provider whose terms must be accepted.
    pub terms: String,
    /// Version of the terms.
    pub version: String,
    /// URL where an administrator accepts the terms.
    pub url: String,
}

words! {
    /// Quota of callers without a key.
    pub enum UsedUp {
        /// Requests of the caller's address, or of all callers without a key together.
        Requests = "requests",
        /// Credits of the team that these requests are charged to.
        Credits = "credits",
    }
}

words! {
    /// Kind of a required action.
    pub enum RequiredActionKind {
        /// Accept the terms of a provider.
        AcceptTerms = "accept_terms",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn bodies_on_the_wire() {
        let invalid = Invalid::at("timeout", "must be a whole number from 1000 to 300000, got 0");
        let want = json!({
            "success": false,
            "code": "BAD_REQUEST",
            "error": "`timeout` must be a whole number from 1000 to 300000, got 0",
            "details": [{ "path": "timeout", "message": "must be a whole number from 1000 to 300000, got 0" }],
        });
        assert_eq!(serde_json::to_value(ErrorBody::from(&invalid)).unwrap(), want);

        let check = |path: &str, want: &str| assert_eq!(Invalid::at(path, "waitFor must not be x").message, want);
        check("waitFor", "waitFor must not be x");
        check("scrapeOptions.waitFor", "`scrapeOptions.waitFor`: waitFor must not be x");
        check("timeout", "`timeout` waitFor must not be x");
        check("", "the body waitFor must not be x");

        let mut body = ErrorBody::new(Code::ThirdPartyDataTermsRequired, "accept the terms of acme first");
        body.charge_id = Some("c1".into());
        body.requires_action = Some(RequiresAction {
            kind: RequiredActionKind::AcceptTerms,
            terms: "acme".into(),
            version: "2".into(),
            url: "https://example.com/terms".into(),
        });
        let json = serde_json::to_value(&body).unwrap();
        assert_eq!(json["requiresAction"]["type"], "accept_terms");
        assert_eq!(json["chargeId"], "c1");
        assert_eq!(serde_json::from_value::<ErrorBody>(json).unwrap(), body);
    }
}
