//! Responses of crawls and batches: start, progress, errors, and the watcher's messages (docs/CONTRACT.md, "Jobs",
//! "Reading a job" and "Watcher").

use base::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::document::Document;
use crate::error::Invalid;
use crate::query::{self, QueryParams};
use crate::read::Field;
use crate::stamp;
use crate::words::words;

words! {
    /// Status of a job. A queued job counts as `scraping`.
    // Clients know these four words only.
    pub enum JobStatus {
        /// Queued or running.
        Scraping = "scraping",
        /// All pages are done.
        Completed = "completed",
        /// The job failed; `error` says why.
        Failed = "failed",
        /// The job was cancelled by its team.
        Cancelled = "cancelled",
    }
}

impl JobStatus {
    /// Whether the status is final.
    #[must_use]
    pub fn is_final(self) -> bool {
        self != Self::Scraping
    }
}

/// Response of `POST /v2/crawl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Started {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// Job id.
    #[schema(value_type = String, format = "uuid")]
    pub id: Uuid,
    /// URL at which the progress can be read.
    pub url: String,
}

/// Response of `POST /v2/batch/scrape`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BatchStarted {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// Job id.
    #[schema(value_type = String, format = "uuid")]
    pub id: Uuid,
    /// URL at which the progress can be read.
    pub url: String,
    /// Invalid entries of `urls`, as given; only with `ignoreInvalidURLs`.
    #[serde(rename = "invalidURLs", default, skip_serializing_if = "Option::is_none")]
    pub invalid_urls: Option<Vec<String>>,
}

/// Response to cancelling a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Cancelled {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// Always `cancelled`.
    pub status: JobStatus,
}

/// Progress of a job, as returned by its URL and sent by the watcher.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobProgress {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// Status of the job.
    pub status: JobStatus,
    /// Number of pages that are done, running or queued. Failed pages are not counted.
    #[schema(minimum = 0)]
    pub total: u64,
    /// Number of pages that are done.
    #[schema(minimum = 0)]
    pub completed: u64,
    /// Credits charged so far.
    pub credits_used: i64,
    /// Start time, RFC 3339.
    #[serde(with = "stamp")]
    #[schema(value_type = String, format = "date-time")]
    pub created_at: Timestamp,
    /// End time, RFC 3339; absent while the job runs.
    #[serde(default, with = "stamp::optional", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = "date-time")]
    pub completed_at: Option<Timestamp>,
    /// Duration in seconds: so far while the job runs, in total afterwards.
    #[schema(minimum = 0)]
    pub duration: u64,
    /// Time until which the results can be read, RFC 3339.
    #[serde(with = "stamp")]
    #[schema(value_type = String, format = "date-time")]
    pub expires_at: Timestamp,
    /// URL of the next page of documents; absent if no further documents are available yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Warning for the caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// Reason for the failure, if the status is `failed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Documents in order of completion.
    // Passed on as stored, without parsing.
    #[schema(value_type = Vec<Document>)]
    pub data: Vec<Box<RawValue>>,
}

/// Message of a job's watcher.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum WatchMessage<'a> {
    /// First message: progress, with the documents that already exist.
    Catchup {
        /// Progress without `next`; further documents follow as messages.
        data: &'a JobProgress,
    },
    /// One further document.
    Document {
        /// The document as stored.
        #[schema(value_type = Document)]
        data: &'a RawValue,
    },
    /// Final message, after the last document.
    Done {
        /// Progress without documents: one client would count them twice.
        data: &'a JobProgress,
    },
    /// The job failed, or can no longer be watched.
    Error {
        /// Reason for the failure.
        error: &'a str,
    },
}

/// Response of `GET /v2/crawl/{id}/errors`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobErrors {
    /// Pages that failed or were skipped, oldest first.
    pub errors: Vec<JobError>,
    /// URLs disallowed by robots.txt.
    pub robots_blocked: Vec<String>,
    /// URL of the next page of entries; present only if they exceed one response, about 10 MB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Page that failed or was skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JobError {
    /// Id of the entry.
    pub id: String,
    /// URL of the page.
    pub url: String,
    /// Machine-readable reason: an error code, or `EXTERNAL_LINK` for the homepage of another site.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Human-readable reason.
    pub error: String,
    /// Time of the failure, RFC 3339.
    #[serde(with = "stamp")]
    #[schema(value_type = String, format = "date-time")]
    pub timestamp: Timestamp,
}

/// Response of `GET /v2/crawl/active`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ActiveCrawls {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// Active crawls, oldest first.
    pub crawls: Vec<ActiveCrawl>,
    /// Note on what was left out, if the response would be too large.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// Active crawl.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActiveCrawl {
    /// Job id.
    #[schema(value_type = String, format = "uuid")]
    pub id: Uuid,
    /// Id of the team that started the crawl.
    pub team_id: String,
    /// Start URL.
    pub url: String,
    /// Options of the crawl, without those that are too large to list.
    #[schema(value_type = Option<Object>)]
    pub options: Value,
}

/// Query parameters of `GET /v2/crawl/{id}` and `GET /v2/batch/scrape/{id}`: the range of documents to read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ResultsQuery {
    /// Number of documents to skip
    pub skip: Option<u64>,
    /// Maximum number of documents
    #[param(minimum = 1)]
    pub limit: Option<u32>,
}

impl QueryParams for ResultsQuery {
    fn decode(query: &str) -> Result<Self, Invalid> {
        query::decode(query, |fields| {
            Some(Self {
                skip: fields.take("skip").and_then(Field::filled).and_then(|field| field.digits(..)),
                limit: fields.take("limit").and_then(Field::filled).and_then(|field| field.digits(1..)),
            })
        })
    }
}

/// Query parameters of `GET /v2/crawl/{id}/errors` and `GET /v2/batch/scrape/{id}/errors`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ErrorsQuery {
    /// Taken from `next` of the previous answer
    #[param(value_type = Option<String>, format = "uuid")]
    pub after: Option<Uuid>,
}

impl QueryParams for ErrorsQuery {
    fn decode(query: &str) -> Result<Self, Invalid> {
        query::decode(query, |fields| {
            Some(Self { after: fields.take("after").and_then(Field::filled).and_then(Field::id) })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_documents() {
        let check = |query: &str, want: Result<(Option<u64>, Option<u32>), &str>| {
            let got = ResultsQuery::decode(query).map(|query| (query.skip, query.limit));
            assert_eq!(got.map_err(|invalid| invalid.message), want.map_err(str::to_owned), "{query}");
        };
        check("", Ok((None, None)));
        check("skip=&limit=", Ok((None, None)));
        check("skip=0&limit=7&other=x", Ok((Some(0), Some(7))));
        check("skip=-1", Err("`skip` must be a whole number"));
        check("limit=0", Err("`limit` must be a whole number of at least 1"));
        check("limit=4294967296", Err("`limit` must be a whole number of at least 1"));
    }

    #[test]
    fn pages_of_errors() {
        let check = |query: &str, want: Result<bool, &str>| {
            let got = ErrorsQuery::decode(query).map(|query| query.after.is_some());
            assert_eq!(got.map_err(|invalid| invalid.message), want.map_err(str::to_owned), "{query}");
        };
        check("", Ok(false));
        check("after=", Ok(false));
        check("after=00000000-0000-7000-8000-000000000000", Ok(true));
        check("after=x", Err("`after` must be an id"));
    }
}
