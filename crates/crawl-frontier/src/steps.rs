//! Step budget for work on untrusted input.

/// Budget for all links of one page, or one batch of listed pages: a fifth of a second of CPU time.
const MAX_PER_PAGE: u64 = 150_000_000;
/// Budget for the patterns of a single URL.
const MAX_PER_URL: u64 = 50_000_000;

/// The rest of a step budget. A step is about a nanosecond of CPU time in an optimised build. The number of steps depends
/// only on the input, so the same page gives the same result on every machine.
///
/// ```
/// let mut steps = crawl_frontier::Steps::new(100);
/// assert!(steps.take(60) && !steps.take(60));
/// assert!(steps.is_used_up() && !steps.take(1));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Steps {
    left: u64,
}

impl Steps {
    /// Creates a budget of this many steps.
    #[must_use]
    pub fn new(steps: u64) -> Self {
        Self { left: steps }
    }

    /// Creates a budget for the links of an ordinary page with long lists of patterns and rules.
    #[must_use]
    pub fn of_a_page() -> Self {
        Self::new(MAX_PER_PAGE)
    }

    /// Creates a budget for one URL.
    #[must_use]
    pub fn of_a_url() -> Self {
        Self::new(MAX_PER_URL)
    }

    /// Takes steps; returns false when fewer are left, which uses up the budget.
    pub fn take(&mut self, steps: u64) -> bool {
        let left = self.left.checked_sub(steps);
        self.left = left.unwrap_or(0);
        left.is_some()
    }

    /// Returns whether the budget is used up.
    #[must_use]
    pub fn is_used_up(&self) -> bool {
        self.left == 0
    }
}
