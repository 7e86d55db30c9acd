//! The engines of a server: whom to ask, in which order, and what to do when one fails.

use std::sync::Arc;

use base::{Clock, Secret};
use tokio::time::Instant;
use url::Url;

use crate::adapter::{Access, Adapter};
use crate::allowance::Allowance;
use crate::answer::{EngineAnswer, EngineResult};
use crate::brave::Brave;
use crate::cache::{Answers, Key};
use crate::endpoint::Endpoint;
use crate::engine::SearchEngine;
use crate::error::{EngineError, Failure, Failures};
use crate::fuse::{Order, fuse};
use crate::google::Google;
use crate::metrics;
use crate::months::Months;
use crate::query::EngineQuery;
use crate::rounds::WebEngine;
use crate::searxng::Searxng;
use crate::serper::Serper;
use crate::settings::{EngineName, Settings, SettingsError};
use crate::tavily::Tavily;

/// The engines of a server, in the order of the settings.
///
/// The index of own pages is asked beside the others, and its answer is fused with theirs. The engines of the web are a
/// chain: the next one is asked when one fails, is at its limit or finds nothing.
pub struct Engines {
    index: Option<Arc<dyn SearchEngine>>,
    web: Vec<Arc<dyn SearchEngine>>,
    answers: Answers,
}

impl Default for Engines {
    /// Returns no engine.
    fn default() -> Self {
        Self::of(None, Vec::new(), 0)
    }
}

/// Parts that engines need besides their settings.
pub struct Parts {
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Client that pages are fetched with. Results at addresses that it may not reach are left out.
    pub pages: net::Client,
    /// Count of requests per month.
    pub months: Arc<dyn Months>,
}

/// Results of a query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Found {
    /// Results, best first; at most the limit of the query.
    pub results: Vec<EngineResult>,
    /// Warnings for the caller: engines that failed, and what their answers lack.
    pub warnings: Vec<String>,
    /// Names of the engines that answered.
    pub engines: Vec<&'static str>,
}

/// Outcome of the chain of engines of the web.
#[derive(Default)]
struct Chain {
    answer: Option<(&'static str, EngineAnswer)>,
    failures: Vec<Failure>,
}

impl Engines {
    /// Creates the engines that the settings list, without asking them anything.
    ///
    /// # Errors
    /// [`SettingsError`] if an engine lacks its key or URL, or its client cannot be set up.
    pub fn new(settings: &Settings, parts: Parts) -> Result<Self, SettingsError> {
        settings.check()?;
        let Parts { clock, pages, months } = parts;
        let mut web: Vec<Arc<dyn SearchEngine>> = Vec::new();
        for engine in settings.engines.iter().copied() {
            if let Some(adapter) = adapter(engine, settings)? {
                let limit = settings.limit(engine);
                let allowance = Allowance::new(engine.as_str(), limit, Arc::clone(&months));
                let (pages, clock) = (pages.clone(), Arc::clone(&clock));
                web.push(Arc::new(WebEngine { adapter, allowance, pages, clock }));
            }
        }
        let cache = if web.is_empty() { 0 } else { settings.cache };
        Ok(Self::of(None, web, cache))
    }

    /// Adds the index of own pages.
    #[must_use]
    pub fn with_index(self, index: Arc<dyn SearchEngine>) -> Self {
        Self { index: Some(index), ..self }
    }

    /// Creates engines from ready ones, with a cache of at most `cache` bytes.
    pub(crate) fn of(index: Option<Arc<dyn SearchEngine>>, web: Vec<Arc<dyn SearchEngine>>, cache: u64) -> Self {
        Self { index, web, answers: Answers::new(cache) }
    }

    /// Returns the names of the engines, the index first.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.index.iter().chain(&self.web).map(|engine| engine.name())
    }

    /// Asks the engines that search the source of the query.
    ///
    /// # Errors
    /// [`Failures`] if no engine searches this source, or if nothing was found and the index, or every engine of the web,
    /// has failed. Thus an empty success means that there is nothing to find.
    pub async fn ask(&self, query: &EngineQuery<'_>) -> Result<Found, Failures> {
        let (own, chain) = tokio::join!(self.ask_index(query), self.ask_chain(query));
        let mut found = Found::default();
        let mut failures = Vec::new();
        let mut lists = Vec::new();
        let mut has_failed = false;
        match own {
            Some(Ok(answer)) => lists.push(taken(&mut found, "index", answer)),
            Some(Err(failure)) => {
                has_failed = true;
                failures.push(failure);
            }
            None => {}
        }
        has_failed |= chain.answer.is_none() && !chain.failures.is_empty();
        failures.extend(chain.failures);
        lists.extend(chain.answer.map(|(engine, answer)| taken(&mut found, engine, answer)));
        let is_empty = lists.iter().all(Vec::is_empty);
        if lists.is_empty() || (is_empty && has_failed) {
            return Err(Failures { source: query.source, list: failures });
        }
        let order = if query.sort_by_date { Order::Newest } else { Order::Rank };
        found.results = fuse(lists, query.source, order);
        found.results.truncate(query.limit);
        found.warnings.splice(0..0, failures.iter().map(ToString::to_string));
        Ok(found)
    }

    async fn ask_index(&self, query: &EngineQuery<'_>) -> Option<Result<EngineAnswer, Failure>> {
        let index = self.index.as_ref().filter(|index| index.offers(query.source))?;
        // Not cached: a page may be erased at any time, and every team has its own.
        Some(asked(&**index, query).await)
    }

    /// Asks one engine of the web after another until one has found something. Each gets a fair share of the time that is
    /// left, so that one that hangs leaves time for the next.
    async fn ask_chain(&self, query: &EngineQuery<'_>) -> Chain {
        let mut chain = Chain::default();
        let engines: Vec<_> = self.web.iter().filter(|engine| engine.offers(query.source)).collect();
        for (engine, left) in engines.iter().zip((1..=engines.len()).rev()) {
            let now = Instant::now();
            let time = query.deadline.saturating_duration_since(now);
            let share = time / u32::try_from(left).unwrap_or(u32::MAX);
            let query = EngineQuery { deadline: now + share, ..*query };
            match self.ask_web(&***engine, &query).await {
                Ok(answer) => {
                    let is_found = !answer.results.is_empty();
                    // The first empty answer counts if no later engine finds something.
                    if is_found || chain.answer.is_none() {
                        chain.answer = Some((engine.name(), answer));
                    }
                    if is_found {
                        break;
                    }
                }
                Err(failure) => chain.failures.push(failure),
            }
        }
        chain
    }

    async fn ask_web(&self, engine: &dyn SearchEngine, query: &EngineQuery<'_>) -> Result<EngineAnswer, Failure> {
        let key = Key::of(engine.name(), query);
        if let Some(key) = &key
            && let Some(answer) = self.answers.get(key).await
        {
            metrics::cached(engine.name());
            return Ok(answer);
        }
        let answer = asked(engine, query).await?;
        if let Some(key) = key.filter(|_| !answer.results.is_empty()) {
            self.answers.put(key, &answer).await;
        }
        Ok(answer)
    }
}

/// Takes the answer of an engine: its name and warnings into `found`. Returns the results, which are to be fused.
fn taken(found: &mut Found, engine: &'static str, answer: EngineAnswer) -> Vec<EngineResult> {
    let EngineAnswer { results, warnings } = answer;
    found.engines.push(engine);
    found.warnings.extend(warnings.into_iter().map(|warning| format!("{engine}: {warning}")));
    results
}

/// Asks one engine, and ends it at the deadline.
async fn asked(engine: &dyn SearchEngine, query: &EngineQuery<'_>) -> Result<EngineAnswer, Failure> {
    let start = Instant::now();
    let answer = tokio::time::timeout_at(query.deadline, engine.search(query)).await;
    let answer = answer.unwrap_or(Err(EngineError::Timeout));
    metrics::asked(engine.name(), &answer, start.elapsed());
    answer.map_err(|error| {
        let failure = Failure { engine: engine.name(), error };
        tracing::debug!(%failure, "a search engine has failed");
        failure
    })
}

/// Returns the API of an engine of the web; `None` for the index.
fn adapter(engine: EngineName, settings: &Settings) -> Result<Option<Box<dyn Adapter>>, SettingsError> {
    let at = |key: &'static str, base: &Url, secret: &Secret| {
        let endpoint = Endpoint::new(base, settings.timeout);
        let endpoint = endpoint.map_err(|error| SettingsError { key, reason: error.to_string() })?;
        Ok(Access { endpoint, base: base.clone(), key: secret.clone() })
    };
    Ok(Some(match engine {
        EngineName::Index => return Ok(None),
        EngineName::Searxng => {
            let Some(base) = &settings.searxng_url else { return Ok(None) };
            Box::new(Searxng(at("searxng_url", base, &Secret::default())?))
        }
        EngineName::Brave => Box::new(Brave(at("brave_key", &known(Brave::BASE)?, &settings.brave_key)?)),
        EngineName::Serper => Box::new(Serper(at("serper_key", &known(Serper::BASE)?, &settings.serper_key)?)),
        EngineName::Tavily => Box::new(Tavily(at("tavily_key", &known(Tavily::BASE)?, &settings.tavily_key)?)),
        EngineName::Google => {
            let access = at("google_key", &known(Google::BASE)?, &settings.google_key)?;
            Box::new(Google { access, cx: settings.google_cx.clone() })
        }
    }))
}

/// Parses the fixed URL of an API.
fn known(base: &str) -> Result<Url, SettingsError> {
    base.parse().map_err(|_| SettingsError { key: "engines", reason: format!("`{base}` is no URL") })
}
