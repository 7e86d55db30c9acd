//! A worker: claims jobs, runs them, keeps their leases, and ends in order.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base::{Clock, Timestamp};
use chrono::TimeDelta;
use store::Store;
use store::jobs::Queue;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::kind::{Kind, Typed};
use crate::leases::Held;
use crate::wake::{Waker, listen};
use crate::{Job, claims, leases};

/// How a worker works. The defaults suit one machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Jobs of [`Queue::Pages`] at a time. Default: 64.
    pub pages: usize,
    /// Jobs of [`Queue::Hooks`] at a time. Default: 256.
    pub hooks: usize,
    /// Requests to one host at a time. Default: 4.
    pub per_host: u32,
    /// How long a job is ours without a heartbeat. Default: 60 s.
    pub lease: Duration,
    /// How often the leases are renewed. Default: 20 s.
    pub heartbeat: Duration,
    /// How often it is looked whether running jobs were cancelled. Default: 2 s.
    pub check: Duration,
    /// How often jobs of lost workers are taken back. Default: 5 s.
    pub reap: Duration,
    /// How often it is looked for jobs that nobody told of. Default: 1 s.
    pub poll: Duration,
    /// How long running jobs may take to end when the worker stops; then they are given back. Default: 20 s.
    pub drain: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            pages: 64,
            hooks: 256,
            per_host: 4,
            lease: seconds(60),
            heartbeat: seconds(20),
            check: seconds(2),
            reap: seconds(5),
            poll: seconds(1),
            drain: seconds(20),
        }
    }
}

/// A worker with the kinds of jobs that it can do.
pub struct Worker {
    core: Core,
    kinds: HashMap<&'static str, Arc<dyn Kind>>,
}

/// What the parts of a worker share.
pub(crate) struct Core {
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) settings: Settings,
    pub(crate) waker: Waker,
    pub(crate) held: Held,
}

impl Worker {
    /// A worker that can do nothing yet.
    #[must_use]
    pub fn new(store: Store, clock: Arc<dyn Clock>, settings: Settings) -> Self {
        let core = Core { store, clock, settings, waker: Waker::default(), held: Held::default() };
        Self { core, kinds: HashMap::new() }
    }

    /// The same, woken by this waker.
    #[must_use]
    pub fn woken_by(mut self, waker: Waker) -> Self {
        self.core.waker = waker;
        self
    }

    /// The same with one more kind of job.
    #[must_use]
    pub fn with<J: Job>(mut self, job: J) -> Self {
        // Where it can, a commit goes on while another waits for its disk.
        let committers = if self.core.store.commits_in_parallel() { 3 } else { 1 };
        self.kinds.insert(J::KIND, Arc::new(Typed::new(job, committers)));
        self
    }

    /// Works until `stop`, then lets running jobs end for [`Settings::drain`] and gives back those that have not.
    /// Needs tokio's multi-thread runtime.
    #[crate::boxed]
    pub async fn run(self, stop: CancellationToken) {
        let (core, kinds) = (Arc::new(self.core), Arc::new(self.kinds));
        let (running, services) = (TaskTracker::new(), TaskTracker::new());
        // Ends what serves the running jobs, once these have ended.
        let ended = CancellationToken::new();
        for kind in kinds.values() {
            Arc::clone(kind).commits(&core).into_iter().for_each(|commits| drop(services.spawn(commits)));
        }
        let keep = leases::keep(Arc::clone(&core), Arc::clone(&kinds));
        services.spawn(ended.clone().run_until_cancelled_owned(keep));
        let (heard, waker) = (core.store.clone(), core.waker.clone());
        services.spawn(stop.clone().run_until_cancelled_owned(async move { listen(&heard, &waker).await }));
        let claims = Queue::ALL.map(|queue| {
            let slots = Arc::new(Semaphore::new(match queue {
                Queue::Pages => core.settings.pages,
                Queue::Hooks => core.settings.hooks,
            }));
            claims::run(Arc::clone(&core), Arc::clone(&kinds), (queue, slots), running.clone(), stop.clone())
        });
        let [pages, hooks] = claims;
        tokio::join!(pages, hooks);
        running.close();
        if timeout(core.settings.drain, running.wait()).await.is_err() {
            core.held.cancel_all();
            running.wait().await;
        }
        ended.cancel();
        kinds.values().for_each(|kind| kind.close());
        services.close();
        services.wait().await;
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("kinds", &self.kinds.keys()).field("settings", &self.core.settings).finish()
    }
}

impl Core {
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn wake_all(&self) {
        Queue::ALL.into_iter().for_each(|queue| self.waker.wake(queue));
    }

    /// When a lease that begins or is renewed now ends.
    pub(crate) fn lease_until(&self) -> Timestamp {
        self.now() + TimeDelta::from_std(self.settings.lease).unwrap_or_default()
    }
}
