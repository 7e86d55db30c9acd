//! Rate of requests to a host: pace, state, back-off and `Retry-After`. No I/O, no clock.
//!
//! ```
//! use std::time::Duration;
//!
//! use politeness::{HostAnswer, HostState, Pace, StartDecision, retry_after};
//!
//! let now = chrono::DateTime::UNIX_EPOCH;
//! let (pace, mut host) = (Pace::new(None, None, Some(1)), HostState::default());
//! assert_eq!(host.next_start(&pace, now), StartDecision::Now);
//! host.started(now);
//! assert_eq!(host.next_start(&pace, now), StartDecision::WhenOneEnds);
//!
//! // The host answers 429 with `Retry-After: 30`.
//! host.ended(&pace, HostAnswer::Refused(retry_after("30", now)), now);
//! assert_eq!(host.next_start(&pace, now), StartDecision::At(now + Duration::from_secs(30)));
//! ```

mod host;
mod retry_after;

pub use host::{HostAnswer, HostState, MAX_CRAWL_DELAY, Pace, StartDecision};
pub use retry_after::{MAX_RETRY_AFTER, retry_after};
