//! Comparison of requests that share an idempotency key.

use sha2::{Digest, Sha256};

/// Returns the SHA-256 of a request, to compare requests that share an idempotency key.
#[must_use]
pub fn fingerprint(request: &str) -> String {
    hex::encode(Sha256::digest(request.as_bytes()))
}
