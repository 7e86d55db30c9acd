//! How crawls and batches come to an end: by their last page, or by their owner.

use base::{Secret, Timestamp};
use serde_json::Value;
use store::crawls::{self, Crawl};
use store::jobs::{self, Queue};
use store::{Conn, StoreError, ledger};
use uuid::Uuid;
use webhooks::{Event, JobKind};

use super::secrets::Secrets;
use super::{BATCH, RETENTION, kickoff, read};
use crate::auth::Caller;
use crate::see_through::see_through;
use crate::webhooks::{Hook, emit};
use crate::{App, AppError};

/// Ends the job when nothing is left to do. The row is locked; the caller saves it.
pub(super) async fn if_over(app: &App, conn: &mut Conn, row: &mut Crawl) -> Result<(), StoreError> {
    if !row.is_open() || row.preparing || row.pending > 0 {
        return Ok(());
    }
    // A crawl that got nowhere has failed; a batch has done what it was told, page by page.
    let is_lost = row.kind != BATCH && row.completed == 0 && row.failed > 0;
    if is_lost {
        row.error = Some("no page could be scraped; the errors of the crawl say why".to_owned());
    }
    let (status, now) = (if is_lost { crawls::FAILED } else { crawls::COMPLETED }, app.now());
    close(conn, row, status, now).await?;
    announce(conn, row, now).await
}

/// Stops a job of the caller's team: pages that run are dropped unpaid, and what is left of its credits goes back.
///
/// # Errors
/// [`AppError::NotFound`], and [`AppError::JobFinished`] when it has ended already.
pub async fn cancel(app: &App, caller: &Caller, kind: &'static str, id: Uuid) -> Result<(), AppError> {
    let row = read::find(app, caller, kind, id).await?;
    if !row.is_open() {
        return Err(AppError::JobFinished);
    }
    let (worker, crawl) = (app.clone(), row.id.clone());
    let stopped = see_through(&app.tracker, async move { stop(&worker, &crawl).await });
    if !stopped.await? {
        return Err(AppError::JobFinished);
    }
    app.contexts().forget(&row.id);
    app.changes.tell(&row.id);
    app.waker.wake(Queue::Pages);
    app.waker.wake(Queue::Hooks);
    Ok(())
}

/// `false` when it had ended.
async fn stop(app: &App, crawl: &str) -> Result<bool, StoreError> {
    let now = app.now();
    let mut conn = app.store.conn().await?;
    conn.tx(async |conn: &mut Conn| {
        // Jobs first: everybody locks the team before the crawl.
        jobs::cancel(conn, Queue::Pages, crawl, now).await?;
        jobs::cancel(conn, Queue::Pages, &kickoff::lane(crawl), now).await?;
        let Some(mut row) = crawls::lock(conn, crawl).await?.filter(Crawl::is_open) else { return Ok(false) };
        row.pending = 0;
        row.error = Some("cancelled by its owner".to_owned());
        close(conn, &mut row, crawls::CANCELLED, now).await?;
        crawls::save(conn, &row).await?;
        announce(conn, &row, now).await?;
        Ok(true)
    })
    .await
}

async fn close(conn: &mut Conn, row: &mut Crawl, status: &str, now: Timestamp) -> Result<(), StoreError> {
    row.status = status.to_owned();
    row.preparing = false;
    row.finished_at = Some(now);
    row.expires_at = now + RETENTION;
    if let Some(key) = &row.reservation
        && let Some(held) = ledger::reservation(conn, &row.team_id, key).await?
    {
        ledger::void(conn, &held, now).await?;
    }
    tracing::info!(
        job = row.id,
        kind = row.kind,
        status,
        completed = row.completed,
        failed = row.failed,
        credits = row.credits,
        "job ended"
    );
    Ok(())
}

/// The last event: nothing of the job comes after it, so its secrets go as well.
async fn announce(conn: &mut Conn, row: &Crawl, now: Timestamp) -> Result<(), StoreError> {
    let secrets = crawls::secret(conn, &row.id, crawls::OF_THE_JOB).await?;
    // Nobody works on it any more.
    crawls::forget_secrets(conn, &row.id).await?;
    let Some(hook) = hook_of(row, secrets.as_ref()) else { return Ok(()) };
    let kind = if row.kind == BATCH { JobKind::Batch } else { JobKind::Crawl };
    let event = match &row.error {
        Some(error) => Event::new(kind.failed()).because(error.as_str()),
        None => Event::new(kind.completed()),
    };
    emit(conn, &hook, &row.team_id, &row.id, &event, now).await
}

/// The hook as the request had it; it was checked then.
fn hook_of(row: &Crawl, secrets: Option<&Secret>) -> Option<Hook> {
    let secrets = Secrets::read(secrets).ok()?;
    let request: Value = serde_json::from_str(&row.request).ok()?;
    let hook = if row.kind == BATCH {
        let mut request = wire::decode_batch(request).ok()?;
        secrets.into_batch(&mut request);
        Hook::check(request.webhook.as_ref(), request.is_private())
    } else {
        let mut request = wire::decode_crawl(request).ok()?;
        secrets.into_crawl(&mut request);
        Hook::check(request.webhook.as_ref(), request.is_private())
    };
    hook.ok().flatten()
}
