//! The engines against doubles of their APIs, written from the documentation of each.

mod apis;
mod chain;
mod failures;
mod searxng;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use base::{Clock, Secret};
use parking_lot::Mutex;
use serde_json::Value;
use testkit::{ManualClock, Reply, Seen, Site};
use tokio::time::Instant;
use url::Url;

use crate::adapter::{Access, Adapter};
use crate::allowance::Allowance;
use crate::answer::EngineAnswer;
use crate::brave::Brave;
use crate::endpoint::Endpoint;
use crate::engine::SearchEngine;
use crate::error::EngineError;
use crate::google::Google;
use crate::months::Months;
use crate::operators::Words;
use crate::query::{EngineQuery, Source};
use crate::rounds::WebEngine;
use crate::searxng::Searxng;
use crate::serper::Serper;
use crate::settings::{EngineName, Limit};
use crate::tavily::Tavily;

/// Time of the tests: 2026-11-26 12:00 UTC.
pub(crate) const NOW: &str = "2026-11-26T12:00:00Z";
/// Key of the tests, which must appear in no message.
pub(crate) const KEY: &str = "hush9";

/// Returns a query for web pages with everything else unset.
pub(crate) fn query(words: &Words) -> EngineQuery<'_> {
    EngineQuery {
        team: "t",
        text: &words.text,
        operators: &words.operators,
        source: Source::Web,
        limit: 5,
        domains: None,
        time: None,
        sort_by_date: false,
        country: None,
        language: None,
        location: None,
        safe: true,
        deadline: Instant::now() + Duration::from_secs(5),
        private: false,
    }
}

/// A double of one engine's API, and the engine that asks it.
pub(crate) struct Double {
    pub(crate) site: Site,
    pub(crate) engine: WebEngine,
}

impl Double {
    pub(crate) async fn start(name: EngineName) -> Self {
        Self::limited(name, Limit::default()).await
    }

    pub(crate) async fn limited(name: EngineName, limit: Limit) -> Self {
        let site = Site::start().await;
        let adapter = adapter(name, site.url("/"));
        let allowance = Allowance::new(name.as_str(), limit, Arc::new(CountedHere::default()));
        let engine = WebEngine { adapter, allowance, pages: pages(), clock: clock() };
        Self { site, engine }
    }

    /// Answers every request with the JSON that `make` gives for its parameters: the query string, or the body.
    pub(crate) fn answers(&self, make: impl Fn(&Seen) -> Value + Send + Sync + 'static) {
        self.site.others(move |seen| Some(json(&make(seen))));
    }

    pub(crate) fn replies(&self, reply: Reply) {
        self.site.others(move |_| Some(reply.clone()));
    }

    pub(crate) async fn search(&self, query: &EngineQuery<'_>) -> Result<EngineAnswer, EngineError> {
        self.engine.search(query).await
    }

    /// Returns the paths that were asked for, without their queries.
    pub(crate) fn paths(&self) -> Vec<String> {
        let path = |seen: Seen| seen.path.split('?').next().unwrap_or_default().to_owned();
        self.site.requests().into_iter().map(path).collect()
    }

    /// Returns a parameter of each request, in order; empty where it is missing.
    pub(crate) fn sent(&self, name: &str) -> Vec<String> {
        self.site.requests().iter().map(|seen| parameter(seen, name)).collect()
    }
}

/// Returns a parameter of the query string, or a member of the body.
pub(crate) fn parameter(seen: &Seen, name: &str) -> String {
    let url = Url::parse("http://double.test").unwrap().join(&seen.path).unwrap();
    let in_query = url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    let in_body = || match &serde_json::from_slice::<Value>(&seen.body).ok()?[name] {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    in_query.or_else(in_body).unwrap_or_default()
}

pub(crate) fn json(body: &Value) -> Reply {
    let reply = Reply { body: body.to_string().into_bytes().into(), ..Reply::default() };
    reply.header("content-type", "application/json")
}

fn adapter(name: EngineName, base: Url) -> Box<dyn Adapter> {
    let access =
        Access { endpoint: Endpoint::new(&base, Duration::from_secs(1)).unwrap(), base, key: Secret::new(KEY) };
    match name {
        EngineName::Searxng => Box::new(Searxng(access)),
        EngineName::Brave => Box::new(Brave(access)),
        EngineName::Serper => Box::new(Serper(access)),
        EngineName::Google => Box::new(Google { access, cx: "cx1".to_owned() }),
        EngineName::Tavily => Box::new(Tavily(access)),
        EngineName::Index => unreachable!("the index is no engine of the web"),
    }
}

/// Count of requests in memory; `None` if it is broken.
pub(crate) struct CountedHere(Mutex<Option<HashMap<(&'static str, String), u32>>>);

impl Default for CountedHere {
    fn default() -> Self {
        Self(Mutex::new(Some(HashMap::new())))
    }
}

impl CountedHere {
    pub(crate) fn broken() -> Self {
        Self(Mutex::new(None))
    }
}

#[async_trait]
impl Months for CountedHere {
    async fn take(&self, engine: &'static str, month: &str, most: u32) -> Result<bool, String> {
        let mut counts = self.0.lock();
        let count = counts.as_mut().ok_or("broken")?.entry((engine, month.to_owned())).or_default();
        *count += 1;
        Ok(*count <= most)
    }
}

/// Returns a client for pages that may reach the public web and nothing else.
pub(crate) fn pages() -> net::Client {
    net::Client::new(net::Config::default()).unwrap()
}

pub(crate) fn clock() -> Arc<dyn Clock> {
    Arc::new(ManualClock::new(NOW.parse().unwrap()))
}

/// Returns the URLs of an answer.
pub(crate) fn urls(answer: &EngineAnswer) -> Vec<&str> {
    answer.results.iter().map(|result| result.url.as_str()).collect()
}
