//! The work of a process that no request waits for, and how it ends.

use std::time::Duration;

use app::{App, WorkerSettings};
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How often metrics are tidied up.
const UPKEEP: Duration = Duration::from_secs(10);
/// What bookings get at the end, even when the time is used up.
const LAST_MOMENT: Duration = Duration::from_secs(1);

/// Tasks of this process: jobs, upkeep, and what its program adds. Dropping it cuts them off.
#[derive(Debug)]
pub struct Background {
    app: App,
    tasks: TaskTracker,
    stop_jobs: CancellationToken,
    stop_upkeep: CancellationToken,
}

impl Background {
    /// Starts upkeep of the metrics and, unless this process leaves it to others, jobs and upkeep of the data.
    #[must_use]
    pub fn start(app: App, prometheus: PrometheusHandle, jobs: Option<WorkerSettings>) -> Self {
        let (tasks, stop_jobs) = (TaskTracker::new(), CancellationToken::new());
        let stop_upkeep = CancellationToken::new();
        if let Some(settings) = jobs {
            tasks.spawn(app::worker(&app, settings).run(stop_jobs.clone()));
            tasks.spawn(app::maintain(app.clone(), stop_upkeep.clone()));
        }
        tasks.spawn(upkeep(prometheus, stop_upkeep.clone()));
        Self { app, tasks, stop_jobs, stop_upkeep }
    }

    /// Adds a task, which [`Background::settle`] waits for.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(task);
    }

    /// Takes no new jobs from here on, and lets the running ones end.
    pub fn stop_jobs(&self) {
        self.stop_jobs.cancel();
    }

    /// Ends upkeep, then waits for `before`, for bookings and for all tasks, and closes the browser. True when that was done by `until`; bookings of
    /// what was cut get a moment even when it has passed.
    pub async fn settle(&self, before: impl Future<Output = ()>, until: Instant) -> bool {
        self.stop_upkeep.cancel();
        self.tasks.close();
        let settled = timeout_at(until.max(Instant::now() + LAST_MOMENT), async {
            before.await;
            self.app.drain().await;
            self.tasks.wait().await;
        });
        let is_settled = settled.await.is_ok();
        // Not before the pages of jobs are done, or cut.
        let _in_time = timeout(LAST_MOMENT, self.app.close()).await;
        is_settled
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.stop_jobs.cancel();
        self.stop_upkeep.cancel();
    }
}

/// Histograms keep every sample until this runs or somebody reads `/metrics`.
async fn upkeep(prometheus: PrometheusHandle, stop: CancellationToken) {
    while stop.run_until_cancelled(tokio::time::sleep(UPKEEP)).await.is_some() {
        prometheus.run_upkeep();
    }
}
