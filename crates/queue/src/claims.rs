//! Claiming: as many jobs as there are free slots, whenever there may be some.

use std::sync::Arc;
use std::time::Duration;

use base::new_id;
use chrono::TimeDelta;
use store::StoreError;
use store::jobs::{self, Claim, Claimed, Queue, Retry};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::worker::{Core, Handlers};

/// Jobs of one claim.
const MAX_JOBS: usize = 64;
/// How long to wait for more free slots when nearly all are taken.
const GATHER: Duration = Duration::from_millis(3);
/// Pause after the database did not answer.
const PAUSE: Duration = Duration::from_secs(1);
/// When a job is tried again that no handler here knows.
const UNKNOWN: TimeDelta = TimeDelta::seconds(60);

/// Claims and starts jobs of one queue until `stop`.
pub(crate) async fn run(
    core: Arc<Core>,
    handlers: Arc<Handlers>,
    (queue, slots): (Queue, usize),
    running: TaskTracker,
    stop: CancellationToken,
) {
    let free = Arc::new(Semaphore::new(slots));
    while let Some(Ok(first)) = stop.run_until_cancelled(Arc::clone(&free).acquire_owned()).await {
        // A full worker gets its slots back one by one. Each alone would cost a claim.
        if free.available_permits() + 1 < slots / 8 {
            sleep(GATHER).await;
        }
        let mut permits = vec![first];
        permits.extend((1..MAX_JOBS).map_while(|_| Arc::clone(&free).try_acquire_owned().ok()));
        match claim(&core, queue, permits.len()).await {
            Ok(jobs) => {
                let came = jobs.len();
                for (job, permit) in jobs.into_iter().zip(permits.drain(..)) {
                    start(&core, &handlers, job, permit, &running);
                }
                drop(permits);
                // Some, but not all, does not mean that there are no more: teams are served in turns.
                if came == 0 {
                    core.idle.notify_one();
                    stop.run_until_cancelled(core.waker.woken(queue)).await;
                }
            }
            Err(error) => {
                tracing::warn!(%error, queue = queue.name, "no jobs claimed");
                stop.run_until_cancelled(sleep(PAUSE)).await;
            }
        }
    }
}

async fn claim(core: &Core, queue: Queue, most: usize) -> Result<Vec<Claimed>, StoreError> {
    let token = new_id().to_string();
    let (now, lease_until, per_host) = (core.now(), core.lease_until(), core.settings.per_host);
    let want = Claim { queue: queue.name, most, token: &token, now, lease_until, per_host };
    jobs::claim(&mut core.store.conn().await?, &want).await
}

fn start(core: &Arc<Core>, handlers: &Handlers, job: Claimed, permit: OwnedSemaphorePermit, running: &TaskTracker) {
    let (core, handler) = (Arc::clone(core), handlers.get(job.kind.as_str()).cloned());
    let cancelled = core.held.add(&job);
    running.spawn(async move {
        let (id, token) = (job.id.clone(), job.token.clone());
        match handler {
            Some(handler) => handler.process(Arc::clone(&core), job, cancelled).await,
            None => put_off(&core, &job).await,
        }
        core.held.remove(&id, &token);
        drop(permit);
    });
}

/// A newer worker may know this kind of job.
async fn put_off(core: &Core, job: &Claimed) {
    tracing::warn!(kind = job.kind, "a job of an unknown kind, it is left for another worker");
    let how = Retry { run_at: core.now() + UNKNOWN, error: "no handler for this kind of job", counted: false };
    let put_back = async { jobs::retry(&mut core.store.conn().await?, &job.held(None), &how, core.now()).await };
    if let Err(error) = put_back.await {
        tracing::warn!(%error, "the job comes back when its lease ends");
    }
}
