//! Identifiers.

use uuid::Uuid;

/// Generates a UUIDv7 (RFC 9562 section 5.7): unique and ordered by creation time, which suits keys for paging.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the one place that makes ids")]
pub fn new_id() -> Uuid {
    Uuid::now_v7()
}
