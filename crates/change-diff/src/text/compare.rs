//! Whether a page has changed.

use serde::Serialize;

use super::key::looks_like;
use super::lines::{Lines, without_marks};

/// Result of comparing two versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// No reader of the rendered markdown can tell the versions apart.
    Same,
    /// The versions differ visibly.
    Changed,
}

/// Compares two versions of a page as markdown. Takes time linear in their lengths and no memory.
#[must_use]
pub fn compare(previous: &str, current: &str) -> Status {
    if previous == current {
        return Status::Same;
    }
    let (previous, current) = (without_marks(previous), without_marks(current));
    let (mut before, mut after) = (Lines::new(&previous), Lines::new(&current));
    loop {
        match (before.next(), after.next()) {
            (None, None) => return Status::Same,
            (Some(one), Some(other)) if looks_like(one, other) => {}
            _ => return Status::Changed,
        }
    }
}
