//! The cache of answers: the same query is not paid for twice within ten minutes.

use std::sync::Arc;
use std::time::Duration;

use moka::future::Cache;

use crate::answer::{EngineAnswer, EngineResult};
use crate::operators::Operators;
use crate::query::{Domains, EngineQuery, Source, TimeWindow};

/// Time for which an answer is kept.
const KEPT: Duration = Duration::from_secs(600);

/// Cache of answers, by engine and query.
pub(crate) struct Answers(Option<Cache<Key, Arc<EngineAnswer>>>);

/// A query to an engine, without what does not change the answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    engine: &'static str,
    text: String,
    operators: Operators,
    source: Source,
    limit: usize,
    domains: Option<Domains>,
    /// Time window in units of ten minutes, since windows that end now move on.
    time: Option<[Option<i64>; 2]>,
    sort_by_date: bool,
    place: [Option<String>; 3],
    safe: bool,
}

impl Key {
    /// Returns the key of a query; `None` for a private one, which leaves no trace.
    pub(crate) fn of(engine: &'static str, query: &EngineQuery<'_>) -> Option<Self> {
        if query.private {
            return None;
        }
        let tens = |time: base::Timestamp| time.timestamp() / 600;
        let window = |window: TimeWindow| [window.from.map(tens), window.to.map(tens)];
        let EngineQuery { source, limit, sort_by_date, safe, .. } = *query;
        Some(Self {
            engine,
            text: query.text.to_owned(),
            operators: query.operators.clone(),
            source,
            limit,
            domains: query.domains.cloned(),
            time: query.time.map(window),
            sort_by_date,
            place: [query.country, query.language, query.location].map(|text| text.map(str::to_owned)),
            safe,
        })
    }
}

impl Answers {
    /// Creates a cache of at most this many bytes; 0 for none.
    pub(crate) fn new(bytes: u64) -> Self {
        let build = || {
            Cache::builder()
                .max_capacity(bytes)
                .weigher(|key: &Key, answer: &Arc<EngineAnswer>| weight(key, answer))
                .time_to_live(KEPT)
                .build()
        };
        Self((bytes > 0).then(build))
    }

    pub(crate) async fn get(&self, key: &Key) -> Option<EngineAnswer> {
        let answer = self.0.as_ref()?.get(key).await?;
        Some(EngineAnswer::clone(&answer))
    }

    pub(crate) async fn put(&self, key: Key, answer: &EngineAnswer) {
        if let Some(cache) = &self.0 {
            cache.insert(key, Arc::new(answer.clone())).await;
        }
    }
}

/// Returns the approximate size of an entry, in bytes.
fn weight(key: &Key, answer: &EngineAnswer) -> u32 {
    let of = |result: &EngineResult| {
        let image = result.image.as_ref().map_or(0, |image| image.url.as_str().len());
        let published = result.published.as_ref().map_or(0, String::len);
        size_of::<EngineResult>()
            + result.url.as_str().len()
            + result.title.len()
            + result.text.len()
            + published
            + image
    };
    let results: usize = answer.results.iter().map(of).sum();
    let warnings: usize = answer.warnings.iter().map(String::len).sum();
    u32::try_from(512 + key.text.len() + results + warnings).unwrap_or(u32::MAX)
}
