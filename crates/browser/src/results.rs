//! Total size of a visit's results: screenshots, PDFs, captured pages, values of scripts, and the page itself.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::BrowserError;

/// Size of the results of one attempt at a visit. Together they have the size limit of one page, and count against the
/// process-wide budget for large pages.
pub(crate) struct Results {
    limit: u64,
    used: AtomicU64,
    room: net::Room,
}

/// Error: a result does not fit. The text may be shown to the caller.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "its result of {} KiB does not fit: all results of a request may have {} MiB together (fetch.max_decoded_mib)",
    bytes.div_ceil(1 << 10), limit >> 20
)]
pub(crate) struct TooMuch {
    bytes: u64,
    limit: u64,
}

impl Results {
    /// Starts at zero. `limit` is the total in bytes; `room` is the share of the process-wide budget.
    pub(crate) fn new(limit: u64, room: net::Room) -> Self {
        Self { limit, used: AtomicU64::new(0), room }
    }

    /// Checks whether a result of this size fits.
    ///
    /// # Errors
    /// [`TooMuch`] if it does not.
    pub(crate) fn check(&self, bytes: usize) -> Result<(), TooMuch> {
        let bytes = bytes as u64;
        let fits = self.used.load(Ordering::Relaxed).saturating_add(bytes) <= self.limit;
        if fits { Ok(()) } else { Err(TooMuch { bytes, limit: self.limit }) }
    }

    /// Counts a result and waits until the process-wide budget has room for it.
    ///
    /// # Errors
    /// [`TooMuch`] if it does not fit.
    pub(crate) async fn add(&self, bytes: usize) -> Result<(), TooMuch> {
        self.check(bytes)?;
        let used = self.used.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
        self.room.grow(used).await;
        Ok(())
    }

    /// Returns the share of the process-wide budget that the results hold.
    pub(crate) fn room(&self) -> net::Room {
        self.room.clone()
    }
}

impl From<TooMuch> for BrowserError {
    fn from(TooMuch { limit, .. }: TooMuch) -> Self {
        Self::TooLarge { what: "bytes of the page and all results of the request (fetch.max_decoded_mib)", limit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn results_are_counted_together() {
        let results = Results::new(10 << 20, net::Room::default());
        assert_eq!(results.add(6 << 20).await, Ok(()));
        assert_eq!(results.check(4 << 20), Ok(()));
        let refused = results.add(5 << 20).await.unwrap_err();
        assert_eq!(
            refused.to_string(),
            "its result of 5120 KiB does not fit: all results of a request may have 10 MiB together \
             (fetch.max_decoded_mib)"
        );
        assert_eq!(results.add(4 << 20).await, Ok(()));
        assert_eq!(results.add(0).await, Ok(()));
        assert!(results.add(1).await.is_err());
    }

    #[tokio::test]
    async fn they_take_part_in_the_budget_of_the_process() {
        let (budget, owner) = (net::InFlight::new(0, 0), base::Owner::default());
        let (one, two) = (Results::new(100 << 20, budget.room(&owner)), Results::new(100 << 20, budget.room(&owner)));
        one.add(7 << 20).await.unwrap();
        // Exceeds the pool: takes the single pass, for which the other one then has to wait.
        one.add(40 << 20).await.unwrap();
        two.add(7 << 20).await.unwrap();
        let waits = std::time::Duration::from_millis(20);
        assert!(tokio::time::timeout(waits, two.add(40 << 20)).await.is_err());
        drop(one);
        assert!(tokio::time::timeout(waits, two.add(1 << 20)).await.is_ok());
    }
}
