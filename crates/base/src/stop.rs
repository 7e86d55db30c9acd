//! Cooperative cancellation of threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A cancellation flag that is set once and never cleared. Clones share it.
///
/// A thread cannot be ended from outside. Work whose duration depends on untrusted input (a page, a pattern, a selector)
/// checks the flag often and returns early with a partial result, which the caller discards.
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
    /// Creates a flag that is not set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Requests cancellation.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether cancellation is requested. As cheap as reading a variable.
    #[inline]
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
