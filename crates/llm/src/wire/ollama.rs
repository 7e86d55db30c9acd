//! The protocol of Ollama: `POST {base}/api/chat`.

use serde_json::{Value, json};

use super::{Call, Form, Reply, answered, count, text_of};
use crate::ask::Usage;
use crate::error::AskError;

pub(super) fn body(call: &Call<'_>) -> Value {
    // Without `num_ctx` Ollama cuts the beginning of the text at its default window, and does not say so.
    let mut options = json!({ "num_ctx": call.spec.context_tokens, "num_predict": call.max_tokens });
    if call.has_temperature {
        options["temperature"] = json!(0);
    }
    let mut body = json!({
        "model": call.spec.model,
        "messages": [
            { "role": "system", "content": call.message.system },
            { "role": "user", "content": call.message.user },
        ],
        "stream": false,
        "options": options,
    });
    match (call.form, call.schema) {
        (Form::Schema, Some(wire)) => body["format"] = wire.schema.clone(),
        (Form::Text, _) => {}
        _ if call.wants_json => body["format"] = json!("json"),
        _ => {}
    }
    body
}

pub(super) fn read(body: &Value) -> Result<Reply, AskError> {
    let message = &body["message"];
    if !message.is_object() {
        return Err(AskError::Malformed);
    }
    let cut = body["done_reason"] == "length";
    // Reasoning is in `thinking`, beside the content.
    answered(text_of(&message["content"]), cut, usage(body))
}

fn usage(body: &Value) -> Option<Usage> {
    let (input, output) = (count(body, "prompt_eval_count")?, count(body, "eval_count")?);
    Some(Usage { input, output, is_estimated: false })
}
