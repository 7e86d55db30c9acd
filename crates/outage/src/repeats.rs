//! Pace of log lines about failures that repeat.

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::outage::PAUSE;

/// Pace of the log lines about one kind of failure: the first one gets a line, and further ones at most one a minute.
///
/// ```
/// let refusals = outage::Repeats::default();
/// assert_eq!([(); 3].map(|()| refusals.next_line()), [Some(0), None, None]);
/// ```
#[derive(Debug, Default)]
pub struct Repeats(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    told: Option<Instant>,
    silent: u64,
}

impl Repeats {
    /// Counts a failure. Returns the number of failures without a line before it if it gets one, and `None` if not.
    pub fn next_line(&self) -> Option<u64> {
        let (mut state, now) = (self.0.lock(), Instant::now());
        if state.told.is_some_and(|told| now - told < PAUSE) {
            state.silent += 1;
            return None;
        }
        state.told = Some(now);
        Some(std::mem::take(&mut state.silent))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_line_a_minute_tells_how_many_had_none() {
        let (repeats, mut told) = (Repeats::default(), Vec::new());
        for second in 0..150 {
            told.extend(repeats.next_line().map(|silent| (second, silent)));
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        assert_eq!(told, [(0, 0), (60, 59), (120, 59)]);
    }
}
