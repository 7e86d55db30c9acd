//! The request of `POST /v2/batch/scrape` (docs/CONTRACT.md, "Batch").

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
use crate::read::{self, Field, Fields};
use crate::scrape::ScrapeOptions;
use crate::source::SourceUrl;
use crate::target::target_url;
use crate::webhook_config::{WebhookConfig, WebhookEntry};

/// Most URLs of one batch.
pub const MAX_BATCH_URLS: usize = 100_000;
/// Longest entry of `urls` that is read at all, in characters, whether it is a URL or not.
const MAX_ENTRY_CHARS: usize = 100_000;

/// Pages to scrape in one job. Written as JSON it reads back as the same request.
#[derive(Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BatchRequest {
    /// The pages as they were given, in their order; see [`BatchRequest::pages`].
    #[schema(min_items = 1, max_items = 100000)]
    pub urls: Vec<String>,
    /// How to scrape them; siblings of `urls` on the wire.
    #[serde(flatten)]
    pub options: ScrapeOptions,
    /// Where events are sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<WebhookEntry>)]
    pub webhook: Option<WebhookConfig>,
    /// Id of a batch that the pages are added to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = "uuid")]
    pub append_to_id: Option<Uuid>,
    /// Report URLs that cannot be used in `invalidURLs` instead of refusing the request.
    #[serde(rename = "ignoreInvalidURLs")]
    #[schema(required = false, default = true)]
    pub ignore_invalid_urls: bool,
    /// Most scrapes at the same time; the team's limit when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 10000)]
    pub max_concurrency: Option<u32>,
    /// Keep nothing of the pages beyond the job. The operator enables it per team.
    #[schema(required = false, default = false)]
    pub zero_data_retention: bool,
    /// Who calls; siblings of `urls` on the wire.
    #[serde(flatten)]
    pub attribution: Attribution,
}

/// The pages of a batch, sorted by whether they can be scraped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BatchPages {
    /// Good URLs in the order given; one that was given twice is here twice.
    pub valid: Vec<BatchPage>,
    /// The other entries as they were given.
    pub invalid: Vec<String>,
}

/// One page of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchPage {
    /// Its URL.
    pub url: Url,
    /// The URL as it was given.
    pub source: SourceUrl,
}

/// Decodes the body of `POST /v2/batch/scrape`, and a [`BatchRequest`] that was written down.
///
/// # Errors
/// [`Invalid`] with every fault (up to 20), each with the path of its field. With `ignoreInvalidURLs`, the default, an
/// entry that is not the URL of a page is left out; it is a fault only when none is left.
///
/// ```
/// let body = serde_json::json!({ "urls": ["https://example.com", "mailto:a@b"], "ignoreInvalidURLs": false });
/// let invalid = wire::decode_batch(body).unwrap_err();
/// assert_eq!(invalid.message, "`urls[1]` must be an absolute http or https URL");
/// ```
pub fn decode_batch(body: Value) -> Result<BatchRequest, Invalid> {
    read::body(body, BatchRequest::read)
}

/// Decodes scrape options that stand alone, as jobs keep them.
///
/// # Errors
/// As [`decode_batch`].
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
    /// Whether URLs must stay out of logs: zero retention, or lockdown, which counts as such.
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.zero_data_retention || self.options.lockdown
    }

    /// The entries of `urls`, read.
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
            fields.refuse("urls", "must have at least one http or https URL");
        }
        let options = page_options(fields);
        let webhook = fields.take("webhook").and_then(WebhookConfig::read);
        let append_to_id = fields.take("appendToId").and_then(|field| field.parse(batch_id));
        let max_concurrency = fields.take("maxConcurrency").and_then(|field| field.whole32(1..=MAX_CONCURRENCY));
        let zero_data_retention = fields.flag("zeroDataRetention", false);
        if zero_data_retention && options.only_clean_content {
            fields.refuse("onlyCleanContent", "must not stand beside `zeroDataRetention`");
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

/// Whether one of them can be scraped is for [`BatchRequest::read`] to look at.
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
    /// Shows how many pages, not which: paths and queries carry tokens.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchRequest")
            .field("urls", &self.urls.len())
            .field("options", &self.options)
            .field("webhook", &self.webhook)
            .finish_non_exhaustive()
    }
}
