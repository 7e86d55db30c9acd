//! What the pages of one run have in common, read once and kept for a while.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use base::{Owner, Secret};
use crawl_frontier::Scope;
use fetch::BasicAuth;
use parking_lot::{Mutex, MutexGuard};
use store::runs::{self, OF_THE_RUN, Progress, Run};
use store::{Conn, StoreError, teams};
use tokio::time::Instant;
use url::Url;
use wire::{CrawlRequest, ScrapeOptions, SitemapMode, WebhookConfig};

use super::end::hook_of;
use super::kind::{Kind, kind_of};
use super::known::Known;
use super::secrets::Secrets;
use super::submit::Lanes;
use crate::auth::Caller;
use crate::crawl::scope;
use crate::webhooks::Hook;
use crate::{App, AppError};

/// After this time it is read again: the start may have been redirected, the team's limits changed.
const FRESH: Duration = Duration::from_secs(30);
/// See [`Frontier::max_links`].
const MIN_LINKS: usize = 10_000;
/// Most runs that are remembered.
const MAX_RUNS: usize = 1000;
/// Most bytes of compiled patterns that are remembered, besides small ones.
const MAX_PATTERNS: usize = 64 << 20;
/// Compiled patterns of this size are small.
const SMALL_PATTERNS: usize = 64 << 10;

/// The same for all pages of a run.
pub(crate) struct Context {
    pub(crate) id: String,
    pub(crate) kind: &'static Kind,
    pub(crate) caller: Caller,
    pub(crate) options: Arc<ScrapeOptions>,
    pub(crate) zero_data_retention: bool,
    pub(crate) lanes: Lanes,
    pub(crate) hook: Option<Hook>,
    /// Absent where no links are followed.
    pub(crate) frontier: Option<Frontier>,
    /// The addresses that it knows.
    pub(crate) known: Arc<Known>,
}

/// Where a crawl may go.
pub(crate) struct Frontier {
    /// Without user name and password. The headers of the request were given for it.
    pub(crate) start: Url,
    /// What stood in it.
    pub(crate) basic_auth: Option<BasicAuth>,
    pub(crate) scope: Scope,
    pub(crate) sitemap: SitemapMode,
    pub(crate) ignore_robots: bool,
    pub(crate) agent: Option<String>,
    /// Where the start was redirected to.
    pub(crate) landed: Option<Url>,
    /// Links of one page that are looked at: among so many there are enough that the crawl does not know.
    pub(crate) max_links: usize,
}

/// Contexts by the id of their run.
#[derive(Default)]
pub(crate) struct Contexts {
    all: Mutex<HashMap<String, (Instant, Arc<Context>)>>,
    /// Addresses that all of them know together.
    known: Arc<AtomicUsize>,
}

impl Contexts {
    /// The context of a run that is at work; `None` for others.
    pub(crate) async fn get(&self, app: &App, id: &str) -> Result<Option<Arc<Context>>, AppError> {
        if let Some(found) = self.fresh(id) {
            return Ok(Some(found));
        }
        let mut conn = app.conn().await?;
        let Some((row, progress)) = runs::read(&mut conn, id).await?.filter(|(row, _)| row.is_open()) else {
            return Ok(None);
        };
        let team = teams::find(&mut conn, &row.team_id).await?.ok_or_else(|| AppError::internal("no such team"))?;
        let secrets = runs::secret(&mut conn, id, OF_THE_RUN).await?;
        let landed = runs::landed(&mut conn, id).await?;
        drop(conn);
        let kind = kind_of(&row.kind).ok_or_else(|| AppError::internal("no such kind of run"))?;
        let before = self.lock().get(id).map(|(_, context)| Arc::clone(context));
        let stored = Stored { kind, row, team, progress, landed };
        let mut context = Context::read(app, stored, secrets.as_ref(), before.as_deref()).await?;
        context.known = before.map_or_else(|| Known::counted_in(&self.known), |before| Arc::clone(&before.known));
        let context = Arc::new(context);
        self.keep(&context);
        Ok(Some(context))
    }

    /// The context of a run whose row is there, for the transaction that locked it, where nothing is compiled: it may say
    /// nothing of where its links may lead. A spec that this version cannot read is no reason to lose what must be said of
    /// it: then only its limits and its hook count.
    pub(crate) async fn of(&self, conn: &mut Conn, row: &Run) -> Result<Arc<Context>, StoreError> {
        if let Some(found) = self.fresh(&row.id) {
            return Ok(found);
        }
        let team = teams::find(conn, &row.team_id).await?.ok_or(StoreError::UnknownTeam)?;
        let secrets = runs::secret(conn, &row.id, OF_THE_RUN).await?;
        let kind = kind_of(&row.kind).ok_or_else(|| StoreError::Inconsistent(format!("a run of kind {}", row.kind)))?;
        let context = Context::without_frontier(kind, row, team.clone(), secrets.as_ref()).map(|(context, _)| context);
        Ok(Arc::new(context.unwrap_or_else(|error| {
            tracing::error!(run = row.id, ?error, "the spec of a run cannot be read any more");
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

    /// To be read again, as something of it has changed. What is known of its pages stays.
    pub(crate) fn refresh(&self, id: &str) {
        let mut all = self.lock();
        if let Some(long_ago) = Instant::now().checked_sub(FRESH) {
            all.entry(id.to_owned()).and_modify(|(read, _)| *read = long_ago);
        } else {
            all.remove(id);
        }
    }

    /// Never to be read again, as its run has ended.
    pub(crate) fn forget(&self, id: &str) {
        self.lock().remove(id);
    }

    /// Whether that of a run is kept.
    #[cfg(test)]
    pub(crate) fn has(&self, id: &str) -> bool {
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
    /// Whose its work is.
    pub(crate) fn owner(&self) -> Owner {
        self.caller.owner(&self.id)
    }

    /// Whether no trace of its pages may be left elsewhere.
    pub(crate) fn is_private(&self) -> bool {
        self.zero_data_retention || self.options.lockdown
    }

    /// Whether the crawl has a largest depth (`maxDiscoveryDepth`): then the shortest way to each page matters.
    pub(crate) fn has_max_depth(&self) -> bool {
        self.frontier.as_ref().is_some_and(|frontier| frontier.scope.max_depth().is_some())
    }

    /// Bytes of its compiled patterns.
    fn pattern_bytes(&self) -> usize {
        self.frontier.as_ref().map_or(0, |frontier| frontier.scope.size())
    }

    fn bare(kind: &'static Kind, row: &Run, team: teams::Team, secrets: Option<&Secret>) -> Self {
        Self {
            id: row.id.clone(),
            kind,
            options: Arc::default(),
            zero_data_retention: row.private,
            lanes: Lanes::new(team.concurrency, None, None),
            hook: hook_of(row, secrets),
            frontier: None,
            known: Arc::default(),
            caller: Caller::of(team, row.api_key_id.clone(), row.address.clone()),
        }
    }

    /// All but where its links may lead; and what that is made of, when links are followed.
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
            lanes: Lanes::new(team.concurrency, max_concurrency, delay),
            hook: Hook::check(webhook.as_ref(), zero_data_retention || options.lockdown)?,
            options: Arc::new(options),
            zero_data_retention,
            frontier: None,
            known: Arc::default(),
            caller: Caller::of(team, row.api_key_id.clone(), row.address.clone()),
        };
        Ok((context, start))
    }

    /// `before` is what was read earlier: a spec never changes, and its patterns need not be compiled again.
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
        let scope = scope_of(app, &context.caller, &request, (landed.clone(), known)).await?;
        // It knows its pages, as many other addresses of them, and spare ones.
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

/// What the database says of a run.
struct Stored {
    kind: &'static Kind,
    row: Run,
    team: teams::Team,
    progress: Progress,
    landed: Option<String>,
}

/// How the pages of a run are scraped, as its kind reads it from the spec.
pub(crate) struct Terms {
    pub(crate) options: ScrapeOptions,
    pub(crate) zero_data_retention: bool,
    pub(crate) max_concurrency: Option<u32>,
    /// Seconds between two pages.
    pub(crate) delay: Option<f64>,
    pub(crate) webhook: Option<WebhookConfig>,
    /// When links are followed.
    pub(crate) start: Option<Start>,
}

/// What a frontier is made of: the request of a crawl, without its options for pages, and what stood in its URL.
pub(crate) struct Start {
    pub(crate) request: CrawlRequest,
    pub(crate) basic_auth: Option<BasicAuth>,
}

/// The scope as it was compiled before, unless the start was redirected since.
async fn scope_of(
    app: &App,
    caller: &Caller,
    request: &CrawlRequest,
    (landed, known): (Option<Url>, Option<&Frontier>),
) -> Result<Scope, AppError> {
    match known.filter(|known| known.landed == landed) {
        Some(known) => Ok(known.scope.clone()),
        None => scope(app, caller, request, move |scope, _| landed.iter().fold(scope, Scope::landed_at)).await,
    }
}
