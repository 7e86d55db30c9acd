//! Serper: results of Google.

use async_trait::async_trait;
use base::Timestamp;
use chrono::Datelike;
use http::{HeaderMap, StatusCode, header};
use serde_json::{Value, json};

use crate::adapter::{Access, Adapter, AskedPage, Page, results};
use crate::endpoint::{Answered, list, pixels, secret_header, some_text, text};
use crate::error::EngineError;
use crate::language::for_serper;
use crate::query::{EngineQuery, Source, TimeWindow, days};
use crate::sieve::{Raw, RawImage};
use crate::text::Notation;

/// Results of one page. More are possible, at a higher price.
const PAGE: usize = 10;
/// Maximum number of pages.
const MOST_PAGES: usize = 10;
/// Setting of the key.
const SETTING: &str = "search.serper_key";
const KEY: header::HeaderName = header::HeaderName::from_static("x-api-key");

/// Serper.
pub(crate) struct Serper(pub(crate) Access);

impl Serper {
    /// URL of the API.
    pub(crate) const BASE: &str = "https://google.serper.dev/";
}

#[async_trait]
impl Adapter for Serper {
    fn name(&self) -> &'static str {
        "serper"
    }

    fn offers(&self, _: Source) -> bool {
        true
    }

    fn notation(&self) -> Notation {
        // Google reads the first 32 words.
        Notation { chars: 2000, words: 32, has_sites: true }
    }

    fn most_pages(&self, _: Source) -> usize {
        MOST_PAGES
    }

    async fn page(&self, asked: &AskedPage<'_>) -> Result<Page, EngineError> {
        let (path, pointer, read): (_, _, fn(&Value) -> Option<Raw>) = match asked.query.source {
            Source::Web => ("search", "/organic", web),
            Source::News => ("news", "/news", news),
            Source::Images => ("images", "/images", image),
        };
        let mut headers = HeaderMap::new();
        headers.extend(secret_header(self.0.key.expose()).map(|key| (KEY, key)));
        let body = body(asked);
        let answered = self.0.endpoint.post(self.0.url(path), headers, &body, asked.query.deadline).await?;
        let body = refusal(answered, asked)?;
        let found = list(&body, pointer)?;
        Ok(Page { results: results(found, read), has_more: !found.is_empty(), warnings: Vec::new() })
    }
}

fn body(asked: &AskedPage<'_>) -> Value {
    let query = asked.query;
    let mut body = json!({ "q": asked.text, "num": PAGE, "page": asked.number + 1 });
    if let Some(country) = query.country {
        body["gl"] = json!(country.to_ascii_lowercase());
    }
    if let Some(language) = for_serper(query) {
        body["hl"] = json!(language);
    }
    if let Some(location) = query.location {
        body["location"] = json!(location);
    }
    if query.safe {
        body["safe"] = json!("active");
    }
    if let Some(tbs) = tbs(query, asked.now) {
        body["tbs"] = json!(tbs);
    }
    body
}

/// Returns the age of results in the notation of Google: hours up to a day, otherwise dates.
fn tbs(query: &EngineQuery<'_>, now: Timestamp) -> Option<String> {
    let mut parts = Vec::new();
    if let Some(window) = query.window() {
        parts.push(hours(window, now).unwrap_or_else(|| dates(window, now)));
    }
    parts.extend(query.sort_by_date.then(|| "sbd:1".to_owned()));
    (!parts.is_empty()).then(|| parts.join(","))
}

fn hours(window: TimeWindow, now: Timestamp) -> Option<String> {
    let minutes = window.age(now).filter(|_| window.to.is_none())?.num_minutes();
    let hours = (minutes + 59) / 60;
    (hours <= 24).then(|| if hours <= 1 { "qdr:h".to_owned() } else { format!("qdr:h{hours}") })
}

fn dates(window: TimeWindow, now: Timestamp) -> String {
    let Some([from, to]) = days(window, now) else { return String::new() };
    let date = |date: chrono::NaiveDate| format!("{}/{}/{}", date.month(), date.day(), date.year());
    format!("cdr:1,cd_min:{},cd_max:{}", date(from), date(to))
}

/// Returns the answer of a success. A used-up account is 400 here.
fn refusal(answered: Answered, asked: &AskedPage<'_>) -> Result<Value, EngineError> {
    let message = answered.body.as_ref().and_then(|body| body["message"].as_str()).unwrap_or_default();
    if answered.status == StatusCode::BAD_REQUEST && message.to_ascii_lowercase().contains("credits") {
        return Err(EngineError::Quota);
    }
    answered.json(SETTING, asked.now)
}

fn web(item: &Value) -> Option<Raw> {
    Some(Raw {
        url: some_text(item, "link")?,
        title: text(item, "title"),
        text: text(item, "snippet"),
        published: some_text(item, "date"),
        image: None,
    })
}

fn news(item: &Value) -> Option<Raw> {
    let image = some_text(item, "imageUrl").map(|url| RawImage { url, ..RawImage::default() });
    Some(Raw { image, ..web(item)? })
}

fn image(item: &Value) -> Option<Raw> {
    let image = some_text(item, "imageUrl").map(|url| RawImage {
        url,
        width: pixels(&item["imageWidth"]),
        height: pixels(&item["imageHeight"]),
    });
    Some(Raw { url: some_text(item, "link")?, title: text(item, "title"), image, ..Raw::default() })
}
