//! Results of all engines, merged by source.

use std::collections::HashMap;

use futures_util::future::join_all;
use kernel::auth::Caller;
use search::{EngineResult, Failure, Failures, Order, SearchEngine as _, Source, Words, fuse};
use tokio::time::Instant;
use url::Url;
use wire::{CategoryName, SearchRequest, SearchSource};

use crate::ask::{Ask, Common, asks, is_wanted, source_of};
use crate::error::EngineFailure;
use crate::found::Found;
use crate::{SearchError, Searches};

/// Search of all engines.
#[derive(Clone, Copy)]
pub(crate) struct Gathering<'a> {
    pub(crate) searches: &'a Searches,
    pub(crate) caller: &'a Caller,
    pub(crate) request: &'a SearchRequest,
    pub(crate) deadline: Instant,
}

/// Results by source: a list for each source of the request.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    pub(crate) web: Option<Vec<Found>>,
    pub(crate) news: Option<Vec<Found>>,
    pub(crate) images: Option<Vec<Found>>,
    /// Questions that no engine could answer.
    pub(crate) failures: Vec<EngineFailure>,
    /// Names of the engines that answered, each once.
    pub(crate) engines: Vec<&'static str>,
    /// Warnings of engines, each once.
    pub(crate) warnings: Vec<String>,
}

impl Gathered {
    /// Fails if there is no result and a question has no answer: only an answer to all questions can be empty.
    ///
    /// # Errors
    /// [`SearchError::Timeout`] after the deadline of the engines, otherwise [`SearchError::Unavailable`].
    pub(crate) fn checked(self, deadline: Instant) -> Result<Self, SearchError> {
        match self.count() > 0 || self.failures.is_empty() {
            true => Ok(self),
            false if Instant::now() >= deadline => Err(SearchError::Timeout),
            false => Err(SearchError::Unavailable(self.failures)),
        }
    }

    /// Returns the number of results over all sources.
    pub(crate) fn count(&self) -> usize {
        [&self.web, &self.news, &self.images].into_iter().flatten().map(Vec::len).sum()
    }

    /// Takes an answer, and returns its results.
    fn take(&mut self, ask: &Ask, answer: Result<search::Found, Failures>) -> Vec<Found> {
        let found = match answer {
            Ok(found) => found,
            Err(failures) => {
                self.failures.extend(EngineFailure::all(ask.source, failures));
                return Vec::new();
            }
        };
        add_new(&mut self.engines, found.engines);
        add_new(&mut self.warnings, found.warnings);
        found.results.into_iter().map(|result| Found { result, category: ask.category }).collect()
    }

    fn put(&mut self, source: SearchSource, found: Vec<Found>) {
        match source {
            SearchSource::Web => self.web = Some(found),
            SearchSource::News => self.news = Some(found),
            SearchSource::Images => self.images = Some(found),
            SearchSource::Alexandria => {}
        }
    }
}

fn add_new<T: PartialEq>(list: &mut Vec<T>, items: Vec<T>) {
    for item in items {
        if !list.contains(&item) {
            list.push(item);
        }
    }
}

impl Gathering<'_> {
    /// Asks all questions at once. The ranks of the answers about one source are fused.
    pub(crate) async fn all(self) -> Gathered {
        let words = Words::parse(&self.request.query);
        let asks = asks(self.request, &words, self.searches.sites());
        let common = Common {
            request: self.request,
            text: &words.text,
            team: self.searches.team_of(self.caller),
            now: self.searches.app().now(),
            deadline: self.deadline,
        };
        let answers = join_all(asks.iter().map(|ask| self.ask(ask, common))).await;
        let mut gathered = Gathered::default();
        let mut found: Vec<(SearchSource, Vec<Found>)> = Vec::new();
        for (ask, answer) in asks.iter().zip(answers) {
            if let Some(answer) = answer {
                found.push((ask.source, gathered.take(ask, answer)));
            }
        }
        for source in self.request.sources.iter().copied() {
            let of_source = |(of, list): &mut (SearchSource, Vec<Found>)| (*of == source).then(|| std::mem::take(list));
            let lists = found.iter_mut().filter_map(of_source).collect();
            if let Some(of_engines) = source_of(source) {
                gathered.put(source, self.merged(of_engines, lists));
            }
        }
        gathered
    }

    async fn ask(&self, ask: &Ask, common: Common<'_>) -> Option<Result<search::Found, Failures>> {
        let query = ask.query(&common)?;
        if !ask.is_own {
            return Some(self.searches.engines().ask(&query).await);
        }
        let own = self.searches.own()?;
        let answer = own.search(&query).await;
        Some(match answer {
            Ok(answer) => {
                Ok(search::Found { results: answer.results, warnings: answer.warnings, engines: vec![own.name()] })
            }
            Err(error) => {
                let failure = Failure { engine: own.name(), error };
                Err(Failures { source: query.source, list: vec![failure] })
            }
        })
    }

    fn merged(&self, source: Source, lists: Vec<Vec<Found>>) -> Vec<Found> {
        let limit = usize::try_from(self.request.limit).unwrap_or(usize::MAX);
        // The first list that has a page says to which category it belongs.
        let mut categories: HashMap<Url, Option<CategoryName>> = HashMap::new();
        for found in lists.iter().flatten() {
            categories.entry(found.url().clone()).or_insert(found.category);
        }
        let lists = lists.into_iter().map(|list| list.into_iter().map(|found| found.result).collect()).collect();
        let order = if self.request.tbs.newest_first { Order::Newest } else { Order::Rank };
        let results = fuse(lists, source, order).into_iter().filter(|result| is_wanted(self.request, &result.url));
        let category = |result: EngineResult| {
            let category = categories.get(&result.url).copied().flatten();
            Found { result, category }
        };
        results.take(limit).map(category).collect()
    }
}
