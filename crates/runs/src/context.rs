//! Cached context of a run: the settings that all of its pages share.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use base::{Owner, Secret};
use kernel::AppError;
use kernel::auth::Caller;
use parking_lot::{Mutex, MutexGuard};
use store::runs::{self, OF_THE_RUN, Progress, Run};
use store::teams::{self, Team};
use store::{Conn, StoreError};
use tokio::time::Instant;
use wire::{ScrapeOptions, WebhookConfig};

use super::Runs;
use super::hook::hook_of;
use super::kind::Kind;
use super::lanes::Lanes;
use super::page_kind::{Opening, PageKind, PageRun, PageSpec};
use super::secrets::Secrets;
use crate::webhooks::Hook;

/// Time after which a context is read again: the run may have changed, or the team's limits.
const FRESH: Duration = Duration::from_secs(30);
/// Maximum number of cached contexts.
const MAX_RUNS: usize = 1000;
/// Maximum total size of what kinds keep in cached contexts, in bytes, not counting small ones.
const MAX_BYTES: usize = 64 << 20;
/// Size up to which a context counts as small, in bytes.
const SMALL: usize = 64 << 10;

/// Settings that all pages of a run share.
pub struct Context {
    /// Id of the run.
    pub id: String,
    /// Kind of the run.
    pub kind: &'static Kind,
    /// Caller for whom its pages are read, as of the time when the context was read.
    pub caller: Caller,
    /// Options of its pages.
    pub options: Arc<ScrapeOptions>,
    /// Whether the request asks for zero data retention. [`Context::is_private`] also counts that of the team.
    pub zero_data_retention: bool,
    /// Limits of its jobs.
    pub lanes: Lanes,
    /// Receiver of its events.
    pub hook: Option<Hook>,
    /// Spec of the run, as its kind has read it.
    pub pages: Arc<dyn PageRun>,
}

/// Settings for scraping the pages of a run, as its kind reads them from the spec.
pub struct Terms {
    /// Options of the pages.
    pub options: ScrapeOptions,
    /// Whether the request asks for zero data retention.
    pub zero_data_retention: bool,
    /// Maximum number of concurrent pages; `None` for the limit of the team.
    pub max_concurrency: Option<u32>,
    /// Delay between two pages, in seconds.
    pub delay: Option<f64>,
    /// Receiver of events, as requested.
    pub webhook: Option<WebhookConfig>,
}

/// Cache of contexts by run id.
#[derive(Default)]
pub(super) struct Contexts(Mutex<All>);

type All = HashMap<String, (Instant, Arc<Context>)>;

/// Rows that the context of a run is made of.
struct Found {
    row: Run,
    progress: Progress,
    team: Team,
    secrets: Option<Secret>,
}

impl Found {
    /// Reads them; `None` if the run has ended.
    async fn read(conn: &mut Conn, id: &str) -> Result<Option<Self>, StoreError> {
        let Some((row, progress)) = runs::read(conn, id).await?.filter(|(row, _)| row.is_open()) else {
            return Ok(None);
        };
        let team = teams::find(conn, &row.team_id).await?.ok_or(StoreError::UnknownTeam)?;
        Ok(Some(Self { progress, team, secrets: runs::secret(conn, id, OF_THE_RUN).await?, row }))
    }
}

impl Contexts {
    /// See [`Runs::context`].
    pub(super) async fn get(&self, runs: &Runs, id: &str) -> Result<Option<Arc<Context>>, AppError> {
        if let Some(found) = self.fresh(id) {
            return Ok(Some(found));
        }
        let mut conn = runs.app().conn().await?;
        let found: Result<Option<Found>, StoreError> =
            conn.reads(async |conn: &mut Conn| Found::read(conn, id).await).await;
        drop(conn);
        let Some(Found { row, progress, team, secrets }) = found? else { return Ok(None) };
        let no_kind = || AppError::internal("no such kind of run whose items are pages");
        let (kind, pages) = runs.pages_of(&row.kind).ok_or_else(no_kind)?;
        let before = self.lock().get(id).map(|(_, context)| Arc::clone(context));
        let caller = Caller::of(team, row.api_key_id.clone(), row.address.clone());
        let (terms, spec) = read(&**pages, &row, secrets.as_ref())?;
        let opening = Opening { runs, row: &row, progress: &progress, caller: &caller, before: before.as_deref() };
        let pages = spec.open(opening).await?;
        Ok(Some(self.keep(Context::new(kind, &row, caller, terms, pages)?)))
    }

    /// See [`Runs::context_of`].
    pub(super) async fn of(&self, runs: &Runs, conn: &mut Conn, row: &Run) -> Result<Arc<Context>, StoreError> {
        if let Some(found) = self.fresh(&row.id) {
            return Ok(found);
        }
        let team = teams::find(conn, &row.team_id).await?.ok_or(StoreError::UnknownTeam)?;
        let secrets = runs::secret(conn, &row.id, OF_THE_RUN).await?;
        let no_kind = || StoreError::Inconsistent(format!("a run of kind {}", row.kind));
        let (kind, pages) = runs.pages_of(&row.kind).ok_or_else(no_kind)?;
        let caller = Caller::of(team, row.api_key_id.clone(), row.address.clone());
        let context = read(&**pages, row, secrets.as_ref())
            .and_then(|(terms, spec)| Context::new(kind, row, caller.clone(), terms, spec.unopened()));
        Ok(Arc::new(context.unwrap_or_else(|error| {
            tracing::error!(run = row.id, ?error, "spec of a run not readable; only limits and webhook apply");
            Context::bare(kind, row, caller, hook_of(kind.events, row, secrets.as_ref()), pages.bare())
        })))
    }

    /// Caches a context. Returns the one of another task that read the run meanwhile, if there is one: what its kind keeps
    /// for the run exists once.
    fn keep(&self, context: Context) -> Arc<Context> {
        let mut all = self.lock();
        if let Some((_, other)) = all.get(&context.id).filter(|(read, _)| read.elapsed() < FRESH) {
            return Arc::clone(other);
        }
        let context = Arc::new(context);
        let own = context.pages.bytes();
        let has_room = |all: &All| {
            let bytes = || all.values().map(|(_, context)| context.pages.bytes()).sum::<usize>();
            all.len() < MAX_RUNS && (own <= SMALL || bytes() + own <= MAX_BYTES)
        };
        if !has_room(&all) {
            all.retain(|_, (read, _)| read.elapsed() < FRESH);
        }
        if has_room(&all) {
            all.insert(context.id.clone(), (Instant::now(), Arc::clone(&context)));
        }
        context
    }

    /// Marks a context as stale, because the run has changed. What its kind keeps for the run stays.
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
    pub(super) fn has(&self, id: &str) -> bool {
        self.lock().contains_key(id)
    }

    fn lock(&self) -> MutexGuard<'_, All> {
        self.0.lock()
    }

    fn fresh(&self, id: &str) -> Option<Arc<Context>> {
        let all = self.lock();
        all.get(id).filter(|(read, _)| read.elapsed() < FRESH).map(|(_, context)| Arc::clone(context))
    }
}

impl Context {
    /// Returns the owner that the run's work is accounted to.
    pub fn owner(&self) -> Owner {
        self.caller.owner(&self.id)
    }

    /// Whether nothing about the run's pages may be kept elsewhere, such as in the cache.
    pub fn is_private(&self) -> bool {
        self.zero_data_retention || self.options.lockdown
    }

    fn new(
        kind: &'static Kind,
        row: &Run,
        caller: Caller,
        terms: Terms,
        pages: Arc<dyn PageRun>,
    ) -> Result<Self, AppError> {
        let Terms { options, zero_data_retention, max_concurrency, delay, webhook } = terms;
        Ok(Self {
            id: row.id.clone(),
            kind,
            lanes: Lanes::new(&caller.team, max_concurrency, delay),
            hook: Hook::check(webhook.as_ref(), zero_data_retention || options.lockdown)?,
            options: Arc::new(options),
            zero_data_retention,
            pages,
            caller,
        })
    }

    /// Returns the context of a run whose spec cannot be read.
    fn bare(kind: &'static Kind, row: &Run, caller: Caller, hook: Option<Hook>, pages: Arc<dyn PageRun>) -> Self {
        Self {
            id: row.id.clone(),
            kind,
            options: Arc::default(),
            zero_data_retention: row.private,
            lanes: Lanes::new(&caller.team, None, None),
            hook,
            pages,
            caller,
        }
    }
}

fn read(pages: &dyn PageKind, row: &Run, secrets: Option<&Secret>) -> Result<(Terms, Box<dyn PageSpec>), AppError> {
    let secrets = Secrets::read(secrets).map_err(AppError::internal)?;
    pages.read(serde_json::from_str(&row.spec).map_err(AppError::internal)?, secrets)
}
