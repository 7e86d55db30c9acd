//! Long batches: the list is written down in pieces when the batch is accepted, and a job makes rows of them, one piece per
//! transaction. An accepted batch is whole from then on, whatever dies when, and no other writer waits for it.

use std::time::Duration;

use base::{Secret, Timestamp, new_id};
use queue::{Failure, Finished, Handler, Lane, NewJob, Payload, Queue, Running};
use serde::{Deserialize, Serialize};
use store::crawls::{self, Crawl, NewPage};
use store::jobs::{self, Claimed};
use store::{Conn, StoreError};
use tokio::task::{spawn_blocking, yield_now};
use url::Url;
use wire::BatchPage;

use super::context::Context;
use super::secrets::of_page;
use super::submit::{Lanes, jobs_of, new_pages};
use super::{PAGES, end, kickoff};
use crate::{App, AppError, credentials};

/// Pages of one transaction: some thirty milliseconds of SQLite.
pub(crate) const PIECE: usize = 500;
/// Fast, and most of the gain.
const LEVEL: i32 = 1;
/// Largest piece, unpacked.
const LARGEST: usize = 64 << 20;

/// Which batch.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FillPayload {
    crawl: String,
}

impl Payload for FillPayload {
    const KIND: &'static str = "batch.fill";
    const QUEUE: Queue = PAGES;
    /// More than others: what it has written stays written.
    const ATTEMPTS: i32 = 20;
}

/// The handler.
pub(crate) struct Fill {
    pub(crate) app: App,
}

/// The pages of a batch: as rows, or in pieces when there are many.
pub(crate) enum Pages {
    Rows {
        pages: Vec<NewPage>,
        /// What stood in their URLs besides the address, by the ids of the pages.
        secrets: Vec<(String, Secret)>,
    },
    Pieces(Vec<Vec<u8>>),
}

impl Pages {
    /// Sorts and packs them, off the threads that answer.
    pub(crate) async fn of(pages: Vec<BatchPage>) -> Result<Self, AppError> {
        let pack = move || -> Result<Self, AppError> {
            let entries: Vec<Entry> = pages.into_iter().map(entry).collect();
            if entries.len() <= PIECE {
                return Ok(numbered(entries));
            }
            let piece = |entries: &[Entry]| {
                let json = serde_json::to_vec(entries).map_err(AppError::internal)?;
                blobs::compress(&json, LEVEL).map_err(AppError::internal)
            };
            entries.chunks(PIECE).map(piece).collect::<Result<_, _>>().map(Self::Pieces)
        };
        spawn_blocking(pack).await.map_err(AppError::internal)?
    }

    /// Pages without secrets.
    pub(crate) fn rows(pages: Vec<NewPage>) -> Self {
        Self::Rows { pages, secrets: Vec::new() }
    }

    /// Writes them down for a crawl that is locked and whose limit has room for them.
    pub(crate) async fn write(
        self,
        conn: &mut Conn,
        row: &mut Crawl,
        lanes: &Lanes,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        match self {
            Self::Rows { pages, secrets } => {
                crawls::keep_secrets(conn, &row.id, &secrets).await?;
                let pages = crawls::add_pages(conn, row, pages).await?;
                jobs::enqueue(conn, &lanes.pages(row), &jobs_of(&row.id, &pages, now)?, now).await?;
            }
            Self::Pieces(pieces) => {
                row.preparing = true;
                crawls::add_pieces(conn, &row.id, &pieces).await?;
                enqueue(conn, row, lanes, now).await?;
            }
        }
        Ok(())
    }
}

/// A page of a list: its URL with all that stands in it, and as it is told back.
type Entry = (Url, String);

fn entry(BatchPage { url, source }: BatchPage) -> Entry {
    let (address, _) = credentials::split(url.clone());
    (url, source.or(&address))
}

/// One that is given twice is scraped twice: what a page is known by is its place in the list.
fn numbered(entries: Vec<Entry>) -> Pages {
    let (mut pages, mut secrets) = (Vec::with_capacity(entries.len()), Vec::new());
    for (url, source) in entries {
        let (url, user) = credentials::split(url);
        for page in new_pages([(url, new_id().to_string(), 0)]) {
            secrets.extend(user.clone().and_then(of_page).map(|text| (page.id.clone(), text)));
            pages.push(NewPage { url: source.clone(), ..page });
        }
    }
    Pages::Rows { pages, secrets }
}

fn unpacked(piece: &[u8]) -> Result<Pages, AppError> {
    let json = zstd::bulk::decompress(piece, LARGEST).map_err(AppError::internal)?;
    serde_json::from_slice(&json).map(numbered).map_err(AppError::internal)
}

/// Queues it beside the pages, one at a time.
async fn enqueue(conn: &mut Conn, row: &Crawl, lanes: &Lanes, now: Timestamp) -> Result<(), StoreError> {
    let id = kickoff::lane(&row.id);
    let lane = Lane { id: &id, cap: 1, delay: Duration::ZERO, ..lanes.pages(row) };
    let job = NewJob::of(new_id(), &FillPayload { crawl: row.id.clone() }, now)?;
    jobs::enqueue(conn, &lane, &[job], now).await?;
    Ok(())
}

impl Handler for Fill {
    type Payload = FillPayload;
    type Done = ();

    async fn run(&self, job: &Running<FillPayload>) -> Result<(), Failure> {
        let again = |error: AppError| Failure::retry(format!("{error:?}"));
        let found = self.app.contexts().get(&self.app, &job.payload.crawl).await.map_err(again)?;
        let Some(context) = found else { return Ok(()) };
        while next(&self.app, &context).await.map_err(again)? {
            self.app.waker.wake(PAGES);
            yield_now().await;
        }
        Ok(())
    }

    async fn commit(&self, conn: &mut Conn, done: &[&Finished<FillPayload, ()>]) -> Result<(), StoreError> {
        for finished in done {
            let crawl = &finished.job.payload.crawl;
            let Some(mut row) = crawls::lock(conn, crawl).await?.filter(Crawl::is_open) else { continue };
            // Pages may have been added since, with a job of their own.
            if !crawls::has_pieces(conn, crawl).await? {
                row.preparing = false;
                end::if_over(&self.app, conn, &mut row).await?;
                crawls::save(conn, &row).await?;
            }
        }
        Ok(())
    }

    async fn give_up(&self, conn: &mut Conn, job: &Running<FillPayload>, error: &str) -> Result<(), StoreError> {
        give_up(&self.app, conn, &job.payload.crawl, error).await
    }

    async fn give_up_unread(&self, conn: &mut Conn, job: &Claimed, error: &str) -> Result<(), StoreError> {
        give_up(&self.app, conn, kickoff::crawl_of(&job.lane), error).await
    }

    fn after_commit(&self, done: &[&Finished<FillPayload, ()>]) {
        done.iter().for_each(|finished| self.app.changes.notify(&finished.job.payload.crawl));
    }
}

/// Makes rows of the next piece; `false` when there is none.
async fn next(app: &App, context: &Context) -> Result<bool, AppError> {
    let Some((seq, piece)) = crawls::first_piece(&mut app.conn().await?, &context.id).await? else { return Ok(false) };
    let pages = spawn_blocking(move || unpacked(&piece)).await.map_err(AppError::internal)??;
    let now = app.now();
    let written: Result<bool, StoreError> = app
        .conn()
        .await?
        .tx(async |conn: &mut Conn| {
            jobs::lock_team(conn, PAGES.name, &context.caller.team.id).await?;
            let Some(mut row) = crawls::lock(conn, &context.id).await?.filter(Crawl::is_open) else { return Ok(false) };
            // Another worker may have done it, if our lease was lost.
            if crawls::remove_piece(conn, &context.id, seq).await? {
                pages.write(conn, &mut row, &context.lanes, now).await?;
                crawls::save(conn, &row).await?;
            }
            Ok(true)
        })
        .await;
    Ok(written?)
}

/// The batch ends without the pages that could not be taken on.
async fn give_up(app: &App, conn: &mut Conn, crawl: &str, error: &str) -> Result<(), StoreError> {
    let Some(mut row) = crawls::lock(conn, crawl).await?.filter(Crawl::is_open) else { return Ok(()) };
    tracing::error!(crawl, error, "pages of a batch given up");
    crawls::remove_pieces(conn, crawl).await?;
    row.warning = Some("some pages could not be taken on; they are not charged".to_owned());
    row.page_limit = row.pending + row.completed + row.failed;
    row.preparing = false;
    end::if_over(app, conn, &mut row).await?;
    crawls::save(conn, &row).await
}
