//! The operation of `POST /v2/search`.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use base::{Stop, Timestamp, new_id};
use kernel::admit::{Admitted, Entry, admit};
use kernel::auth::Caller;
use kernel::reservation::Record;
use kernel::{AppError, Refusal as _};
use search::Words;
use store::search::Search as Row;
use tokio::time::Instant;
use url::Url;
use wire::{
    CategoryName, Enterprise, NewsResult, ScrapeOptions, ScrapedPage, SearchAnswer, SearchData, SearchRequest,
    SearchSource, WebResult,
};

use crate::error::listed;
use crate::found::Found;
use crate::gather::{Gathered, Gathering};
use crate::highlights::{self, OwnCopy};
use crate::pages::{self, Scraping};
use crate::{SearchError, Searches, vertical};

/// Share of the timeout reserved for assembling the answer (one tenth, at most `MAX_KEPT`).
const KEPT_SHARE: u32 = 10;
const MAX_KEPT: Duration = Duration::from_secs(1);
/// Share of the timeout that engines get when the pages of their results are scraped as well.
const SHARE_WITH_PAGES: u32 = 2;
/// Warning about papers, for the category `research`.
const NO_PAPERS: &str = "this server has no index of papers, so `research` is empty";

/// Searches all sources of a request, scrapes the pages of the results if it asks for them, and charges the caller's
/// team by what was found.
///
/// `timeout` is one deadline for everything: pages that are not scraped in time are results without content. A search
/// that finds nothing, fails or is refused costs nothing. With zero data retention nothing is stored but the credits.
/// Also returns the documents' shares of the memory budget for bodies; keep them until the answer is sent.
///
/// # Errors
/// [`SearchError`]; see its variants.
#[crate::boxed]
pub async fn search(
    searches: &Searches,
    caller: &Caller,
    request: SearchRequest,
) -> Result<(SearchAnswer, Vec<net::Room>), SearchError> {
    let Finished { search, gathered, credits } = found(searches, caller, Wanted::of(request)).await?;
    let results = gathered.count();
    let answer = search.answer(gathered, credits).await;
    search.log(Ok((results, answer.0.credits_used)));
    Ok(answer)
}

/// Request, with what only some operations ask of web results.
pub(crate) struct Wanted<'a> {
    pub(crate) request: SearchRequest,
    /// Whether a page of this address is wanted.
    pub(crate) is_wanted: &'a (dyn Fn(&Url) -> bool + Send + Sync),
    /// Maximum number of results of each source, at most `limit` of the request.
    pub(crate) most: u32,
}

impl Wanted<'_> {
    pub(crate) fn of(request: SearchRequest) -> Self {
        Self { most: request.limit, request, is_wanted: &|_| true }
    }
}

/// Search that was charged, without the pages of its results.
pub(crate) struct Finished<'a> {
    pub(crate) search: Search<'a>,
    pub(crate) gathered: Gathered,
    pub(crate) credits: i64,
}

/// Admits a request, asks all engines, and charges what was found.
pub(crate) async fn found<'a>(
    searches: &'a Searches,
    caller: &'a Caller,
    wanted: Wanted<'_>,
) -> Result<Finished<'a>, SearchError> {
    let Wanted { request, is_wanted, most } = wanted;
    let (id, started) = (new_id().to_string(), Instant::now());
    let timeout = Duration::from_millis(request.timeout.into());
    let entry = Entry { started, timeout, key: format!("search:{id}"), price: price(&request, most) };
    let allowed = || check(searches, caller, &request);
    let admitted = admit(searches.app(), caller, entry, allowed).await.map_err(|error| in_time(error.into()));
    // The slot is free again when the results are there: their pages take slots of their own.
    let Admitted { slot: _slot, funds, deadline } = admitted?;
    let began = searches.app().now();
    let search = Search { searches, caller, id, request, began, started, deadline };
    // On an error the reservation is dropped unsettled, which returns it.
    let mut gathered = search.gather().await.inspect_err(|error| search.log(Err(error)))?;
    if let Some(found) = &mut gathered.web {
        found.retain(|found| is_wanted(found.url()));
        found.truncate(count(most));
    }
    let credits = billing::search(gathered.count(), search.request.is_private());
    funds.settle(credits, search.row(&gathered, credits).map(Record::from), None).await?;
    Ok(Finished { search, gathered, credits })
}

/// Returns the maximum price of a search with up to `limit` results of each source, and of their pages, in credits.
fn price(request: &SearchRequest, limit: u32) -> i64 {
    let limit = count(limit);
    let sources = request.sources.iter().filter(|source| **source != SearchSource::Alexandria).count();
    let texts = [SearchSource::Web, SearchSource::News].iter().filter(|source| request.wants(**source)).count();
    let pages = i64::try_from(limit.saturating_mul(texts)).unwrap_or(i64::MAX);
    let page = page_options(request).map_or(0, billing::quote);
    billing::search(limit.saturating_mul(sources), request.is_private()).saturating_add(pages.saturating_mul(page))
}

fn count(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Returns the options by which pages are scraped, if any format is wanted.
fn page_options(request: &SearchRequest) -> Option<&ScrapeOptions> {
    request.scrape_options.as_ref().filter(|options| !options.formats.is_empty())
}

/// Refuses what can be refused before anything is reserved.
fn check(searches: &Searches, caller: &Caller, request: &SearchRequest) -> Result<(), AppError> {
    // First, and for every team: one client asks for the catalog in each search, and goes on without it when it hears
    // these words.
    if let Some(need) = request.catalog_need() {
        return Err(AppError::Unsupported(vec![need]));
    }
    let plain = ScrapeOptions { formats: Vec::new(), ..ScrapeOptions::default() };
    let options = request.scrape_options.as_ref().unwrap_or(&plain);
    if caller.is_keyless && options.profile.is_some() {
        return Err(AppError::Unauthorized("`profile` needs an API key: Authorization: Bearer <key>"));
    }
    scraping::check::check(searches.scraper(), caller, options, request.is_private(), request.needs())
}

/// Reports any timeout as a timeout of the search, whichever part noticed it.
fn in_time(error: SearchError) -> SearchError {
    match error {
        SearchError::App(AppError::Timeout) => SearchError::Timeout,
        other => other,
    }
}

/// Search in progress.
pub(crate) struct Search<'a> {
    pub(crate) searches: &'a Searches,
    pub(crate) caller: &'a Caller,
    pub(crate) id: String,
    pub(crate) request: SearchRequest,
    began: Timestamp,
    started: Instant,
    pub(crate) deadline: Instant,
}

/// Scraped pages by address.
pub(crate) type Pages = HashMap<Url, ScrapedPage>;

impl Search<'_> {
    /// Asks all engines. An empty answer is one only if all of them have answered.
    async fn gather(&self) -> Result<Gathered, SearchError> {
        let (searches, request) = (self.searches, &self.request);
        let deadline = self.engines_deadline();
        Gathering { searches, caller: self.caller, request, deadline }.all().await.checked(deadline)
    }

    fn engines_deadline(&self) -> Instant {
        match page_options(&self.request) {
            Some(_) => self.started + (self.deadline - self.started) / SHARE_WITH_PAGES,
            None => self.pages_deadline(),
        }
    }

    fn pages_deadline(&self) -> Instant {
        self.deadline - ((self.deadline - self.started) / KEPT_SHARE).min(MAX_KEPT)
    }

    /// Returns the row of the search, unless nothing of it may be kept.
    fn row(&self, gathered: &Gathered, credits: i64) -> Option<Row> {
        let request = &self.request;
        if request.is_private() || self.caller.is_keyless {
            return None;
        }
        let is_anonymous = request.enterprise.contains(&Enterprise::Anon);
        let sources: Vec<&str> = request.sources.iter().map(|source| source.as_str()).collect();
        Some(Row {
            id: self.id.clone(),
            team_id: self.caller.team.id.clone(),
            api_key_id: self.caller.key.clone(),
            query: if is_anonymous { String::new() } else { request.query.clone() },
            sources: sources.join(" "),
            engines: gathered.engines.join(" "),
            results: i64::try_from(gathered.count()).unwrap_or(i64::MAX),
            credits,
            duration_ms: i64::try_from(self.started.elapsed().as_millis()).unwrap_or(i64::MAX),
            created_at: self.began,
        })
    }

    async fn answer(&self, mut gathered: Gathered, credits: i64) -> (SearchAnswer, Vec<net::Room>) {
        let (pages, rooms) = self.scrape(&gathered).await;
        let charged: i64 = pages.values().map(pages::credits).sum();
        if self.request.highlights {
            let found = [&mut gathered.web, &mut gathered.news].into_iter().flatten().flatten();
            self.highlight(found.collect(), &pages).await;
        }
        let warning = self.warning(&gathered);
        let answer = SearchAnswer {
            success: true,
            id: self.id.clone(),
            credits_used: credits + charged,
            warning,
            data: self.data(gathered, pages),
        };
        (answer, rooms)
    }

    /// Scrapes the pages of all results, each once.
    async fn scrape(&self, gathered: &Gathered) -> (Pages, Vec<net::Room>) {
        let Some(options) = page_options(&self.request) else { return (Pages::new(), Vec::new()) };
        let mut urls: Vec<Url> = Vec::new();
        for found in [&gathered.web, &gathered.news].into_iter().flatten().flatten() {
            if !urls.contains(found.url()) {
                urls.push(found.url().clone());
            }
        }
        let (scraper, caller, private) = (self.searches.scraper(), self.caller, self.request.is_private());
        let scraping = Scraping { scraper, caller, options, private, deadline: self.pages_deadline() };
        let scraped = scraping.all(urls.clone()).await;
        let mut rooms = Vec::new();
        let mut pages = Pages::new();
        for (url, page) in urls.into_iter().zip(scraped) {
            rooms.extend(page.room);
            pages.insert(url, page.page);
        }
        (pages, rooms)
    }

    /// Puts the sentences that answer the query in the place of descriptions, where we have a copy of the page. What is
    /// not done in time keeps the engine's text.
    pub(crate) async fn highlight(&self, mut found: Vec<&mut Found>, pages: &Pages) {
        let mut copies: Vec<Option<OwnCopy>> = Vec::new();
        for found in &mut found {
            let of_scrape = pages.get(found.url()).and_then(|page| scraped_copy(page, &found.result.title));
            copies.push(of_scrape.or_else(|| OwnCopy::of(found)));
        }
        if copies.iter().all(Option::is_none) {
            return;
        }
        let query = Words::parse(&self.request.query).text;
        let work = move |stop: &Stop| {
            let of = |copy: Option<OwnCopy>| copy.and_then(|copy| highlights::of(&copy, &query, stop));
            copies.into_iter().map(of).collect::<Vec<_>>()
        };
        let owner = self.caller.owner(&self.id);
        let Ok(texts) = self.searches.scraper().tools().cpu.run(&owner, self.deadline, work).await else { return };
        for (found, text) in found.into_iter().zip(texts) {
            if let Some(text) = text {
                found.result.text = text;
            }
        }
    }

    fn data(&self, gathered: Gathered, mut pages: Pages) -> SearchData {
        let has = |name| self.request.category(name).is_some();
        let developer = has(CategoryName::Developer)
            .then(|| gathered.web.iter().flatten().map(vertical::developer_result).collect());
        // Documents can be large: only those that are in both lists are copied.
        let in_news: HashSet<Url> = gathered.news.iter().flatten().map(|found| found.url().clone()).collect();
        let web = gathered.web.map(|found| {
            let mut number = |(found, position): (Found, u32)| {
                let is_shared = in_news.contains(found.url());
                let page = if is_shared { pages.get(found.url()).cloned() } else { pages.remove(found.url()) };
                WebResult { page, ..found.into_web(position) }
            };
            found.into_iter().zip(1..).map(&mut number).collect()
        });
        let news = gathered.news.map(|found| {
            let mut number = |(found, position): (Found, u32)| {
                let page = pages.remove(found.url());
                NewsResult { page, ..found.into_news(position) }
            };
            found.into_iter().zip(1..).map(&mut number).collect()
        });
        let images = gathered.images.map(|found| {
            found.into_iter().zip(1..).filter_map(|(found, position)| found.into_image(position)).collect()
        });
        let research = has(CategoryName::Research).then(Vec::new);
        SearchData { web, news, images, tools: None, research, developer }
    }

    pub(crate) fn warning(&self, gathered: &Gathered) -> Option<String> {
        let mut warnings: Vec<String> = Vec::new();
        if !gathered.failures.is_empty() {
            warnings.push(listed(&gathered.failures));
        }
        warnings.extend(gathered.warnings.iter().cloned());
        if gathered.count() == 0 && self.searches.is_own_index_alone() {
            warnings.push(
                "nothing was found among the pages that this server has read; its operator can add an engine of the web \
                 with `search.engines`"
                    .to_owned(),
            );
        }
        if self.request.category(CategoryName::Research).is_some() {
            warnings.push(NO_PAPERS.to_owned());
        }
        (!warnings.is_empty()).then(|| warnings.join("; "))
    }

    /// Logs the end of the search, without its query.
    fn log(&self, result: Result<(usize, i64), &SearchError>) {
        let (team, duration_ms) = (self.caller.team.id.as_str(), self.started.elapsed().as_millis());
        match result {
            Ok((results, credits)) => {
                tracing::debug!(search = self.id, team, results, credits, duration_ms, "search answered");
            }
            Err(error) => {
                let code = error.code().as_str();
                tracing::debug!(search = self.id, team, code, duration_ms, "search failed");
            }
        }
    }
}

/// Returns the copy of a scraped page, if it has its text as markdown.
fn scraped_copy(page: &ScrapedPage, title: &str) -> Option<OwnCopy> {
    let ScrapedPage::Document(document) = page else { return None };
    document.markdown.as_deref().map(|markdown| OwnCopy::new(markdown, title))
}
