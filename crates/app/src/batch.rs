//! Scraping a list of pages as one job. Reading, cancelling and the work itself are those of crawls.

use base::{Secret, Timestamp, new_id};
use store::crawls::{self, Crawl, NewPage};
use store::jobs::{self, Queue};
use store::ledger::{self, Booking};
use store::{Conn, StoreError};
use uuid::Uuid;
use wire::{BatchPage, BatchPages, BatchRequest, ScrapeRequest};

use crate::auth::Caller;
use crate::crawl::{
    BATCH, LONGEST_LIFE, Lanes, Secrets, Submission, blank, fingerprint, jobs_of, new_pages, of_page, submit,
};
use crate::{App, AppError, credentials, scrape};

/// A batch that was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Started {
    /// Its id.
    pub id: Uuid,
    /// Entries that are no page addresses, when the request asked to go on without them.
    pub invalid_urls: Option<Vec<String>>,
}

/// Accepts a batch, or adds pages to one that has not ended (`appendToId`). The credits for all pages are set aside.
///
/// # Errors
/// As [`crawl::start`](crate::crawl::start); [`AppError::NotFound`] and [`AppError::JobFinished`] for `appendToId`.
pub async fn start(
    app: &App,
    caller: &Caller,
    request: BatchRequest,
    idempotency_key: Option<&str>,
) -> Result<Started, AppError> {
    let BatchPages { valid, invalid } = request.pages();
    check(caller, &request, &valid)?;
    crate::room::check(app)?;
    let invalid_urls = request.ignore_invalid_urls.then_some(invalid);
    let price = billing::quote(&request.options);
    let id = match request.append_to_id {
        Some(id) => append(app, caller, id, (valid, price)).await?,
        None => begin(app, caller, request, (valid, price), idempotency_key).await?,
    };
    Ok(Started { id, invalid_urls })
}

fn check(caller: &Caller, request: &BatchRequest, pages: &[BatchPage]) -> Result<(), AppError> {
    let unsupported = wire::unsupported_batch(request);
    if !unsupported.is_empty() {
        return Err(AppError::Unsupported(unsupported));
    }
    let Some(BatchPage { url, .. }) = pages.first() else { return Ok(()) };
    let page = ScrapeRequest {
        options: request.options.clone(),
        zero_data_retention: request.zero_data_retention,
        ..ScrapeRequest::new(url.clone())
    };
    scrape::check(caller, &page)
}

async fn begin(
    app: &App,
    caller: &Caller,
    mut request: BatchRequest,
    (pages, price): (Vec<BatchPage>, i64),
    idempotency_key: Option<&str>,
) -> Result<Uuid, AppError> {
    let id = new_id();
    let fingerprint = fingerprint(&serde_json::to_string(&request).map_err(AppError::internal)?);
    let page_limit = i64::try_from(pages.len()).unwrap_or(i64::MAX);
    let (pages, mut secrets) = numbered(pages);
    // The pages have rows of their own; one is kept so that the request can be read again.
    request.urls = pages.iter().take(1).map(|page| page.url.clone()).collect();
    let webhook = request.webhook.clone();
    let of_request = Secrets::of_batch(&mut request).text();
    secrets.extend(of_request.map(|text| (crawls::OF_THE_JOB.to_owned(), text)));
    let row = Crawl {
        request: serde_json::to_string(&request).map_err(AppError::internal)?,
        fingerprint,
        page_limit,
        idempotency_key: idempotency_key.map(str::to_owned),
        ..blank(id, BATCH, caller, app.now())
    };
    let submission = Submission {
        row,
        pages,
        secrets,
        price,
        kickoff: false,
        private: request.is_private(),
        lanes: Lanes::new(caller.team.concurrency, request.max_concurrency, None),
        webhook,
    };
    submit(app, caller, submission).await
}

/// One that is given twice is scraped twice: what a page is known by is its place in the list.
/// With them what stood in their URLs besides the address.
fn numbered(pages: Vec<BatchPage>) -> (Vec<NewPage>, Vec<(String, Secret)>) {
    let (mut numbered, mut secrets) = (Vec::with_capacity(pages.len()), Vec::new());
    for BatchPage { url, source } in pages {
        let (url, user) = credentials::split(url);
        let address = source.or(&url);
        for page in new_pages([(url, new_id().to_string(), 0)]) {
            secrets.extend(user.clone().and_then(of_page).map(|text| (page.id.clone(), text)));
            numbered.push(NewPage { url: address.clone(), ..page });
        }
    }
    (numbered, secrets)
}

/// Adds pages to a batch at work, with credits of their own.
async fn append(app: &App, caller: &Caller, id: Uuid, (pages, price): (Vec<BatchPage>, i64)) -> Result<Uuid, AppError> {
    let found = crawls::find(&mut app.conn().await?, &id.to_string()).await?;
    let ours = found.filter(|row| row.kind == BATCH && row.team_id == caller.team.id);
    let row = ours.ok_or(AppError::NotFound("batch scrape"))?;
    let context = app.contexts().get(app, &row.id).await?.ok_or(AppError::JobFinished)?;
    let now = app.now();
    let added: Result<bool, StoreError> = app
        .conn()
        .await?
        .tx(async |conn: &mut Conn| {
            jobs::lock_team(conn, Queue::Pages, &caller.team.id).await?;
            let Some(mut row) = crawls::lock(conn, &row.id).await?.filter(Crawl::is_open) else { return Ok(false) };
            let amount = i64::try_from(pages.len()).unwrap_or(i64::MAX);
            row.page_limit += amount;
            let (pages, secrets) = numbered(pages);
            crawls::keep_secrets(conn, &row.id, &secrets).await?;
            let pages = crawls::add_pages(conn, &mut row, pages).await?;
            let new = jobs_of(&row.id, &pages, now);
            jobs::enqueue(conn, &context.lanes.pages(&row), &new, now).await?;
            reserve_more(conn, &mut row, amount.saturating_mul(price), now).await?;
            crawls::save(conn, &row).await?;
            Ok(true)
        })
        .await;
    app.waker.wake(Queue::Pages);
    if added.map_err(crate::reservation::refused)? { Ok(id) } else { Err(AppError::JobFinished) }
}

/// What is left of the reservation and as much again as the new pages can cost become one new reservation.
async fn reserve_more(conn: &mut Conn, row: &mut Crawl, amount: i64, now: Timestamp) -> Result<(), StoreError> {
    let Some(key) = &row.reservation else { return Ok(()) };
    let mut left = 0;
    if let Some(held) = ledger::reservation(conn, &row.team_id, key).await? {
        left = held.hold.remaining();
        ledger::void(conn, &held, now).await?;
    }
    let key = format!("batch:{}:{}", row.id, new_id());
    let booking = Booking { key: &key, team: &row.team_id, api_key: row.api_key_id.as_deref(), at: now };
    ledger::reserve(conn, &booking, left.saturating_add(amount), now + LONGEST_LIFE).await?;
    row.reservation = Some(key);
    Ok(())
}
