//! Tavily. It has no images of their own, and no further pages.

use async_trait::async_trait;
use http::{HeaderMap, header};
use serde_json::{Value, json};

use crate::adapter::{Access, Adapter, AskedPage, Page, results};
use crate::endpoint::{Answered, list, secret_header, some_text, text};
use crate::error::EngineError;
use crate::query::{EngineQuery, Source, days};
use crate::sieve::Raw;
use crate::text::{Notation, excluded, sites};

/// Maximum number of results.
const MOST_RESULTS: usize = 20;
/// Maximum number of domains that are left out.
const MOST_EXCLUDED: usize = 150;
/// Setting of the key.
const SETTING: &str = "search.tavily_key";

/// Tavily.
pub(crate) struct Tavily(pub(crate) Access);

impl Tavily {
    /// URL of the API.
    pub(crate) const BASE: &str = "https://api.tavily.com/";
}

#[async_trait]
impl Adapter for Tavily {
    fn name(&self) -> &'static str {
        "tavily"
    }

    fn offers(&self, source: Source) -> bool {
        source != Source::Images
    }

    fn notation(&self) -> Notation {
        Notation { chars: 400, words: 80, has_sites: false }
    }

    fn most_pages(&self, _: Source) -> usize {
        1
    }

    async fn page(&self, asked: &AskedPage<'_>) -> Result<Page, EngineError> {
        let mut headers = HeaderMap::new();
        let key = secret_header(&format!("Bearer {}", self.0.key.expose()));
        headers.extend(key.map(|key| (header::AUTHORIZATION, key)));
        let body = body(asked);
        let answered = self.0.endpoint.post(self.0.url("search"), headers, &body, asked.query.deadline).await?;
        let body = refusal(answered, asked)?;
        Ok(Page { results: results(list(&body, "/results")?, result), ..Page::default() })
    }
}

fn body(asked: &AskedPage<'_>) -> Value {
    let query = asked.query;
    let topic = if query.source == Source::News { "news" } else { "general" };
    let mut body = json!({
        "query": asked.text,
        "topic": topic,
        "search_depth": "basic",
        "max_results": query.limit.min(MOST_RESULTS),
        "include_answer": false,
        "include_raw_content": false,
    });
    let include = sites(query);
    if !include.is_empty() {
        body["include_domains"] = json!(include);
    }
    let exclude = all_excluded(query);
    if !exclude.is_empty() {
        body["exclude_domains"] = json!(exclude);
    }
    if let Some([from, to]) = query.window().and_then(|window| days(window, asked.now)) {
        body["start_date"] = json!(from.to_string());
        body["end_date"] = json!(to.to_string());
    }
    body
}

fn all_excluded<'a>(query: &EngineQuery<'a>) -> Vec<&'a str> {
    let all = query.operators.not_sites.iter().chain(excluded(query));
    all.map(String::as_str).take(MOST_EXCLUDED).collect()
}

/// Returns the answer of a success. A used-up account has statuses of its own.
fn refusal(answered: Answered, asked: &AskedPage<'_>) -> Result<Value, EngineError> {
    match answered.status.as_u16() {
        432 | 433 => Err(EngineError::Quota),
        _ => answered.json(SETTING, asked.now),
    }
}

fn result(item: &Value) -> Option<Raw> {
    Some(Raw {
        url: some_text(item, "url")?,
        title: text(item, "title"),
        text: text(item, "content"),
        published: some_text(item, "published_date"),
        image: None,
    })
}
