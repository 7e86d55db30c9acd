//! Decodes JSON bodies into checked requests: first each field, then the rules between fields.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::error::Invalid;
use crate::read;
use crate::scrape::ScrapeRequest;
use crate::tool::ToolRequest;

/// Keys that clients send but that have no effect here. Accepted with any value, so that no client breaks. Keys with a
/// meaning that is not used yet (`fastMode`, `origin` and so on) are fields instead.
pub const HARMLESS_KEYS: &[&str] = &["useMock"];

/// Body of `POST /v2/scrape`: a page scrape, or provider-tool calls.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum ScrapeBody {
    /// Page scrape.
    Page(Box<ScrapeRequest>),
    /// Provider-tool calls.
    Tools(Box<ToolRequest>),
}

/// Decodes the body of `POST /v2/scrape`.
///
/// # Errors
/// [`Invalid`] with every fault (up to 20), each with the path of its field: a wrong type, a value out of range, a
/// missing or unknown key, options that exclude each other.
///
/// ```
/// let body = serde_json::json!({ "url": "https://example.com", "fromats": ["html"] });
/// let invalid = wire::decode_scrape(body).unwrap_err();
/// assert_eq!(invalid.message, "Unrecognized key in body: `fromats` (did you mean `formats`?)");
/// ```
pub fn decode_scrape(body: Value) -> Result<ScrapeBody, Invalid> {
    read::body(body, |fields| {
        for key in HARMLESS_KEYS {
            let _ignored = fields.take(key);
        }
        if fields.has("alexandria") {
            return ToolRequest::read(fields).map(|request| ScrapeBody::Tools(Box::new(request)));
        }
        ScrapeRequest::read(fields).map(|request| ScrapeBody::Page(Box::new(request)))
    })
}
