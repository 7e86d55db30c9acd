//! Requirements of the three protocols on a request.

use serde_json::Value;

use super::Asked;

/// Returns the first requirement that a request does not meet.
pub(super) fn violation(asked: &Asked) -> Option<&'static str> {
    let body = &asked.body;
    if body["model"].as_str().unwrap_or_default().is_empty() {
        return Some("model: field required");
    }
    let roles: Vec<&str> =
        body["messages"].as_array()?.iter().map(|message| message["role"].as_str().unwrap_or_default()).collect();
    if roles.is_empty() {
        return Some("messages: at least one message is required");
    }
    if asked.path.ends_with("/messages") {
        anthropic(asked, &roles)
    } else if asked.path.ends_with("/api/chat") {
        ollama(body, &roles)
    } else {
        openai(body, &roles)
    }
}

/// The system text is a field of its own, and the version of the protocol a header.
fn anthropic(asked: &Asked, roles: &[&str]) -> Option<&'static str> {
    let body = &asked.body;
    let temperature = body["temperature"].as_f64().unwrap_or(1.0);
    [
        (asked.seen.header("anthropic-version").is_empty(), "anthropic-version: header is required"),
        (body["max_tokens"].as_u64().unwrap_or(0) == 0, "max_tokens: field required"),
        (!known(roles, &["user", "assistant"]), "messages: Unexpected role"),
        (roles[0] != "user", "messages: first message must use the \"user\" role"),
        (!(0.0..=1.0).contains(&temperature), "temperature: must be between 0 and 1"),
        (body["stream"] == true, "stream: this server does not stream"),
        (body.get("response_format").is_some(), "response_format: Extra inputs are not permitted"),
    ]
    .into_iter()
    .find_map(|(violates, message)| violates.then_some(message))
}

/// Answers are streamed unless the request says otherwise, and options are in an object.
fn ollama(body: &Value, roles: &[&str]) -> Option<&'static str> {
    let format = &body["format"];
    [
        (body["stream"] != false, "stream: this server does not stream"),
        (!known(roles, &["system", "user", "assistant", "tool"]), "invalid role"),
        (!(format.is_null() || format.is_object() || format == "json"), "invalid format"),
        (!matches!(&body["options"], Value::Null | Value::Object(_)), "invalid options"),
    ]
    .into_iter()
    .find_map(|(violates, message)| violates.then_some(message))
}

fn openai(body: &Value, roles: &[&str]) -> Option<&'static str> {
    [
        (body["stream"] == true, "stream: this server does not stream"),
        (!known(roles, &["system", "developer", "user", "assistant", "tool"]), "messages: invalid role"),
        (body.get("max_tokens").is_some() && body.get("max_completion_tokens").is_some(), "max_tokens: set one of two"),
    ]
    .into_iter()
    .find_map(|(violates, message)| violates.then_some(message))
}

fn known(roles: &[&str], known: &[&str]) -> bool {
    roles.iter().all(|role| known.contains(role))
}
