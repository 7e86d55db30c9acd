//! `GET /v2/team/activity`: recent calls of a team (docs/CONTRACT.md, "Usage").

use base::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::Invalid;
use crate::stamp;
use crate::words::{Word as _, words};

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
    /// URL that the call was about; null if there is none, or if it may not be stored.
    pub target: Option<String>,
}

/// Filter and position of an activity query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivityQuery {
    /// Endpoint to filter by.
    pub endpoint: Option<ActivityEndpoint>,
    /// Maximum number of entries, from 1 to 100.
    pub limit: u32,
    /// Position to continue after.
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

impl ActivityQuery {
    /// Parses the query parameters. Empty values count as absent.
    ///
    /// # Errors
    /// [`Invalid`] for the first invalid value.
    ///
    /// ```
    /// use wire::{ActivityEndpoint, ActivityQuery};
    ///
    /// let query = ActivityQuery::parse(Some("crawl"), Some("20"), None)?;
    /// assert_eq!((query.endpoint, query.limit), (Some(ActivityEndpoint::Crawl), 20));
    /// let invalid = ActivityQuery::parse(None, Some("101"), None).unwrap_err();
    /// assert_eq!(invalid.message, "`limit` must be a whole number from 1 to 100");
    /// # Ok::<(), wire::Invalid>(())
    /// ```
    pub fn parse(endpoint: Option<&str>, limit: Option<&str>, cursor: Option<&str>) -> Result<Self, Invalid> {
        let given = |text: Option<&'_ str>| text.filter(|text| !text.is_empty()).map(str::to_owned);
        let endpoint = given(endpoint).map(|text| {
            ActivityEndpoint::parse(&text)
                .ok_or_else(|| Invalid::at("endpoint", format!("must be {}", ActivityEndpoint::choices())))
        });
        let limit = given(limit).map(|text| {
            let number = text.parse().ok().filter(|number| (1..=MAX_ACTIVITY_LIMIT).contains(number));
            number.ok_or_else(|| Invalid::at("limit", format!("must be a whole number from 1 to {MAX_ACTIVITY_LIMIT}")))
        });
        let cursor = given(cursor).map(|text| {
            ActivityCursor::parse(&text)
                .ok_or_else(|| Invalid::at("cursor", "must be a `cursor` returned by this endpoint"))
        });
        Ok(Self {
            endpoint: endpoint.transpose()?,
            limit: limit.transpose()?.unwrap_or(DEFAULT_ACTIVITY_LIMIT),
            cursor: cursor.transpose()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_comes_back_as_it_went() {
        let created_at = Timestamp::from_timestamp_micros(1_764_093_600_123_456).unwrap();
        let cursor = ActivityCursor { created_at, id: "0199-a".to_owned() };
        let query = ActivityQuery::parse(None, None, Some(&cursor.to_text())).unwrap();
        assert_eq!(query, ActivityQuery { endpoint: None, limit: 50, cursor: Some(cursor) });
        for spoilt in ["x", "1.", ".a", "1.a b", "1.'", "99999999999999999999.a", &format!("1.{}", "a".repeat(65))] {
            let invalid = ActivityQuery::parse(None, None, Some(spoilt)).unwrap_err();
            assert_eq!(invalid.fields[0].path, "cursor", "{spoilt}");
        }
    }

    #[test]
    fn parameters_have_bounds() {
        for (endpoint, limit, path) in
            [(Some("nothing"), None, "endpoint"), (None, Some("0"), "limit"), (None, Some("x"), "limit")]
        {
            assert_eq!(ActivityQuery::parse(endpoint, limit, None).unwrap_err().fields[0].path, path);
        }
        assert_eq!(ActivityQuery::parse(Some(""), Some("100"), Some("")).unwrap().limit, 100);
    }
}
