//! The protocols of endpoints: a call becomes a body, an answer becomes text.

mod anthropic;
mod ollama;
mod openai;

use http::HeaderMap;
use serde_json::Value;

use crate::ask::Usage;
use crate::error::{AskError, ErrorCode};
use crate::prompt::Message;
use crate::schema::WireSchema;
use crate::settings::{Kind, Spec};

/// Name of the tool that a model is made to call, and of its schema.
const TOOL: &str = "answer";

/// Way in which an endpoint is asked for JSON, the strictest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    /// The endpoint enforces a schema.
    Schema,
    /// The model has to call a tool whose input has the schema.
    Tool,
    /// The endpoint enforces JSON, the text has the schema.
    Object,
    /// The text has the schema, and nothing is enforced.
    Text,
}

impl Form {
    /// Returns whether the endpoint gets the schema apart from the text.
    pub(crate) fn carries_schema(self) -> bool {
        matches!(self, Self::Schema | Self::Tool)
    }

    /// Returns the next form that an endpoint of this kind may know.
    pub(crate) fn next(self, kind: Kind) -> Option<Self> {
        match (self, kind) {
            (Self::Schema, Kind::OpenAi | Kind::Anthropic) => Some(Self::Tool),
            (Self::Schema, Kind::Ollama) | (Self::Tool, Kind::OpenAi) => Some(Self::Object),
            (Self::Tool, _) | (Self::Object, _) => Some(Self::Text),
            (Self::Text, _) => None,
        }
    }
}

/// Name of the field for the limit of output tokens, in the OpenAI-compatible protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenField {
    /// `max_tokens`, which nearly all servers know.
    Max,
    /// `max_completion_tokens`, which the models that reason require.
    MaxCompletion,
    /// Neither.
    None,
}

/// A call as it is to be sent.
pub(crate) struct Call<'a> {
    pub(crate) spec: &'a Spec,
    pub(crate) message: &'a Message,
    /// Way of asking for JSON, if it is wanted.
    pub(crate) form: Form,
    pub(crate) wants_json: bool,
    /// Schema to enforce, where `form` carries one.
    pub(crate) schema: Option<&'a WireSchema>,
    pub(crate) token_field: TokenField,
    pub(crate) max_tokens: u64,
    /// Temperature 0; `false` where the endpoint accepts only its default.
    pub(crate) has_temperature: bool,
}

/// What a model has answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) text: String,
    pub(crate) cut: bool,
    pub(crate) usage: Option<Usage>,
}

/// Returns the path of calls below the base URL.
pub(crate) fn path(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::OpenAi => &["chat", "completions"],
        Kind::Anthropic => &["v1", "messages"],
        Kind::Ollama => &["api", "chat"],
    }
}

/// Returns the headers of a call, with the key.
pub(crate) fn headers(spec: &Spec) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    match spec.kind {
        Kind::Anthropic => anthropic::add_headers(&mut headers, &spec.key),
        Kind::OpenAi | Kind::Ollama => openai::add_headers(&mut headers, &spec.key),
    }
    headers
}

/// Returns the body of a call.
pub(crate) fn body(call: &Call<'_>) -> Value {
    match call.spec.kind {
        Kind::OpenAi => openai::body(call),
        Kind::Anthropic => anthropic::body(call),
        Kind::Ollama => ollama::body(call),
    }
}

/// Reads the body of an answer with a status of success.
pub(crate) fn read(kind: Kind, body: &[u8]) -> Result<Reply, AskError> {
    let body: Value = base::json::read(body, base::json::MAX_VALUES).map_err(|_| AskError::Malformed)?;
    if let Some(error) = error_in(&body) {
        return Err(error);
    }
    match kind {
        Kind::OpenAi => openai::read(&body),
        Kind::Anthropic => anthropic::read(&body),
        Kind::Ollama => ollama::read(&body),
    }
}

/// Returns the error of a body that came with a status of success, as gateways send it.
fn error_in(body: &Value) -> Option<AskError> {
    let error = [&body["error"], &body["choices"][0]["error"]].into_iter().find(|error| !error.is_null())?;
    let code = &error["code"];
    let status = code.as_u64().or_else(|| code.as_str()?.parse().ok());
    let status = status.or_else(|| error["status"].as_u64()).and_then(|status| u16::try_from(status).ok());
    Some(match status.unwrap_or(502) {
        429 => AskError::RateLimited { wait: None },
        status @ (401 | 403) => AskError::Unauthorized { status },
        status @ 400..=499 => AskError::Rejected { status, code: error_code(body) },
        status => AskError::Upstream { status },
    })
}

/// Returns the code of an error body, if it is a plain word.
pub(crate) fn error_code(body: &Value) -> ErrorCode {
    let error = &body["error"];
    let code = [&error["code"], &error["type"]].into_iter().find_map(Value::as_str);
    ErrorCode::plain(code.unwrap_or_default())
}

/// Returns the count of a field, if it is there.
fn count(usage: &Value, field: &str) -> Option<u64> {
    usage[field].as_u64()
}

/// Returns the text of a content field: a string, or parts of which those of type `text` count.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(text_of_part).collect(),
        _ => String::new(),
    }
}

fn text_of_part(part: &Value) -> Option<&str> {
    let is_text = part["type"].as_str().is_none_or(|kind| matches!(kind, "text" | "output_text"));
    if is_text { part["text"].as_str().or_else(|| part.as_str()) } else { None }
}

/// Returns the arguments of a tool call as text: most endpoints send a string, some an object.
fn arguments_of(arguments: &Value) -> Option<String> {
    match arguments {
        Value::String(text) => Some(text.clone()),
        Value::Object(_) => Some(arguments.to_string()),
        _ => None,
    }
}

/// Checks a text for emptiness.
fn answered(text: String, cut: bool, usage: Option<Usage>) -> Result<Reply, AskError> {
    // A cut answer without text has used its tokens for reasoning; it is asked again in smaller parts.
    if text.trim().is_empty() && !cut {
        return Err(AskError::Empty);
    }
    Ok(Reply { text, cut, usage })
}
