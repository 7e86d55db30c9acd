//! Documents that were found lost.

use std::collections::HashSet;

use parking_lot::Mutex;

/// Pages whose documents were found lost, so that each is logged once.
#[derive(Debug, Default)]
pub(crate) struct Lost(Mutex<HashSet<String>>);

impl Lost {
    /// Maximum number of pages remembered.
    const MAX_PAGES: usize = 10_000;

    /// Whether the loss was not known.
    pub(crate) fn is_news(&self, page: &str) -> bool {
        let mut known = self.0.lock();
        known.len() < Self::MAX_PAGES && known.insert(page.to_owned())
    }
}
