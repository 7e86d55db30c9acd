//! Gauges that are measured when `/metrics` is read: load of the process and depth of the queues.
//!
//! Counting the queues is a query over all jobs, so measurements have a minimum interval no matter how often `/metrics` is
//! read, and the interval grows with the duration of the count.

use std::sync::Arc;
use std::time::Duration;

use app::Operations;
use base::Timestamp;
use cpu::line;
use metrics::{counter, gauge};
use metrics_process::Collector;
use parking_lot::Mutex;
use tokio::time::{Instant, timeout};

/// Minimum interval between two measurements.
const PAUSE: Duration = Duration::from_secs(1);
/// Minimum interval between two counts of the queues.
const QUEUE_PAUSE: Duration = Duration::from_secs(5);
/// Factor between the duration of a count and the pause after it, so that counting takes at most 5 % of the time.
const SHARE: u32 = 20;
/// Longest wait of a reader for a count. The count continues, and the next reader gets its result.
const PATIENCE: Duration = Duration::from_secs(2);

/// Times of the last measurements.
#[derive(Debug, Default)]
pub struct Figures(Mutex<NextMeasurements>);

#[derive(Debug, Default)]
struct NextMeasurements {
    measured: Option<Instant>,
    /// Earliest time of the next count of the queues; far in the future while one runs.
    queues: Option<Instant>,
}

impl Figures {
    /// Updates the gauges that are due.
    pub async fn refresh(self: &Arc<Self>, operations: &Operations) {
        let now = Instant::now();
        let (is_due, count) = {
            let mut due = self.0.lock();
            let is_due = due.measured.is_none_or(|last| now - last >= PAUSE);
            if is_due {
                due.measured = Some(now);
            }
            let count = due.queues.is_none_or(|next| now >= next);
            if count {
                due.queues = Some(now + Duration::from_secs(3600));
            }
            (is_due, count)
        };
        if is_due {
            measure(operations);
        }
        if count {
            let (figures, operations) = (Arc::clone(self), operations.clone());
            // A task of its own: a reader that disconnects would cancel the count, and `queues` would stay in the future.
            let counting = tokio::spawn(async move { figures.count(&operations).await });
            let _in_time = timeout(PATIENCE, counting).await;
        }
    }

    async fn count(&self, operations: &Operations) {
        let began = Instant::now();
        match app::jobs::depths(&operations.app).await {
            Ok(depths) => depths.iter().for_each(|depth| queue(depth, operations.app.now())),
            Err(error) => tracing::debug!(?error, "could not count the queues; their metrics are stale"),
        }
        match app::monitors::upkeep::figures(&operations.monitors).await {
            Ok(figures) => monitors(&figures),
            Err(error) => tracing::debug!(?error, "could not measure the monitors; their metrics are stale"),
        }
        let took = began.elapsed();
        self.0.lock().queues = Some(Instant::now() + QUEUE_PAUSE.max(took * SHARE));
    }
}

fn queue(depth: &app::jobs::Depth, now: Timestamp) {
    let name = &depth.queue;
    gauge!("quarry_queue_jobs", "queue" => name.clone(), "state" => "waiting").set(whole(depth.ready));
    gauge!("quarry_queue_jobs", "queue" => name.clone(), "state" => "running").set(whole(depth.running));
    let oldest = depth.oldest.map_or(0, |oldest| (now - oldest).num_milliseconds().max(0));
    gauge!("quarry_queue_oldest_seconds", "queue" => name.clone()).set(whole(oldest) / 1000.0);
    gauge!("quarry_queue_measured_timestamp_seconds").set(whole(now.timestamp_millis()) / 1000.0);
}

fn monitors(figures: &app::monitors::upkeep::Figures) {
    gauge!("quarry_monitors_due").set(whole(figures.due));
    gauge!("quarry_monitors_late_seconds").set(figures.late_by.as_secs_f64());
    gauge!("quarry_monitor_checks", "status" => "queued").set(whole(figures.queued));
    gauge!("quarry_monitor_checks", "status" => "running").set(whole(figures.running));
}

fn measure(operations: &Operations) {
    let load = app::load(operations);
    gauge!("quarry_scrapes_in_flight").set(load.scrapes);
    gauge!("quarry_sessions").set(load.sessions);
    gauge!("quarry_browsers").set(count(load.browsers));
    counter!("quarry_browsers_started_total").absolute(load.browsers_started);
    gauge!("quarry_readers").set(count(load.readers));
    // Registers the metric, so that it exists before the first page.
    gauge!("quarry_pages_in_work").increment(0.0);
    for (name, line::Load { places, taken, waiting }) in load.places {
        gauge!("quarry_places", "line" => name).set(count(places));
        gauge!("quarry_places_in_use", "line" => name).set(count(taken));
        gauge!("quarry_places_waiting", "line" => name).set(count(waiting));
    }
    for (pool, load) in load.database {
        gauge!("quarry_database_connections", "pool" => pool, "state" => "in_use").set(load.in_use);
        gauge!("quarry_database_connections", "pool" => pool, "state" => "idle").set(load.idle);
        gauge!("quarry_database_waiting", "pool" => pool).set(wide(load.waiting));
    }
    for (folder, free) in load.disks {
        gauge!("quarry_disk_free_bytes", "folder" => folder.display().to_string()).set(wide(free));
    }
    Collector::default().collect();
}

#[expect(clippy::cast_precision_loss, reason = "metrics are floats; exact up to 2^53")]
fn whole(number: i64) -> f64 {
    number as f64
}

#[expect(clippy::cast_precision_loss, reason = "metrics are floats; exact up to 2^53")]
fn wide(number: u64) -> f64 {
    number as f64
}

fn count(number: usize) -> f64 {
    wide(u64::try_from(number).unwrap_or(u64::MAX))
}
