//! The follower: a task that takes the copies of the cache into the index, in the order of their ids.

use std::sync::atomic::Ordering;
use std::time::Duration;

use base::Owner;
use store::cache::CacheEntry;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::desk::Desk;
use crate::keep::Keeper;
use crate::pace::Pace;
use crate::read::{self, File};
use crate::recent::Recent;
use crate::{Indexing, IndexingError, OWNER, files};

/// Rows that are read at a time.
const ROWS: i64 = 256;
/// Ids that are looked back over at a time.
const MAX_LATE: i64 = 100_000;
/// Copies whose bodies are read at a time, and their size in bytes, before compression. One copy may be larger.
const PIECE: usize = 64;
const PIECE_BYTES: i64 = 8 << 20;
/// Pause after which the rows are asked for although this process has cached nothing.
const POLL: Duration = Duration::from_secs(5);
/// Time that pages get to gather before they are read.
const GATHER: Duration = Duration::from_millis(500);
/// Pause after an error, and in an outage.
const AFTER_ERROR: Duration = Duration::from_secs(30);
const IN_OUTAGE: Duration = Duration::from_secs(5);
/// Time without work after which the writer is closed: a minute, and the last look back.
const IDLE: Duration = Duration::from_secs(66);
/// Time for the last commit when the server stops.
const LAST_MOMENT: Duration = Duration::from_secs(3);

impl Indexing {
    /// Follows the cache until `stop` is cancelled. Returns at once if there is no index.
    #[crate::boxed]
    pub async fn follow(self, stop: CancellationToken) {
        if !self.is_enabled() {
            return;
        }
        let mut follower = Follower::new(self);
        stop.run_until_cancelled(follower.run()).await;
        // What is not committed is read again, so a timeout loses nothing.
        let _ = timeout(LAST_MOMENT, follower.finish()).await;
    }

    /// Takes all copies that the cache has now into the index, and closes it.
    ///
    /// # Errors
    /// [`IndexingError`] when the files of the index, the database or the blob store fail.
    #[crate::boxed]
    pub async fn catch_up(&self) -> Result<(), IndexingError> {
        if !self.is_enabled() {
            return Err(IndexingError::Disabled);
        }
        let mut follower = Follower::new(self.clone());
        loop {
            match follower.round().await {
                Ok(Round::Busy) | Err(IndexingError::Lost) => {}
                Ok(Round::Done) => break,
                Err(error) => return Err(error),
            }
        }
        follower.commit_all().await?;
        match follower.desk.take() {
            Some(desk) => desk.finish().await,
            None => Ok(()),
        }
    }
}

/// Result of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Round {
    /// More rows wait.
    Busy,
    /// All rows were taken.
    Done,
}

struct Follower {
    indexing: Indexing,
    owner: Owner,
    /// Place, once it was read from the index.
    recent: Option<Recent>,
    desk: Option<Desk>,
    keeper: Keeper,
}

impl Follower {
    fn new(indexing: Indexing) -> Self {
        Self { indexing, owner: Owner::of_team(OWNER), recent: None, desk: None, keeper: Keeper::new() }
    }

    async fn run(&mut self) {
        // A server is ready before it looks for work.
        sleep(GATHER).await;
        loop {
            let pause = match self.round().await {
                Ok(Round::Busy) | Err(IndexingError::Lost) => continue,
                Ok(Round::Done) => self.desk.as_ref().and_then(Desk::due_in).unwrap_or(POLL),
                Err(error) if error.is_outage() => IN_OUTAGE,
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "could not index the pages of the cache");
                    // What was not committed is read again.
                    (self.recent, self.desk) = (None, None);
                    AFTER_ERROR
                }
            };
            self.wait(pause).await;
        }
    }

    /// Waits for a page of this process, for copies to remove, or for the time to pass.
    async fn wait(&self, pause: Duration) {
        let Indexing(inner) = &self.indexing;
        tokio::select! {
            () = inner.parts.cache.kept() => sleep(GATHER).await,
            () = inner.has_gone.notified() => sleep(GATHER).await,
            () = sleep(pause) => {}
        }
    }

    /// Takes the next rows, commits if that is due, and closes the writer after a minute without work.
    async fn round(&mut self) -> Result<Round, IndexingError> {
        if self.indexing.0.is_lost.swap(false, Ordering::Relaxed) {
            (self.recent, self.desk) = (None, None);
        }
        let entries = self.next().await?;
        let is_busy = i64::try_from(entries.len()).is_ok_and(|rows| rows == ROWS);
        self.take(entries).await?;
        let late = self.late(is_busy).await?;
        for ids in late.chunks(usize::try_from(ROWS).unwrap_or(usize::MAX)) {
            let entries = self.indexing.parts().cache.entries(ids).await?;
            self.take(entries).await?;
        }
        self.remove_gone().await?;
        self.commit_if_due().await?;
        if self.desk.as_ref().is_some_and(|desk| desk.is_idle_for(IDLE)) {
            // The place is settled by now, which the next start wants to know.
            self.commit().await?;
            self.close().await;
        }
        Ok(if is_busy { Round::Busy } else { Round::Done })
    }

    /// Reads the next rows after the place.
    async fn next(&mut self) -> Result<Vec<CacheEntry>, IndexingError> {
        if self.recent.is_none() {
            self.recent = Some(Recent::at(&self.indexing.mark().await?));
        }
        let place = self.recent.as_ref().map_or("", Recent::place);
        Ok(self.indexing.parts().cache.after(place, ROWS).await?)
    }

    /// Returns the ids before the place whose rows were committed after those at the place.
    async fn late(&mut self, is_busy: bool) -> Result<Vec<String>, IndexingError> {
        let Some(recent) = self.recent.as_mut().filter(|recent| recent.is_due(is_busy)) else { return Ok(Vec::new()) };
        let is_first = recent.look();
        recent.prune();
        if recent.place().is_empty() {
            return Ok(Vec::new());
        }
        let ids = self.indexing.parts().cache.ids_between(&recent.first(), recent.place(), MAX_LATE).await?;
        let ids = recent.unseen(ids);
        if !is_first || ids.is_empty() {
            return Ok(ids);
        }
        // After a start nothing was seen yet, and nearly all of them are in the index.
        let index = self.indexing.open().await?;
        let (ids, held) = self.indexing.on_cpu(move || index.held(&ids).map(|held| (ids, held))).await?;
        held.iter().for_each(|id| recent.take(id));
        Ok(recent.unseen(ids))
    }

    /// Takes copies into the index, piece by piece.
    async fn take(&mut self, entries: Vec<CacheEntry>) -> Result<(), IndexingError> {
        let mut entries = entries.into_iter().peekable();
        while entries.peek().is_some() {
            let (mut piece, mut ids, mut bytes) = (Vec::new(), Vec::new(), 0);
            while let Some(entry) = entries
                .next_if(|entry| piece.is_empty() || piece.len() < PIECE && bytes + entry.body_bytes <= PIECE_BYTES)
            {
                ids.push(entry.id.clone());
                if read::is_wanted(&entry) {
                    bytes += entry.body_bytes;
                    piece.push(entry);
                }
            }
            if !piece.is_empty() {
                let copies = self.indexing.parts().cache.packed(piece, &self.owner).await?;
                let parts = self.indexing.parts();
                let pace = Pace::start(&parts.cpu, &*parts.clock);
                let files = self.desk().await?.put(copies, pace).await?;
                self.put_files(files).await?;
            }
            if let Some(recent) = &mut self.recent {
                ids.iter().for_each(|id| recent.take(id));
            }
            self.commit_if_due().await?;
        }
        Ok(())
    }

    /// Has the texts of files read and puts them into the index. When the time is over, the others are found by their
    /// names alone.
    async fn put_files(&mut self, files: Vec<File>) -> Result<(), IndexingError> {
        let deadline = Instant::now() + files::PATIENCE;
        for file in files {
            let text = match &self.indexing.parts().documents {
                Some(pool) => files::text(pool, &file, &self.owner, deadline).await,
                None => None,
            };
            self.desk().await?.put_file(file, text).await?;
            // The place is still before these files, so they are read again if this is the last commit.
            self.commit_if_due().await?;
        }
        Ok(())
    }

    /// Removes the copies that queries, or the comparison with the cache, have found to be gone.
    async fn remove_gone(&mut self) -> Result<(), IndexingError> {
        let mut gone = std::mem::take(&mut *self.indexing.0.gone.lock());
        gone.extend(self.keeper.sweep(&self.indexing).await?);
        if gone.is_empty() {
            return Ok(());
        }
        self.desk().await?.remove(gone.into_iter().collect()).await
    }

    async fn commit_if_due(&mut self) -> Result<(), IndexingError> {
        if self.desk.as_ref().is_some_and(Desk::is_due) { self.commit().await } else { Ok(()) }
    }

    async fn commit(&mut self) -> Result<(), IndexingError> {
        let (Some(desk), Some(recent)) = (&mut self.desk, &self.recent) else { return Ok(()) };
        desk.commit(recent.mark()).await?;
        self.keeper.shrink(&self.indexing, desk).await
    }

    /// Returns the writer, which is opened for the first page.
    async fn desk(&mut self) -> Result<&mut Desk, IndexingError> {
        let desk = match self.desk.take() {
            Some(desk) => desk,
            None => {
                let index = self.indexing.open().await?;
                if self.indexing.0.is_lost.load(Ordering::Relaxed) {
                    return Err(IndexingError::Lost);
                }
                Desk::open(index).await?
            }
        };
        Ok(self.desk.insert(desk))
    }

    /// Commits what was taken.
    async fn commit_all(&mut self) -> Result<(), IndexingError> {
        if self.desk.as_ref().is_some_and(|desk| desk.due_in().is_some()) { self.commit().await } else { Ok(()) }
    }

    /// Commits what was taken and closes the writer.
    async fn finish(&mut self) -> Result<(), IndexingError> {
        self.commit_all().await?;
        self.close().await;
        Ok(())
    }

    async fn close(&mut self) {
        if let Some(desk) = self.desk.take() {
            desk.close().await;
        }
    }
}
