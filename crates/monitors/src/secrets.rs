//! Secrets of monitors: header values and passwords, kept in a table of their own that no answer reads.

use base::Secret;
use kernel::AppError;
use serde_json::{Map, Value};
use store::monitors::MonitorSecret;
use wire::HiddenValues;

/// Returns the secrets of a part as a row; `None` when it has none.
///
/// # Errors
/// [`AppError::Internal`], which this type cannot cause.
pub(crate) fn row(part: &str, hidden: &HiddenValues) -> Result<Option<MonitorSecret>, AppError> {
    if hidden.is_empty() {
        return Ok(None);
    }
    let body = Secret::new(serde_json::to_string(hidden).map_err(AppError::internal)?);
    Ok(Some(MonitorSecret { part: part.to_owned(), body }))
}

/// Reads the secrets of a part.
///
/// # Errors
/// [`AppError::Internal`] for a text that this version cannot read.
pub(crate) fn of(all: &[MonitorSecret], part: &str) -> Result<HiddenValues, AppError> {
    let found = all.iter().find(|secret| secret.part == part);
    let read = |secret: &MonitorSecret| serde_json::from_str(secret.body.expose()).map_err(AppError::internal);
    found.map_or_else(|| Ok(HiddenValues::default()), read)
}

/// Puts the secrets of a part back in the places of their masks.
///
/// # Errors
/// Those of [`of`].
pub(crate) fn put_back(members: &mut Map<String, Value>, all: &[MonitorSecret], part: &str) -> Result<(), AppError> {
    wire::reveal(members, &of(all, part)?);
    Ok(())
}
