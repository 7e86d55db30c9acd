//! Cached context of a run: the settings that all of its pages share.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use base::address::BasicAuth;
use base::{Owner, Secret};
use crawl_frontier::Scope;
use parking_lot::{Mutex, MutexGuard};
use store::runs::{self, OF_THE_RUN, Progress, Run};
use store::{Conn, StoreError, teams};
use tokio::time::Instant;
use url::Url;
use wire::{CrawlRequest, ScrapeOptions, SitemapMode, WebhookConfig};

use super::end::hook_of;
use super::handle::Runs;
use super::kind::Kind;
use super::known::Known;
use super::secrets::Secrets;
use super::submit::Lanes;
use crate::auth::Caller;
use crate::crawl::scope;
use crate::webhooks::Hook;
use crate::{App, AppError};

/// Time after which a context is read again: the start may have been redirected, or the team's limits changed.
const FRESH: Duration = Duration::from_secs(30);
/// Lower bound of [`Frontier::max_links`].
const MIN_LINKS: usize = 10_000;
/// Maximum number of cached contexts.
const MAX_RUNS: usize = 1000;
/// Maximum total size of cached compiled patterns, in bytes, not counting small ones.
const MAX_PATTERNS: usize = 64 << 20;
/// Size up to which compiled patterns count as small, in bytes.
const SMALL_PATTERNS: usize = 64 << 10;

/// Settings that all pages of a run share.
pub(crate) struct Context {
    pub(crate) id: String,
    pub(crate) kind: &'static Kind,
    pub(crate) caller: Caller,
    pub(crate) options: Arc<ScrapeOptions>,
    pub(crate) zero_data_retention: bool,
    pub(crate) lanes: Lanes,
    pub(crate) hook: Option<Hook>,
    /// Limits for following links; absent where no links are followed.
    pub(crate) frontier: Option<Frontier>,
    /// In-memory cache of the addresses that the run already has.
    pub(crate) known: Arc<Known>,
}

/// Scope and settings for following links in a crawl.
pub(crate) struct Frontier {
    /// Start URL without user name and password; the request's headers are sent to its origin only.
    pub(crate) start: Url,
    /// User name and password from the start URL.
    pub(crate) basic_auth: Option<BasicAuth>,
    pub(crate) scope: Scope,
    pub(crate) sitemap: SitemapMode,
    pub(crate) ignore_robots: bool,
    pub(crate) agent: Option<String>,
    /// URL that the start was redirected to.
    pub(crate) landed: Option<Url>,
    /// Maximum number of links examined per page, high enough to contain plenty that the crawl does not know.
    pub(crate) max_links: usize,
}

/// Cache of contexts by run id.
#[derive(Default)]
pub(super) struct Contexts {
    all: Mutex<HashMap<String, (Instant, Arc<Context>)>>,
    /// Number of addresses cached by all contexts together.
    known: Arc<AtomicUsize>,
}

impl Contexts {
    /// See [`Runs::context`].
    pub(super) async fn get(&self, runs: &Runs, id: &str) -> Result<Option<Arc<Context>>, AppError> {
        if let Some(found) = self.fresh(id) {
            return Ok(Some(found));
        }
        let mut conn = runs.app().conn().await?;
        let Some((row, progress)) = runs::read(&mut conn, id).await?.filter(|(row, _)| row.is_open()) else {
            return Ok(None);
        };
        let team = teams::find(&mut conn, &row.team_id).await?.ok_or_else(|| AppError::internal("no such team"))?;
        let secrets = runs::secret(&mut conn, id, OF_THE_RUN).await?;
        let landed = runs::landed(&mut conn, id).await?;
        drop(conn);
        let kind = runs.kind_of(&row.kind).ok_or_else(|| AppError::internal("no such kind of run"))?;
        let before = self.lock().get(id).map(|(_, context)| Arc::clone(context));
        let stored = Stored { kind, row, team, progress, landed };
        let mut context = Context::read(runs.app(), stored, secrets.as_ref(), before.as_deref()).await?;
        context.known = before.map_or_else(|| Known::counted_in(&self.known), |before| Arc::clone(&before.known));
        let context = Arc::new(context);
        self.keep(&context);
        Ok(Some(context))
    }

    /// See [`Runs::context_of`].
    pub(super) async fn of(&self, runs: &Runs, conn: &mut Conn, row: &Run) -> Result<Arc<Context>, StoreError> {
        if let Some(found) = self.fresh(&row.id) {
            return Ok(found);
        }
        let team = teams::find(conn, &row.team_id).await?.ok_or(StoreError::UnknownTeam)?;
        let secrets = runs::secret(conn, &row.id, OF_THE_RUN).await?;
        let kind =
            runs.kind_of(&row.kind).ok_or_else(|| StoreError::Inconsistent(format!("a run of kind {}", row.kind)))?;
        let context = Context::without_frontier(kind, row, team.clone(), secrets.as_ref()).map(|(context, _)| context);
        Ok(Arc::new(context.unwrap_or_else(|error| {
            tracing::error!(run = row.id, ?error, "spec of a run not readable; only limits and webhook apply");
            Context::bare(kind, row, team, secrets.as_ref())
        })))
    }

    fn keep(&self, context: &Arc<Context>) {
        let mut all = self.lock();
        let patterns = context.pattern_bytes();
        let has_room = |all: &HashMap<String, (Instant, Arc<Context>)>| {
            let bytes = || all.values().map(|(_, context)| context.pattern_bytes()).sum::<usize>();
            all.len() < MAX_RUNS && (patterns <= SMALL_PATTERNS || bytes() + patterns <= MAX_PATTERNS)
        };
        if !has_room(&all) {
            all.retain(|_, (read, _)| read.elapsed() < FRESH);
        }
        if has_room(&all) {
            all.insert(context.id.clone(), (Instant::now(), Arc::clone(context)));
        }
    }

    /// Marks a context as stale, because the run has changed. The cache of known addresses stays.
    pub(super) fn refresh(&self, id: &str) {
        let mut all = self.lock();
        // `checked_sub` fails when the clock's origin is less than `FRESH` ago, as after boot.
        if let Some(long_ago) = Instant::now().checked_sub(FRESH) {
            all.entry(id.to_owned()).and_modify(|(read, _)| *read = long_ago);
        } else {
            all.remove(id);
        }
    }

    /// Removes the context of a run that has ended.
    pub(super) fn forget(&self, id: &str) {
        self.lock().remove(id);
    }

    /// Whether the context of a run is cached.
    #[cfg(test)]
    pub(super) fn has(&self, id: &str) -> bool {
        self.lock().contains_key(id)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, (Instant, Arc<Context>)>> {
        self.all.lock()
    }

    fn fresh(&self, id: &str) -> Option<Arc<Context>> {
        let all = self.lock();
        all.get(id).filter(|(read, _)| read.elapsed() < FRESH).map(|(_, context)| Arc::clone(context))
    }
}

impl Context {
    /// Returns the owner that the run's work is accounted to.
    pub(crate) fn owner(&self) -> Owner {
        self.caller.owner(&self.id)
    }

    /// Whether nothing about the run's pages may be kept elsewhere, such as in the cache.
    pub(crate) fn is_private(&self) -> bool {
        self.zero_data_retention || self.options.lockdown
    }

    /// Whether the crawl has a depth limit (`maxDiscoveryDepth`); then the shortest path to each page matters.
    pub(crate) fn has_max_depth(&self) -> bool {
        self.frontier.as_ref().is_some_and(|frontier| frontier.scope.max_depth().is_some())
    }

    /// Returns the size of the compiled patterns, in bytes.
    fn pattern_bytes(&self) -> usize {
        self.frontier.as_ref().map_or(0, |frontier| frontier.scope.size())
    }

    fn bare(kind: &'static Kind, row: &Run, team: teams::Team, secrets: Option<&Secret>) -> Self {
        Self {
            id: row.id.clone(),
            kind,
            options: Arc::default(),
            zero_data_retention: row.private,
            lanes: Lanes::new(&team, None, None),
            hook: hook_of(row, secrets),
            frontier: None,
            known: Arc::default(),
            caller: Caller::of(team, row.api_key_id.clone(), row.address.clone()),
        }
    }

    /// Builds the context without its frontier, and returns what the frontier is made of when links are followed.
    fn without_frontier(
        kind: &'static Kind,
        row: &Run,
        team: teams::Team,
        secrets: Option<&Secret>,
    ) -> Result<(Self, Option<Start>), AppError> {
        let read = kind.pages.ok_or_else(|| AppError::internal("a kind of run without pages has one"))?;
        let secrets = Secrets::read(secrets).map_err(AppError::internal)?;
        let Terms { options, zero_data_retention, max_concurrency, delay, webhook, start } =
            read(serde_json::from_str(&row.spec).map_err(AppError::internal)?, secrets)?;
        let context = Self {
            id: row.id.clone(),
            kind,
            lanes: Lanes::new(&team, max_concurrency, delay),
            hook: Hook::check(webhook.as_ref(), zero_data_retention || options.lockdown)?,
            options: Arc::new(options),
            zero_data_retention,
            frontier: None,
            known: Arc::default(),
            caller: Caller::of(team, row.api_key_id.clone(), row.address.clone()),
        };
        Ok((context, start))
    }

    /// Builds the whole context. `before` is the stale one: a spec never changes, so its compiled patterns are reused.
    async fn read(
        app: &App,
        Stored { kind, row, team, progress, landed }: Stored,
        secrets: Option<&Secret>,
        before: Option<&Self>,
    ) -> Result<Self, AppError> {
        let (mut context, start) = Self::without_frontier(kind, &row, team, secrets)?;
        let Some(Start { request, basic_auth }) = start else { return Ok(context) };
        let landed = landed.as_deref().and_then(|url| Url::parse(url).ok());
        let known = before.and_then(|before| before.frontier.as_ref());
        let scope = scope_of(app, &context.caller, &request, landed.clone(), known).await?;
        // The run may know up to `max_items` pages and as many other addresses; twice that leaves room for new links.
        let max_links = usize::try_from(progress.max_items).unwrap_or(usize::MAX).saturating_mul(2).max(MIN_LINKS);
        context.frontier = Some(Frontier {
            start: request.url,
            basic_auth,
            scope,
            sitemap: request.options.sitemap,
            ignore_robots: request.options.ignore_robots_txt,
            agent: request.options.robots_user_agent,
            landed,
            max_links,
        });
        Ok(context)
    }
}

/// Rows of a run, as the database has them.
struct Stored {
    kind: &'static Kind,
    row: Run,
    team: teams::Team,
    progress: Progress,
    landed: Option<String>,
}

/// Settings for scraping the pages of a run, as its kind reads them from the spec.
pub(crate) struct Terms {
    pub(crate) options: ScrapeOptions,
    pub(crate) zero_data_retention: bool,
    pub(crate) max_concurrency: Option<u32>,
    /// Delay between two pages, in seconds.
    pub(crate) delay: Option<f64>,
    pub(crate) webhook: Option<WebhookConfig>,
    /// Source of the frontier; present when links are followed.
    pub(crate) start: Option<Start>,
}

/// Source of a frontier: the request of a crawl without its page options, and the credentials from its URL.
pub(crate) struct Start {
    pub(crate) request: CrawlRequest,
    pub(crate) basic_auth: Option<BasicAuth>,
}

/// Returns the scope compiled earlier, or compiles it if the start has been redirected since.
async fn scope_of(
    app: &App,
    caller: &Caller,
    request: &CrawlRequest,
    landed: Option<Url>,
    known: Option<&Frontier>,
) -> Result<Scope, AppError> {
    match known.filter(|known| known.landed == landed) {
        Some(known) => Ok(known.scope.clone()),
        None => scope(app, caller, request, move |scope, _| landed.iter().fold(scope, Scope::landed_at)).await,
    }
}
