//! The Brave Search API.

use async_trait::async_trait;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::Value;

use crate::adapter::{Access, Adapter, AskedPage, Page, results};
use crate::endpoint::{Answered, list, pixels, secret_header, some_text, text};
use crate::error::EngineError;
use crate::language::{country_for_brave, for_brave};
use crate::query::{Source, days};
use crate::sieve::{Raw, RawImage};
use crate::text::Notation;

/// Results of one page: the maximum for web pages, and enough for news.
const WEB_PAGE: usize = 20;
/// Maximum number of pages: `offset` ends at 9.
const MOST_PAGES: usize = 10;
/// Maximum number of images, which come in one page.
const IMAGES: usize = 150;
/// Setting of the key.
const SETTING: &str = "search.brave_key";

/// The Brave Search API.
pub(crate) struct Brave(pub(crate) Access);

impl Brave {
    /// URL of the API.
    pub(crate) const BASE: &str = "https://api.search.brave.com/";
}

#[async_trait]
impl Adapter for Brave {
    fn name(&self) -> &'static str {
        "brave"
    }

    fn offers(&self, _: Source) -> bool {
        true
    }

    fn notation(&self) -> Notation {
        Notation { chars: 400, words: 50, has_sites: true }
    }

    fn most_pages(&self, source: Source) -> usize {
        if source == Source::Images { 1 } else { MOST_PAGES }
    }

    async fn page(&self, asked: &AskedPage<'_>) -> Result<Page, EngineError> {
        let (mut url, count) = match asked.query.source {
            Source::Web => (self.0.url("res/v1/web/search"), WEB_PAGE),
            Source::News => (self.0.url("res/v1/news/search"), WEB_PAGE),
            Source::Images => (self.0.url("res/v1/images/search"), IMAGES),
        };
        let pairs = parameters(asked, count);
        url.query_pairs_mut().extend_pairs(pairs.iter().map(|(name, value)| (*name, value.as_str())));
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        headers.extend(secret_header(self.0.key.expose()).map(|key| (KEY, key)));
        let answered = self.0.endpoint.get(url, headers, asked.query.deadline).await?;
        let body = refusal(answered, asked)?;
        match asked.query.source {
            Source::Web => {
                let has_more = body["query"]["more_results_available"].as_bool().unwrap_or(true);
                let found = list(&body, "/web/results")?;
                Ok(Page { results: results(found, web), has_more: has_more && !found.is_empty(), warnings: Vec::new() })
            }
            Source::News => {
                let found = list(&body, "/results")?;
                let has_more = found.len() >= WEB_PAGE;
                Ok(Page { results: results(found, news), has_more, warnings: Vec::new() })
            }
            Source::Images => {
                let found = list(&body, "/results")?;
                Ok(Page { results: results(found, image), has_more: false, warnings: Vec::new() })
            }
        }
    }
}

const KEY: header::HeaderName = header::HeaderName::from_static("x-subscription-token");

fn parameters(asked: &AskedPage<'_>, count: usize) -> Vec<(&'static str, String)> {
    let query = asked.query;
    let is_images = query.source == Source::Images;
    let mut pairs = vec![("q", asked.text.to_owned()), ("count", count.to_string())];
    pairs.extend(query.country.map(|country| ("country", country_for_brave(country))));
    pairs.extend(for_brave(query).map(|language| ("search_lang", language)));
    // Images have no step between all and nothing.
    let safe = match (query.safe, is_images) {
        (false, _) => "off",
        (true, true) => "strict",
        (true, false) => "moderate",
    };
    pairs.push(("safesearch", safe.to_owned()));
    if is_images {
        return pairs;
    }
    pairs.push(("offset", asked.number.to_string()));
    let dates = query.window().and_then(|window| days(window, asked.now));
    pairs.extend(dates.map(|[from, to]| ("freshness", format!("{from}to{to}"))));
    if query.source == Source::Web {
        pairs.push(("result_filter", "web".to_owned()));
        pairs.push(("text_decorations", "false".to_owned()));
    }
    pairs
}

/// Returns the answer of a success. An invalid key is 422 here, and a used-up account 429 or 402.
fn refusal(answered: Answered, asked: &AskedPage<'_>) -> Result<Value, EngineError> {
    let code = answered.body.as_ref().and_then(|body| body["error"]["code"].as_str()).unwrap_or_default();
    match (answered.status, code) {
        (status, "SUBSCRIPTION_TOKEN_INVALID") => {
            Err(EngineError::Unauthorized { status: status.as_u16(), setting: SETTING })
        }
        (StatusCode::TOO_MANY_REQUESTS, "QUOTA_LIMITED" | "QUOTA_EXCEEDED" | "USAGE_LIMIT_EXCEEDED") => {
            Err(EngineError::Quota)
        }
        _ => answered.json(SETTING, asked.now),
    }
}

fn web(item: &Value) -> Option<Raw> {
    Some(Raw {
        url: some_text(item, "url")?,
        title: text(item, "title"),
        text: text(item, "description"),
        published: some_text(item, "page_age").or_else(|| some_text(item, "age")),
        image: None,
    })
}

fn news(item: &Value) -> Option<Raw> {
    let picture = some_text(&item["thumbnail"], "original").or_else(|| some_text(&item["thumbnail"], "src"));
    let image = picture.map(|url| RawImage { url, ..RawImage::default() });
    Some(Raw { image, ..web(item)? })
}

fn image(item: &Value) -> Option<Raw> {
    let properties = &item["properties"];
    let image = some_text(properties, "url").map(|url| RawImage {
        url,
        width: pixels(&properties["width"]),
        height: pixels(&properties["height"]),
    });
    Some(Raw { url: some_text(item, "url")?, title: text(item, "title"), image, ..Raw::default() })
}
