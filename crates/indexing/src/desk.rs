//! The writer of the index, on a thread of the lowest priority.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use base::Stop;
use cache::PackedCopy;
use cpu::Spare;
use page_index::{IndexError, PageIndex, Writer};
use reader::Answer;
use tokio::time::{Instant, sleep};

use crate::pace::Pace;
use crate::read::{self, File, Opened};
use crate::{IndexingError, OWNER};

/// Pages after which a commit is due.
const MAX_UNCOMMITTED: usize = 500;
/// Time after which a commit is due.
const COMMIT_EVERY: Duration = Duration::from_secs(2);
/// Time for reading a piece of pages, on a machine that is busy with other work. The pages that are left then are not
/// indexed.
const PATIENCE: Duration = Duration::from_secs(120);

/// Writer with its thread. Both end when it is dropped.
pub(crate) struct Desk {
    spare: Spare,
    /// Absent while it is on the thread, and after an error.
    writer: Option<Writer>,
    /// Work that is not committed.
    has_news: bool,
    committed: Instant,
    used: Instant,
}

impl Desk {
    /// Opens the writer. Its own threads get the priority of the one that opens it.
    pub(crate) async fn open(index: PageIndex) -> Result<Self, IndexingError> {
        let spare = Spare::start(OWNER).map_err(IndexingError::Thread)?;
        let writer = Some(spare.run(move || index.writer()).await??);
        let now = Instant::now();
        Ok(Self { spare, writer, has_news: false, committed: now, used: now })
    }

    /// Reads these copies and puts them into the index, at this pace. Returns the files, which a reader has to read.
    pub(crate) async fn put(&mut self, copies: Vec<PackedCopy>, pace: Pace) -> Result<Vec<File>, IndexingError> {
        let stop = Stop::new();
        let (watched, seen) = (stop.clone(), stop);
        let work = self.work(move |writer| put(writer, copies, pace, &seen));
        tokio::pin!(work);
        tokio::select! {
            done = &mut work => return done,
            () = sleep(PATIENCE) => watched.set(),
        }
        tracing::warn!("reading pages for the index took too long; the rest of this piece is not indexed");
        work.await
    }

    /// Puts a file into the index: with the text that a reader has found, or else by its name.
    pub(crate) async fn put_file(&mut self, file: File, text: Option<Answer>) -> Result<(), IndexingError> {
        let work = self.work(move |writer| {
            let name = file.page.clone();
            let read =
                || text.map(|answer| file.with_text(&answer.html.unwrap_or_default(), &answer.metadata, &Stop::new()));
            // A panic is that of one file, as in `put`.
            let page = catch_unwind(AssertUnwindSafe(read)).ok().flatten();
            writer.put(&page.unwrap_or(name))
        });
        work.await
    }

    /// Removes copies from the index.
    pub(crate) async fn remove(&mut self, copies: Vec<String>) -> Result<(), IndexingError> {
        self.work(move |writer| writer.remove(&copies)).await
    }

    /// Whether what was put should be committed now.
    pub(crate) fn is_due(&self) -> bool {
        let uncommitted = self.writer.as_ref().map_or(0, Writer::uncommitted);
        self.has_news && (uncommitted >= MAX_UNCOMMITTED || self.committed.elapsed() >= COMMIT_EVERY)
    }

    /// Returns the time until a commit is due, if anything is to be committed.
    pub(crate) fn due_in(&self) -> Option<Duration> {
        self.has_news.then(|| COMMIT_EVERY.saturating_sub(self.committed.elapsed()))
    }

    /// Commits what was put and removed, with the mark of the follower.
    pub(crate) async fn commit(&mut self, mark: String) -> Result<(), IndexingError> {
        self.work(move |writer| writer.commit(&mark)).await?;
        (self.has_news, self.committed) = (false, Instant::now());
        Ok(())
    }

    /// Whether there was no work for this time.
    pub(crate) fn is_idle_for(&self, time: Duration) -> bool {
        self.used.elapsed() >= time
    }

    /// Closes the writer, whose threads are waited for on the thread of the desk.
    pub(crate) async fn close(mut self) {
        let writer = self.writer.take();
        // A panic has been logged, and the writer is gone either way.
        let _ = self.spare.run(move || drop(writer)).await;
    }

    /// Closes the writer when the files are as few and as small as they get.
    pub(crate) async fn finish(mut self) -> Result<(), IndexingError> {
        let Some(writer) = self.writer.take() else { return Ok(()) };
        Ok(self.spare.run(move || writer.finish()).await??)
    }

    /// Runs work with the writer on the thread. After an error the writer is closed; what was not committed is lost.
    async fn work<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut Writer) -> Result<T, IndexError> + Send + 'static,
    ) -> Result<T, IndexingError> {
        let mut writer = self.writer.take().ok_or(IndexingError::Panicked)?;
        if !self.has_news {
            self.committed = Instant::now();
        }
        (self.has_news, self.used) = (true, Instant::now());
        let done = self.spare.run(move || work(&mut writer).map(|done| (writer, done))).await??;
        let (writer, done) = done;
        self.writer = Some(writer);
        Ok(done)
    }
}

fn put(writer: &mut Writer, copies: Vec<PackedCopy>, mut pace: Pace, stop: &Stop) -> Result<Vec<File>, IndexError> {
    let mut files = Vec::new();
    for copy in copies {
        if stop.is_set() {
            break;
        }
        let (id, fetched_at) = (copy.entry().id.clone(), copy.entry().fetched_at);
        // One page that makes the reader panic must not keep the follower from all others.
        match catch_unwind(AssertUnwindSafe(|| read::open(copy, stop))) {
            Ok(Some(Opened::Page(page))) if !stop.is_set() => writer.put(&page)?,
            Ok(Some(Opened::File(file))) => files.push(*file),
            Ok(_) => {}
            Err(_) => tracing::error!(copy = id, "reading a page for the index panicked; it is not indexed"),
        }
        pace.pause(fetched_at);
    }
    Ok(files)
}
