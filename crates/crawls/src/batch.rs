//! Batches: runs that scrape a list of pages. This module starts batches and adds pages to them; `fill` inserts the
//! rows of a long list; the crate `runs` holds what all runs share.

mod fill;

use ::runs::{
    Begin, Ended, Kind, Lanes, MAX_LIFE, PAGES, PageKind, PageSpec, Plain, RETENTION, Runs, RunsError, Secrets,
    Submission, Terms, nothing_more, nothing_then, page_lanes, save, submit,
};
use base::{Timestamp, new_id};
use billing::LedgerError;
use kernel::admit::check_open;
use kernel::auth::Caller;
use kernel::{AppError, fingerprint, tracked};
use scraping::check::check;
use serde_json::Value;
use store::ledger::{self, Booking};
use store::runs::{self, OF_THE_RUN, Progress, Run};
use store::{Conn, StoreError, jobs};
use uuid::Uuid;
use wire::{ActivityEndpoint, BatchPage, BatchPages, BatchRequest, GivenFields, event};

use self::fill::Pages;
pub use self::fill::{Fill, FillPayload};
use crate::CrawlsError;

/// Kind of run for batches.
pub static KIND: Kind = Kind {
    name: "batch",
    noun: "batch scrape",
    events: &event::BATCH_SCRAPE,
    endpoint: Some(ActivityEndpoint::BatchScrape),
    lanes: page_lanes,
    // A batch completes even if all pages fail: it has processed each of them.
    verdict: |_| Ok(()),
    explain,
    total,
    drained: nothing_more,
    closed: nothing_then,
    retention: RETENTION,
    owns_reservation: true,
};

/// Accepted batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartedBatch {
    /// Id of the batch, also when pages were added to an existing one.
    pub id: Uuid,
    /// Entries that are not valid page URLs; present when the request asked to ignore them.
    pub invalid_urls: Option<Vec<String>>,
}

/// Accepts a batch, or adds pages to an open one (`appendToId`). The credits for all pages are reserved. `given` lists
/// the keys of the body: added pages are scraped with the options of the batch, so the request must not set other
/// options. The same `idempotency_key` with the same request starts one batch, and adds its pages once.
///
/// # Errors
/// Errors of [`crawl::start`](crate::crawl::start); [`AppError::NotFound`] and [`RunsError::JobFinished`] for
/// `appendToId`.
#[crate::boxed]
pub async fn start(
    runs: &Runs,
    caller: &Caller,
    request: BatchRequest,
    given: &GivenFields,
    idempotency_key: Option<&str>,
) -> Result<StartedBatch, CrawlsError> {
    let BatchPages { valid, invalid } = request.pages();
    kernel::room::check(runs.app())?;
    let invalid_urls = request.ignore_invalid_urls.then_some(invalid);
    let id = match request.append_to_id {
        Some(id) => append(runs, caller, More { id, pages: valid, request: &request, given }, idempotency_key).await?,
        None => {
            check(runs.scraper(), caller, &request.options, request.zero_data_retention, request.needs())?;
            begin(runs, caller, request, valid, idempotency_key).await?
        }
    };
    Ok(StartedBatch { id, invalid_urls })
}

async fn begin(
    runs: &Runs,
    caller: &Caller,
    mut request: BatchRequest,
    pages: Vec<BatchPage>,
    idempotency_key: Option<&str>,
) -> Result<Uuid, CrawlsError> {
    let fingerprint = fingerprint(&serde_json::to_string(&request).map_err(AppError::internal)?);
    let max_items = i64::try_from(pages.len()).unwrap_or(i64::MAX);
    // The pages have rows of their own; one URL is kept so that the request can be decoded again.
    request.urls = pages.iter().take(1).map(|page| wire::without_userinfo(page.url.as_str())).collect();
    let webhook = request.webhook.clone();
    let secrets = take_secrets(&mut request).text();
    let new = Submission {
        kind: &KIND,
        subject: None,
        spec: serde_json::to_string(&request).map_err(AppError::internal)?,
        secrets,
        private: request.is_private(),
        webhook,
        idempotency_key: idempotency_key.map(str::to_owned),
        fingerprint,
        max_items,
        worst: max_items.saturating_mul(billing::quote(&request.options)),
        warning: None,
    };
    let lanes = Lanes::new(&caller.team, request.max_concurrency, None);
    let beginning = Beginning { lanes, pages: Pages::of(pages).await? };
    let submitted = submit(runs, caller, new, beginning).await;
    submitted.map_err(|error| CrawlsError::for_pages(error, "urls", max_items))
}

/// First rows of a batch: all of its pages.
struct Beginning {
    lanes: Lanes,
    pages: Pages,
}

impl Begin for Beginning {
    async fn begin(self, conn: &mut Conn, progress: &mut Progress, now: Timestamp) -> Result<(), StoreError> {
        self.pages.write(conn, progress, &self.lanes, now).await
    }
}

/// Returns the number of pages done, running and waiting. Some pages of a long batch may not have rows yet.
fn total(progress: &Progress) -> i64 {
    let known = progress.done + progress.pending;
    if progress.is_open { known.max(progress.max_items - progress.failed) } else { known }
}

/// Explains why a batch has no documents.
fn explain(ended: &Ended<'_>) -> Option<String> {
    let failed = ended.failed.as_ref().filter(|_| ended.progress.done == 0)?;
    Some(format!("no page could be scraped; the first failed with {}", ended.cause(failed)))
}

/// Kind of pages of batches: it reads their spec and adds nothing.
#[derive(Debug, Clone, Copy)]
pub struct PlainPages;

impl PageKind for PlainPages {
    fn read(&self, spec: Value, secrets: Secrets) -> Result<(Terms, Box<dyn PageSpec>), AppError> {
        let request = read(spec, secrets)?;
        let terms = Terms {
            options: request.options,
            zero_data_retention: request.zero_data_retention,
            max_concurrency: request.max_concurrency,
            delay: None,
            webhook: request.webhook,
        };
        let spec: Box<dyn PageSpec> = Box::new(Plain);
        Ok((terms, spec))
    }
}

/// Moves the secrets out of the request. Those of its pages are stored with the pages.
fn take_secrets(request: &mut BatchRequest) -> Secrets {
    Secrets::take(None, &mut request.options.headers, request.webhook.as_mut())
}

/// Restores the request without its pages.
fn read(spec: Value, secrets: Secrets) -> Result<BatchRequest, AppError> {
    let mut request = wire::decode_batch(spec).map_err(AppError::internal)?;
    secrets.put_back(&mut request.options.headers, request.webhook.as_mut());
    Ok(request)
}

/// Pages to add to a batch.
struct Addition {
    batch: String,
    team: Payer,
    lanes: Lanes,
    pages: Pages,
    amount: i64,
    /// Maximum cost of one page with the options of the batch.
    price: i64,
    key: Option<String>,
    fingerprint: String,
}

/// Team and API key of the batch, which pay for its pages.
struct Payer {
    id: String,
    api_key: Option<String>,
}

/// Result of adding pages.
enum Added {
    Now,
    /// The batch has already ended.
    Late,
    /// A call with the same idempotency key was first; this is its fingerprint.
    Before(String),
}

/// Pages to add to a batch, as a request names them.
struct More<'a> {
    /// Id of the batch.
    id: Uuid,
    pages: Vec<BatchPage>,
    request: &'a BatchRequest,
    /// Keys of the request's body.
    given: &'a GivenFields,
}

/// Adds pages to an open batch, with a reservation for their credits.
async fn append(
    runs: &Runs,
    caller: &Caller,
    more: More<'_>,
    idempotency_key: Option<&str>,
) -> Result<Uuid, CrawlsError> {
    let More { id, pages, request, given } = more;
    let app = runs.app();
    check_open(app)?;
    let found = runs::find(&mut app.conn().await?, &id.to_string()).await?;
    let alive = |row: &Run| row.is_open() || row.expires_at > app.now();
    let ours = found.filter(|row| row.kind == KIND.name && row.team_id == caller.team.id && alive(row));
    let row = ours.ok_or(AppError::NotFound(KIND.noun))?;
    let fingerprint = fingerprint(&serde_json::to_string(request).map_err(AppError::internal)?);
    if let Some(key) = idempotency_key
        && let Some(before) = runs::append_by_key(&mut app.conn().await?, &row.id, key).await?
    {
        return if before == fingerprint { Ok(id) } else { Err(AppError::DuplicateRequest.into()) };
    }
    let context = runs.context(&row.id).await?.ok_or(RunsError::JobFinished)?;
    let secrets = runs::secret(&mut app.conn().await?, &row.id, OF_THE_RUN).await?;
    let secrets = Secrets::read(secrets.as_ref()).map_err(AppError::internal)?;
    let batch = read(serde_json::from_str(&row.spec).map_err(AppError::internal)?, secrets)?;
    request.check_append(given, &batch)?;
    caller.rules.check_formats(&context.options)?;
    let addition = Addition {
        batch: row.id,
        team: Payer { id: row.team_id, api_key: row.api_key_id },
        lanes: context.lanes.clone(),
        amount: i64::try_from(pages.len()).unwrap_or(i64::MAX),
        pages: Pages::of(pages).await?,
        price: billing::quote(&context.options),
        key: idempotency_key.map(str::to_owned),
        fingerprint: fingerprint.clone(),
    };
    let worker = runs.clone();
    let added = tracked(app.tracker(), async move { add(&worker, addition).await }).await;
    app.waker().wake(PAGES);
    match added.map_err(kernel::reservation::refused)? {
        Added::Now => Ok(id),
        Added::Late => Err(RunsError::JobFinished.into()),
        Added::Before(before) if before == fingerprint => Ok(id),
        Added::Before(_) => Err(AppError::DuplicateRequest.into()),
    }
}

async fn add(runs: &Runs, addition: Addition) -> Result<Added, StoreError> {
    let now = runs.app().now();
    let mut conn = runs.app().store().conn().await?;
    conn.tx(async |conn: &mut Conn| {
        let Addition { batch, team, lanes, pages, amount, price, key, fingerprint } = addition;
        // The lock keeps other calls from adding to a batch of the team.
        jobs::lock_team(conn, PAGES.name, &team.id).await?;
        if let Some(key) = &key
            && let Some(before) = runs::append_by_key(conn, &batch, key).await?
        {
            return Ok(Added::Before(before));
        }
        let Some(mut progress) = runs::lock(conn, &batch).await? else { return Ok(Added::Late) };
        if let Some(key) = &key {
            runs::remember_append(conn, &batch, key, &fingerprint).await?;
        }
        progress.max_items += amount;
        pages.write(conn, &mut progress, &lanes, now).await?;
        reserve_more(conn, &mut progress, &team, amount.saturating_mul(price), now).await?;
        save(runs, conn, &KIND, &mut progress).await?;
        Ok(Added::Now)
    })
    .await
}

/// Replaces the reservation of the batch by one that also covers the new pages. An error for lack of credits names the
/// amount for the new pages only.
async fn reserve_more(
    conn: &mut Conn,
    progress: &mut Progress,
    payer: &Payer,
    amount: i64,
    now: Timestamp,
) -> Result<(), StoreError> {
    let Some(key) = &progress.reservation else { return Ok(()) };
    let mut left = 0;
    if let Some(held) = ledger::reservation(conn, &payer.id, key).await? {
        left = held.hold.remaining();
        ledger::void(conn, &held, now).await?;
    }
    let key = format!("batch:{}:{}", progress.run_id, new_id());
    let booking = Booking { key: &key, team: &payer.id, api_key: payer.api_key.as_deref(), at: now };
    let reserved = ledger::reserve(conn, &booking, left.saturating_add(amount), now + MAX_LIFE).await;
    reserved.map_err(|error| match error {
        StoreError::Ledger(LedgerError::Insufficient { available, .. }) => {
            LedgerError::Insufficient { needed: amount, available: available - left }.into()
        }
        other => other,
    })?;
    progress.reservation = Some(key);
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_secret_stays_in_the_request_and_all_come_back() {
        let body =
            json!({ "urls": ["http://a.test/"], "headers": { "Cookie": "hush" }, "webhook": "http://x:hush@h.test/" });
        let given = wire::decode_batch(body).unwrap();
        let mut taken = given.clone();
        let text = take_secrets(&mut taken).text().unwrap();
        assert!(!serde_json::to_string(&taken).unwrap().contains("hush"));
        let spec = serde_json::to_value(&taken).unwrap();
        assert!(read(spec, Secrets::read(Some(&text)).unwrap()).unwrap() == given);
    }
}
