//! Request body of `POST /v2/batch/scrape` (docs/CONTRACT.md, "Batch").

use std::fmt;

use serde::Serialize;
use serde_json::Value;
use url::Url;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::admin::MAX_CONCURRENCY;
use crate::attribution::Attribution;
use crate::crawl::page_options;
use crate::error::Invalid;
use crate::event::BATCH_SCRAPE;
use crate::read::{self, Field, Fields};
use crate::scrape::ScrapeOptions;
use crate::source::SourceUrl;
use crate::target::target_url;
use crate::webhook_config::{WebhookConfig, WebhookEntry};

/// Maximum number of URLs per batch.
pub const MAX_BATCH_URLS: usize = 100_000;
/// Maximum length of an entry of `urls`, in characters, valid URL or not.
const MAX_ENTRY_CHARS: usize = 100_000;

/// List of pages to scrape in one job.
// Stored with the job as JSON, which decodes to the same request.
#[derive(Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BatchRequest {
    /// URLs of the pages to scrape, in this order. Entries are kept as given.
    #[schema(min_items = 1, max_items = 100000)]
    pub urls: Vec<String>,
    /// Scrape options, flattened into this object.
    #[serde(flatten)]
    pub options: ScrapeOptions,
    /// Webhook that receives the events of the job.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<WebhookEntry>)]
    pub webhook: Option<WebhookConfig>,
    /// Id of an existing batch to which the pages are added.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = "uuid")]
    pub append_to_id: Option<Uuid>,
    /// Whether invalid URLs are reported in `invalidURLs`. With `false`, one invalid URL fails the whole request.
    #[serde(rename = "ignoreInvalidURLs")]
    #[schema(required = false, default = true)]
    pub ignore_invalid_urls: bool,
    /// Maximum number of concurrent scrapes; the team's limit if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 10000)]
    pub max_concurrency: Option<u32>,
    /// Whether page content is discarded after the job (zero data retention). The operator enables it per team.
    #[schema(required = false, default = false)]
    pub zero_data_retention: bool,
    /// Client that makes the call, flattened into this object.
    #[serde(flatten)]
    pub attribution: Attribution,
}

/// Entries of a batch, split into valid and invalid URLs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BatchPages {
    /// Valid URLs in request order. Duplicates are kept.
    pub valid: Vec<BatchPage>,
    /// Invalid entries, as given.
    pub invalid: Vec<String>,
}

/// One page of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchPage {
    /// URL of the page.
    pub url: Url,
    /// Original spelling of the URL.
    pub source: SourceUrl,
}

/// Decodes the body of `POST /v2/batch/scrape`, or a stored [`BatchRequest`].
///
/// # Errors
/// [`Invalid`] with every fault (up to 20), each with the path of its field. With `ignoreInvalidURLs`, the default,
/// invalid URLs are skipped; the request fails only if none is left.
///
/// ```
/// let body = serde_json::json!({ "urls": ["https://example.com", "mailto:a@b"], "ignoreInvalidURLs": false });
/// let invalid = wire::decode_batch(body).unwrap_err();
/// assert_eq!(invalid.message, "`urls[1]` must be an absolute http or https URL");
/// ```
pub fn decode_batch(body: Value) -> Result<BatchRequest, Invalid> {
    read::body(body, BatchRequest::read)
}

/// Decodes scrape options on their own, as jobs store them.
///
/// # Errors
/// [`Invalid`], as for [`decode_batch`].
///
/// ```
/// let options = wire::ScrapeOptions { wait_for: 5, ..Default::default() };
/// assert_eq!(wire::decode_options(serde_json::to_value(&options)?)?, options);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn decode_options(options: Value) -> Result<ScrapeOptions, Invalid> {
    read::body(options, |fields| Some(page_options(fields)))
}

impl BatchRequest {
    /// Whether URLs must be kept out of logs: with zero data retention, or with `lockdown`, which implies it.
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.zero_data_retention || self.options.lockdown
    }

    /// Parses `urls` and splits it into valid and invalid entries.
    #[must_use]
    pub fn pages(&self) -> BatchPages {
        let mut pages = BatchPages::default();
        for text in &self.urls {
            match target_url(text) {
                Ok(url) => pages.valid.push(BatchPage { url, source: SourceUrl::new(text) }),
                Err(_) => pages.invalid.push(text.clone()),
            }
        }
        pages
    }

    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let ignore_invalid_urls = fields.flag("ignoreInvalidURLs", true);
        let read = |field: Field<'_>| field.list(1..=MAX_BATCH_URLS, |field| entry(field, ignore_invalid_urls));
        let urls = fields.need("urls").and_then(read);
        if urls.as_ref().is_some_and(|urls| !urls.is_empty() && urls.iter().all(|url| target_url(url).is_err())) {
            fields.refuse("urls", "must contain at least one http or https URL");
        }
        let options = page_options(fields);
        let webhook = fields.take("webhook").and_then(|field| WebhookConfig::read(&BATCH_SCRAPE, field));
        let append_to_id = fields.take("appendToId").and_then(|field| field.parse(batch_id));
        let max_concurrency = fields.take("maxConcurrency").and_then(|field| field.whole32(1..=MAX_CONCURRENCY));
        let zero_data_retention = fields.flag("zeroDataRetention", false);
        if zero_data_retention {
            options.check_zero_retention(fields, "");
        }
        let attribution = Attribution::read(fields);
        Some(Self {
            urls: urls?,
            options,
            webhook,
            append_to_id,
            ignore_invalid_urls,
            max_concurrency,
            zero_data_retention,
            attribution,
        })
    }
}

/// Reads one entry of `urls`. With `ignore_invalid` it may be any string; [`BatchRequest::read`] then requires at least
/// one valid URL.
fn entry(field: Field<'_>, ignore_invalid: bool) -> Option<String> {
    match ignore_invalid {
        true => field.text(0..=MAX_ENTRY_CHARS),
        false => field.parse(|text| target_url(text).map(|_| text.to_owned()).map_err(|error| error.to_string())),
    }
}

fn batch_id(text: &str) -> Result<Uuid, String> {
    Uuid::parse_str(text).map_err(|_| "must be the id of a batch scrape: a UUID".to_owned())
}

impl fmt::Debug for BatchRequest {
    /// Shows the number of pages instead of the URLs: paths and queries may contain tokens.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchRequest")
            .field("urls", &self.urls.len())
            .field("options", &self.options)
            .field("webhook", &self.webhook)
            .finish_non_exhaustive()
    }
}
