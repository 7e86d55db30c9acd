//! Taking on a run: everything in one transaction, so that an accepted run is never lost and never half there.

use std::time::Duration;

use base::{Secret, Timestamp, address, new_id};
use queue::{Lane, NewJob, Queue};
use sha2::{Digest, Sha256};
use store::ledger::{self, Booking};
use store::runs::{self, NewPage, OF_THE_RUN, Progress, Run};
use store::{Conn, StoreError, jobs};
use url::Url;
use uuid::Uuid;
use webhooks::Event;
use wire::{WebhookConfig, WebhookEvent};

use super::kind::Kind;
use super::page::PagePayload;
use super::{MAX_LIFE, PAGES, RETENTION, host_of, url_of};
use crate::auth::Caller;
use crate::tracked::tracked;
use crate::webhooks::{HOOKS, Hook, emit};
use crate::{App, AppError};

/// A run that is to be taken on.
pub(crate) struct Submission {
    pub(crate) kind: &'static Kind,
    /// What lists show of it.
    pub(crate) subject: Option<String>,
    /// What was asked for, as JSON, without what nobody may read again. A member `webhook` is its hook.
    pub(crate) spec: String,
    /// What nobody may read again.
    pub(crate) secrets: Option<Secret>,
    /// Whether it must leave no trace.
    pub(crate) private: bool,
    pub(crate) webhook: Option<WebhookConfig>,
    /// The same key with the same fingerprint returns the same run.
    pub(crate) idempotency_key: Option<String>,
    pub(crate) fingerprint: String,
    /// Most items.
    pub(crate) max_items: i64,
    /// The most credits that it may cost.
    pub(crate) worst: i64,
    /// What its caller should know from the start.
    pub(crate) warning: Option<String>,
}

/// What a kind writes down when a run begins.
pub(crate) trait Begin: Send + 'static {
    /// Adds the rows and the jobs of the run, in the transaction that adds the run, and counts its items.
    ///
    /// # Errors
    /// Then nothing is written.
    fn begin(
        self,
        conn: &mut Conn,
        progress: &mut Progress,
        now: Timestamp,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// How many pages run at a time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lanes {
    cap: i32,
    team_cap: i32,
    delay: Duration,
}

impl Lanes {
    /// A delay means one at a time (docs/CONTRACT.md, "Crawl").
    pub(crate) fn new(team_cap: i32, max_concurrency: Option<u32>, delay: Option<f64>) -> Self {
        let delay = delay.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).unwrap_or_default();
        // A team cannot ask for more than its own limit.
        let asked = max_concurrency.and_then(|most| i32::try_from(most).ok()).unwrap_or(team_cap);
        let cap = if delay.is_zero() { asked.min(team_cap) } else { 1 };
        Self { cap, team_cap, delay }
    }

    /// The lane of the pages of a run.
    pub(crate) fn pages<'a>(&self, run: &'a str, team: &'a str) -> Lane<'a> {
        let (cap, team_cap, delay) = (self.cap, self.team_cap, self.delay);
        Lane { queue: PAGES.name, id: run, team_id: team, cap, team_cap, delay }
    }

    /// A lane beside the pages, for one job at a time: a run with one page at a time has its one place for pages.
    pub(crate) fn beside<'a>(&self, lane: &'a str, team: &'a str) -> Lane<'a> {
        Lane { cap: 1, delay: Duration::ZERO, ..self.pages(lane, team) }
    }
}

/// Where the jobs of a run stand whose items are pages: the pages, and what prepares them beside them.
pub(crate) fn page_lanes(run: &str) -> Vec<(Queue, String)> {
    vec![(PAGES, run.to_owned()), (PAGES, beside(run))]
}

/// The lane of what prepares the pages of a run.
pub(crate) fn beside(run: &str) -> String {
    format!("{run}:start")
}

/// The run whose lane this is, either of both.
pub(crate) fn run_of(lane: &str) -> &str {
    lane.strip_suffix(":start").unwrap_or(lane)
}

/// Takes on those of the pages that the run does not know, as far as there is room, and queues them. Its progress is locked.
///
/// # Errors
/// [`StoreError`]: then the run must not keep any of the pages, and the transaction has to be given up.
pub(crate) async fn add_pages(
    conn: &mut Conn,
    progress: &mut Progress,
    (lanes, team): (&Lanes, &str),
    pages: Vec<NewPage>,
    now: Timestamp,
) -> Result<(), StoreError> {
    let pages = runs::add_pages(conn, progress, pages).await?;
    let jobs = jobs_of(&progress.run_id, &pages, now)?;
    jobs::enqueue(conn, &lanes.pages(&progress.run_id, team), &jobs, now).await?;
    Ok(())
}

/// Pages by their address, the text they are known by, and their depth.
pub(crate) fn new_pages(found: impl IntoIterator<Item = (Url, String, u32)>) -> Vec<NewPage> {
    found.into_iter().map(|(url, key, depth)| new_page(url, digest(&key), depth)).collect()
}

/// A page that was found, by the [`digest`] of its normal spelling.
pub(super) fn new_page(url: Url, key: Vec<u8>, depth: u32) -> NewPage {
    let mut url = url;
    // A fragment is left out, unless it is a route of scripts.
    if !url.fragment().is_some_and(address::is_route) {
        url.set_fragment(None);
    }
    let depth = i32::try_from(depth).unwrap_or(i32::MAX);
    NewPage { id: new_id().to_string(), key, url: url.into(), depth, parent: None }
}

/// Half of SHA-256: enough that nobody finds two addresses with the same.
pub(crate) fn digest(key: &str) -> Vec<u8> {
    Sha256::digest(key.as_bytes())[..16].to_vec()
}

/// The jobs of pages that were taken on.
pub(crate) fn jobs_of(run: &str, pages: &[NewPage], now: Timestamp) -> Result<Vec<NewJob>, StoreError> {
    let job = |page: &NewPage| -> Result<NewJob, StoreError> {
        let (crawl, url, depth) = (run.to_owned(), page.url.clone(), u32::try_from(page.depth).unwrap_or(0));
        let parent = page.parent.clone();
        let host = url_of(&url).as_ref().and_then(host_of);
        Ok(NewJob { host, ..NewJob::of(&page.id, &PagePayload { crawl, url, depth, parent }, now)? })
    };
    pages.iter().map(job).collect()
}

/// Takes it on, and returns its id: that of the earlier one when the idempotency key is known.
///
/// # Errors
/// [`AppError::Invalid`] for its webhook, [`AppError::InsufficientCredits`], [`AppError::DuplicateRequest`].
pub(crate) async fn submit<B: Begin>(app: &App, caller: &Caller, new: Submission, begin: B) -> Result<Uuid, AppError> {
    if app.tracker.is_closed() {
        return Err(AppError::ShuttingDown);
    }
    let hook = Hook::check(new.webhook.as_ref(), new.private)?;
    let (id, kind) = (new_id(), new.kind);
    let row = row(id, caller, &new, app.now());
    // Asked first, because a repeat must succeed even if the team could not pay for it again.
    if let Some(known) = known(app, &row).await? {
        return Ok(known);
    }
    let (asked, worker, unlimited) = (row.clone(), app.clone(), caller.team.unlimited);
    // A client that hangs up must not stop this half way: the task goes on without it.
    let written = tracked(&app.tracker, async move {
        let accepted = Accepted { row, progress: Progress::new(&id.to_string(), new.max_items), hook };
        let worst = (!unlimited).then_some(new.worst);
        accepted.write(&worker, kind, (new.secrets, worst), begin).await
    });
    match written.await {
        Ok(true) => {
            let queues = (kind.lanes)(&asked.id).into_iter().map(|(queue, _)| queue);
            queues.chain([HOOKS]).for_each(|queue| app.waker.wake(queue));
            Ok(id)
        }
        // Another request with the same key was faster than this one.
        Ok(false) => {
            known(app, &asked).await?.ok_or_else(|| AppError::internal("run not found though its key is taken"))
        }
        Err(error) => Err(crate::reservation::refused(error)),
    }
}

/// The row of a run that begins now.
fn row(id: Uuid, caller: &Caller, new: &Submission, now: Timestamp) -> Run {
    Run {
        id: id.to_string(),
        team_id: caller.team.id.clone(),
        api_key_id: caller.key.clone(),
        kind: new.kind.name.to_owned(),
        subject: new.subject.clone(),
        spec: new.spec.clone(),
        private: new.private,
        status: runs::OPEN.to_owned(),
        warning: new.warning.clone(),
        error: None,
        idempotency_key: new.idempotency_key.clone(),
        fingerprint: new.fingerprint.clone(),
        created_at: now,
        finished_at: None,
        expires_at: now + RETENTION,
        address: caller.address.clone(),
    }
}

/// The run that was started under the same idempotency key.
async fn known(app: &App, row: &Run) -> Result<Option<Uuid>, AppError> {
    let Some(key) = &row.idempotency_key else { return Ok(None) };
    match runs::find_by_key(&mut app.conn().await?, &row.team_id, &row.kind, key).await? {
        Some(found) if found.fingerprint == row.fingerprint => crate::service::uuid(&found.id).map(Some),
        Some(_) => Err(AppError::DuplicateRequest),
        None => Ok(None),
    }
}

/// A run while it is written down.
struct Accepted {
    row: Run,
    progress: Progress,
    hook: Option<Hook>,
}

impl Accepted {
    /// `false` when another request with the same idempotency key was faster.
    async fn write<B: Begin>(
        self,
        app: &App,
        kind: &'static Kind,
        (secrets, worst): (Option<Secret>, Option<i64>),
        begin: B,
    ) -> Result<bool, StoreError> {
        let now = app.now();
        let mut conn = app.store.conn().await?;
        conn.tx(async |conn: &mut Conn| {
            let Self { row, mut progress, hook } = self;
            if !runs::create(conn, &row, &progress).await? {
                return Ok(false);
            }
            if let Some(secrets) = secrets {
                runs::keep_secrets(conn, &row.id, &[(OF_THE_RUN.to_owned(), secrets)]).await?;
            }
            begin.begin(conn, &mut progress, now).await?;
            if let Some(worst) = worst {
                let key = format!("{}:{}", kind.name, row.id);
                let booking = Booking { key: &key, team: &row.team_id, api_key: row.api_key_id.as_deref(), at: now };
                ledger::reserve(conn, &booking, worst, now + MAX_LIFE).await?;
                progress.reservation = Some(key);
            }
            runs::save(conn, &progress).await?;
            if let Some(hook) = hook {
                let started = Event::new(kind.events.event(WebhookEvent::Started));
                emit(conn, &hook, &row.team_id, &row.id, &started, now).await?;
            }
            tracing::info!(run = row.id, kind = kind.name, team = row.team_id, private = row.private, "run accepted");
            Ok(true)
        })
        .await
    }
}
