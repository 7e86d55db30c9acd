//! Whether a due check may start.

/// Number of skips in a row, each because the partner has withdrawn its grant, that pauses a monitor.
pub const WITHDRAWALS_TO_PAUSE: u32 = 3;

/// Cause of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    /// The schedule fires.
    Scheduled,
    /// The user asks for a check.
    Manual,
}

/// Grant of a partner, which pays for the work of a team.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grant {
    /// The team pays its own work.
    None,
    /// The partner pays.
    Active,
    /// The partner has withdrawn its grant.
    Withdrawn,
}

/// Everything on which the start of a due check depends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Situation {
    /// Cause of the check.
    pub trigger: Trigger,
    /// Whether the monitor is paused.
    pub paused: bool,
    /// Whether the last check of the monitor is queued or running.
    pub busy: bool,
    /// Grant of the team's partner.
    pub grant: Grant,
    /// Number of checks skipped by withdrawal in a row, up to and including the last check of the monitor.
    pub withdrawals: u32,
    /// Upper bound of the check's price in credits.
    pub estimate: u64,
    /// Credits that can be reserved; `None` without a limit.
    pub available: Option<u64>,
}

/// Decision about a due check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// The check starts.
    Now,
    /// There is no check, not even a skipped one: the monitor is paused.
    Never,
    /// The check is skipped, since the one before is under way.
    Overlap,
    /// The check is skipped, since it is not covered.
    NoCredits {
        /// The reason.
        why: NoCredits,
        /// Whether this skip pauses the monitor.
        pauses: bool,
    },
}

/// Why a check is not covered. [`std::fmt::Display`] gives the sentence for the check's `error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoCredits {
    /// The team's credits are fewer than the estimate.
    #[error("the check may cost {estimate} credits, and {available} are left")]
    TooFew {
        /// Upper bound of the price.
        estimate: u64,
        /// Credits that are left.
        available: u64,
    },
    /// The partner has withdrawn its grant.
    #[error("the partner has withdrawn its grant for this work")]
    Withdrawn,
}

/// Decides whether a due check may start.
///
/// A paused monitor has no scheduled checks, but runs when asked. Skips for lack of credits never pause a monitor; every
/// third skip in a row by withdrawal does.
#[must_use]
pub fn may_start(situation: &Situation) -> Start {
    if situation.paused && situation.trigger == Trigger::Scheduled {
        return Start::Never;
    }
    if situation.busy {
        return Start::Overlap;
    }
    if situation.grant == Grant::Withdrawn {
        let pauses = !situation.paused && situation.withdrawals + 1 >= WITHDRAWALS_TO_PAUSE;
        return Start::NoCredits { why: NoCredits::Withdrawn, pauses };
    }
    match situation.available {
        Some(available) if available < situation.estimate => {
            let why = NoCredits::TooFew { estimate: situation.estimate, available };
            Start::NoCredits { why, pauses: false }
        }
        _ => Start::Now,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: Situation = Situation {
        trigger: Trigger::Scheduled,
        paused: false,
        busy: false,
        grant: Grant::None,
        withdrawals: 0,
        estimate: 4,
        available: Some(4),
    };

    #[test]
    fn a_covered_check_of_an_idle_monitor_starts() {
        assert_eq!(may_start(&FREE), Start::Now);
        assert_eq!(may_start(&Situation { available: None, estimate: u64::MAX, ..FREE }), Start::Now);
        assert_eq!(may_start(&Situation { grant: Grant::Active, ..FREE }), Start::Now);
    }

    #[test]
    fn a_paused_monitor_runs_only_when_asked() {
        let paused = Situation { paused: true, ..FREE };
        assert_eq!(may_start(&paused), Start::Never);
        assert_eq!(may_start(&Situation { busy: true, ..paused }), Start::Never);
        assert_eq!(may_start(&Situation { trigger: Trigger::Manual, ..paused }), Start::Now);
    }

    #[test]
    fn an_overlap_is_told_before_missing_credits() {
        for trigger in [Trigger::Scheduled, Trigger::Manual] {
            let busy = Situation { busy: true, available: Some(0), grant: Grant::Withdrawn, trigger, ..FREE };
            assert_eq!(may_start(&busy), Start::Overlap);
        }
    }

    #[test]
    fn lack_of_credits_skips_and_never_pauses() {
        let why = NoCredits::TooFew { estimate: 4, available: 3 };
        let poor = Situation { available: Some(3), withdrawals: 9, ..FREE };
        assert_eq!(may_start(&poor), Start::NoCredits { why, pauses: false });
        assert_eq!(why.to_string(), "the check may cost 4 credits, and 3 are left");
    }

    #[test]
    fn the_third_withdrawal_in_a_row_pauses() {
        let pauses = |withdrawals, paused, trigger| {
            may_start(&Situation { withdrawals, paused, trigger, grant: Grant::Withdrawn, ..FREE })
        };
        let skip = |pauses| Start::NoCredits { why: NoCredits::Withdrawn, pauses };
        assert_eq!(pauses(0, false, Trigger::Scheduled), skip(false));
        assert_eq!(pauses(1, false, Trigger::Scheduled), skip(false));
        assert_eq!(pauses(2, false, Trigger::Scheduled), skip(true));
        assert_eq!(pauses(2, false, Trigger::Manual), skip(true));
        assert_eq!(pauses(2, true, Trigger::Manual), skip(false), "a paused monitor cannot be paused");
    }
}
