//! What somebody may send over a pipe that others use too, and hear over it: Chromium reads and writes one message after the
//! other, so a large one delays the calls of everybody.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::{Instant, sleep};

/// Largest message to a page in a process that others use too, in bytes.
pub(crate) const MAX_SAID: usize = 1 << 20;
/// Largest answer of such a page.
pub(super) const MAX_HEARD: usize = 16 << 20;

/// One session's part of a pipe.
#[derive(Debug)]
pub(crate) struct Share {
    said: Allowance,
    heard: Allowance,
}

/// Bytes that may pass: some at once, and more with time.
#[derive(Debug)]
struct Allowance {
    at_once: f64,
    per_second: f64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// What may pass now; less than nothing is a debt.
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
    /// How long it must wait before it says anything more.
    pub(crate) fn debt(&self) -> Duration {
        self.said.debt().max(self.heard.debt())
    }

    /// Waits until it may say something, which takes so many bytes.
    pub(super) async fn say_in_turn(&self, bytes: usize) {
        loop {
            match self.debt() {
                Duration::ZERO => break,
                debt => sleep(debt).await,
            }
        }
        self.say(bytes);
    }

    /// It has said so much.
    pub(super) fn say(&self, bytes: usize) {
        self.said.take(bytes);
    }

    /// It is told so much; false when that is more than it can pay for in a while.
    pub(super) fn hear(&self, bytes: usize) -> bool {
        self.heard.take(bytes);
        self.heard.debt() < MAX_DEBT
    }
}

/// A client that owes more than so much time is told no more.
const MAX_DEBT: Duration = Duration::from_secs(10);

impl Allowance {
    fn new(at_once: f64, per_second: f64) -> Self {
        Self { at_once, per_second, state: Mutex::new(State { left: at_once, at: Instant::now() }) }
    }

    fn take(&self, bytes: usize) {
        self.with_time(|state| state.left -= bytes as f64);
    }

    /// How long until the debt is paid.
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
            share.say_in_turn(MIB).await;
        }
        // Nine at once, as the last one is paid later, and four a second from then on.
        let took = began.elapsed();
        assert!((Duration::from_secs(3)..Duration::from_secs(5)).contains(&took), "{took:?}");
        share.say_in_turn(10).await;
        tokio::time::advance(Duration::from_secs(3600)).await;
        share.say(8 * MIB);
        assert_eq!(share.debt(), Duration::ZERO, "no more is saved than may pass at once");
        share.say(MIB);
        assert!(share.debt() > Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn who_hears_much_says_nothing_for_a_while() {
        let share = Share::default();
        assert!(share.hear(64 * MIB) && share.debt() == Duration::ZERO);
        assert!(share.hear(16 * MIB));
        assert_eq!(share.debt(), Duration::from_secs(2));
        assert!(!share.hear(70 * MIB));
        tokio::time::advance(Duration::from_secs(60)).await;
        assert!(share.hear(MIB) && share.debt() == Duration::ZERO);
    }
}
