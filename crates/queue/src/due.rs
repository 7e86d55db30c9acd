//! Waking queues when they are due: one query tells the due time of every queue.

use std::collections::HashMap;
use std::time::Duration;

use base::Timestamp;
use store::StoreError;
use tokio::time::{Instant, sleep, sleep_until};

use crate::shared::Core;

/// Shortest time between two wake-ups of a queue whose due jobs cannot be claimed yet.
const MIN_PAUSE: Duration = Duration::from_millis(5);

/// Wakes queues when they are due, for as long as it is polled. Queries again at every poll interval, and after a claim
/// that got nothing.
pub(crate) async fn watch(core: &Core) {
    let mut woken: HashMap<String, Instant> = HashMap::new();
    loop {
        let mut due = match read_due_times(core).await {
            Ok(due) => due,
            Err(error) => {
                if error.is_news() {
                    tracing::warn!(%error, "could not look for due jobs; trying again at the next poll");
                }
                HashMap::new()
            }
        };
        for (queue, at) in &mut due {
            *at = (*at).max(woken.get(queue).map_or(*at, |before| *before + MIN_PAUSE));
        }
        let poll = Instant::now() + core.settings.poll;
        loop {
            let next = due.values().copied().min().unwrap_or(poll).min(poll);
            let is_idle = tokio::select! {
                () = sleep_until(next) => false,
                () = core.idle.notified() => {
                    // Debounce: other claims and ends of jobs follow within moments.
                    sleep(MIN_PAUSE).await;
                    true
                }
            };
            let now = Instant::now();
            due.retain(|queue, at| {
                let is_due = *at <= now;
                if is_due {
                    core.waker.wake_named(queue);
                    woken.insert(queue.clone(), now);
                }
                !is_due
            });
            // Due queues were woken first: otherwise a busy queue, which notifies `idle` often, could starve them.
            if is_idle || now >= poll {
                break;
            }
        }
    }
}

/// Returns the due time of each queue that is served here.
async fn read_due_times(core: &Core) -> Result<HashMap<String, Instant>, StoreError> {
    let found = store::jobs::next_due(&mut core.store.conn().await?).await?;
    let (now, instant) = (core.now(), Instant::now());
    let served = |name: &str| core.queues.iter().any(|(queue, _)| queue.name == name);
    // Capped, because the next poll looks again anyway.
    let until = |due: Timestamp| (due - now).to_std().unwrap_or_default().min(core.settings.poll);
    Ok(found.into_iter().filter(|(queue, _)| served(queue)).map(|(queue, due)| (queue, instant + until(due))).collect())
}
