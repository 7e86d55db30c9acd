//! How crawls and batches come to an end: by their last page, or by their owner.

use base::{Secret, Timestamp};
use chrono::TimeDelta;
use serde_json::Value;
use store::crawls::{self, Crawl};
use store::{Conn, StoreError, jobs, ledger};
use uuid::Uuid;
use webhooks::Event;
use wire::{EventFamily, WebhookEvent};

use super::secrets::Secrets;
use super::{BATCH, PAGES, RETENTION, erase, is_private, kickoff, read};
use crate::auth::Caller;
use crate::tracked::tracked;
use crate::webhooks::{HOOKS, Hook, emit};
use crate::{App, AppError};

/// Waiting jobs that one transaction takes out of the queue.
const PIECE: i64 = 1000;
/// How long it can be read how a private job was stopped. Its pages are gone by then.
const ERASED_RETENTION: TimeDelta = TimeDelta::hours(1);

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

/// Stops a job of the caller's team: pages that run are dropped unpaid, and what is left of its credits goes back. Of a
/// private job pages and documents are erased, also when it has ended before.
///
/// # Errors
/// [`AppError::NotFound`], and [`AppError::JobFinished`] when it has ended already.
#[crate::boxed]
pub async fn cancel(app: &App, caller: &Caller, kind: &'static str, id: Uuid) -> Result<(), AppError> {
    cancel_found(app, read::find(app, caller, kind, id).await?).await
}

/// As [`cancel`], whoever has started the job.
pub(crate) async fn cancel_found(app: &App, row: Crawl) -> Result<(), AppError> {
    let (worker, crawl, private) = (app.clone(), row.id.clone(), is_private(&row));
    let stopped = tracked(&app.tracker, async move {
        if !row.is_open() || !stop(&worker, &row.id).await? {
            erase::ended(&worker, &row).await?;
            return Ok::<_, AppError>(false);
        }
        clear(&worker, &row.id).await?;
        if private {
            erase::stopped(&worker, &row.id).await?;
        }
        Ok(true)
    });
    let stopped = stopped.await?;
    app.contexts().forget(&crawl);
    app.changes.notify(&crawl);
    app.waker.wake(PAGES);
    app.waker.wake(HOOKS);
    if stopped { Ok(()) } else { Err(AppError::JobFinished) }
}

/// `false` when it had ended.
async fn stop(app: &App, crawl: &str) -> Result<bool, AppError> {
    let now = app.now();
    let mut conn = app.conn().await?;
    let stopped: Result<bool, StoreError> = conn
        .tx(async |conn: &mut Conn| {
            let Some(row) = crawls::find(conn, crawl).await? else { return Ok(false) };
            // Everybody locks the team before the crawl.
            jobs::lock_team(conn, PAGES.name, &row.team_id).await?;
            let Some(mut row) = crawls::lock(conn, crawl).await?.filter(Crawl::is_open) else { return Ok(false) };
            row.pending = 0;
            row.error = Some("cancelled by its owner".to_owned());
            close(conn, &mut row, crawls::CANCELLED, now).await?;
            if is_private(&row) {
                // Its documents are erased next; nobody is to wait for them.
                row.completed = 0;
                row.expires_at = now + ERASED_RETENTION;
            }
            crawls::save(conn, &row).await?;
            announce(conn, &row, now).await?;
            Ok(true)
        })
        .await;
    Ok(stopped?)
}

/// Takes the jobs of a stopped crawl out of the queue, a long list a piece at a time. Those that run are dropped; one that
/// is claimed meanwhile finds that its crawl has ended.
async fn clear(app: &App, crawl: &str) -> Result<(), AppError> {
    while jobs::trim(&mut app.conn().await?, PAGES.name, crawl, PIECE).await? > 0 {}
    let now = app.now();
    jobs::cancel(&mut app.conn().await?, PAGES.name, crawl, now).await?;
    jobs::cancel(&mut app.conn().await?, PAGES.name, &kickoff::lane(crawl), now).await?;
    Ok(())
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
    let family = family_of(row);
    let event = match &row.error {
        Some(error) => Event::new(family.event(WebhookEvent::Failed)).because(error.as_str()),
        None => Event::new(family.event(WebhookEvent::Completed)),
    };
    emit(conn, &hook, &row.team_id, &row.id, &event, now).await
}

/// The family of its events.
pub(super) fn family_of(row: &Crawl) -> EventFamily {
    if row.kind == BATCH { EventFamily::BatchScrape } else { EventFamily::Crawl }
}

/// The hook as the request had it. Only this part of it is read: the last event must not be lost because a later version
/// does not know an option any more.
pub(super) fn hook_of(row: &Crawl, secrets: Option<&Secret>) -> Option<Hook> {
    let read = || -> Result<Option<Hook>, AppError> {
        let mut request: Value = serde_json::from_str(&row.request).map_err(AppError::internal)?;
        let Some(webhook) = request.get_mut("webhook").map(Value::take).filter(|webhook| !webhook.is_null()) else {
            return Ok(None);
        };
        let mut webhook = wire::decode_webhook(webhook)?;
        Secrets::read(secrets).map_err(AppError::internal)?.into_webhook(&mut webhook);
        Hook::check(Some(&webhook), is_private(row))
    };
    read().unwrap_or_else(|error| {
        tracing::error!(job = row.id, ?error, "the webhook of a job cannot be read, its receiver is not told");
        None
    })
}

#[cfg(test)]
mod tests {
    use base::new_id;
    use serde_json::json;
    use store::teams::Team;

    use super::*;
    use crate::crawl::{CRAWL, blank};

    #[test]
    fn a_hook_is_found_in_a_request_of_another_version() {
        let check = |request: &str, want: bool| {
            let caller = Caller { team: Team::new("t", "t", Timestamp::UNIX_EPOCH), key: None };
            let row = Crawl { request: request.to_owned(), ..blank(new_id(), CRAWL, &caller, Timestamp::UNIX_EPOCH) };
            assert_eq!(hook_of(&row, None).is_some(), want, "{request}");
        };
        let hook = json!("https://hook.test/");
        check(&json!({ "url": "https://a.test/", "webhook": hook }).to_string(), true);
        check(&json!({ "url": "https://a.test/", "newOption": [1], "limit": -1, "webhook": hook }).to_string(), true);
        check(&json!({ "webhook": { "url": "https://hook.test/", "events": ["page"] } }).to_string(), true);
        check(&json!({ "url": "https://a.test/", "webhook": null }).to_string(), false);
        check(&json!({ "webhook": 5 }).to_string(), false);
        check("broken", false);
    }
}
