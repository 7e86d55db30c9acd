//! Telling a thread that nobody waits for its result any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that is set once and never taken back. Clones share it.
///
/// A thread cannot be ended from outside, so work whose length somebody else chooses (a page, a pattern, a selector) asks
/// often, and returns early with whatever it has. Who set the flag throws that away.
///
/// ```
/// let stop = base::Stop::new();
/// let seen_by_the_thread = stop.clone();
/// stop.set();
/// assert!(seen_by_the_thread.is_set());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Not set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the work to end.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the work should end. Costs about as much as reading a variable.
    #[inline]
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
