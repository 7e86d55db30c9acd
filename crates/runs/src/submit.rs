//! Submission of a run in one transaction, so that an accepted run is never lost or incomplete.

use base::{Secret, Timestamp, address, new_id};
use kernel::admit::check_open;
use kernel::auth::Caller;
use kernel::{App, AppError, tracked};
use queue::NewJob;
use sha2::{Digest, Sha256};
use store::ledger::{self, Booking};
use store::runs::{self, NewPage, OF_THE_RUN, Progress, Run};
use store::{Conn, StoreError, jobs};
use url::Url;
use uuid::Uuid;
use webhooks::Event;
use wire::WebhookConfig;
use wire::event::STARTED;

use super::handle::Runs;
use super::kind::Kind;
use super::lanes::Lanes;
use super::payload::PagePayload;
use super::{MAX_LIFE, RETENTION, host_of, url_of};
use crate::webhooks::{HOOKS, Hook, emit};

/// Run to be submitted.
#[derive(Clone)]
pub struct Submission {
    /// Kind of the run.
    pub kind: &'static Kind,
    /// Subject shown in lists.
    pub subject: Option<String>,
    /// Request as JSON, without its secrets. A member `webhook` is the webhook.
    pub spec: String,
    /// Secrets of the request.
    pub secrets: Option<Secret>,
    /// Whether the run must leave no trace.
    pub private: bool,
    /// Receiver of events.
    pub webhook: Option<WebhookConfig>,
    /// Idempotency key; the same key with the same fingerprint returns the same run.
    pub idempotency_key: Option<String>,
    /// Fingerprint of the request.
    pub fingerprint: String,
    /// Maximum number of items.
    pub max_items: i64,
    /// Maximum cost in credits, which is reserved.
    pub worst: i64,
    /// Warning for the caller, known from the start.
    pub warning: Option<String>,
}

/// Rows that a kind of run writes when a run begins.
pub trait Begin: Send + 'static {
    /// Adds the rows and the jobs of the run, in the transaction that adds the run, and counts its items.
    ///
    /// # Errors
    /// Errors roll the whole transaction back.
    fn begin(
        self,
        conn: &mut Conn,
        progress: &mut Progress,
        now: Timestamp,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// Adds the pages that the run does not know yet, up to its limit, and queues them. The caller holds the lock on its
/// progress.
///
/// # Errors
/// [`StoreError`]; then the transaction must be rolled back, so that the run keeps none of the pages.
#[crate::boxed]
pub async fn add_pages(
    conn: &mut Conn,
    progress: &mut Progress,
    lanes: &Lanes,
    pages: Vec<NewPage>,
    now: Timestamp,
) -> Result<(), StoreError> {
    let pages = runs::add_pages(conn, progress, pages).await?;
    let jobs = jobs_of(&progress.run_id, &pages, now)?;
    jobs::enqueue(conn, &lanes.pages(&progress.run_id), &jobs, now).await?;
    Ok(())
}

/// Builds a page from its address, the [`digest`] of its key, and its depth.
pub fn new_page(url: Url, key: Vec<u8>, depth: u32) -> NewPage {
    let mut url = url;
    // The fragment is removed unless it is a client-side route.
    if !url.fragment().is_some_and(address::is_route) {
        url.set_fragment(None);
    }
    let depth = i32::try_from(depth).unwrap_or(i32::MAX);
    NewPage { id: new_id().to_string(), key, url: url.into(), depth, parent: None }
}

/// Returns the first half of the SHA-256: 128 bits are enough that accidental and crafted collisions are infeasible.
pub fn digest(key: &str) -> Vec<u8> {
    Sha256::digest(key.as_bytes())[..16].to_vec()
}

/// Builds the jobs of new pages.
///
/// # Errors
/// [`StoreError`] when a payload cannot be serialised.
pub fn jobs_of(run: &str, pages: &[NewPage], now: Timestamp) -> Result<Vec<NewJob>, StoreError> {
    let job = |page: &NewPage| -> Result<NewJob, StoreError> {
        let (crawl, url, depth) = (run.to_owned(), page.url.clone(), u32::try_from(page.depth).unwrap_or(0));
        let parent = page.parent.clone();
        let host = url_of(&url).as_ref().and_then(host_of);
        Ok(NewJob { host, ..NewJob::of(&page.id, &PagePayload { crawl, url, depth, parent }, now)? })
    };
    pages.iter().map(job).collect()
}

/// Submits a run and returns its id, or that of the earlier run with the same idempotency key.
///
/// # Errors
/// [`AppError::Invalid`] for its webhook, [`AppError::InsufficientCredits`], [`AppError::DuplicateRequest`].
pub async fn submit<B: Begin>(runs: &Runs, caller: &Caller, new: Submission, begin: B) -> Result<Uuid, AppError> {
    let app = runs.app();
    check_open(app)?;
    let hook = Hook::check(new.webhook.as_ref(), new.private)?;
    let (id, kind) = (new_id(), new.kind);
    let row = row(id, caller, &new, app.now());
    // Look up the key first: a repeated request must succeed even if the team could not pay for it again.
    if let Some(known) = known(app, &row).await? {
        return Ok(known);
    }
    let (asked, worker, unlimited) = (row.clone(), app.clone(), caller.team.unlimited);
    // A client that disconnects must not stop this halfway: the task continues without it.
    let written = tracked(app.tracker(), async move {
        let progress = Progress::new(&id.to_string(), new.max_items);
        let worst = (!unlimited).then_some(new.worst);
        let accepted = Accepted { row, progress, secrets: new.secrets, worst, hook };
        accepted.write(&worker, kind, begin).await
    });
    match written.await {
        Ok(true) => {
            let queues = (kind.lanes)(&asked.id).into_iter().map(|(queue, _)| queue);
            queues.chain([HOOKS]).for_each(|queue| app.waker().wake(queue));
            Ok(id)
        }
        // Another request with the same key was faster.
        Ok(false) => {
            known(app, &asked).await?.ok_or_else(|| AppError::internal("no run found for this idempotency key"))
        }
        Err(error) => Err(kernel::reservation::refused(error)),
    }
}

/// Place of a run in a transaction of its caller.
pub struct Placing {
    /// Id of the run.
    pub id: Uuid,
    /// Key of a reservation of the caller that pays for the run; `None` for a team without a limit.
    pub reservation: Option<String>,
    /// Time of the transaction.
    pub now: Timestamp,
}

/// Submits a run in the transaction of its caller, who has checked that it may start, pays for it, and wakes the queues of
/// its kind after the commit. The webhook of the submission gets no event of the start. Returns `false` when the team has
/// a run of this kind with the same idempotency key.
///
/// # Errors
/// [`StoreError`]; then the transaction must be rolled back.
#[crate::boxed]
pub async fn submit_in<B: Begin>(
    conn: &mut Conn,
    caller: &Caller,
    new: Submission,
    begin: B,
    placing: Placing,
) -> Result<bool, StoreError> {
    let Placing { id, reservation, now } = placing;
    let kind = new.kind;
    let progress = Progress { reservation, ..Progress::new(&id.to_string(), new.max_items) };
    let row = row(id, caller, &new, now);
    Accepted { row, progress, secrets: new.secrets, worst: None, hook: None }.write_in(conn, kind, begin, now).await
}

/// Builds the row of a new run.
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

/// Returns the run that the caller has started with the same idempotency key.
///
/// # Errors
/// [`AppError::DuplicateRequest`] for a key that belongs to another request.
pub async fn started(
    runs: &Runs,
    caller: &Caller,
    kind: &Kind,
    idempotency_key: Option<&str>,
    fingerprint: &str,
) -> Result<Option<Uuid>, AppError> {
    let Some(key) = idempotency_key else { return Ok(None) };
    same(runs.app(), Same { team: &caller.team.id, kind: kind.name, key, fingerprint }).await
}

/// Returns the run that was started with the same idempotency key.
async fn known(app: &App, row: &Run) -> Result<Option<Uuid>, AppError> {
    let Some(key) = &row.idempotency_key else { return Ok(None) };
    same(app, Same { team: &row.team_id, kind: &row.kind, key, fingerprint: &row.fingerprint }).await
}

/// Request with an idempotency key.
struct Same<'a> {
    team: &'a str,
    kind: &'a str,
    key: &'a str,
    fingerprint: &'a str,
}

async fn same(app: &App, request: Same<'_>) -> Result<Option<Uuid>, AppError> {
    let Same { team, kind, key, fingerprint } = request;
    match runs::find_by_key(&mut app.conn().await?, team, kind, key).await? {
        Some(found) if found.fingerprint == fingerprint => kernel::uuid(&found.id).map(Some),
        Some(_) => Err(AppError::DuplicateRequest),
        None => Ok(None),
    }
}

/// Run that is being written.
struct Accepted {
    row: Run,
    progress: Progress,
    secrets: Option<Secret>,
    /// Credits to reserve; none for a team without a limit.
    worst: Option<i64>,
    hook: Option<Hook>,
}

impl Accepted {
    /// Writes the run; returns `false` when another request with the same idempotency key was faster.
    async fn write<B: Begin>(self, app: &App, kind: &'static Kind, begin: B) -> Result<bool, StoreError> {
        let now = app.now();
        let mut conn = app.store().conn().await?;
        conn.tx(async |conn: &mut Conn| self.write_in(conn, kind, begin, now).await).await
    }

    /// Writes the run as [`Accepted::write`] does, in the transaction of the caller.
    async fn write_in<B: Begin>(
        self,
        conn: &mut Conn,
        kind: &'static Kind,
        begin: B,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let Self { row, mut progress, secrets, worst, hook } = self;
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
        if let (Some(hook), Some(started)) = (hook, kind.events.event(STARTED)) {
            emit(conn, &hook, &row.team_id, &row.id, &Event::new(started), now).await?;
        }
        tracing::info!(run = row.id, kind = kind.name, team = row.team_id, private = row.private, "run accepted");
        Ok(true)
    }
}
