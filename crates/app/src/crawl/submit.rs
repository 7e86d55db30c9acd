//! Taking on a crawl or a batch: everything in one transaction, so that an accepted job is never lost and never half there.

use std::time::Duration;

use base::{Secret, Timestamp, new_id};
use queue::{Lane, NewJob};
use sha2::{Digest, Sha256};
use store::crawls::{self, Crawl, NewPage};
use store::ledger::{self, Booking};
use store::{Conn, StoreError};
use url::Url;
use uuid::Uuid;
use webhooks::Event;
use wire::{WebhookConfig, WebhookEvent};

use super::fill::Pages;
use super::page::PagePayload;
use super::{LONGEST_LIFE, PAGES, end, host_of, kickoff, url_of};
use crate::auth::Caller;
use crate::tracked::tracked;
use crate::webhooks::{HOOKS, Hook, emit};
use crate::{App, AppError};

/// A crawl or batch that is to be taken on.
pub(crate) struct Submission {
    pub(crate) row: Crawl,
    /// Pages that are known from the start.
    pub(crate) pages: Pages,
    /// What nobody may read again, of the whole job.
    pub(crate) secrets: Vec<(String, Secret)>,
    /// The most that one page can cost.
    pub(crate) price: i64,
    /// Whether pages are looked for in sitemaps.
    pub(crate) kickoff: bool,
    pub(crate) webhook: Option<WebhookConfig>,
    pub(crate) private: bool,
    pub(crate) lanes: Lanes,
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
        let asked = max_concurrency.and_then(|most| i32::try_from(most).ok()).unwrap_or(team_cap);
        let cap = if delay.is_zero() { asked.min(team_cap) } else { 1 };
        Self { cap, team_cap, delay }
    }

    /// The lane of the pages of a crawl.
    pub(crate) fn pages<'a>(&self, crawl: &'a Crawl) -> Lane<'a> {
        let (cap, team_cap, delay) = (self.cap, self.team_cap, self.delay);
        Lane { queue: PAGES.name, id: &crawl.id, team_id: &crawl.team_id, cap, team_cap, delay }
    }
}

/// Pages by their address, the text they are known by, and their depth.
pub(crate) fn new_pages(found: impl IntoIterator<Item = (Url, String, u32)>) -> Vec<NewPage> {
    let page = |(url, key, depth): (Url, String, u32)| NewPage {
        id: new_id().to_string(),
        key: digest(&key),
        url: url.into(),
        depth: i32::try_from(depth).unwrap_or(i32::MAX),
    };
    found.into_iter().map(page).collect()
}

/// Half of SHA-256: enough that nobody finds two addresses with the same.
pub(super) fn digest(key: &str) -> Vec<u8> {
    Sha256::digest(key.as_bytes())[..16].to_vec()
}

/// The jobs of pages that were taken on.
pub(crate) fn jobs_of(crawl: &str, pages: &[NewPage], now: Timestamp) -> Result<Vec<NewJob>, StoreError> {
    let job = |page: &NewPage| -> Result<NewJob, StoreError> {
        let (crawl, url, depth) = (crawl.to_owned(), page.url.clone(), u32::try_from(page.depth).unwrap_or(0));
        let host = url_of(&url).as_ref().and_then(host_of);
        Ok(NewJob { host, ..NewJob::of(&page.id, &PagePayload { crawl, url, depth }, now)? })
    };
    pages.iter().map(job).collect()
}

/// Takes it on, and gives the id of the job: that of the earlier one when the idempotency key is known.
pub(crate) async fn submit(app: &App, caller: &Caller, submission: Submission) -> Result<Uuid, AppError> {
    if app.tracker.is_closed() {
        return Err(AppError::ShuttingDown);
    }
    let hook = Hook::check(submission.webhook.as_ref(), submission.private)?;
    if let Some(known) = known(app, &submission.row).await? {
        return Ok(known);
    }
    let id = crate::service::uuid(&submission.row.id)?;
    let (row, worker, unlimited) = (submission.row.clone(), app.clone(), caller.team.unlimited);
    let written = tracked(&app.tracker, async move { write(&worker, submission, hook, unlimited).await });
    match written.await {
        Ok(true) => {
            app.waker.wake(PAGES);
            app.waker.wake(HOOKS);
            Ok(id)
        }
        Ok(false) => known(app, &row).await?.ok_or_else(|| AppError::internal("the job is there and is not there")),
        Err(error) => Err(crate::reservation::refused(error)),
    }
}

/// The job that was started under the same idempotency key.
async fn known(app: &App, row: &Crawl) -> Result<Option<Uuid>, AppError> {
    let Some(key) = &row.idempotency_key else { return Ok(None) };
    match crawls::find_by_key(&mut app.conn().await?, &row.team_id, &row.kind, key).await? {
        Some(found) if found.fingerprint == row.fingerprint => crate::service::uuid(&found.id).map(Some),
        Some(_) => Err(AppError::DuplicateRequest),
        None => Ok(None),
    }
}

/// `false` when another request with the same idempotency key was faster.
async fn write(app: &App, submission: Submission, hook: Option<Hook>, unlimited: bool) -> Result<bool, StoreError> {
    let now = app.now();
    let mut conn = app.store.conn().await?;
    conn.tx(async |conn: &mut Conn| {
        let Submission { mut row, pages, secrets, price, kickoff, lanes, private, .. } = submission;
        if !crawls::create(conn, &row).await? {
            return Ok(false);
        }
        crawls::keep_secrets(conn, &row.id, &secrets).await?;
        let worst = row.page_limit.saturating_mul(price);
        pages.write(conn, &mut row, &lanes, now).await?;
        if kickoff {
            kickoff::enqueue(conn, &row, &lanes, now).await?;
        }
        if !unlimited {
            let key = format!("{}:{}", row.kind, row.id);
            let booking = Booking { key: &key, team: &row.team_id, api_key: row.api_key_id.as_deref(), at: now };
            ledger::reserve(conn, &booking, worst, now + LONGEST_LIFE).await?;
            row.reservation = Some(key);
        }
        crawls::save(conn, &row).await?;
        if let Some(hook) = hook {
            let started = Event::new(end::family_of(&row).event(WebhookEvent::Started));
            emit(conn, &hook, &row.team_id, &row.id, &started, now).await?;
        }
        tracing::info!(job = row.id, kind = row.kind, team = row.team_id, private, "job accepted");
        Ok(true)
    })
    .await
}
