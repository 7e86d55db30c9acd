//! Metric of the pages in progress.

use metrics::gauge;

/// Pages of crawls and batches in progress in this process.
const PAGES_IN_WORK: &str = "quarry_pages_in_work";

/// Guard that counts a page in progress.
pub(crate) struct PageInWork(());

impl PageInWork {
    pub(crate) fn begin() -> Self {
        gauge!(PAGES_IN_WORK).increment(1.0);
        Self(())
    }
}

impl Drop for PageInWork {
    fn drop(&mut self) {
        gauge!(PAGES_IN_WORK).decrement(1.0);
    }
}
