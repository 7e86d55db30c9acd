//! The budget for the selectors of a page.

use std::cell::Cell;

use base::Stop;

/// Budget of steps for all selectors of a page together: about half a second of work.
const MAX_STEPS: u64 = 40_000_000;
/// Number of steps between checks of the stop signal.
const ASK_EVERY: u64 = 1 << 14;
/// Steps charged per returned byte: with [`MAX_STEPS`] a page returns at most 20 MB of values.
const RETURNED: u64 = 2;
/// Overhead of a returned value, in bytes.
const VALUE: u64 = 24;

/// Remaining budget for the selectors of a page.
pub(crate) struct Steps {
    left: Cell<u64>,
    is_spent: Cell<bool>,
}

impl Default for Steps {
    fn default() -> Steps {
        Steps { left: Cell::new(MAX_STEPS), is_spent: Cell::new(false) }
    }
}

impl Steps {
    /// Whether the budget was exceeded, so that results are wrong.
    pub(crate) fn is_spent(&self) -> bool {
        self.is_spent.get()
    }

    /// Whether a value of `length` bytes may be returned. It is charged: many selectors could return the same value.
    pub(crate) fn may_return(&self, length: usize, stop: &Stop) -> bool {
        self.spend(RETURNED.saturating_mul(VALUE + length as u64), stop)
    }

    /// Takes `steps` from the budget; false if they exceed it. After the first refusal every further one is refused.
    pub(crate) fn spend(&self, steps: u64, stop: &Stop) -> bool {
        let before = self.left.get();
        let Some(left) = before.checked_sub(steps) else {
            self.is_spent.set(true);
            self.left.set(0);
            return false;
        };
        self.left.set(left);
        // A multiple of ASK_EVERY was crossed. A set stop signal ends the work like a spent budget, but does not mark
        // it as spent: the next call does.
        if left / ASK_EVERY != before / ASK_EVERY && stop.is_set() {
            self.left.set(0);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_end_and_stay_ended() {
        let steps = Steps { left: Cell::new(10), ..Steps::default() };
        let stop = Stop::new();
        assert!(steps.spend(9, &stop) && !steps.is_spent());
        assert!(!steps.spend(2, &stop) && steps.is_spent());
        assert!(!steps.spend(1, &stop));
    }

    #[test]
    fn who_is_told_to_stop_takes_few_more_steps() {
        let (steps, stop) = (Steps::default(), Stop::new());
        stop.set();
        let taken = (0..).take_while(|_| steps.spend(1, &stop)).count();
        assert!(taken <= ASK_EVERY as usize, "{taken}");
    }
}
