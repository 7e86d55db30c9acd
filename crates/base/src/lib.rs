//! Common basics of all crates: time ([`Clock`]), ids ([`new_id`]), secrets that print as `***` ([`Secret`]), cancellation
//! of blocking work ([`Stop`]), owners of work for fair scheduling ([`Owner`]), a stable hash ([`Fnv`]), rules for URLs
//! ([`address`]), units and ranges of settings ([`setting`]), and limits for untrusted JSON ([`json`]).
//!
//! ```
//! use base::{Clock, Secret, SystemClock, new_id};
//!
//! let key = Secret::new("fc-123");
//! assert_eq!(format!("{key:?}"), "***");
//! assert!(SystemClock.now().timestamp() > 0);
//! assert_eq!(new_id().get_version_num(), 7);
//! ```

pub mod address;
mod clock;
mod fnv;
mod id;
pub mod json;
mod owner;
mod secret;
pub mod setting;
mod stop;

pub use clock::{Clock, SystemClock, Timestamp};
pub use fnv::Fnv;
pub use id::new_id;
pub use owner::Owner;
pub use secret::Secret;
pub use stop::Stop;
