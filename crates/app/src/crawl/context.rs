//! What the pages of one crawl have in common, read once and kept for a while.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::Secret;
use crawl_frontier::Scope;
use fetch::BasicAuth;
use store::crawls::{self, Crawl};
use store::{Conn, StoreError, teams};
use tokio::time::Instant;
use url::Url;
use wire::{CrawlRequest, EventFamily, ScrapeOptions, SitemapMode};

use super::end::{family_of, hook_of};
use super::secrets::Secrets;
use super::submit::Lanes;
use super::{BATCH, is_private, scope};
use crate::auth::Caller;
use crate::webhooks::Hook;
use crate::{App, AppError};

/// After this time it is read again: the start may have been redirected, the team's limits changed.
const FRESH: Duration = Duration::from_secs(30);
/// See [`Frontier::most_links`].
const LEAST_LINKS: usize = 10_000;
/// Most crawls that are remembered.
const MOST: usize = 1000;
/// Most bytes of compiled patterns that are remembered, besides small ones.
const MAX_PATTERNS: usize = 64 << 20;
/// Compiled patterns of this size are small.
const SMALL_PATTERNS: usize = 64 << 10;

/// The same for all pages of a crawl or batch.
pub(crate) struct Context {
    pub(crate) id: String,
    pub(crate) caller: Caller,
    pub(crate) options: Arc<ScrapeOptions>,
    pub(crate) zero_data_retention: bool,
    pub(crate) lanes: Lanes,
    pub(crate) hook: Option<Hook>,
    pub(crate) family: EventFamily,
    /// Absent for batches, which follow no links.
    pub(crate) frontier: Option<Frontier>,
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
    landed: Option<Url>,
    /// Links of one page that are looked at: among so many there are enough that the crawl does not know.
    pub(crate) most_links: usize,
}

/// Contexts by the id of their crawl.
#[derive(Default)]
pub(crate) struct Contexts(Mutex<HashMap<String, (Instant, Arc<Context>)>>);

impl Contexts {
    /// The context of a crawl that is at work; `None` for others.
    pub(crate) async fn get(&self, app: &App, id: &str) -> Result<Option<Arc<Context>>, AppError> {
        if let Some(found) = self.fresh(id) {
            return Ok(Some(found));
        }
        let mut conn = app.conn().await?;
        let Some(row) = crawls::find(&mut conn, id).await?.filter(Crawl::is_open) else { return Ok(None) };
        let team = teams::find(&mut conn, &row.team_id).await?.ok_or_else(|| AppError::internal("no such team"))?;
        let secrets = crawls::secret(&mut conn, id, crawls::OF_THE_JOB).await?;
        drop(conn);
        let before = self.lock().get(id).map(|(_, context)| Arc::clone(context));
        let context = Arc::new(Context::read(app, &row, team, secrets.as_ref(), before.as_deref()).await?);
        self.keep(&context);
        Ok(Some(context))
    }

    /// The context of a crawl whose row is there, for the transaction that locked it, where nothing is compiled: it may say
    /// nothing of where the crawl may go. A request that this version cannot read is no reason to lose what must be said of
    /// it: then only its limits and its hook count.
    pub(crate) async fn of(&self, conn: &mut Conn, row: &Crawl) -> Result<Arc<Context>, StoreError> {
        if let Some(found) = self.fresh(&row.id) {
            return Ok(found);
        }
        let team = teams::find(conn, &row.team_id).await?.ok_or(StoreError::UnknownTeam)?;
        let secrets = crawls::secret(conn, &row.id, crawls::OF_THE_JOB).await?;
        let context = Context::without_frontier(row, team.clone(), secrets.as_ref()).map(|(context, _)| context);
        Ok(Arc::new(context.unwrap_or_else(|error| {
            tracing::error!(crawl = row.id, ?error, "the request of a job cannot be read any more");
            Context::bare(row, team, secrets.as_ref())
        })))
    }

    fn keep(&self, context: &Arc<Context>) {
        let mut all = self.lock();
        let patterns = context.pattern_bytes();
        let has_room = |all: &HashMap<String, (Instant, Arc<Context>)>| {
            let bytes = || all.values().map(|(_, context)| context.pattern_bytes()).sum::<usize>();
            all.len() < MOST && (patterns <= SMALL_PATTERNS || bytes() + patterns <= MAX_PATTERNS)
        };
        if !has_room(&all) {
            all.retain(|_, (read, _)| read.elapsed() < FRESH);
        }
        if has_room(&all) {
            all.insert(context.id.clone(), (Instant::now(), Arc::clone(context)));
        }
    }

    /// To be read again: something of it has changed.
    pub(crate) fn forget(&self, id: &str) {
        self.lock().remove(id);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, (Instant, Arc<Context>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fresh(&self, id: &str) -> Option<Arc<Context>> {
        let all = self.lock();
        all.get(id).filter(|(read, _)| read.elapsed() < FRESH).map(|(_, context)| Arc::clone(context))
    }
}

impl Context {
    /// Whether no trace of its pages may be left elsewhere.
    pub(crate) fn is_private(&self) -> bool {
        self.zero_data_retention || self.options.lockdown
    }

    /// Bytes of its compiled patterns.
    fn pattern_bytes(&self) -> usize {
        self.frontier.as_ref().map_or(0, |frontier| frontier.scope.size())
    }

    fn bare(row: &Crawl, team: teams::Team, secrets: Option<&Secret>) -> Self {
        Self {
            id: row.id.clone(),
            options: Arc::default(),
            zero_data_retention: is_private(row),
            lanes: Lanes::new(team.concurrency, None, None),
            hook: hook_of(row, secrets),
            family: family_of(row),
            frontier: None,
            caller: Caller { team, key: row.api_key_id.clone() },
        }
    }

    /// All but where the crawl may go; and its request without the options, unless it is a batch.
    fn without_frontier(
        row: &Crawl,
        team: teams::Team,
        secrets: Option<&Secret>,
    ) -> Result<(Self, Option<Start>), AppError> {
        let secrets = Secrets::read(secrets).map_err(AppError::internal)?;
        let request = serde_json::from_str(&row.request).map_err(AppError::internal)?;
        let cap = team.concurrency;
        let (id, caller) = (row.id.clone(), Caller { team, key: row.api_key_id.clone() });
        if row.kind == BATCH {
            let mut request = wire::decode_batch(request).map_err(AppError::internal)?;
            secrets.into_batch(&mut request);
            let batch = Self {
                id,
                caller,
                lanes: Lanes::new(cap, request.max_concurrency, None),
                hook: Hook::check(request.webhook.as_ref(), request.is_private())?,
                options: Arc::new(request.options),
                zero_data_retention: request.zero_data_retention,
                family: EventFamily::BatchScrape,
                frontier: None,
            };
            return Ok((batch, None));
        }
        let mut request = wire::decode_crawl(request).map_err(AppError::internal)?;
        let basic_auth = secrets.into_crawl(&mut request);
        let crawl = Self {
            id,
            caller,
            lanes: Lanes::new(cap, request.options.max_concurrency, request.options.delay),
            hook: Hook::check(request.webhook.as_ref(), request.is_private())?,
            options: Arc::new(std::mem::take(&mut request.options.scrape_options)),
            zero_data_retention: request.zero_data_retention,
            family: EventFamily::Crawl,
            frontier: None,
        };
        Ok((crawl, Some(Start { request, basic_auth })))
    }

    /// `before` is what was read earlier: a request never changes, and its patterns need not be compiled again.
    async fn read(
        app: &App,
        row: &Crawl,
        team: teams::Team,
        secrets: Option<&Secret>,
        before: Option<&Self>,
    ) -> Result<Self, AppError> {
        let (mut context, start) = Self::without_frontier(row, team, secrets)?;
        let Some(Start { request, basic_auth }) = start else { return Ok(context) };
        let landed = row.landed_url.as_deref().and_then(|url| Url::parse(url).ok());
        let known = before.and_then(|before| before.frontier.as_ref());
        let scope = scope_of(app, &context.caller, &request, (landed.clone(), known)).await?;
        // It knows its pages, as many other addresses of them, and spare ones.
        let most_links = usize::try_from(row.page_limit).unwrap_or(usize::MAX).saturating_mul(2).max(LEAST_LINKS);
        context.frontier = Some(Frontier {
            start: request.url,
            basic_auth,
            scope,
            sitemap: request.options.sitemap,
            ignore_robots: request.options.ignore_robots_txt,
            agent: request.options.robots_user_agent,
            landed,
            most_links,
        });
        Ok(context)
    }
}

/// What a frontier is made of.
struct Start {
    request: CrawlRequest,
    basic_auth: Option<BasicAuth>,
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
