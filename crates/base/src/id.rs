//! Identifiers.

use uuid::Uuid;

/// A fresh UUIDv7 (RFC 9562 section 5.7): unique, and ordered by the time it was made, so it pages well as a key.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the one place that makes ids")]
pub fn new_id() -> Uuid {
    Uuid::now_v7()
}
