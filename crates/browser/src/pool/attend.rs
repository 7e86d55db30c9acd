//! Periodic check of the browsers of a pool.

use std::sync::Weak;
use std::time::Duration;

use tokio::time::timeout;

use super::Pool;
use crate::process::{Process, Round};

/// Interval of the checks while the browser shows pages.
const ROUND: Duration = Duration::from_millis(100);
/// Interval of the checks while the browser shows none.
const IDLE_ROUND: Duration = Duration::from_millis(300);

/// Checks a browser periodically until it ends.
pub(super) async fn attend(pool: Weak<Pool>, process: Weak<Process>, pid: u32) {
    let (Some(gone), Some(mut watch)) = (
        process.upgrade().map(|process| process.end_token()),
        pool.upgrade().zip(process.upgrade()).map(|(pool, process)| process.watch(pool.settings())),
    ) else {
        return;
    };
    loop {
        let is_used = pool.upgrade().is_some_and(|pool| pool.is_used(pid));
        let pace = if is_used { ROUND } else { IDLE_ROUND };
        let ended = timeout(pace, gone.cancelled()).await.is_ok();
        let mut round = Round::default();
        if !ended {
            let Ok(looked) = tokio::task::spawn_blocking(move || (watch.round(), watch)).await else { return };
            (round, watch) = looked;
        }
        let Some(pool) = pool.upgrade() else { return };
        if !pool.review(pid, round) || ended {
            return;
        }
    }
}
