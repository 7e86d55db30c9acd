//! Contents of pages of checks, as they are stored: diffs and snapshots, packed.

use kernel::AppError;
use serde_json::{Map, Value};

/// Maximum size of the unpacked content of a page, in bytes.
const MAX_CONTENT: usize = 16 << 20;

/// Unpacks the content of a page.
///
/// # Errors
/// [`AppError::Internal`] for a content that this version cannot read.
pub(crate) fn content(packed: &[u8]) -> Result<Map<String, Value>, AppError> {
    let bytes = zstd::bulk::decompress(packed, MAX_CONTENT).map_err(AppError::internal)?;
    serde_json::from_slice(&bytes).map_err(AppError::internal)
}
