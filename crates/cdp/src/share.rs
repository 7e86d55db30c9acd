//! Bandwidth limits of sessions on a shared pipe. Chromium reads and writes one message after the other, so a large one
//! delays the calls of all clients.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::{Instant, sleep};

/// Size limit of a message to a page of a shared browser, in bytes.
pub const MAX_SAID: usize = 1 << 20;
/// Size limit of an answer of such a page, in bytes.
pub(crate) const MAX_HEARD: usize = 16 << 20;

/// Bandwidth limit of a session in both directions.
#[derive(Debug)]
pub struct Share {
    said: Allowance,
    heard: Allowance,
}

/// Token bucket in bytes: a burst, refilled over time.
#[derive(Debug)]
struct Allowance {
    at_once: f64,
    per_second: f64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Available bytes; negative if overdrawn.
    left: f64,
    at: Instant,
}

impl Default for Share {
    fn default() -> Self {
        let mib = f64::from(1 << 20);
        Self { said: Allowance::new(8.0 * mib, 4.0 * mib), heard: Allowance::new(64.0 * mib, 8.0 * mib) }
    }
}

impl Share {
    /// Returns the time until the next message may be sent.
    pub fn debt(&self) -> Duration {
        self.said.debt().max(self.heard.debt())
    }

    /// Waits until a message may be sent, then counts its bytes.
    pub(crate) async fn send_in_turn(&self, bytes: usize) {
        // Again after each sleep: others of the same session may have sent meanwhile.
        loop {
            match self.debt() {
                Duration::ZERO => break,
                debt => sleep(debt).await,
            }
        }
        self.count_sent(bytes);
    }

    /// Counts sent bytes.
    pub(crate) fn count_sent(&self, bytes: usize) {
        self.said.take(bytes);
    }

    /// Counts received bytes. Returns false if the debt exceeds [`MAX_DEBT`].
    pub(crate) fn count_received(&self, bytes: usize) -> bool {
        self.heard.take(bytes);
        self.heard.debt() < MAX_DEBT
    }
}

/// Debt, as refill time, above which a client is disconnected.
const MAX_DEBT: Duration = Duration::from_secs(10);

impl Allowance {
    fn new(at_once: f64, per_second: f64) -> Self {
        Self { at_once, per_second, state: Mutex::new(State { left: at_once, at: Instant::now() }) }
    }

    // A message may overdraw the bucket, whatever its size: waiting for enough bytes would never end for one that is
    // larger than the burst.
    fn take(&self, bytes: usize) {
        self.with_time(|state| state.left -= bytes as f64);
    }

    /// Returns the time until the bucket is no longer overdrawn.
    fn debt(&self) -> Duration {
        self.with_time(|state| Duration::from_secs_f64((-state.left / self.per_second).max(0.0)))
    }

    fn with_time<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        let (mut state, now) = (self.state.lock(), Instant::now());
        let passed = now.saturating_duration_since(state.at).as_secs_f64();
        state.left = (state.left + passed * self.per_second).min(self.at_once);
        state.at = now;
        work(&mut state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    #[tokio::test(start_paused = true)]
    async fn what_is_said_is_paid_with_time() {
        let (share, began) = (Share::default(), Instant::now());
        for _ in 0..24 {
            share.send_in_turn(MIB).await;
        }
        // Nine at once, because the bucket may be overdrawn once, then four per second.
        let took = began.elapsed();
        assert!((Duration::from_secs(3)..Duration::from_secs(5)).contains(&took), "{took:?}");
        share.send_in_turn(10).await;
        tokio::time::advance(Duration::from_secs(3600)).await;
        share.count_sent(8 * MIB);
        assert_eq!(share.debt(), Duration::ZERO, "no more is saved than may pass at once");
        share.count_sent(MIB);
        assert!(share.debt() > Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn who_hears_much_says_nothing_for_a_while() {
        let share = Share::default();
        assert!(share.count_received(64 * MIB) && share.debt() == Duration::ZERO);
        assert!(share.count_received(16 * MIB));
        assert_eq!(share.debt(), Duration::from_secs(2));
        assert!(!share.count_received(70 * MIB));
        tokio::time::advance(Duration::from_secs(60)).await;
        assert!(share.count_received(MIB) && share.debt() == Duration::ZERO);
    }
}
