//! Retry schedule of deliveries (docs/CONTRACT.md, "Webhooks").

use std::time::Duration;

/// Timeout of an attempt: name resolution, connecting, TLS and the response head together.
pub const DEADLINE: Duration = Duration::from_secs(10);
/// Pause after each failed attempt.
pub const PAUSES: [Duration; 3] = [Duration::from_secs(60), Duration::from_secs(300), Duration::from_secs(900)];
/// Maximum number of attempts.
pub const ATTEMPTS: u32 = 4;

/// Result of an attempt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReceiverAnswer {
    /// HTTP status; `None` if the receiver did not answer in time.
    pub status: Option<u16>,
    /// Pause requested by the receiver (`Retry-After`).
    pub retry_after: Option<Duration>,
}

/// Consequence of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptVerdict {
    /// The receiver accepted the delivery.
    Delivered,
    /// Retry after this pause.
    Retry(Duration),
    /// Give up: no further attempts.
    Failed,
}

/// Decides what follows attempt number `attempt`, counted from 1.
///
/// Only 2xx is a success; a redirect is a failure and is not followed. 410 means that the receiver is permanently gone
/// (Standard Webhooks 1.0). A busy receiver (429, 502, 503, 504) may extend the pause by `Retry-After`, up to the
/// longest pause of the schedule, but not shorten it.
#[must_use]
pub fn verdict(attempt: u32, answer: &ReceiverAnswer) -> AttemptVerdict {
    match answer.status {
        Some(200..=299) => return AttemptVerdict::Delivered,
        Some(410) => return AttemptVerdict::Failed,
        _ => {}
    }
    let next = usize::try_from(attempt.saturating_sub(1)).ok().and_then(|index| PAUSES.get(index));
    let Some(pause) = next.copied() else { return AttemptVerdict::Failed };
    let busy = matches!(answer.status, Some(429 | 502 | 503 | 504));
    let asked = answer.retry_after.filter(|_| busy).unwrap_or_default();
    let longest = PAUSES.into_iter().max().unwrap_or(pause);
    AttemptVerdict::Retry(pause.max(asked.min(longest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(attempt: u32, status: impl Into<Option<u16>>, retry_after: Option<u64>, expect: AttemptVerdict) {
        let answer = ReceiverAnswer { status: status.into(), retry_after: retry_after.map(Duration::from_secs) };
        assert_eq!(verdict(attempt, &answer), expect, "attempt {attempt}, {answer:?}");
    }

    fn retry(seconds: u64) -> AttemptVerdict {
        AttemptVerdict::Retry(Duration::from_secs(seconds))
    }

    #[test]
    fn only_2xx_counts() {
        for status in [200, 201, 202, 204, 299] {
            check(1, status, Some(60), AttemptVerdict::Delivered);
            check(4, status, None, AttemptVerdict::Delivered);
        }
        for status in [100, 199, 300, 301, 302, 304, 307, 308, 400, 401, 404, 408, 429, 500, 503, 599] {
            check(1, status, None, retry(60));
        }
        check(1, None, None, retry(60));
    }

    #[test]
    fn four_attempts_then_failed() {
        let mut offset = Duration::ZERO;
        let mut offsets = vec![0];
        for attempt in 1.. {
            match verdict(attempt, &ReceiverAnswer { status: Some(500), retry_after: None }) {
                AttemptVerdict::Retry(pause) => offset += pause,
                end => {
                    assert_eq!((end, attempt), (AttemptVerdict::Failed, ATTEMPTS));
                    break;
                }
            }
            offsets.push(offset.as_secs());
        }
        assert_eq!(offsets, [0, 60, 360, 1260]);
        check(0, 500, None, retry(60));
        check(u32::MAX, 500, None, AttemptVerdict::Failed);
    }

    #[test]
    fn gone_is_gone() {
        for attempt in 1..=4 {
            check(attempt, 410, Some(5), AttemptVerdict::Failed);
        }
    }

    #[test]
    fn a_busy_receiver_may_ask_for_more_time_only() {
        check(1, 429, Some(10), retry(60));
        check(1, 429, Some(90), retry(90));
        check(1, 503, Some(86_400), retry(900));
        check(2, 503, Some(200), retry(300));
        check(3, 504, Some(901), retry(900));
        check(1, 500, Some(600), retry(60));
        check(4, 429, Some(600), AttemptVerdict::Failed);
    }
}
