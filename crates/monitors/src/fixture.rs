//! Rows for tests.

use base::Timestamp;
use store::monitors::{Check, RUNNING, SCHEDULED};

/// Returns a running check without pages.
pub(crate) fn check() -> Check {
    let now = Timestamp::UNIX_EPOCH;
    Check {
        id: "check".to_owned(),
        monitor_id: "monitor".to_owned(),
        team_id: "team".to_owned(),
        api_key_id: None,
        status: RUNNING.to_owned(),
        cause: SCHEDULED.to_owned(),
        scheduled_for: Some(now),
        started_at: Some(now),
        finished_at: None,
        progress_at: Some(now),
        estimated_credits: Some(2),
        reserved_credits: Some(2),
        actual_credits: Some(0),
        billing_status: "reserved".to_owned(),
        reservation: None,
        same_pages: 0,
        changed_pages: 0,
        new_pages: 0,
        removed_pages: 0,
        error_pages: 0,
        open_judgments: 0,
        notification: None,
        warning: None,
        error: None,
        created_at: now,
        updated_at: now,
    }
}
