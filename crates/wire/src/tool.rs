//! Provider-tool calls: the `alexandria` form of `POST /v2/scrape` (docs/CONTRACT.md, "Provider tools").

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::attribution::Attribution;
use crate::error::Invalid;
use crate::option::{DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS, MIN_TIMEOUT_MS};
use crate::read::{Field, Fields};
use crate::words::words;

/// Most calls of one request.
pub const MAX_CALLS: usize = 10;

/// A request that executes provider tools instead of scraping a page.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolRequest {
    /// 1 to 10 calls; on the wire one call may stand without an array.
    #[serde(rename = "alexandria")]
    #[schema(value_type = ToolCalls)]
    pub calls: Vec<ToolCall>,
    /// Time for all calls together, in milliseconds.
    #[schema(required = false, default = 60000, minimum = 1000, maximum = 300000)]
    pub timeout: u32,
    /// Who calls; siblings of `alexandria` on the wire.
    #[serde(flatten)]
    pub attribution: Attribution,
}

/// How `alexandria` may be written.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(untagged)]
pub enum ToolCalls {
    /// One call.
    One(ToolCall),
    /// 1 to 10 calls.
    Many(Vec<ToolCall>),
}

/// One call of one tool.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ToolCall {
    /// The id of the provider.
    #[schema(min_length = 1, max_length = 200)]
    pub provider: String,
    /// The provider's name of the tool.
    #[schema(min_length = 1, max_length = 200)]
    pub capability: String,
    /// What the contract of the tool asks for.
    #[schema(required = false)]
    pub options: Map<String, Value>,
    /// Pins the version of a workflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 200)]
    pub version: Option<String>,
}

words! {
    /// How much is told about each discovered tool.
    #[derive(Default)]
    pub enum ToolDetail {
        /// Provider, capability and description.
        Compact = "compact",
        /// Also what it takes and costs.
        #[default]
        Summary = "summary",
        /// Everything.
        Full = "full",
    }
}

/// The value of the header `x-request-id` of a tool call: 1 to 128 of letters, digits, `.`, `_`, `:` and `-`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RequestId(String);

impl RequestId {
    /// Checks a header value.
    ///
    /// # Errors
    /// [`Invalid`] when it is not UTF-8, empty, too long or has other characters.
    pub fn parse(header: &[u8]) -> Result<Self, Invalid> {
        let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"._:-".contains(byte);
        match std::str::from_utf8(header) {
            Ok(text) if (1..=128).contains(&text.len()) && header.iter().all(allowed) => Ok(Self(text.to_owned())),
            _ => {
                Err(Invalid::at("x-request-id", "must have 1 to 128 characters of letters, digits, `.`, `_`, `:`, `-`"))
            }
        }
    }

    /// The id as sent.
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
        fields.leftovers("must not stand beside `alexandria`");
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

/// A version may be a number or a string.
fn version(field: Field<'_>) -> Option<String> {
    match &field.value {
        Value::Number(number) => Some(number.to_string()),
        _ => field.name(1..=200),
    }
}

/// The answer to a [`ToolRequest`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ToolAnswer {
    /// Always true; the calls may have failed all the same.
    #[schema(default = true)]
    pub success: bool,
    /// The id of the request, in snake case on the wire.
    pub scrape_id: String,
    /// What the calls returned.
    pub data: ToolData,
}

/// What the calls returned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolData {
    /// One item per call, in their order.
    pub alexandria: Vec<ToolItem>,
    /// Credits of all calls together.
    #[schema(minimum = 0)]
    pub credits_cost: i64,
}

/// What one call returned: `data` or `error`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolItem {
    /// The provider of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The capability of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capability: Option<String>,
    /// Credits of this call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credits_cost: Option<i64>,
    /// The result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// The provider's own account of the records in the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records: Option<Value>,
    /// The HTTP status of the provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstream_status: Option<u16>,
    /// When the result was made, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded_at: Option<String>,
    /// Why the call failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolError>,
}

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolError {
    /// For programs.
    pub code: String,
    /// For people.
    pub message: String,
    /// The HTTP status that the call alone would have had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The charge, when there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charge_id: Option<String>,
}
