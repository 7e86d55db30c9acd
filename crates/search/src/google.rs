//! The Custom Search JSON API of Google. It has no news.

use async_trait::async_trait;
use http::{HeaderMap, StatusCode, header};
use serde_json::Value;

use crate::adapter::{Access, Adapter, AskedPage, Page, results};
use crate::endpoint::{Answered, list, pixels, secret_header, some_text, text};
use crate::error::EngineError;
use crate::language::for_google;
use crate::query::{Source, days};
use crate::sieve::{Raw, RawImage};
use crate::text::Notation;

/// Results of one page: the maximum.
const PAGE: usize = 10;
/// Maximum number of pages: the API ends at 100 results.
const MOST_PAGES: usize = 10;
/// Setting of the key.
const SETTING: &str = "search.google_key";
const KEY: header::HeaderName = header::HeaderName::from_static("x-goog-api-key");

/// The Custom Search JSON API.
pub(crate) struct Google {
    pub(crate) access: Access,
    /// Id of the search engine.
    pub(crate) cx: String,
}

impl Google {
    /// URL of the API.
    pub(crate) const BASE: &str = "https://www.googleapis.com/";
}

#[async_trait]
impl Adapter for Google {
    fn name(&self) -> &'static str {
        "google"
    }

    fn offers(&self, source: Source) -> bool {
        source != Source::News
    }

    fn notation(&self) -> Notation {
        Notation { chars: 2000, words: 32, has_sites: true }
    }

    fn most_pages(&self, _: Source) -> usize {
        MOST_PAGES
    }

    async fn page(&self, asked: &AskedPage<'_>) -> Result<Page, EngineError> {
        let mut url = self.access.url("customsearch/v1");
        let pairs = self.parameters(asked);
        url.query_pairs_mut().extend_pairs(pairs.iter().map(|(name, value)| (*name, value.as_str())));
        // In a header, because URLs are seen by more eyes.
        let mut headers = HeaderMap::new();
        headers.extend(secret_header(self.access.key.expose()).map(|key| (KEY, key)));
        let answered = self.access.endpoint.get(url, headers, asked.query.deadline).await?;
        let body = refusal(answered, asked)?;
        let found = list(&body, "/items")?;
        let read = if asked.query.source == Source::Images { image } else { web };
        let has_more = body["queries"]["nextPage"].is_array() && !found.is_empty();
        Ok(Page { results: results(found, read), has_more, warnings: Vec::new() })
    }
}

impl Google {
    fn parameters(&self, asked: &AskedPage<'_>) -> Vec<(&'static str, String)> {
        let query = asked.query;
        let mut pairs = vec![
            ("cx", self.cx.clone()),
            ("q", asked.text.to_owned()),
            ("num", PAGE.to_string()),
            ("start", (asked.number * PAGE + 1).to_string()),
            ("safe", if query.safe { "active" } else { "off" }.to_owned()),
        ];
        pairs.extend(query.country.map(|country| ("gl", country.to_ascii_lowercase())));
        pairs.extend(for_google(query).map(|language| ("lr", language)));
        if query.source == Source::Images {
            pairs.push(("searchType", "image".to_owned()));
        }
        // `date:r:` is a range of dates, which also sorts by them; `date` sorts alone.
        let range = query.window().and_then(|window| days(window, asked.now));
        let sort = match range {
            Some([from, to]) => Some(format!("date:r:{}:{}", from.format("%Y%m%d"), to.format("%Y%m%d"))),
            None => query.sort_by_date.then(|| "date".to_owned()),
        };
        pairs.extend(sort.map(|sort| ("sort", sort)));
        pairs
    }
}

/// Returns the answer of a success. An invalid key is 400 here, and a used-up account 429 or 403.
fn refusal(answered: Answered, asked: &AskedPage<'_>) -> Result<Value, EngineError> {
    let status = answered.status;
    let body = answered.body.as_ref();
    let reasons: Vec<&str> = body
        .into_iter()
        .flat_map(|body| ["/error/errors", "/error/details"].map(|at| body.pointer(at).and_then(Value::as_array)))
        .flatten()
        .flatten()
        .filter_map(|entry| entry["reason"].as_str())
        .collect();
    let has = |names: &[&str]| reasons.iter().any(|reason| names.contains(reason));
    if status == StatusCode::BAD_REQUEST && has(&["API_KEY_INVALID", "keyInvalid"]) {
        return Err(EngineError::Unauthorized { status: status.as_u16(), setting: SETTING });
    }
    if has(&["dailyLimitExceeded", "quotaExceeded", "dailyLimitExceededUnreg", "limitExceeded"]) {
        return Err(EngineError::Quota);
    }
    answered.json(SETTING, asked.now)
}

fn web(item: &Value) -> Option<Raw> {
    let tags = &item["pagemap"]["metatags"][0];
    let published = ["article:published_time", "og:published_time", "date", "dc.date"];
    Some(Raw {
        url: some_text(item, "link")?,
        title: text(item, "title"),
        text: text(item, "snippet"),
        published: published.iter().find_map(|key| some_text(tags, key)),
        image: None,
    })
}

fn image(item: &Value) -> Option<Raw> {
    let (about, url) = (&item["image"], some_text(item, "link")?);
    let image = RawImage { url, width: pixels(&about["width"]), height: pixels(&about["height"]) };
    Some(Raw {
        url: some_text(about, "contextLink")?,
        title: text(item, "title"),
        text: text(item, "snippet"),
        image: Some(image),
        ..Raw::default()
    })
}
