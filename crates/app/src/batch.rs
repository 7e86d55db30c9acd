//! Scraping a list of pages as one job. Reading, cancelling and the work itself are those of crawls.

use base::{Timestamp, new_id};
use billing::LedgerError;
use store::crawls::{self, Crawl};
use store::ledger::{self, Booking};
use store::{Conn, StoreError, jobs};
use uuid::Uuid;
use wire::{BatchPage, BatchPages, BatchRequest, Given};

use crate::auth::Caller;
use crate::check::check;
use crate::crawl::{BATCH, LONGEST_LIFE, Lanes, PAGES, Pages, Secrets, Submission, blank, fingerprint, submit};
use crate::tracked::tracked;
use crate::{App, AppError};

/// A batch that was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Started {
    /// Its id.
    pub id: Uuid,
    /// Entries that are no page addresses, when the request asked to go on without them.
    pub invalid_urls: Option<Vec<String>>,
}

/// Accepts a batch, or adds pages to one that has not ended (`appendToId`). The credits for all pages are set aside.
/// `given` are the keys of the body: pages that are added are scraped as the batch says, so the request must not say
/// anything else. The same `idempotency_key` with the same request starts one batch, and adds its pages once.
///
/// # Errors
/// As [`crawl::start`](crate::crawl::start); [`AppError::NotFound`] and [`AppError::JobFinished`] for `appendToId`.
#[crate::boxed]
pub async fn start(
    app: &App,
    caller: &Caller,
    request: BatchRequest,
    given: &Given,
    idempotency_key: Option<&str>,
) -> Result<Started, AppError> {
    let BatchPages { valid, invalid } = request.pages();
    crate::room::check(app)?;
    let invalid_urls = request.ignore_invalid_urls.then_some(invalid);
    let id = match request.append_to_id {
        Some(id) => append(app, caller, (id, valid), (&request, given), idempotency_key).await?,
        None => {
            check(app, caller, &request.options, request.zero_data_retention, request.needs())?;
            begin(app, caller, request, valid, idempotency_key).await?
        }
    };
    Ok(Started { id, invalid_urls })
}

async fn begin(
    app: &App,
    caller: &Caller,
    mut request: BatchRequest,
    pages: Vec<BatchPage>,
    idempotency_key: Option<&str>,
) -> Result<Uuid, AppError> {
    let id = new_id();
    let price = billing::quote(&request.options);
    let fingerprint = fingerprint(&serde_json::to_string(&request).map_err(AppError::internal)?);
    let page_limit = i64::try_from(pages.len()).unwrap_or(i64::MAX);
    // The pages have rows of their own; one is kept so that the request can be read again.
    request.urls = pages.iter().take(1).map(|page| wire::without_userinfo(page.url.as_str())).collect();
    let webhook = request.webhook.clone();
    let of_request = Secrets::of_batch(&mut request).text();
    let row = Crawl {
        request: serde_json::to_string(&request).map_err(AppError::internal)?,
        fingerprint,
        page_limit,
        idempotency_key: idempotency_key.map(str::to_owned),
        ..blank(id, BATCH, caller, app.now())
    };
    let submission = Submission {
        row,
        pages: Pages::of(pages).await?,
        secrets: of_request.map(|text| (crawls::OF_THE_JOB.to_owned(), text)).into_iter().collect(),
        price,
        kickoff: false,
        private: request.is_private(),
        lanes: Lanes::new(caller.team.concurrency, request.max_concurrency, None),
        webhook,
    };
    submit(app, caller, submission).await
}

/// Pages that are added to a batch.
struct Addition {
    batch: String,
    team: String,
    lanes: Lanes,
    pages: Pages,
    amount: i64,
    /// The most that one of them can cost, as the batch scrapes it.
    price: i64,
    key: Option<String>,
    fingerprint: String,
}

/// What became of it.
enum Added {
    Now,
    /// The batch has ended.
    Late,
    /// A call under the same idempotency key, with this fingerprint, was first.
    Before(String),
}

/// Adds pages to a batch at work, with credits of their own.
async fn append(
    app: &App,
    caller: &Caller,
    (id, pages): (Uuid, Vec<BatchPage>),
    (request, given): (&BatchRequest, &Given),
    idempotency_key: Option<&str>,
) -> Result<Uuid, AppError> {
    if app.tracker.is_closed() {
        return Err(AppError::ShuttingDown);
    }
    let found = crawls::find(&mut app.conn().await?, &id.to_string()).await?;
    let alive = |row: &Crawl| row.is_open() || row.expires_at > app.now();
    let ours = found.filter(|row| row.kind == BATCH && row.team_id == caller.team.id && alive(row));
    let row = ours.ok_or(AppError::NotFound("batch scrape"))?;
    let fingerprint = fingerprint(&serde_json::to_string(request).map_err(AppError::internal)?);
    if let Some(key) = idempotency_key
        && let Some(before) = crawls::append_by_key(&mut app.conn().await?, &row.id, key).await?
    {
        return if before == fingerprint { Ok(id) } else { Err(AppError::DuplicateRequest) };
    }
    let context = app.contexts().get(app, &row.id).await?.ok_or(AppError::JobFinished)?;
    let batch = serde_json::from_str(&row.request).map_err(AppError::internal)?;
    let mut batch = wire::decode_batch(batch).map_err(AppError::internal)?;
    let secrets = crawls::secret(&mut app.conn().await?, &row.id, crawls::OF_THE_JOB).await?;
    Secrets::read(secrets.as_ref()).map_err(AppError::internal)?.into_batch(&mut batch);
    request.check_append(given, &batch)?;
    let addition = Addition {
        batch: row.id,
        team: row.team_id,
        lanes: context.lanes,
        amount: i64::try_from(pages.len()).unwrap_or(i64::MAX),
        pages: Pages::of(pages).await?,
        price: billing::quote(&context.options),
        key: idempotency_key.map(str::to_owned),
        fingerprint: fingerprint.clone(),
    };
    let worker = app.clone();
    let added = tracked(&app.tracker, async move { add(&worker, addition).await }).await;
    app.waker.wake(PAGES);
    match added.map_err(crate::reservation::refused)? {
        Added::Now => Ok(id),
        Added::Late => Err(AppError::JobFinished),
        Added::Before(before) if before == fingerprint => Ok(id),
        Added::Before(_) => Err(AppError::DuplicateRequest),
    }
}

async fn add(app: &App, addition: Addition) -> Result<Added, StoreError> {
    let now = app.now();
    let mut conn = app.store.conn().await?;
    conn.tx(async |conn: &mut Conn| {
        let Addition { batch, team, lanes, pages, amount, price, key, fingerprint } = addition;
        jobs::lock_team(conn, PAGES.name, &team).await?;
        let Some(mut row) = crawls::lock(conn, &batch).await? else { return Ok(Added::Late) };
        if let Some(key) = &key
            && let Some(before) = crawls::append_by_key(conn, &batch, key).await?
        {
            return Ok(Added::Before(before));
        }
        if !row.is_open() {
            return Ok(Added::Late);
        }
        if let Some(key) = &key {
            crawls::remember_append(conn, &batch, key, &fingerprint).await?;
        }
        row.page_limit += amount;
        pages.write(conn, &mut row, &lanes, now).await?;
        reserve_more(conn, &mut row, amount.saturating_mul(price), now).await?;
        crawls::save(conn, &row).await?;
        Ok(Added::Now)
    })
    .await
}

/// What is left of the reservation and as much again as the new pages can cost become one new reservation. A refusal speaks
/// of the new pages alone.
async fn reserve_more(conn: &mut Conn, row: &mut Crawl, amount: i64, now: Timestamp) -> Result<(), StoreError> {
    let Some(key) = &row.reservation else { return Ok(()) };
    let mut left = 0;
    if let Some(held) = ledger::reservation(conn, &row.team_id, key).await? {
        left = held.hold.remaining();
        ledger::void(conn, &held, now).await?;
    }
    let key = format!("batch:{}:{}", row.id, new_id());
    let booking = Booking { key: &key, team: &row.team_id, api_key: row.api_key_id.as_deref(), at: now };
    let reserved = ledger::reserve(conn, &booking, left.saturating_add(amount), now + LONGEST_LIFE).await;
    reserved.map_err(|error| match error {
        StoreError::Ledger(LedgerError::Insufficient { available, .. }) => {
            LedgerError::Insufficient { needed: amount, available: available - left }.into()
        }
        other => other,
    })?;
    row.reservation = Some(key);
    Ok(())
}
