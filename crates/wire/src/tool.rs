//! Provider-tool calls: the `alexandria` form of `POST /v2/scrape` (docs/CONTRACT.md, "Provider tools").

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::attribution::Attribution;
use crate::error::Invalid;
use crate::option::{DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS, MIN_TIMEOUT_MS};
use crate::read::{Field, Fields};
use crate::words::words;

/// Maximum number of calls per request.
pub const MAX_CALLS: usize = 10;

/// Request that calls provider tools instead of scraping a page.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolRequest {
    /// Calls to make, 1 to 10. In JSON, a single call may be given without an array.
    #[serde(rename = "alexandria")]
    #[schema(value_type = ToolCalls)]
    pub calls: Vec<ToolCall>,
    /// Timeout of all calls together, in milliseconds.
    #[schema(required = false, default = 60000, minimum = 1000, maximum = 300000)]
    pub timeout: u32,
    /// Client that makes the call, flattened into this object.
    #[serde(flatten)]
    pub attribution: Attribution,
}

/// Value of `alexandria`: one call or an array of calls.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(untagged)]
pub enum ToolCalls {
    /// Single call.
    One(ToolCall),
    /// Array of 1 to 10 calls.
    Many(Vec<ToolCall>),
}

/// Call of one provider tool.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ToolCall {
    /// Provider id.
    #[schema(min_length = 1, max_length = 200)]
    pub provider: String,
    /// Name of the tool, as defined by the provider.
    #[schema(min_length = 1, max_length = 200)]
    pub capability: String,
    /// Arguments of the tool, as its schema defines them.
    #[schema(required = false)]
    pub options: Map<String, Value>,
    /// Pinned version of a workflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 200)]
    pub version: Option<String>,
}

words! {
    /// Level of detail for each discovered tool.
    #[derive(Default)]
    pub enum ToolDetail {
        /// Provider, capability and description.
        Compact = "compact",
        /// Provider, capability, description, parameters and price.
        #[default]
        Summary = "summary",
        /// The complete contract.
        Full = "full",
    }
}

/// Value of the header `x-request-id` of a tool call: 1 to 128 letters, digits, `.`, `_`, `:` and `-`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RequestId(String);

impl RequestId {
    /// Validates a header value.
    ///
    /// # Errors
    /// [`Invalid`] if the value is not UTF-8, empty, too long or contains other characters.
    pub fn parse(header: &[u8]) -> Result<Self, Invalid> {
        let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"._:-".contains(byte);
        match std::str::from_utf8(header) {
            Ok(text) if (1..=128).contains(&text.len()) && header.iter().all(allowed) => Ok(Self(text.to_owned())),
            _ => Err(Invalid::at("x-request-id", "must be 1 to 128 letters, digits, `.`, `_`, `:` or `-`")),
        }
    }

    /// Returns the id as sent.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl ToolRequest {
    pub(crate) fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let calls = fields.need("alexandria").and_then(ToolCall::read_calls);
        let timeout = fields.take("timeout").and_then(|field| field.whole32(MIN_TIMEOUT_MS..=MAX_TIMEOUT_MS));
        let attribution = Attribution::read(fields);
        fields.leftovers("cannot be combined with `alexandria`");
        Some(Self { calls: calls?, timeout: timeout.unwrap_or(DEFAULT_TIMEOUT_MS), attribution })
    }
}

impl ToolCall {
    fn read_calls(field: Field<'_>) -> Option<Vec<Self>> {
        match field.value {
            Value::Object(_) => field.record(Self::read).flatten().map(|call| vec![call]),
            Value::Array(_) => field.list(1..=MAX_CALLS, |call| call.record(Self::read).flatten()),
            _ => field.refuse("must be a call or an array of calls"),
        }
    }

    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let mut name = |key: &'static str| fields.need(key).and_then(|field| field.name(1..=200));
        let (provider, capability) = (name("provider"), name("capability"));
        let options = fields.take("options").and_then(Field::map).unwrap_or_default();
        let version = fields.take("version").and_then(version);
        Some(Self { provider: provider?, capability: capability?, options, version })
    }
}

/// Reads a version, given as a number or a string.
fn version(field: Field<'_>) -> Option<String> {
    match &field.value {
        Value::Number(number) => Some(number.to_string()),
        _ => field.name(1..=200),
    }
}

/// Response to provider-tool calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ToolAnswer {
    /// Always true, even if calls failed.
    #[schema(default = true)]
    pub success: bool,
    /// Request id; snake case in JSON.
    pub scrape_id: String,
    /// Results of the calls.
    pub data: ToolData,
}

/// Results of all calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolData {
    /// One result per call, in request order.
    pub alexandria: Vec<ToolItem>,
    /// Credits charged for all calls together.
    #[schema(minimum = 0)]
    pub credits_cost: i64,
}

/// Result of one call: `data` or `error`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolItem {
    /// Provider of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Name of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capability: Option<String>,
    /// Credits charged for this call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credits_cost: Option<i64>,
    /// Result of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// Description of the records in the result, as given by the provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records: Option<Value>,
    /// HTTP status of the provider's response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstream_status: Option<u16>,
    /// Time at which the result was recorded, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded_at: Option<String>,
    /// Error, if the call failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolError>,
}

/// Error of a failed call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolError {
    /// Machine-readable error code.
    pub code: String,
    /// Human-readable error message.
    pub message: String,
    /// HTTP status that the call would have had on its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Charge id, if the call was charged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charge_id: Option<String>,
}
