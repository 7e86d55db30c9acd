//! Map of the addresses of a site: links of one page, sitemaps, and pages known from earlier crawls of the team.

/// Boxes the future of an async function, so that it is compiled once, in this crate. Otherwise every crate that awaits
/// it compiles it again, including its queries.
pub(crate) use async_recursion::async_recursion as boxed;

mod advice;
mod error;
mod links;
mod start_page;

use std::ops::ControlFlow;
use std::time::Duration;

use base::address::BasicAuth;
use base::{Owner, Stop, new_id};
use crawl_frontier::{KeyRules, Reach, Scope, ScopeOptions};
use kernel::admit::{Admitted, Entry, admit};
use kernel::auth::Caller;
use kernel::{AppError, Refusal as _, credentials};
use scrape::CpuError;
use scraping::Scraper;
use scraping::check::check;
use site::{AGENT, Approach, Sink, SitemapPage, SitemapTotals, Terms};
use store::runs::{self, KnownUrl};
use tokio::time::{Instant, timeout_at};
use url::{Position, Url};
use wire::{MAX_MAP_LIMIT, MapAnswer, MapLink, MapRequest, SitemapMode};

use links::Links;
use start_page::StartPage;

pub use error::MapError;

/// Share of the timeout reserved for assembling the result (one tenth, at most `MAX_KEPT`), so that addresses found in
/// time are not lost.
const KEPT_SHARE: u32 = 10;
const MAX_KEPT: Duration = Duration::from_secs(1);

/// Lists the addresses of a site and charges the caller's team one credit.
///
/// `timeout` is one deadline for everything: when some sources are slow, the addresses of the others are returned with
/// a warning. robots.txt decides whether the page is read, not what is listed. A call that is refused or fails costs
/// nothing. With zero data retention nothing is stored but the credit.
///
/// # Errors
/// [`MapError`]; [`MapError::MapTimeout`] at the deadline, [`ScrapingError::Scrape`](scraping::ScrapingError::Scrape) when the site cannot be read at all.
#[crate::boxed]
pub async fn map(scraper: &Scraper, caller: &Caller, request: MapRequest) -> Result<MapAnswer, MapError> {
    let started = Instant::now();
    let id = new_id().to_string();
    let timeout = Duration::from_millis(request.timeout.into());
    let entry = Entry { started, timeout, key: format!("map:{id}"), price: billing::MAP };
    let options = start_page::options(&request);
    let allowed = || check(scraper, caller, &options, request.zero_data_retention, request.needs());
    let admitted = admit(scraper.app(), caller, entry, allowed).await.map_err(|error| in_time(error.into()));
    let Admitted { slot: _slot, funds, deadline } = admitted?;
    let mapping = Mapping::new(id, request, started, deadline);
    let made = timeout_at(deadline, mapping.make(scraper, caller)).await;
    let made = made.unwrap_or(Err(MapError::MapTimeout)).map_err(in_time);
    mapping.log(caller, &made);
    // On an error the reservation is dropped unsettled, which returns it.
    let (links, warning) = made?;
    funds.settle(billing::MAP, None, None).await?;
    Ok(MapAnswer { success: true, id: mapping.id, links, warning })
}

/// Reports any timeout as a timeout of the map, whichever part noticed it.
fn in_time(error: MapError) -> MapError {
    match error {
        MapError::App(AppError::Timeout) => MapError::MapTimeout,
        other => other,
    }
}

/// Map in progress.
struct Mapping {
    id: String,
    url: Url,
    basic_auth: Option<BasicAuth>,
    request: MapRequest,
    started: Instant,
    deadline: Instant,
    /// Deadline of the sources.
    soft_deadline: Instant,
}

type Made = (Vec<MapLink>, Option<String>);

impl Mapping {
    fn new(id: String, request: MapRequest, started: Instant, deadline: Instant) -> Self {
        let (url, basic_auth) = credentials::split(request.url.clone());
        let soft_deadline = deadline - ((deadline - started) / KEPT_SHARE).min(MAX_KEPT);
        Self { id, url, basic_auth, request, started, deadline, soft_deadline }
    }

    async fn make(&self, scraper: &Scraper, caller: &Caller) -> Result<Made, MapError> {
        let approach = self.approach();
        let site = scraper.app().site().rules_at_start(&self.url, approach).await?;
        if let Some(failure) = site.failure {
            return Err(failure.error(&self.url).into());
        }
        let mut scope = self.scope()?;
        let owner = caller.owner(&self.id);
        let terms = Terms { owner: &owner, obey: true };
        let cpu = Cpu { scraper, owner: &owner, deadline: self.deadline };
        let mut listed = Sitemaps { cpu, scope: &scope, links: Links::new(&self.request) };
        let wants_page = self.request.sitemap != SitemapMode::Only;
        let page = async {
            match (wants_page, site.rules.allows_url(&self.url)) {
                (false, _) => StartPage::Unasked,
                (true, false) => StartPage::Forbidden,
                (true, true) => start_page::read(scraper, caller, self).await,
            }
        };
        let maps = async {
            match self.request.sitemap {
                SitemapMode::Skip => Ok(SitemapTotals::default()),
                _ => scraper.app().site().sitemaps(&self.url, approach, terms, &mut listed).await,
            }
        };
        let (page, found, mut named) = tokio::join!(page, maps, self.named(scraper, &self.url, terms));
        let mut found = found?;
        let mut from_sitemaps = listed.links;
        if let Some(landed) = page.landed().filter(|landed| **landed != self.url) {
            if matches!(scope.reach(landed), Reach::External | Reach::Subdomain) {
                scope = scope.landed_at(landed);
            }
            // The site may have moved to another address, with its sitemaps.
            if self.request.sitemap != SitemapMode::Skip && !from_sitemaps.is_of(landed) {
                let mut again = Sitemaps { cpu, scope: &scope, links: from_sitemaps };
                found = found.and(scraper.app().site().sitemaps(landed, approach, terms, &mut again).await?);
                from_sitemaps = again.links;
            }
            if named.is_empty() && landed.origin() != self.url.origin() {
                named = self.named(scraper, landed, terms).await;
            }
        }
        let known = if wants_page { self.known(scraper, caller).await } else { Vec::new() };
        let warnings = warnings(&page, found);
        let (url, request) = (self.url.clone(), self.request.clone());
        let gathered = on_thread(cpu, move |stop: &Stop| -> Result<Vec<MapLink>, MapError> {
            let known = links::known(&request, &scope, known, stop);
            let is_alone = from_sitemaps.is_empty() && known.is_empty() && named.is_empty();
            let first = page.unless_alone(is_alone)?.links(url, &request, &scope, stop);
            let found = first.and(from_sitemaps).and(known).and_named(&scope, named, stop);
            Ok(found.ranked(request.search.as_deref(), stop))
        });
        let links = gathered.await??;
        let advice = advice::broader(&self.url, self.request.limit, links.len());
        let warnings: Vec<String> = advice.into_iter().chain(warnings).collect();
        Ok((links, (!warnings.is_empty()).then(|| warnings.join("; "))))
    }

    /// Returns the pages of the host that earlier crawls of the team have seen; none if the lookup fails.
    async fn known(&self, scraper: &Scraper, caller: &Caller) -> Vec<KnownUrl> {
        let host = &self.url[Position::BeforeHost..Position::AfterPort];
        let find = async {
            let mut conn = scraper.app().store().conn().await?;
            runs::known_urls(&mut conn, &caller.team.id, host, i64::from(MAX_MAP_LIMIT)).await
        };
        match timeout_at(self.soft_deadline, find).await {
            Ok(Ok(known)) => return known,
            Ok(Err(error)) if !error.is_news() => {}
            Ok(Err(error)) => tracing::warn!(%error, "could not read pages of earlier crawls; mapping without them"),
            Err(_) => {}
        }
        Vec::new()
    }

    /// Returns the pages listed in the `llms.txt` of the site of `start`.
    async fn named(&self, scraper: &Scraper, start: &Url, terms: Terms<'_>) -> Vec<SitemapPage> {
        match self.request.sitemap {
            SitemapMode::Skip => Vec::new(),
            _ if !scraper.app().settings().sites.llms_txt_in_map => Vec::new(),
            _ => scraper.app().site().llms_pages(start, self.approach(), terms).await,
        }
    }

    fn scope(&self) -> Result<Scope, MapError> {
        let options = ScopeOptions {
            crawl_entire_domain: true,
            allow_subdomains: self.request.include_subdomains,
            key_rules: KeyRules { ignore_query: self.request.ignore_query_parameters, ..KeyRules::default() },
            ..ScopeOptions::default()
        };
        Scope::new(&self.url, &options).map_err(|error| AppError::internal(error).into())
    }

    fn approach(&self) -> Approach<'static> {
        let private = self.request.zero_data_retention;
        Approach { agent: AGENT, deadline: self.soft_deadline, verify_tls: false, private }
    }

    fn log(&self, caller: &Caller, made: &Result<Made, MapError>) {
        // Queries may carry tokens.
        let mut shown = self.url.clone();
        shown.set_query(None);
        shown.set_fragment(None);
        let url = if self.request.zero_data_retention { "" } else { shown.as_str() };
        let (team, duration_ms) = (caller.team.id.as_str(), self.started.elapsed().as_millis());
        match made {
            Ok((links, _)) => {
                tracing::debug!(map = self.id, team, url, links = links.len(), duration_ms, "site mapped")
            }
            Err(error) => {
                tracing::debug!(map = self.id, team, url, code = error.code().as_str(), duration_ms, "map failed");
            }
        }
    }
}

/// Owner of CPU slots, and the deadline of the work.
#[derive(Clone, Copy)]
struct Cpu<'a> {
    scraper: &'a Scraper,
    owner: &'a Owner,
    deadline: Instant,
}

/// Runs CPU work off the async threads; a timeout fails the map.
async fn on_thread<T: Send + 'static>(
    Cpu { scraper, owner, deadline }: Cpu<'_>,
    work: impl FnOnce(&Stop) -> T + Send + 'static,
) -> Result<T, MapError> {
    scraper.tools().cpu.run(owner, deadline, work).await.map_err(|error| match error {
        CpuError::Timeout => MapError::MapTimeout,
        CpuError::Panicked => AppError::internal(error).into(),
    })
}

/// Sink that collects the addresses in sitemaps, until there are enough.
struct Sitemaps<'a> {
    cpu: Cpu<'a>,
    scope: &'a Scope,
    links: Links,
}

impl Sink for Sitemaps<'_> {
    type Error = MapError;

    async fn take(&mut self, pages: Vec<SitemapPage>) -> Result<ControlFlow<()>, MapError> {
        let (scope, mut links) = (self.scope.clone(), std::mem::take(&mut self.links));
        let work = move |stop: &Stop| {
            let mut pages = pages.into_iter().take_while(|_| !stop.is_set());
            let ended =
                pages.try_for_each(|SitemapPage { url, about }| links.add(&scope, url, about.title, about.description));
            (links, ended)
        };
        let (links, ended) = on_thread(self.cpu, work).await?;
        self.links = links;
        Ok(ended)
    }
}

/// Returns the warnings about the sources.
fn warnings(page: &StartPage, found: SitemapTotals) -> Vec<String> {
    let mut warnings: Vec<String> = page.warning().into_iter().collect();
    if found.failed > 0 {
        warnings.push(format!("{} of the sitemaps that the site names could not be read", found.failed));
    }
    if found.is_cut {
        warnings.push("the sitemaps were not read to their end: they are too large or too slow".to_owned());
    }
    warnings
}
