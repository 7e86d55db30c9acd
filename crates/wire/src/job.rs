//! What crawls and batches answer: started, progress, errors, and the messages of the watcher (docs/CONTRACT.md,
//! "Jobs", "Reading a job" and "Watcher").

use base::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::document::Document;
use crate::error::Invalid;
use crate::stamp;
use crate::words::words;

words! {
    /// How far a job is. Clients know no other words, so waiting counts as scraping.
    pub enum JobStatus {
        /// It waits or runs.
        Scraping = "scraping",
        /// Every page is done.
        Completed = "completed",
        /// It could not go on.
        Failed = "failed",
        /// It was stopped by its team.
        Cancelled = "cancelled",
    }
}

impl JobStatus {
    /// Whether nothing will change any more.
    #[must_use]
    pub fn is_final(self) -> bool {
        self != Self::Scraping
    }
}

/// The answer to `POST /v2/crawl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Started {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// Id of the job.
    #[schema(value_type = String, format = "uuid")]
    pub id: Uuid,
    /// Where its progress is read.
    pub url: String,
}

/// The answer to `POST /v2/batch/scrape`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BatchStarted {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// Id of the job.
    #[schema(value_type = String, format = "uuid")]
    pub id: Uuid,
    /// Where its progress is read.
    pub url: String,
    /// Entries of `urls` that cannot be scraped, as they were given; with `ignoreInvalidURLs`.
    #[serde(rename = "invalidURLs", default, skip_serializing_if = "Option::is_none")]
    pub invalid_urls: Option<Vec<String>>,
}

/// The answer to a `DELETE`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Cancelled {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// Always `cancelled`.
    pub status: JobStatus,
}

/// How a job stands: the part of its progress that the watcher sends too.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobProgress {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// How far it is.
    pub status: JobStatus,
    /// Pages that are done or still to do; pages that failed are not counted.
    #[schema(minimum = 0)]
    pub total: u64,
    /// Pages that are done.
    #[schema(minimum = 0)]
    pub completed: u64,
    /// Credits charged so far.
    pub credits_used: i64,
    /// When it was started, RFC 3339.
    #[serde(with = "stamp")]
    #[schema(value_type = String, format = "date-time")]
    pub created_at: Timestamp,
    /// When it ended, RFC 3339.
    #[serde(default, with = "stamp::optional", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = "date-time")]
    pub completed_at: Option<Timestamp>,
    /// Seconds that it has taken so far or took in all.
    #[schema(minimum = 0)]
    pub duration: u64,
    /// Until when it can be read, RFC 3339.
    #[serde(with = "stamp")]
    #[schema(value_type = String, format = "date-time")]
    pub expires_at: Timestamp,
    /// Where the next documents are read; only when there are some already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// Why it failed, with status `failed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Documents in the order in which their pages were done, as they were stored: nothing is parsed again.
    #[schema(value_type = Vec<Document>)]
    pub data: Vec<Box<RawValue>>,
}

/// What the watcher of a job sends.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum WatchMessage<'a> {
    /// First: how it stands, with the first documents that are there already.
    Catchup {
        /// Without `next`: the other documents follow.
        data: &'a JobProgress,
    },
    /// One more document.
    Document {
        /// As it was stored.
        #[schema(value_type = Document)]
        data: &'a RawValue,
    },
    /// The end, after the last document.
    Done {
        /// Without documents: one client would count them twice.
        data: &'a JobProgress,
    },
    /// It has failed, or cannot be watched any longer.
    Error {
        /// Why.
        error: &'a str,
    },
}

/// The answer to `GET /v2/crawl/{id}/errors`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobErrors {
    /// Pages that were given up or left out, oldest first.
    pub errors: Vec<JobError>,
    /// URLs that robots.txt forbids.
    pub robots_blocked: Vec<String>,
    /// Where the next entries are read; only when there are more than fit into one answer, about 10 MB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A page that was given up or left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JobError {
    /// Id of this entry.
    pub id: String,
    /// The page.
    pub url: String,
    /// Why, for programs: an error code, or `EXTERNAL_LINK` for the homepage of another site.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Why, for people.
    pub error: String,
    /// When, RFC 3339.
    #[serde(with = "stamp")]
    #[schema(value_type = String, format = "date-time")]
    pub timestamp: Timestamp,
}

/// The answer to `GET /v2/crawl/active`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ActiveCrawls {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// Crawls that have not ended, oldest first.
    pub crawls: Vec<ActiveCrawl>,
    /// What is missing, when the answer would be too large.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// A crawl that has not ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActiveCrawl {
    /// Id of the job.
    #[schema(value_type = String, format = "uuid")]
    pub id: Uuid,
    /// Whose it is.
    pub team_id: String,
    /// Where it started.
    pub url: String,
    /// What it was started with, without options that are too large to be listed.
    #[schema(value_type = Option<Object>)]
    pub options: Value,
}

/// Which documents of a job are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ResultsQuery {
    /// Documents before the first one.
    pub skip: Option<u64>,
    /// Most documents.
    pub limit: Option<u32>,
}

impl ResultsQuery {
    /// Reads the values of the parameters `skip` and `limit`. Empty ones count as not given.
    ///
    /// # Errors
    /// [`Invalid`] for a value that is no whole number, and for a `limit` of 0.
    ///
    /// ```
    /// use wire::ResultsQuery;
    ///
    /// let query = ResultsQuery::parse(Some("20"), None)?;
    /// assert_eq!(query, ResultsQuery { skip: Some(20), limit: None });
    /// assert_eq!(ResultsQuery::parse(None, Some("0")).unwrap_err().fields[0].path, "limit");
    /// # Ok::<(), wire::Invalid>(())
    /// ```
    pub fn parse(skip: Option<&str>, limit: Option<&str>) -> Result<Self, Invalid> {
        let given = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(str::to_owned);
        let skip = given(skip).map(|text| text.parse().map_err(|_| Invalid::at("skip", "must be a whole number")));
        let most = |text: String| match text.parse() {
            Ok(0) | Err(_) => Err(Invalid::at("limit", "must be a whole number of at least 1")),
            Ok(limit) => Ok(limit),
        };
        Ok(Self { skip: skip.transpose()?, limit: given(limit).map(most).transpose()? })
    }
}
