//! Long batches: the list is stored in pieces when the batch is accepted, and a job inserts their rows, one piece per
//! transaction. An accepted batch is therefore complete even after a crash, and other writers never wait long.

use ::runs::{Context, Lanes, PAGES, Runs, add_pages, beside, digest, new_page, of_page, patience, run_of, save};
use base::{Secret, Timestamp, new_id};
use kernel::{AppError, credentials};
use queue::{Failure, Finished, Handler, NewJob, Payload, Queue, Running};
use serde::{Deserialize, Serialize};
use store::jobs::{self, Claimed};
use store::runs::{self, NewPage, Progress};
use store::{Conn, StoreError};
use tokio::task::{spawn_blocking, yield_now};
use url::Url;
use wire::BatchPage;

use super::KIND;

/// Number of pages that one transaction inserts: about 30 ms in SQLite.
pub(crate) const PIECE: usize = 500;
/// Zstandard level 1: fast, and most of the gain.
const LEVEL: i32 = 1;
/// Maximum size of an uncompressed piece, in bytes.
const MAX_PIECE: usize = 64 << 20;

/// Payload of a fill job.
#[derive(Debug, Serialize, Deserialize)]
pub struct FillPayload {
    crawl: String,
}

impl Payload for FillPayload {
    const KIND: &'static str = "batch.fill";
    const QUEUE: Queue = PAGES;
    /// Higher than for other jobs, because pieces that were inserted stay inserted.
    const ATTEMPTS: i32 = 20;
}

/// Handler of fill jobs.
pub struct Fill {
    /// Runs whose pages it inserts.
    pub runs: Runs,
}

/// Pages of a batch, as rows or, if there are many, as compressed pieces.
pub(crate) enum Pages {
    Rows {
        pages: Vec<NewPage>,
        /// Credentials from their URLs, by the ids of the pages.
        secrets: Vec<(String, Secret)>,
    },
    Pieces(Vec<Vec<u8>>),
}

impl Pages {
    /// Builds rows or compressed pieces, off the async threads.
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

    /// Writes the pages of a batch whose progress is locked and that has room for them.
    pub(super) async fn write(
        self,
        conn: &mut Conn,
        progress: &mut Progress,
        lanes: &Lanes,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        match self {
            Self::Rows { pages, secrets } => {
                runs::keep_secrets(conn, &progress.run_id, &secrets).await?;
                add_pages(conn, progress, lanes, pages, now).await
            }
            Self::Pieces(pieces) => {
                progress.preparing = true;
                runs::add_pieces(conn, &progress.run_id, &pieces).await?;
                enqueue(conn, &progress.run_id, lanes, now).await
            }
        }
    }
}

/// Page of a list: its URL with credentials, and its spelling in answers.
type Entry = (Url, String);

fn entry(BatchPage { url, source }: BatchPage) -> Entry {
    let (address, _) = credentials::split(url.clone());
    (url, source.or(&address))
}

/// Gives each page a random key, so that a URL that is listed twice is scraped twice.
fn numbered(entries: Vec<Entry>) -> Pages {
    let (mut pages, mut secrets) = (Vec::with_capacity(entries.len()), Vec::new());
    for (url, source) in entries {
        let (url, user) = credentials::split(url);
        let page = new_page(url, digest(&new_id().to_string()), 0);
        secrets.extend(user.and_then(of_page).map(|text| (page.id.clone(), text)));
        pages.push(NewPage { url: source, ..page });
    }
    Pages::Rows { pages, secrets }
}

fn unpacked(piece: &[u8]) -> Result<Pages, AppError> {
    let json = zstd::bulk::decompress(piece, MAX_PIECE).map_err(AppError::internal)?;
    serde_json::from_slice(&json).map(numbered).map_err(AppError::internal)
}

/// Queues a fill job in a lane beside the pages, one at a time.
async fn enqueue(conn: &mut Conn, run: &str, lanes: &Lanes, now: Timestamp) -> Result<(), StoreError> {
    let job = NewJob::of(new_id(), &FillPayload { crawl: run.to_owned() }, now)?;
    jobs::enqueue(conn, &lanes.beside(&beside(run)), &[job], now).await?;
    Ok(())
}

impl Handler for Fill {
    type Payload = FillPayload;
    type Done = ();

    async fn run(&self, job: &Running<FillPayload>) -> Result<(), Failure> {
        let again = |error: AppError| patience::again(self.runs.app(), job, &error, patience::PAUSE);
        let found = self.runs.context(&job.payload.crawl).await.map_err(again)?;
        let Some(context) = found else { return Ok(()) };
        while next(&self.runs, &context).await.map_err(again)? {
            self.runs.app().waker().wake(PAGES);
            yield_now().await;
        }
        Ok(())
    }

    async fn commit(&self, conn: &mut Conn, done: &[&Finished<FillPayload, ()>]) -> Result<(), StoreError> {
        for finished in done {
            let crawl = &finished.job.payload.crawl;
            let Some(mut progress) = runs::lock(conn, crawl).await? else { continue };
            // Pages may have been added in the meantime, with a job of their own.
            if !runs::has_pieces(conn, crawl).await? {
                progress.preparing = false;
                save(&self.runs, conn, &KIND, &mut progress).await?;
            }
        }
        Ok(())
    }

    async fn give_up(&self, conn: &mut Conn, job: &Running<FillPayload>, error: &str) -> Result<(), StoreError> {
        give_up(&self.runs, conn, &job.payload.crawl, error).await
    }

    async fn give_up_unread(&self, conn: &mut Conn, job: &Claimed, error: &str) -> Result<(), StoreError> {
        give_up(&self.runs, conn, run_of(&job.lane), error).await
    }

    fn after_commit(&self, done: &[&Finished<FillPayload, ()>]) {
        done.iter().for_each(|finished| self.runs.changed(&finished.job.payload.crawl));
    }
}

/// Inserts the rows of the next piece; returns `false` when there is none.
async fn next(runs: &Runs, context: &Context) -> Result<bool, AppError> {
    let app = runs.app();
    let Some((seq, piece)) = runs::first_piece(&mut app.conn().await?, &context.id).await? else { return Ok(false) };
    let pages = spawn_blocking(move || unpacked(&piece)).await.map_err(AppError::internal)??;
    let now = app.now();
    let written: Result<bool, StoreError> = app
        .conn()
        .await?
        .tx(async |conn: &mut Conn| {
            jobs::lock_team(conn, PAGES.name, &context.caller.team.id).await?;
            let Some(mut progress) = runs::lock(conn, &context.id).await? else { return Ok(false) };
            // Another worker may have inserted the piece if the lease of this job expired.
            if runs::remove_piece(conn, &context.id, seq).await? {
                pages.write(conn, &mut progress, &context.lanes, now).await?;
                save(runs, conn, &KIND, &mut progress).await?;
            }
            Ok(true)
        })
        .await;
    Ok(written?)
}

/// Ends a batch without the pages whose rows could not be inserted.
async fn give_up(runs: &Runs, conn: &mut Conn, batch: &str, error: &str) -> Result<(), StoreError> {
    let Some(mut progress) = runs::lock(conn, batch).await? else { return Ok(()) };
    tracing::error!(batch, error, "could not add all pages of a batch; it goes on without them");
    runs::remove_pieces(conn, batch).await?;
    runs::warn(conn, batch, "some pages could not be queued; they are not charged").await?;
    progress.max_items = progress.pending + progress.done + progress.failed;
    progress.preparing = false;
    save(runs, conn, &KIND, &mut progress).await
}
