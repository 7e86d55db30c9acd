//! How fast a host may be asked: pace, state, answers, Retry-After. No I/O, no clock.
//!
//! ```
//! use std::time::Duration;
//!
//! use politeness::{HostAnswer, HostState, Pace, Start, retry_after};
//!
//! let now = chrono::DateTime::UNIX_EPOCH;
//! let (pace, mut host) = (Pace::new(None, None, Some(1)), HostState::default());
//! assert_eq!(host.next_start(&pace, now), Start::Now);
//! host.started(now);
//! assert_eq!(host.next_start(&pace, now), Start::WhenOneEnds);
//!
//! // It answers 429, and asks for half a minute.
//! host.ended(&pace, HostAnswer::Refused(retry_after("30", now)), now);
//! assert_eq!(host.next_start(&pace, now), Start::At(now + Duration::from_secs(30)));
//! ```

mod host;
mod retry_after;

pub use host::{HostAnswer, HostState, MAX_CRAWL_DELAY, Pace, Start};
pub use retry_after::{MAX_RETRY_AFTER, retry_after};
