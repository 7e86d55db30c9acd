//! Workers: claim jobs, run them, keep their leases, and shut down gracefully.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use base::{Clock, new_id};
use store::Store;
use store::jobs::{Payload as _, Queue};
use tokio::runtime::Handle;
use tokio::sync::{Notify, Semaphore};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::claims::{Handlers, ServedQueue};
use crate::erased::Erased;
use crate::held::RunningJobs;
use crate::hosts::Hosts;
use crate::listen::listen;
use crate::settings::Settings;
use crate::shared::Core;
use crate::wake::Waker;
use crate::{Handler, Polite, due, leases};

/// Worker with its handlers. It serves the queues of their jobs.
pub struct Worker {
    core: Core,
    handlers: Handlers,
}

impl Worker {
    /// Creates a worker without handlers.
    #[must_use]
    pub fn new(store: Store, clock: Arc<dyn Clock>, settings: Settings) -> Self {
        let (waker, held, hosts, idle) = (Waker::default(), RunningJobs::default(), Hosts::default(), Notify::new());
        let name = new_id().to_string();
        let core = Core { store, clock, settings, waker, name, held, hosts, queues: Vec::new(), idle };
        Self { core, handlers: HashMap::new() }
    }

    /// Replaces the waker.
    #[must_use]
    pub fn woken_by(mut self, waker: Waker) -> Self {
        self.core.waker = waker;
        self
    }

    /// Adds a handler.
    #[must_use]
    pub fn with<H: Handler>(mut self, handler: H) -> Self {
        let committers = self.committers();
        self.handlers.insert(H::Payload::KIND, Arc::new(Erased::new(handler, committers)));
        self
    }

    /// Adds a handler whose jobs send requests to hosts.
    #[must_use]
    pub fn with_polite<H: Polite>(mut self, handler: H) -> Self {
        let committers = self.committers();
        self.handlers.insert(H::Payload::KIND, Arc::new(Erased::polite(handler, committers)));
        self
    }

    /// Returns the queues of the handlers, each once, with their slots.
    #[must_use]
    pub fn queues(&self) -> Vec<(Queue, u32)> {
        let mut queues: BTreeMap<&str, Queue> = BTreeMap::new();
        for handler in self.handlers.values() {
            queues.insert(handler.queue().name, handler.queue());
        }
        let slots = |queue: Queue| self.core.settings.slots.get(queue.name).copied().unwrap_or(queue.slots);
        queues.into_values().map(|queue| (queue, slots(queue))).collect()
    }

    /// Runs until `stop`, then lets running jobs end within [`Settings::drain`] and releases the others. Needs tokio's
    /// multi-thread runtime.
    #[crate::boxed]
    pub async fn run(mut self, stop: CancellationToken) {
        let served = self.queues().into_iter().filter(|(_, slots)| *slots > 0);
        self.core.queues = served.map(|(queue, slots)| (queue, usize::try_from(slots).unwrap_or(usize::MAX))).collect();
        let (core, handlers) = (Arc::new(self.core), Arc::new(self.handlers));
        let [claiming, running, committing, services] = [(); 4].map(|()| TaskTracker::new());
        // Stops the services of running jobs (lease renewal) after the last commit.
        let ended = CancellationToken::new();
        // Claims and commits mostly write.
        let writing = core.store.writing_runtime();
        let served = served_queues(&core, &handlers, &running, &stop);
        for handler in handlers.values() {
            let commits = Arc::clone(handler).commits(&core, served.get(handler.queue().name));
            commits.into_iter().for_each(|commits| drop(committing.spawn_on(commits, &writing)));
        }
        let keep = leases::keep(Arc::clone(&core), Arc::clone(&handlers));
        services.spawn(ended.clone().run_until_cancelled_owned(keep));
        let listening = Arc::clone(&core);
        services.spawn(stop.clone().run_until_cancelled_owned(async move { listen(&listening).await }));
        let watching = Arc::clone(&core);
        services.spawn(stop.clone().run_until_cancelled_owned(async move { due::watch(&watching).await }));
        for queue in served.into_values() {
            claiming.spawn_on(queue.run(), &writing);
        }
        // A worker without queues still reaps the leases of lost workers.
        stop.cancelled().await;
        all_of(&claiming).await;
        running.close();
        if timeout(core.settings.drain, running.wait()).await.is_err() {
            core.held.cancel_all();
            running.wait().await;
        }
        handlers.values().for_each(|handler| handler.close());
        all_of(&committing).await;
        ended.cancel();
        all_of(&services).await;
    }

    /// Returns the number of committers: with several writers, one commits while another waits for the disk.
    fn committers(&self) -> usize {
        if self.core.store.parallel_writers() { 3 } else { 1 }
    }
}

/// Returns the queues served here, by name.
fn served_queues(
    core: &Arc<Core>,
    handlers: &Arc<Handlers>,
    running: &TaskTracker,
    stop: &CancellationToken,
) -> HashMap<&'static str, Arc<ServedQueue>> {
    let serve = |(queue, slots): &(Queue, usize)| {
        let (core, handlers, jobs) = (Arc::clone(core), Arc::clone(handlers), Handle::current());
        let (running, stop, free) = (running.clone(), stop.clone(), Arc::new(Semaphore::new(*slots)));
        ServedQueue { core, handlers, queue: *queue, slots: *slots, free, running, jobs, stop }
    };
    core.queues.iter().map(|queue| (queue.0.name, Arc::new(serve(queue)))).collect()
}

/// Closes the tracker and waits for its tasks.
async fn all_of(tasks: &TaskTracker) {
    tasks.close();
    tasks.wait().await;
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("kinds", &self.handlers.keys()).field("settings", &self.core.settings).finish()
    }
}
