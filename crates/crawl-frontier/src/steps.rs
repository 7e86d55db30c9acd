//! Work that the text of a stranger may cause, counted.

/// For all links of one page, or one batch of listed pages: a fifth of a second of a core.
const MAX_PER_PAGE: u64 = 150_000_000;
/// For the patterns of one URL that is asked about alone.
const MAX_PER_URL: u64 = 50_000_000;

/// What is left of a budget of work. A step is about a nanosecond of a core in an optimised build; how many a piece of
/// work takes follows from its input alone, so the same page has the same result on every machine.
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
    /// A budget of this many steps.
    #[must_use]
    pub fn new(steps: u64) -> Self {
        Self { left: steps }
    }

    /// Enough for the links of an ordinary page under long lists of patterns and rules.
    #[must_use]
    pub fn of_a_page() -> Self {
        Self::new(MAX_PER_PAGE)
    }

    /// Enough for one URL.
    #[must_use]
    pub fn of_a_url() -> Self {
        Self::new(MAX_PER_URL)
    }

    /// Takes steps; false when fewer are left. Then none is taken.
    pub fn take(&mut self, steps: u64) -> bool {
        let left = self.left.checked_sub(steps);
        self.left = left.unwrap_or(0);
        left.is_some()
    }

    /// Whether nothing is left.
    #[must_use]
    pub fn is_used_up(&self) -> bool {
        self.left == 0
    }
}
