//! What an endpoint can do, learnt from its refusals and remembered.

use crate::settings::Kind;
use crate::wire::{Form, TokenField};

/// What an endpoint is known to accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Features {
    pub(crate) form: Form,
    pub(crate) token_field: TokenField,
    pub(crate) has_temperature: bool,
}

/// What is to be left out of a request that was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The field of the token limit.
    TokenField(TokenField),
    /// The temperature.
    Temperature,
    /// The way of asking for JSON.
    Form {
        /// The way to use instead.
        next: Form,
        /// Whether the endpoint lacks it, rather than refusing this schema.
        is_lasting: bool,
    },
}

impl Default for Features {
    fn default() -> Self {
        Self { form: Form::Schema, token_field: TokenField::Max, has_temperature: true }
    }
}

impl Features {
    /// Applies a step, or leaves out what others have learnt meanwhile.
    pub(crate) fn apply(&mut self, step: Step) {
        match step {
            Step::TokenField(field) => self.token_field = field,
            Step::Temperature => self.has_temperature = false,
            Step::Form { next, .. } => self.form = self.form.max(next),
        }
    }

    /// Returns what to leave out after a refusal with this message; `None` when the refusal has another reason.
    pub(crate) fn after(self, message: &str, wants_json: bool, kind: Kind) -> Option<Step> {
        let message = message.to_ascii_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
        let is_unsupported = says(UNSUPPORTED);
        if self.has_temperature && says(&["temperature"]) {
            return Some(Step::Temperature);
        }
        if is_unsupported && says(&["max_tokens", "max_completion_tokens"]) {
            return match self.token_field {
                TokenField::Max => Some(Step::TokenField(TokenField::MaxCompletion)),
                TokenField::MaxCompletion => Some(Step::TokenField(TokenField::None)),
                TokenField::None => None,
            };
        }
        let next = self.form.next(kind).filter(|_| wants_json)?;
        Some(Step::Form { next, is_lasting: is_unsupported && says(STRUCTURE) })
    }
}

/// Words of messages about a feature that the endpoint or model lacks.
const UNSUPPORTED: &[&str] = &[
    "not support",
    "n't support",
    "unsupported",
    "unknown",
    "unrecognized",
    "unrecognised",
    "not permitted",
    "not allowed",
    "not available",
    "not implemented",
    "no longer",
    "unexpected",
    "extra inputs",
    "must be one of",
    "should be one of",
    "unavailable",
    "requires --",
];

/// Words of messages about structured output.
const STRUCTURE: &[&str] = &[
    "response_format",
    "json_schema",
    "json_object",
    "tool",
    "function",
    "output_config",
    "format",
    "structured",
    "schema",
];

/// Returns whether a refusal is about the length of the text.
pub(crate) fn is_too_long(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    [
        "context length",
        "context_length",
        "context window",
        "context size",
        "maximum context",
        "too long",
        "too many tokens",
    ]
    .iter()
    .any(|words| message.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(message: &str, form: Option<Form>) -> Option<Step> {
        let sent = Features { form: form.unwrap_or(Form::Schema), ..Features::default() };
        sent.after(message, form.is_some(), Kind::OpenAi)
    }

    #[test]
    fn messages_of_real_endpoints_are_understood() {
        let lasting = Some(Step::Form { next: Form::Tool, is_lasting: true });
        let once = Some(Step::Form { next: Form::Tool, is_lasting: false });
        let max = Some(Step::TokenField(TokenField::MaxCompletion));
        for (message, expect) in [
            ("response_format json_schema is not supported", lasting),
            ("Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.", lasting),
            ("output_config: Extra inputs are not permitted", lasting),
            ("This response_format type is unavailable now", lasting),
            ("'response_format.type' must be one of ['text', 'json_object']", lasting),
            ("Invalid schema for response_format 'answer': In context=(), 'required' is missing", once),
            ("bad request", once),
            ("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'.", max),
            ("Unsupported value: 'temperature' does not support 0 with this model.", Some(Step::Temperature)),
        ] {
            assert_eq!(after(message, Some(Form::Schema)), expect, "{message}");
        }
        assert_eq!(after("model not found", None), None);
        assert_eq!(after("tools are not supported", Some(Form::Text)), None);
    }

    #[test]
    fn a_text_that_is_too_long_is_told_apart() {
        for message in [
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
            "prompt is too long: 210000 tokens > 200000 maximum",
            "the request exceeds the available context size",
        ] {
            assert!(is_too_long(message), "{message}");
        }
        assert!(!is_too_long("tools are not supported"));
    }
}
