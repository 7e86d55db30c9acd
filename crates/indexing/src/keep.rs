//! Upkeep of the index: its size, and the copies that have left the cache although no query has met them.

use std::time::Duration;

use page_index::Stats;
use tokio::time::Instant;

use crate::desk::Desk;
use crate::{Indexing, IndexingError};

/// Interval between two measurements of the size, and after pages were removed. Files shrink only when they are merged.
const MEASURE_EVERY: Duration = Duration::from_secs(30);
const AFTER_REMOVAL: Duration = Duration::from_secs(600);
/// Copies that are compared with the cache at a time, and the pause after all of them were.
const PIECE: usize = 1000;
const SWEEP_EVERY: Duration = Duration::from_secs(60 * 60);

/// Times of the upkeep, and the place of the comparison with the cache.
#[derive(Debug)]
pub(crate) struct Keeper {
    started: Instant,
    measure_at: Instant,
    sweep_at: Instant,
    /// Copy up to which the index was compared with the cache.
    swept: String,
}

impl Keeper {
    pub(crate) fn new() -> Self {
        let now = Instant::now();
        Self { started: now, measure_at: now, sweep_at: now, swept: String::new() }
    }

    /// Removes the oldest pages of an index that is too large. They can be found until the next commit.
    pub(crate) async fn shrink(&mut self, indexing: &Indexing, desk: &mut Desk) -> Result<(), IndexingError> {
        let Some(most) = indexing.parts().settings.max_bytes else { return Ok(()) };
        if Instant::now() < self.measure_at {
            return Ok(());
        }
        self.measure_at = Instant::now() + MEASURE_EVERY;
        let index = indexing.open().await?;
        let oldest = indexing.on_cpu(move || match surplus(&index.stats()?, most) {
            0 => Ok(Vec::new()),
            pages => index.copies("", pages),
        });
        let oldest = oldest.await?;
        if oldest.is_empty() {
            return Ok(());
        }
        tracing::info!(pages = oldest.len(), "the index has reached index.max_gib; removing its oldest pages");
        self.measure_at = Instant::now() + AFTER_REMOVAL;
        desk.remove(oldest).await
    }

    /// Returns some copies of the index that have left the cache, once an hour for each copy. An index that nothing else
    /// needs is opened for it after an hour only.
    pub(crate) async fn sweep(&mut self, indexing: &Indexing) -> Result<Vec<String>, IndexingError> {
        let may_open = indexing.is_open().await || self.started.elapsed() >= SWEEP_EVERY;
        if Instant::now() < self.sweep_at || !may_open || !indexing.files().exists() {
            return Ok(Vec::new());
        }
        let (index, after) = (indexing.open().await?, self.swept.clone());
        let copies = indexing.on_cpu(move || index.copies(&after, PIECE)).await?;
        match copies.last().filter(|_| copies.len() == PIECE) {
            Some(last) => last.clone_into(&mut self.swept),
            None => (self.sweep_at, self.swept) = (Instant::now() + SWEEP_EVERY, String::new()),
        }
        if copies.is_empty() {
            return Ok(copies);
        }
        let standing = indexing.parts().cache.all_standing(&copies).await?;
        Ok(copies.into_iter().filter(|copy| !standing.contains(copy)).collect())
    }
}

/// Returns how many pages an index has too many, so that a tenth of `most` gets free.
fn surplus(stats: &Stats, most: u64) -> usize {
    if stats.bytes <= most || stats.pages == 0 {
        return 0;
    }
    let goal = u128::from(stats.pages) * u128::from(most - most / 10) / u128::from(stats.bytes);
    usize::try_from(u128::from(stats.pages) - goal).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_that_is_too_large_loses_more_than_its_surplus() {
        let check = |pages, bytes, most, expect| {
            assert_eq!(surplus(&Stats { pages, bytes, place: None }, most), expect, "{pages} {bytes} {most}");
        };
        check(100, 1000, 1000, 0);
        check(100, 2000, 1000, 55);
        check(0, 2000, 1000, 0);
        check(10, 1001, 1000, 2);
    }
}
