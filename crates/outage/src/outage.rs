//! State of a part of the deployment that can have outages, such as a database.

use std::fmt::Display;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::Instant;

/// Minimum interval between two log lines about one part.
pub(crate) const PAUSE: Duration = Duration::from_secs(60);

/// Shared state of one part: available or in an outage. The log gets one line when an outage begins, one per minute while
/// it lasts, and one when it ends, regardless of the number of failures and of flapping.
#[derive(Debug)]
pub struct Outage {
    part: &'static str,
    lasts: watch::Sender<bool>,
    known: Mutex<OutageState>,
}

#[derive(Debug, Default)]
struct OutageState {
    now: Option<Current>,
    told: Option<Instant>,
}

/// The current outage.
#[derive(Debug)]
struct Current {
    since: Instant,
    failures: u64,
    cause: String,
    is_told: bool,
}

impl Outage {
    /// Creates the state of an available part with its name in the log.
    #[must_use]
    pub fn new(part: &'static str) -> Self {
        Self { part, lasts: watch::Sender::new(false), known: Mutex::default() }
    }

    /// Records a failure caused by this part.
    pub fn failed(&self, cause: impl Display) {
        let (part, now) = (self.part, Instant::now());
        let cause = cause.to_string();
        let mut known = self.known.lock();
        let is_due = known.told.is_none_or(|told| now - told >= PAUSE);
        let current =
            known.now.get_or_insert_with(|| Current { since: now, failures: 0, cause: String::new(), is_told: false });
        current.failures += 1;
        if is_due {
            let (failures, seconds) = (current.failures, (now - current.since).as_secs());
            match current.is_told {
                false => tracing::error!(part, cause, "{part} unavailable: requests that need it get 503"),
                true => tracing::error!(part, cause, seconds, failures, "{part} still unavailable"),
            }
            current.is_told = true;
        }
        current.cause = cause;
        if is_due {
            known.told = Some(now);
        }
        // Sent while the lock is held, so that waiters never see a state older than `known`.
        self.lasts.send_replace(true);
    }

    /// Records that the part works.
    pub fn works(&self) {
        if !self.lasts() {
            return;
        }
        let ended = {
            let mut known = self.known.lock();
            self.lasts.send_replace(false);
            known.now.take()
        };
        let Some(Current { since, failures, is_told: true, .. }) = ended else { return };
        let (part, seconds) = (self.part, since.elapsed().as_secs_f64());
        let seconds = (seconds * 10.0).round() / 10.0;
        tracing::info!(part, seconds, failures, "{part} available again");
    }

    /// Returns whether there is an outage.
    #[must_use]
    pub fn lasts(&self) -> bool {
        *self.lasts.borrow()
    }

    /// Returns the cause of the last failure; empty when the part works.
    #[must_use]
    pub fn cause(&self) -> String {
        self.known.lock().now.as_ref().map(|current| current.cause.clone()).unwrap_or_default()
    }

    /// Waits until an outage begins.
    pub async fn begun(&self) {
        self.until(true).await;
    }

    /// Waits until the part works.
    pub async fn over(&self) {
        self.until(false).await;
    }

    async fn until(&self, wanted: bool) {
        // Cannot fail: `self` keeps the sender alive.
        let _ = self.lasts.subscribe().wait_for(|lasts| *lasts == wanted).await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use testkit::CapturedLog;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_outage_has_a_line_a_minute_and_one_at_its_end() {
        let log = CapturedLog::start();
        let outage = Outage::new("database");
        outage.works();
        assert!(log.take().is_empty() && !outage.lasts());
        let mut told = Vec::new();
        for second in 0..150 {
            outage.failed(format!("refused {second}"));
            told.extend(log.take());
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        assert_eq!(told.len(), 3, "{told:#?}");
        assert!(told[0].contains("database unavailable") && told[0].contains("refused 0"), "{}", told[0]);
        assert!(told[1].contains("still unavailable") && told[1].contains("refused 60"), "{}", told[1]);
        assert!(outage.lasts() && outage.cause() == "refused 149");
        outage.works();
        let end = log.take();
        assert!(end.len() == 1 && end[0].contains("available again") && end[0].contains("seconds=150"), "{end:?}");
        assert!(!outage.lasts() && outage.cause().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn what_comes_and_goes_is_told_once_a_minute() {
        let log = CapturedLog::start();
        let outage = Outage::new("database");
        for _ in 0..50 {
            outage.failed("gone");
            tokio::time::advance(Duration::from_secs(1)).await;
            outage.works();
        }
        let told = log.take();
        assert_eq!(told.len(), 2, "{told:#?}");
    }

    #[test]
    fn whether_it_lasts_and_why_agree_however_many_notice_it() {
        let outage = Outage::new("database");
        for _ in 0..200 {
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| outage.failed("gone"));
                    scope.spawn(|| outage.works());
                }
            });
            assert_eq!(outage.lasts(), !outage.cause().is_empty());
        }
    }

    #[tokio::test]
    async fn whoever_waits_is_told() {
        let outage = Arc::new(Outage::new("database"));
        let waiting = tokio::spawn({
            let outage = Arc::clone(&outage);
            async move { outage.begun().await }
        });
        outage.failed("gone");
        waiting.await.unwrap();
        outage.begun().await;
        outage.works();
        outage.over().await;
    }
}
