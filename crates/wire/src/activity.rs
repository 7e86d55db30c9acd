//! `GET /v2/team/activity`: recent calls of a team (docs/CONTRACT.md, "Usage").

use base::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::error::Invalid;
use crate::query::{self, QueryParams};
use crate::read::Field;
use crate::stamp;
use crate::words::words;

/// Default number of entries per response.
pub const DEFAULT_ACTIVITY_LIMIT: u32 = 50;
/// Maximum number of entries per response.
pub const MAX_ACTIVITY_LIMIT: u32 = 100;
/// Maximum length of the id in a cursor.
const MAX_ID_LENGTH: usize = 64;

words! {
    /// Endpoint that was called.
    pub enum ActivityEndpoint {
        /// `POST /v2/scrape`.
        Scrape = "scrape",
        /// `POST /v2/parse`.
        Parse = "parse",
        /// `POST /v2/crawl`.
        Crawl = "crawl",
        /// `POST /v2/batch/scrape`.
        BatchScrape = "batch_scrape",
        /// `POST /v2/browser`.
        Browser = "browser",
        /// `POST /v2/scrape/{id}/interact`.
        Interact = "interact",
    }
}

/// Response of `GET /v2/team/activity`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Activity {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// Calls of the team, newest first.
    pub data: Vec<ActivityEntry>,
    /// Value of `cursor` for the next page; null on the last page.
    pub cursor: Option<String>,
    /// Whether there are more entries.
    pub has_more: bool,
}

/// One call of a team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ActivityEntry {
    /// Id of the scrape, job or session that the call started.
    pub id: String,
    /// Endpoint that was called.
    pub endpoint: ActivityEndpoint,
    /// Always `v2`.
    #[schema(default = "v2")]
    pub api_version: String,
    /// Start time, RFC 3339.
    #[serde(with = "stamp")]
    #[schema(value_type = String, format = "date-time")]
    pub created_at: Timestamp,
    /// URL of the call; null if it has none, or if the URL may not be stored.
    pub target: Option<String>,
}

/// Query parameters of `GET /v2/team/activity`.
#[derive(Debug, Clone, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ActivityQuery {
    /// Only calls of this endpoint
    pub endpoint: Option<ActivityEndpoint>,
    /// Maximum number of entries
    #[param(value_type = Option<u32>, minimum = 1, maximum = 100)]
    pub limit: u32,
    /// `cursor` of the previous answer
    #[param(value_type = Option<String>)]
    pub cursor: Option<ActivityCursor>,
}

/// Position in the activity list. Older entries follow it; new entries appear before it, so paging never repeats one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivityCursor {
    /// Start time of the last entry before the position.
    pub created_at: Timestamp,
    /// Id of that entry.
    pub id: String,
}

impl ActivityCursor {
    /// Returns the cursor as an opaque string.
    #[must_use]
    pub fn to_text(&self) -> String {
        format!("{}.{}", self.created_at.timestamp_micros(), self.id)
    }

    fn parse(text: &str) -> Option<Self> {
        let (micros, id) = text.split_once('.')?;
        let is_id = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        let id = Some(id).filter(|id| !id.is_empty() && id.len() <= MAX_ID_LENGTH && id.bytes().all(is_id))?;
        let created_at = Timestamp::from_timestamp_micros(micros.parse().ok()?)?;
        Some(Self { created_at, id: id.to_owned() })
    }
}

impl QueryParams for ActivityQuery {
    fn decode(query: &str) -> Result<Self, Invalid> {
        query::decode(query, |fields| {
            let endpoint = fields.take("endpoint").and_then(Field::filled).and_then(Field::word);
            let limit = fields.take("limit").and_then(Field::filled);
            let limit = limit.and_then(|field| field.digits(1..=MAX_ACTIVITY_LIMIT));
            let cursor = fields.take("cursor").and_then(Field::filled);
            let cursor = cursor.and_then(|field| field.parse(cursor_of));
            Some(Self { endpoint, limit: limit.unwrap_or(DEFAULT_ACTIVITY_LIMIT), cursor })
        })
    }
}

fn cursor_of(text: &str) -> Result<ActivityCursor, String> {
    ActivityCursor::parse(text).ok_or_else(|| "must be a `cursor` returned by this endpoint".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_comes_back_as_it_went() {
        let created_at = Timestamp::from_timestamp_micros(1_764_093_600_123_456).unwrap();
        let cursor = ActivityCursor { created_at, id: "0199-a".to_owned() };
        let query = ActivityQuery::decode(&format!("cursor={}", cursor.to_text())).unwrap();
        assert_eq!(query, ActivityQuery { endpoint: None, limit: 50, cursor: Some(cursor) });
        for spoilt in ["x", "1.", ".a", "1.a b", "1.'", "99999999999999999999.a", &format!("1.{}", "a".repeat(65))] {
            let invalid = ActivityQuery::decode(&format!("cursor={spoilt}")).unwrap_err();
            assert_eq!(invalid.message, "`cursor` must be a `cursor` returned by this endpoint", "{spoilt}");
        }
    }

    #[test]
    fn parameters_have_bounds() {
        let check = |query: &str, want: Result<(Option<ActivityEndpoint>, u32), &str>| {
            let got = ActivityQuery::decode(query).map(|query| (query.endpoint, query.limit));
            assert_eq!(got.map_err(|invalid| invalid.message), want.map_err(str::to_owned), "{query}");
        };
        check("endpoint=crawl&limit=20", Ok((Some(ActivityEndpoint::Crawl), 20)));
        check("endpoint=&limit=100&cursor=", Ok((None, 100)));
        check("limit=0", Err("`limit` must be a whole number from 1 to 100"));
        check("limit=101", Err("`limit` must be a whole number from 1 to 100"));
        let words = "`endpoint` must be `scrape`, `parse`, `crawl`, `batch_scrape`, `browser` or `interact`";
        check("endpoint=nothing", Err(words));
        check("endpoint=nothing&limit=x", Err(&format!("{words}; `limit` must be a whole number from 1 to 100")));
    }
}
