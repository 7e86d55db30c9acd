//! Requests and answers of the three protocols.

use serde_json::{Map, Value, json};

use super::{Asked, AskedForm, ModelFault, ModelLacks};
use crate::site::Seen;

/// Reads a request; `None` for other paths and for bodies that are no JSON.
pub(super) fn asked(seen: &Seen) -> Option<Asked> {
    let path = seen.path.split('?').next().unwrap_or_default();
    if !["/chat/completions", "/messages", "/api/chat"].iter().any(|end| path.ends_with(end)) {
        return None;
    }
    let body: Value = serde_json::from_slice(&seen.body).ok()?;
    let (mut system, mut user) = (vec![text(&body["system"])], Vec::new());
    for message in body["messages"].as_array()? {
        let is_system = matches!(message["role"].as_str(), Some("system" | "developer"));
        if is_system { &mut system } else { &mut user }.push(text(&message["content"]));
    }
    let (form, schema) = form(&body);
    let (path, system, user) = (path.to_owned(), system.concat(), user.join("\n"));
    Some(Asked { path, system, user, form, schema, body, seen: seen.clone() })
}

/// Returns the text of a string or of a list of parts.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

fn form(body: &Value) -> (AskedForm, Option<Value>) {
    let tool = &body["tools"][0];
    let response = &body["response_format"];
    let native = &body["output_config"]["format"]["schema"];
    match (&body["format"], response["type"].as_str()) {
        (Value::Object(schema), _) => (AskedForm::JsonSchema, Some(Value::Object(schema.clone()))),
        (Value::String(_), _) | (_, Some("json_object")) => (AskedForm::JsonObject, None),
        (_, Some("json_schema")) => (AskedForm::JsonSchema, Some(response["json_schema"]["schema"].clone())),
        _ if native.is_object() => (AskedForm::JsonSchema, Some(native.clone())),
        _ if tool["function"].is_object() => (AskedForm::Tool, Some(tool["function"]["parameters"].clone())),
        _ if tool.is_object() => (AskedForm::Tool, Some(tool["input_schema"].clone())),
        _ => (AskedForm::Text, None),
    }
}

/// Returns the message with which a server that lacks a feature refuses the request.
pub(super) fn refusal(lack: ModelLacks, asked: &Asked) -> Option<&'static str> {
    let body = &asked.body;
    let (refused, message) = match lack {
        ModelLacks::JsonSchema => (asked.form == AskedForm::JsonSchema, "response_format json_schema is not supported"),
        ModelLacks::Tools => (asked.form == AskedForm::Tool, "tools are not supported"),
        ModelLacks::JsonObject => (asked.form == AskedForm::JsonObject, "response_format is not supported"),
        ModelLacks::MaxTokens => (
            body.get("max_tokens").is_some(),
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        ),
        ModelLacks::MaxCompletionTokens => (
            body.get("max_completion_tokens").is_some(),
            "Unrecognized request argument supplied: max_completion_tokens",
        ),
        ModelLacks::Temperature => (
            body.get("temperature").is_some(),
            "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
        ),
    };
    refused.then_some(message)
}

/// Returns the body of an answer.
pub(super) fn body(asked: &Asked, text: &str, fault: &ModelFault) -> Value {
    let text = match fault {
        ModelFault::Text(other) => other,
        ModelFault::Empty | ModelFault::Refusal => "",
        ModelFault::Cut(bytes) => &text[..text.floor_char_boundary(*bytes)],
        _ => text,
    };
    let mut body = if asked.path.ends_with("/messages") {
        anthropic(asked, text, fault)
    } else if asked.path.ends_with("/api/chat") {
        ollama(asked, text, fault)
    } else {
        openai(asked, text, fault)
    };
    if *fault == ModelFault::NoUsage
        && let Some(members) = body.as_object_mut()
    {
        members.retain(|name, _| !matches!(name.as_str(), "usage" | "prompt_eval_count" | "eval_count"));
    }
    body
}

fn tokens(text: &str) -> usize {
    text.len() / 4
}

fn openai(asked: &Asked, text: &str, fault: &ModelFault) -> Value {
    let mut message = Map::from_iter([("role".to_owned(), json!("assistant")), ("content".to_owned(), json!(text))]);
    let mut reason = if matches!(fault, ModelFault::Cut(_)) { "length" } else { "stop" };
    match fault {
        ModelFault::Refusal => {
            message.insert("content".to_owned(), Value::Null);
            message.insert("refusal".to_owned(), json!("I cannot help with that."));
        }
        ModelFault::Parts => {
            let parts = [json!({ "type": "thinking", "text": "" }), json!({ "type": "text", "text": text })];
            message.insert("content".to_owned(), json!(parts));
        }
        ModelFault::Reasoning(thoughts) => {
            message.insert("reasoning_content".to_owned(), json!(thoughts));
        }
        _ => {}
    }
    if asked.form == AskedForm::Tool && *fault != ModelFault::Refusal {
        let name = &asked.body["tools"][0]["function"]["name"];
        let call = json!({ "id": "call_1", "type": "function", "function": { "name": name, "arguments": text } });
        message.insert("content".to_owned(), Value::Null);
        message.insert("tool_calls".to_owned(), json!([call]));
        reason = if reason == "stop" { "tool_calls" } else { reason };
    }
    let (prompt, completion) = (tokens(&asked.user) + tokens(&asked.system), tokens(text));
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": asked.body["model"],
        "choices": [{ "index": 0, "message": message, "finish_reason": reason }],
        "usage": { "prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion },
    })
}

fn anthropic(asked: &Asked, text: &str, fault: &ModelFault) -> Value {
    let mut content = Vec::new();
    if let ModelFault::Reasoning(thoughts) = fault {
        content.push(json!({ "type": "thinking", "thinking": thoughts, "signature": "s" }));
    }
    let mut reason = match fault {
        ModelFault::Cut(_) => "max_tokens",
        ModelFault::Refusal => "refusal",
        _ => "end_turn",
    };
    let input = serde_json::from_str::<Value>(text).ok().filter(|_| asked.form == AskedForm::Tool);
    if let Some(input) = input {
        reason = "tool_use";
        content.push(
            json!({ "type": "tool_use", "id": "toolu_1", "name": asked.body["tools"][0]["name"], "input": input }),
        );
    } else if !text.is_empty() {
        content.push(json!({ "type": "text", "text": text }));
    }
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": asked.body["model"], "content": content,
        "stop_reason": reason, "stop_sequence": null,
        "usage": { "input_tokens": tokens(&asked.user) + tokens(&asked.system), "output_tokens": tokens(text) },
    })
}

fn ollama(asked: &Asked, text: &str, fault: &ModelFault) -> Value {
    let mut message = Map::from_iter([("role".to_owned(), json!("assistant")), ("content".to_owned(), json!(text))]);
    if let ModelFault::Reasoning(thoughts) = fault {
        message.insert("thinking".to_owned(), json!(thoughts));
    }
    let reason = if matches!(fault, ModelFault::Cut(_)) { "length" } else { "stop" };
    json!({
        "model": asked.body["model"], "created_at": "2026-01-01T00:00:00Z", "message": message, "done": true,
        "done_reason": reason, "prompt_eval_count": tokens(&asked.user) + tokens(&asked.system),
        "eval_count": tokens(text),
    })
}
