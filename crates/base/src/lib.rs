//! Words every crate shares: time ([`Clock`]), ids ([`new_id`]), secrets that print `***` ([`Secret`]).
//!
//! ```
//! use base::{Clock, Secret, SystemClock, new_id};
//!
//! let key = Secret::new("fc-123");
//! assert_eq!(format!("{key:?}"), "***");
//! assert!(SystemClock.now().timestamp() > 0);
//! assert_eq!(new_id().get_version_num(), 7);
//! ```

mod clock;
mod id;
mod secret;

pub use clock::{Clock, SystemClock, Timestamp};
pub use id::new_id;
pub use secret::Secret;
