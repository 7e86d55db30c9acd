//! What is measured when somebody reads `/metrics`: how busy the process is, and how full the queues are.
//!
//! Counting the queues costs a query over all jobs. So nothing is measured more often than every few seconds, however often
//! `/metrics` is read, and a count that takes long is repeated the more seldom.

use std::sync::Arc;
use std::time::Duration;

use app::App;
use base::Timestamp;
use cpu::line;
use metrics::{counter, gauge};
use metrics_process::Collector;
use parking_lot::Mutex;
use tokio::time::{Instant, timeout};

/// Pause between two measurements.
const PAUSE: Duration = Duration::from_secs(1);
/// Pause between two counts of the queues.
const QUEUE_PAUSE: Duration = Duration::from_secs(5);
/// A count may take this part of the time: the pause is as many times as long as the last count took.
const SHARE: u32 = 20;
/// How long a reader waits for a count. It goes on, and the next one reads its result.
const PATIENCE: Duration = Duration::from_secs(2);

/// When was measured.
#[derive(Debug, Default)]
pub struct Figures(Mutex<Due>);

#[derive(Debug, Default)]
struct Due {
    measured: Option<Instant>,
    /// When the queues may be counted again; far away while they are being counted.
    queues: Option<Instant>,
}

impl Figures {
    /// Measures what is due.
    pub async fn refresh(self: &Arc<Self>, app: &App) {
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
            measure(app);
        }
        if count {
            let (figures, app) = (Arc::clone(self), app.clone());
            // A task of its own: a reader that leaves must not leave the queues uncounted for ever.
            let counting = tokio::spawn(async move { figures.count(&app).await });
            let _in_time = timeout(PATIENCE, counting).await;
        }
    }

    async fn count(&self, app: &App) {
        let began = Instant::now();
        match app::jobs::depths(app).await {
            Ok(depths) => depths.iter().for_each(|depth| queue(depth, app.now())),
            Err(error) => tracing::debug!(?error, "queues not counted"),
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

fn measure(app: &App) {
    let load = app::load(app);
    gauge!("quarry_scrapes_in_flight").set(load.scrapes);
    gauge!("quarry_sessions").set(load.sessions);
    gauge!("quarry_browsers").set(count(load.browsers));
    counter!("quarry_browsers_started_total").absolute(load.browsers_started);
    gauge!("quarry_readers").set(count(load.readers));
    // From here on it is there, and not only after the first page.
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
