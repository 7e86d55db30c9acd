//! The OpenAI-compatible protocol: `POST {base}/chat/completions`.

use base::Secret;
use http::{HeaderMap, HeaderValue, header};
use serde_json::{Value, json};

use super::{Call, Form, Reply, TOOL, TokenField, answered, arguments_of, count, text_of};
use crate::ask::Usage;
use crate::error::AskError;

/// Adds the key as a bearer token, marked as sensitive so that it does not print.
pub(super) fn add_headers(headers: &mut HeaderMap, key: &Secret) {
    if key.is_empty() {
        return;
    }
    if let Ok(mut value) = HeaderValue::from_str(&format!("Bearer {}", key.expose())) {
        value.set_sensitive(true);
        headers.insert(header::AUTHORIZATION, value);
    }
}

pub(super) fn body(call: &Call<'_>) -> Value {
    let mut body = json!({
        "model": call.spec.model,
        "messages": [
            { "role": "system", "content": call.message.system },
            { "role": "user", "content": call.message.user },
        ],
        "stream": false,
    });
    match call.token_field {
        TokenField::Max => body["max_tokens"] = json!(call.max_tokens),
        TokenField::MaxCompletion => body["max_completion_tokens"] = json!(call.max_tokens),
        TokenField::None => {}
    }
    if call.has_temperature {
        body["temperature"] = json!(0);
    }
    match (call.form, call.schema) {
        (Form::Schema, Some(wire)) => {
            let schema = json!({ "name": TOOL, "strict": wire.is_strict, "schema": wire.schema });
            body["response_format"] = json!({ "type": "json_schema", "json_schema": schema });
        }
        (Form::Tool, Some(wire)) => {
            let description = "Gives the answer.";
            let function = json!({ "name": TOOL, "description": description, "strict": wire.is_strict, "parameters": wire.schema });
            body["tools"] = json!([{ "type": "function", "function": function }]);
            body["tool_choice"] = json!({ "type": "function", "function": { "name": TOOL } });
        }
        (Form::Text, _) => {}
        _ if call.wants_json => body["response_format"] = json!({ "type": "json_object" }),
        _ => {}
    }
    body
}

pub(super) fn read(body: &Value) -> Result<Reply, AskError> {
    let choice = body["choices"].get(0).ok_or(AskError::Malformed)?;
    let message = &choice["message"];
    let reason = choice["finish_reason"].as_str().unwrap_or_default();
    let usage = usage(&body["usage"]);
    let is_refused = message["refusal"].as_str().is_some_and(|refusal| !refusal.is_empty())
        || message["content"].as_array().is_some_and(|parts| parts.iter().any(|part| part["type"] == "refusal"))
        || reason == "content_filter";
    if is_refused {
        return Err(AskError::Refused);
    }
    if reason == "error" {
        return Err(AskError::Upstream { status: 502 });
    }
    let call = &message["tool_calls"][0]["function"]["arguments"];
    let called = arguments_of(call).or_else(|| arguments_of(&message["function_call"]["arguments"]));
    let text = match called {
        Some(arguments) => arguments,
        None if message.is_object() => text_of(&message["content"]),
        None => choice["text"].as_str().ok_or(AskError::Malformed)?.to_owned(),
    };
    answered(text, matches!(reason, "length" | "max_tokens"), usage)
}

fn usage(usage: &Value) -> Option<Usage> {
    let (input, output) = (count(usage, "prompt_tokens")?, count(usage, "completion_tokens")?);
    Some(Usage { input, output, is_estimated: false })
}
