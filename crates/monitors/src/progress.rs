//! Progress of a check: its status, its times, and the counters of its pages.

use base::Timestamp;
use store::monitors::{self as rows, Check};
use wire::CheckSummary;

/// Notes that a check got further.
pub(crate) fn progressed(check: &mut Check, now: Timestamp) {
    rows::RUNNING.clone_into(&mut check.status);
    check.started_at = check.started_at.or(Some(now));
    (check.progress_at, check.updated_at) = (Some(now), now);
}

/// Counts pages of a check by their statuses.
pub(crate) fn count<'s>(check: &mut Check, statuses: impl Iterator<Item = &'s str>) {
    for status in statuses {
        let counter = match status {
            "same" => &mut check.same_pages,
            "changed" => &mut check.changed_pages,
            "new" => &mut check.new_pages,
            "removed" => &mut check.removed_pages,
            _ => &mut check.error_pages,
        };
        *counter += 1;
    }
}

/// Returns the counters of a check.
pub(crate) fn summary(check: &Check) -> CheckSummary {
    let (same, changed, new) = (check.same_pages, check.changed_pages, check.new_pages);
    let (removed, error) = (check.removed_pages, check.error_pages);
    CheckSummary { total_pages: same + changed + new + removed + error, same, changed, new, removed, error }
}
