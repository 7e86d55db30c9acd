//! OCR of the pages of one document: by several children in any order, returned in the order of request.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use base::Owner;
use bytes::Bytes;
use documents::{Kind, RecogniseError, RecognisedPage};
use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout, timeout_at};

use crate::children::Children;
use crate::job::{Failure, Job};
use crate::message::{Said, Told};
use crate::process::Child;

/// Time limit for one page. A second is usual; some pages never end.
const MAX_PAGE: Duration = Duration::from_secs(60);

type Seen = Result<RecognisedPage, RecogniseError>;

/// Pages of a document. Dropping it kills the children that work on them.
pub(crate) struct Looks {
    work: Work,
    workers: JoinSet<()>,
    results: mpsc::Receiver<(u32, Seen)>,
    seen: HashMap<u32, Seen>,
}

/// Shared state of the workers.
#[derive(Clone)]
struct Work {
    pool: Arc<Children>,
    file: Bytes,
    kind: Kind,
    owner: Owner,
    /// Deadline after which a result is of no use.
    until: Instant,
    queue: Arc<Mutex<VecDeque<u32>>>,
    results: mpsc::Sender<(u32, Seen)>,
}

impl Looks {
    pub(crate) fn new(pool: &Arc<Children>, job: &Job, until: Instant) -> Self {
        // A bounded channel: workers do not run far ahead of the requests.
        let (sender, results) = mpsc::channel(2 * pool.settings.places());
        let work = Work {
            pool: Arc::clone(pool),
            file: job.bytes.clone(),
            kind: job.kind,
            owner: job.owner.clone(),
            until,
            queue: Arc::default(),
            results: sender,
        };
        Self { work, workers: JoinSet::new(), results, seen: HashMap::new() }
    }

    /// Queues pages that will be requested in this order, and starts workers for them.
    pub(crate) fn expect(&mut self, numbers: &[u32]) {
        self.work.queue.lock().extend(numbers);
        for _ in self.workers.len()..self.work.pool.settings.places().min(numbers.len()) {
            self.workers.spawn(self.work.clone().run());
        }
    }

    /// Returns a page when it is recognised.
    pub(crate) async fn page(&mut self, number: u32) -> Seen {
        loop {
            if let Some(seen) = self.seen.remove(&number) {
                return seen;
            }
            // Workers send their results before they end, so the channel is emptied before the workers are counted.
            while let Ok((other, seen)) = self.results.try_recv() {
                self.seen.insert(other, seen);
            }
            if self.seen.contains_key(&number) {
                continue;
            }
            while self.workers.try_join_next().is_some() {}
            if self.workers.is_empty() {
                self.ask_again(number);
            }
            match timeout_at(self.work.until, self.results.recv()).await {
                Ok(Some((other, seen))) => drop(self.seen.insert(other, seen)),
                Ok(None) | Err(_) => return Err(RecogniseError::OutOfTime),
            }
        }
    }

    /// Queues a page that no worker is working on, as it was not announced.
    fn ask_again(&mut self, number: u32) {
        let mut queue = self.work.queue.lock();
        if !queue.contains(&number) {
            queue.push_front(number);
        }
        drop(queue);
        self.workers.spawn(self.work.clone().run());
    }
}

impl Work {
    /// Recognises pages until the queue is empty.
    async fn run(self) {
        while !self.queue.lock().is_empty() {
            let Ok(_place) = self.pool.pages.enter(&self.owner, self.until).await else { return };
            if let Err(failure) = self.with_child().await {
                let failed = Err(failed(failure));
                let Some(number) = self.queue.lock().pop_front() else { return };
                self.send(number, failed).await;
            }
        }
    }

    /// Recognises pages with one child, until the queue is empty or another owner waits for the slot.
    async fn with_child(&self) -> Result<(), Failure> {
        let mut child = self.pool.child().await?;
        if child.tell(&Told::Look { kind: self.kind }, &self.file).await.is_err() {
            return Err(child.fate().await);
        }
        loop {
            let Some(number) = self.queue.lock().pop_front() else { break };
            match timeout(MAX_PAGE, look(&mut child, number)).await {
                Ok(Some(seen)) => self.send(number, seen).await,
                Ok(None) => {
                    let failed = failed(child.fate().await);
                    self.send(number, Err(failed)).await;
                    return Ok(());
                }
                Err(_) => {
                    let failed = format!("recognition took longer than {} s", MAX_PAGE.as_secs());
                    self.send(number, Err(RecogniseError::Failed(failed))).await;
                    return Ok(());
                }
            }
            if self.pool.pages.waiting() > 0 {
                break;
            }
        }
        self.pool.put_back(child);
        Ok(())
    }

    async fn send(&self, number: u32, seen: Seen) {
        // The receiver is gone when the document is finished.
        let _ = self.results.send((number, seen)).await;
    }
}

/// Recognises a page with a child; `None` when the child cannot be used any more.
async fn look(child: &mut Child, number: u32) -> Option<Seen> {
    child.tell(&Told::Page(number), &[]).await.ok()?;
    match child.hear().await.ok()? {
        Said::Seen(seen) => Some(seen),
        _ => None,
    }
}

fn failed(failure: Failure) -> RecogniseError {
    match failure {
        Failure::Limit(why) => RecogniseError::Limit(why),
        Failure::Unavailable(why) | Failure::Broken(why) => RecogniseError::Failed(why),
        _ => RecogniseError::Failed("the process that recognises the page ended".to_owned()),
    }
}
