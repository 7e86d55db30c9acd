//! `POST /v2/search/{id}/feedback` and `POST /v2/feedback`: what callers think of results (docs/CONTRACT.md,
//! "Feedback").

mod read;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::attribution::Attribution;
use crate::error::Invalid;
use crate::words::words;

words! {
    /// Rating of a result.
    pub enum Rating {
        /// The result was useful.
        Good = "good",
        /// The result was useful in part.
        Partial = "partial",
        /// The result was not useful.
        Bad = "bad",
    }
}

words! {
    /// Endpoint whose result is rated by `POST /v2/feedback`, besides provider tools.
    pub enum FeedbackEndpoint {
        /// `POST /v2/search`.
        Search = "search",
        /// `POST /v2/scrape`.
        Scrape = "scrape",
        /// `POST /v2/parse`.
        Parse = "parse",
        /// `POST /v2/map`.
        Map = "map",
    }
}

words! {
    /// Provider tools, as the endpoint of a feedback.
    pub enum ToolEndpoint {
        /// Provider tools.
        Alexandria = "alexandria",
    }
}

/// Source that was useful.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ValuableSource {
    /// URL of the source.
    #[schema(min_length = 1, max_length = 8192)]
    pub url: String,
    /// Reason why it was useful.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 2000)]
    pub reason: Option<String>,
}

/// Content that was missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MissingContent {
    /// Topic.
    #[schema(min_length = 1, max_length = 200)]
    pub topic: String,
    /// Description of what was expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 2000)]
    pub description: Option<String>,
}

/// Feedback on a search.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchFeedback {
    /// Rating of the results as a whole.
    pub rating: Rating,
    /// Results that were useful.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, max_items = 50)]
    pub valuable_sources: Vec<ValuableSource>,
    /// Content that was missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, max_items = 20)]
    pub missing_content: Vec<MissingContent>,
    /// Queries that would have found it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 2000)]
    pub query_suggestions: Option<String>,
    /// Client that makes the call, flattened into this object.
    #[serde(flatten)]
    pub attribution: Attribution,
}

/// Body of `POST /v2/feedback`: feedback on the result of a call, or on provider tools.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum FeedbackBody {
    /// Feedback on a search, a scrape, a parsed file or a map.
    Job(Box<JobFeedback>),
    /// Feedback on provider tools.
    Tools(Box<ToolFeedback>),
}

/// Feedback on a search, a scrape, a parsed file or a map.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobFeedback {
    /// Endpoint of the call.
    pub endpoint: FeedbackEndpoint,
    /// Id of the search, the scrape (`metadata.scrapeId`) or the map.
    #[schema(value_type = String, format = "uuid")]
    pub job_id: Uuid,
    /// Rating, sources and missing content, flattened into this object.
    #[serde(flatten)]
    pub feedback: SearchFeedback,
    /// Problems, as codes such as `missing_text`: letters a to z, digits, `_` and `-`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, max_items = 20)]
    pub issues: Vec<String>,
    /// Tags of the caller, as codes: letters a to z, digits, `_` and `-`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, max_items = 20)]
    pub tags: Vec<String>,
    /// Note.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 4000)]
    pub note: Option<String>,
    /// URL of the page that the feedback is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 8192)]
    pub url: Option<String>,
    /// Pages of the document that the feedback is about, counted from 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, max_items = 100)]
    pub page_numbers: Vec<u32>,
    /// Further data of the caller, at most 8 KiB.
    #[serde(skip_serializing_if = "Map::is_empty")]
    #[schema(required = false)]
    pub metadata: Map<String, Value>,
}

/// Feedback on provider tools.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolFeedback {
    /// Always `alexandria`.
    pub endpoint: ToolEndpoint,
    /// Rating of the tools as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating: Option<Rating>,
    /// Explanation of the rating.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 4000)]
    pub rationale: Option<String>,
    /// Web site that has no tools yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_website: Option<RequestedWebsite>,
    /// Problems of providers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, max_items = 50)]
    pub provider_feedback: Vec<ProviderFeedback>,
    /// Problems of single tools.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, max_items = 50)]
    pub capability_feedback: Vec<CapabilityFeedback>,
    /// Client that makes the call, flattened into this object.
    #[serde(flatten)]
    pub attribution: Attribution,
}

/// Web site that has no tools yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequestedWebsite {
    /// URL of the web site.
    #[schema(min_length = 1, max_length = 8192)]
    pub url: String,
    /// Wanted tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 2000)]
    pub requested_functionality: Option<String>,
}

/// Problem of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProviderFeedback {
    /// Provider id.
    #[schema(min_length = 1, max_length = 200)]
    pub name: String,
    /// The problem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 2000)]
    pub issue: Option<String>,
    /// Reason why it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 2000)]
    pub why: Option<String>,
}

/// Problem of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CapabilityFeedback {
    /// Name of the tool.
    #[schema(min_length = 1, max_length = 200)]
    pub name: String,
    /// Provider id.
    #[schema(min_length = 1, max_length = 200)]
    pub provider: String,
    /// The problem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 2000)]
    pub issue: Option<String>,
    /// Reason why it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 2000)]
    pub why: Option<String>,
    /// Wanted function of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 2000)]
    pub requested_functionality: Option<String>,
}

/// Response to feedback.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct FeedbackAnswer {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// Id of the feedback.
    #[schema(format = "uuid")]
    pub feedback_id: String,
    /// Credits given back for this feedback.
    #[schema(minimum = 0)]
    pub credits_refunded: i64,
    /// Whether feedback with this id had been submitted before; the earlier one stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub already_submitted: Option<bool>,
    /// Whether the daily maximum of credits has been given back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub daily_cap_reached: Option<bool>,
    /// Credits given back to the team today.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credits_refunded_today: Option<i64>,
    /// Maximum of credits given back to a team per day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub daily_refund_cap: Option<i64>,
    /// Warning for the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// Decodes the body of `POST /v2/search/{id}/feedback`.
///
/// # Errors
/// [`Invalid`] with every fault (up to 20), each with the path of its field.
pub fn decode_search_feedback(body: Value) -> Result<SearchFeedback, Invalid> {
    crate::read::body(body, SearchFeedback::read)
}

/// Decodes the body of `POST /v2/feedback`.
///
/// # Errors
/// [`Invalid`] with every fault (up to 20), each with the path of its field.
pub fn decode_feedback(body: Value) -> Result<FeedbackBody, Invalid> {
    let is_tools = body.get("endpoint").and_then(Value::as_str) == Some(ToolEndpoint::Alexandria.as_str());
    crate::read::body(body, |fields| {
        if is_tools {
            return ToolFeedback::read(fields).map(|feedback| FeedbackBody::Tools(Box::new(feedback)));
        }
        JobFeedback::read(fields).map(|feedback| FeedbackBody::Job(Box::new(feedback)))
    })
}
