//! The protocol of Anthropic: `POST {base}/v1/messages`.

use base::Secret;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

use super::{Call, Form, Reply, TOOL, answered, count, text_of};
use crate::ask::Usage;
use crate::error::AskError;

/// Version of the protocol that the bodies below follow.
const VERSION: HeaderValue = HeaderValue::from_static("2023-06-01");

/// Adds the version and the key, marked as sensitive so that it does not print.
pub(super) fn add_headers(headers: &mut HeaderMap, key: &Secret) {
    headers.insert(HeaderName::from_static("anthropic-version"), VERSION);
    if key.is_empty() {
        return;
    }
    if let Ok(mut value) = HeaderValue::from_str(key.expose()) {
        value.set_sensitive(true);
        headers.insert(HeaderName::from_static("x-api-key"), value);
    }
}

pub(super) fn body(call: &Call<'_>) -> Value {
    let mut body = json!({
        "model": call.spec.model,
        "max_tokens": call.max_tokens,
        "system": call.message.system,
        "messages": [{ "role": "user", "content": call.message.user }],
    });
    if call.has_temperature {
        body["temperature"] = json!(0);
    }
    match (call.form, call.schema) {
        (Form::Schema, Some(wire)) => {
            body["output_config"] = json!({ "format": { "type": "json_schema", "schema": wire.schema } });
        }
        (Form::Tool, Some(wire)) => {
            let tool = json!({ "name": TOOL, "description": "Gives the answer.", "input_schema": wire.schema });
            body["tools"] = json!([tool]);
            body["tool_choice"] = json!({ "type": "tool", "name": TOOL });
        }
        _ => {}
    }
    body
}

pub(super) fn read(body: &Value) -> Result<Reply, AskError> {
    let content = body["content"].as_array().ok_or(AskError::Malformed)?;
    let reason = body["stop_reason"].as_str().unwrap_or_default();
    if reason == "refusal" {
        return Err(AskError::Refused);
    }
    let call = content.iter().find(|block| block["type"] == "tool_use" && block["name"] == TOOL);
    // Thinking is in blocks of its own type, which `text_of` leaves out.
    let text = call.map_or_else(|| text_of(&body["content"]), |call| call["input"].to_string());
    let cut = matches!(reason, "max_tokens" | "model_context_window_exceeded");
    answered(text, cut, usage(&body["usage"]))
}

fn usage(usage: &Value) -> Option<Usage> {
    let cached = ["cache_creation_input_tokens", "cache_read_input_tokens"];
    let cached: u64 = cached.iter().filter_map(|field| count(usage, field)).sum();
    let (input, output) = (count(usage, "input_tokens")?, count(usage, "output_tokens")?);
    Some(Usage { input: input.saturating_add(cached), output, is_estimated: false })
}
