//! The engines of a server together: order, fallback, cache and fusion.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use tokio::time::Instant;

use super::{CountedHere, Double, clock, pages, query};
use crate::answer::{EngineAnswer, EngineResult};
use crate::engine::SearchEngine;
use crate::engines::{Engines, Found, Parts};
use crate::error::{EngineError, Failures};
use crate::operators::Words;
use crate::query::{EngineQuery, Source};
use crate::settings::{EngineName, Settings};

/// Engine that always answers the same.
struct Fixed {
    name: &'static str,
    answer: Result<EngineAnswer, EngineError>,
    asked: Arc<AtomicUsize>,
}

impl Fixed {
    fn new(name: &'static str, answer: Result<&[&str], EngineError>) -> Self {
        let answer = answer.map(|urls| EngineAnswer {
            results: urls.iter().map(|url| EngineResult::new(url.parse().unwrap(), name)).collect(),
            warnings: Vec::new(),
        });
        Self { name, answer, asked: Arc::default() }
    }

    fn shared(self) -> Arc<dyn SearchEngine> {
        Arc::new(self)
    }
}

#[async_trait]
impl SearchEngine for Fixed {
    fn name(&self) -> &'static str {
        self.name
    }

    fn offers(&self, source: Source) -> bool {
        source == Source::Web
    }

    async fn search(&self, _: &EngineQuery<'_>) -> Result<EngineAnswer, EngineError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.answer.clone()
    }
}

const DOWN: EngineError = EngineError::Timeout;

fn engines(index: Option<Fixed>, web: Vec<Fixed>) -> Engines {
    Engines::of(index.map(Fixed::shared), web.into_iter().map(Fixed::shared).collect(), 1 << 20)
}

async fn ask(engines: &Engines) -> Result<Found, Failures> {
    engines.ask(&query(&Words::parse("granite"))).await
}

fn urls(found: &Found) -> Vec<&str> {
    found.results.iter().map(|result| result.url.as_str()).collect()
}

#[tokio::test]
async fn the_next_engine_is_asked_when_one_fails_or_finds_nothing() {
    let found = Fixed::new("brave", Ok(&["https://a.test/"]));
    let chain =
        vec![Fixed::new("searxng", Err(DOWN)), Fixed::new("tavily", Ok(&[])), found, Fixed::new("google", Err(DOWN))];
    let last = Arc::clone(&chain[3].asked);
    let found = ask(&engines(None, chain)).await.unwrap();
    assert_eq!((urls(&found), found.engines.as_slice()), (vec!["https://a.test/"], ["brave"].as_slice()));
    assert_eq!(found.warnings, ["searxng: it did not answer in time"]);
    assert_eq!(last.load(Ordering::SeqCst), 0, "no engine is asked after one that found something");
}

#[tokio::test]
async fn failures_are_no_empty_success() {
    let quota = EngineError::Quota;
    let failures =
        ask(&engines(None, vec![Fixed::new("searxng", Err(DOWN)), Fixed::new("brave", Err(quota.clone()))])).await;
    let failures = failures.unwrap_err();
    assert_eq!(
        failures.to_string(),
        "no search engine has answered: searxng: it did not answer in time; brave: the quota of its account is used up"
    );
    let with_empty_index = engines(Some(Fixed::new("index", Ok(&[]))), vec![Fixed::new("searxng", Err(DOWN))]);
    assert_eq!(ask(&with_empty_index).await.unwrap_err().list.len(), 1);
    let broken_index = engines(Some(Fixed::new("index", Err(DOWN))), vec![Fixed::new("searxng", Ok(&[]))]);
    assert!(ask(&broken_index).await.is_err());
    let nothing = engines(Some(Fixed::new("index", Ok(&[]))), vec![Fixed::new("searxng", Ok(&[]))]);
    assert!(ask(&nothing).await.unwrap().results.is_empty());
    let after_one = engines(None, vec![Fixed::new("searxng", Err(DOWN)), Fixed::new("brave", Ok(&[]))]);
    let after_one = ask(&after_one).await.unwrap();
    assert_eq!((after_one.results.len(), after_one.warnings.len()), (0, 1));
    let none = ask(&engines(None, Vec::new())).await.unwrap_err();
    assert_eq!(none.to_string(), "no search engine of this server offers web pages");
}

#[tokio::test]
async fn the_index_is_fused_with_the_web() {
    let index = Fixed::new("index", Ok(&["https://own.test/", "https://both.test/"]));
    let web = Fixed::new("searxng", Ok(&["https://web.test/", "http://www.both.test/?utm_source=x"]));
    let found = ask(&engines(Some(index), vec![web])).await.unwrap();
    assert_eq!(urls(&found), ["https://both.test/", "https://own.test/", "https://web.test/"]);
    assert_eq!(found.engines, ["index", "searxng"]);
    let index = Fixed::new("index", Ok(&["https://own.test/"]));
    let found = ask(&engines(Some(index), vec![Fixed::new("searxng", Err(DOWN))])).await.unwrap();
    assert_eq!((urls(&found), found.warnings.len()), (vec!["https://own.test/"], 1));
}

#[tokio::test]
async fn answers_are_kept_except_private_and_empty_ones() {
    let web = Fixed::new("searxng", Ok(&["https://a.test/"]));
    let asked = Arc::clone(&web.asked);
    let index = Fixed::new("index", Ok(&[]));
    let index_asked = Arc::clone(&index.asked);
    let engines = engines(Some(index), vec![web]);
    let words = Words::parse("granite");
    let mut again = query(&words);
    for _ in 0..3 {
        engines.ask(&again).await.unwrap();
    }
    assert_eq!((asked.load(Ordering::SeqCst), index_asked.load(Ordering::SeqCst)), (1, 3));
    again.private = true;
    engines.ask(&again).await.unwrap();
    engines.ask(&again).await.unwrap();
    assert_eq!(asked.load(Ordering::SeqCst), 3);
    again.private = false;
    again.country = Some("DE");
    engines.ask(&again).await.unwrap();
    assert_eq!(asked.load(Ordering::SeqCst), 4);
    let nothing = Fixed::new("brave", Ok(&[]));
    let asked = Arc::clone(&nothing.asked);
    let engines = self::engines(None, vec![nothing]);
    ask(&engines).await.unwrap();
    ask(&engines).await.unwrap();
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn the_deadline_ends_a_silent_engine() {
    let double = Double::start(EngineName::Searxng).await;
    double.site.others_by_script(|_| Some(testkit::Script::Hang(Duration::from_secs(30))));
    let engines = Engines::of(None, vec![Arc::new(double.engine)], 0);
    let words = Words::parse("granite");
    let mut query = query(&words);
    query.deadline = Instant::now() + Duration::from_millis(300);
    let start = Instant::now();
    let failures = engines.ask(&query).await.unwrap_err();
    assert_eq!(failures.list[0].error, EngineError::Timeout);
    assert!(start.elapsed() < Duration::from_secs(2));
}

#[tokio::test]
async fn an_engine_that_hangs_leaves_time_for_the_next() {
    let double = Double::start(EngineName::Searxng).await;
    double.site.others_by_script(|_| Some(testkit::Script::Hang(Duration::from_secs(30))));
    let next = Fixed::new("brave", Ok(&["https://a.test/"])).shared();
    let engines = Engines::of(None, vec![Arc::new(double.engine), next], 0);
    let words = Words::parse("granite");
    let mut query = query(&words);
    query.deadline = Instant::now() + Duration::from_millis(800);
    let found = engines.ask(&query).await.unwrap();
    assert_eq!((urls(&found), found.warnings.len()), (vec!["https://a.test/"], 1));
}

#[tokio::test]
async fn engines_of_the_settings() {
    let site = testkit::Site::start().await;
    site.others(|_| Some(super::json(&json!({ "results": [{ "url": "https://a.test/", "title": "A" }] }))));
    let settings = Settings {
        engines: vec![EngineName::Index, EngineName::Searxng],
        searxng_url: Some(site.url("/search-engine/")),
        ..Settings::default()
    };
    let parts = || Parts { clock: clock(), pages: pages(), months: Arc::new(CountedHere::default()) };
    let engines = Engines::new(&settings, parts()).unwrap();
    assert_eq!(engines.names().collect::<Vec<_>>(), ["searxng"]);
    // The address of the engine is loopback, which pages may not reach.
    assert!(pages().check(&site.url("/")).is_err());
    assert_eq!(urls(&ask(&engines).await.unwrap()), ["https://a.test/"]);
    assert!(site.requests()[0].path.starts_with("/search-engine/search?"));
    let settings = Settings { engines: vec![EngineName::Brave], ..Settings::default() };
    let error = Engines::new(&settings, parts()).err().unwrap();
    assert_eq!((error.key, error.reason.as_str()), ("brave_key", "is required, because search.engines lists `brave`"));
}
