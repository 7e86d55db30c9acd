//! Background work of a process and its shutdown.

use std::time::Duration;

use app::{Operations, WorkerSettings};
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Interval of the metrics upkeep.
const UPKEEP: Duration = Duration::from_secs(10);
/// Minimum time for charges and for closing the browser at shutdown, even after the drain time.
const LAST_MOMENT: Duration = Duration::from_secs(1);

/// Background tasks of this process: jobs, maintenance, and tasks that the program adds. Dropping it stops them.
#[derive(Debug)]
pub struct Background {
    operations: Operations,
    tasks: TaskTracker,
    stop_jobs: CancellationToken,
    stop_upkeep: CancellationToken,
}

impl Background {
    /// Starts the metrics upkeep and, when `jobs` is given, the job worker and the maintenance of the data.
    #[must_use]
    pub fn start(operations: Operations, prometheus: PrometheusHandle, jobs: Option<WorkerSettings>) -> Self {
        let (tasks, stop_jobs) = (TaskTracker::new(), CancellationToken::new());
        let stop_upkeep = CancellationToken::new();
        if let Some(settings) = jobs {
            tasks.spawn(app::worker(&operations, settings).run(stop_jobs.clone()));
            tasks.spawn(app::maintain(operations.clone(), stop_upkeep.clone()));
        }
        tasks.spawn(upkeep(prometheus, stop_upkeep.clone()));
        Self { operations, tasks, stop_jobs, stop_upkeep }
    }

    /// Starts the task that indexes the pages of the cache. Every server has an index of its own; workers have none.
    pub fn follow(&self) {
        self.tasks.spawn(self.operations.indexing.clone().follow(self.stop_upkeep.clone()));
    }

    /// Adds a task, which [`Background::settle`] waits for.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(task);
    }

    /// Stops taking new jobs; running jobs continue.
    pub fn stop_jobs(&self) {
        self.stop_jobs.cancel();
    }

    /// Ends the maintenance, waits for `before`, for pending charges and for all tasks, and closes the browser. Returns
    /// true when everything was done by `until`; charges of aborted work get `LAST_MOMENT` even when it has passed.
    pub async fn settle(&self, before: impl Future<Output = ()>, until: Instant) -> bool {
        self.stop_upkeep.cancel();
        self.tasks.close();
        let settled = timeout_at(until.max(Instant::now() + LAST_MOMENT), async {
            before.await;
            self.operations.app.drain().await;
            self.tasks.wait().await;
        });
        let is_settled = settled.await.is_ok();
        // After the tasks: their pages need the browser until they are done or aborted.
        let _in_time = timeout(LAST_MOMENT, self.operations.close()).await;
        is_settled
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.stop_jobs.cancel();
        self.stop_upkeep.cancel();
    }
}

/// Runs the upkeep of the metrics: histograms keep every sample until it runs or `/metrics` is read.
async fn upkeep(prometheus: PrometheusHandle, stop: CancellationToken) {
    while stop.run_until_cancelled(tokio::time::sleep(UPKEEP)).await.is_some() {
        prometheus.run_upkeep();
    }
}
