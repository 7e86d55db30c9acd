//! Comparison of the checks in the database with the fires that the schedules ask for.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use app::Operations;
use base::Timestamp;
use chrono::Timelike;
use monitor_scheduler::Schedule;
use store::monitors::{self as rows, Check, ChecksWanted, Monitor};

/// Monitors read at a time.
const BATCH: i64 = 500;
/// Maximum number of checks of a monitor; a day has 288 at most.
const MAX_CHECKS: i64 = 1000;

/// Result of a comparison.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Fires that the schedules ask for.
    pub(super) fires: usize,
    /// Fires without a check.
    pub(super) missed: usize,
    /// Checks besides the first of a fire, or of no fire.
    pub(super) surplus: usize,
    /// Checks by their status.
    pub(super) statuses: BTreeMap<String, usize>,
    /// Virtual seconds from a fire to its check, ascending.
    pub(super) late: Vec<f64>,
    /// Number of monitors by the minute of their first fire.
    pub(super) minutes: Vec<u64>,
    /// Credits that the checks have charged.
    pub(super) credits: i64,
}

impl Tally {
    /// Compares all monitors from their creation at `begin` until `end`.
    pub(super) async fn of(operations: &Operations, begin: Timestamp, end: Timestamp) -> Result<Self> {
        let mut conn = operations.app.store().conn().await?;
        let (mut tally, mut after) = (Self { minutes: vec![0; 60], ..Self::default() }, String::new());
        loop {
            let monitors = rows::every(&mut conn, None, &after, BATCH).await?;
            let Some(last) = monitors.last() else { break };
            after.clone_from(&last.id);
            for monitor in &monitors {
                let wanted = ChecksWanted { status: None, skip: 0, limit: MAX_CHECKS, since: Timestamp::UNIX_EPOCH };
                let checks = rows::checks(&mut conn, &monitor.id, &wanted).await?;
                tally.add(monitor, &checks, begin, end)?;
            }
        }
        tally.late.sort_by(f64::total_cmp);
        Ok(tally)
    }

    fn add(&mut self, monitor: &Monitor, checks: &[Check], begin: Timestamp, end: Timestamp) -> Result<()> {
        let schedule = Schedule::cron(&monitor.cron, &monitor.timezone)?;
        let fires = std::iter::successors(schedule.next(begin), |fire| schedule.next(*fire));
        let mut left: BTreeMap<Timestamp, bool> =
            fires.take_while(|fire| *fire <= end).map(|fire| (fire, false)).collect();
        self.fires += left.len();
        if let Some((first, _)) = left.first_key_value() {
            self.minutes[usize::try_from(first.minute())?] += 1;
        }
        for check in checks {
            self.credits += check.actual_credits.unwrap_or(0);
            let fire = check.scheduled_for.context("a check without its fire")?;
            if fire > end {
                continue;
            }
            *self.statuses.entry(check.status.clone()).or_default() += 1;
            match left.get_mut(&fire) {
                Some(is_met) if !*is_met => *is_met = true,
                _ => self.surplus += 1,
            }
            self.late.push((check.created_at - fire).as_seconds_f64());
        }
        self.missed += left.values().filter(|is_met| !**is_met).count();
        Ok(())
    }

    /// Returns the lateness that this share of the checks does not exceed, in virtual seconds.
    pub(super) fn late_at(&self, share: f64) -> f64 {
        let at = (self.late.len().saturating_sub(1)) as f64 * share;
        self.late.get(at as usize).copied().unwrap_or(f64::INFINITY)
    }
}
