//! Removal of copies and bodies that have expired or exceed the size limit.

use blobs::content::{self, Digest};
use store::cache as rows;

use crate::{Cache, CacheError, Parts};

/// Numbers of items removed from the cache in one sweep.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Number of copies.
    pub rows: usize,
    /// Number of bodies that no copy referred to.
    pub bodies: usize,
}

/// Maximum number of rows that one transaction removes, so that other writers never wait long.
const BATCH: i64 = 500;

impl Cache {
    /// Removes expired copies, the oldest copies of a cache over its size limit, and bodies without copies.
    ///
    /// # Errors
    /// [`CacheError`] when the database or the blob store fails. The next sweep does the rest.
    #[crate::boxed]
    pub async fn sweep(&self) -> Result<Swept, CacheError> {
        let Parts { blobs, clock, .. } = &self.0.parts;
        let mut swept = Swept::default();
        loop {
            let rows = rows::expired(&mut self.conn().await?, clock.now(), BATCH).await?.rows;
            swept.rows += rows;
            if is_last(rows) {
                break;
            }
        }
        swept.rows += self.evict().await?;
        loop {
            let bodies = rows::delete_next(&mut self.conn().await?, BATCH).await?;
            for body in &bodies {
                let digest: Digest = body.parse()?;
                content::delete(blobs, &digest).await?;
            }
            if !bodies.is_empty() {
                rows::deleted(&mut self.conn().await?, &bodies).await?;
            }
            swept.bodies += bodies.len();
            if is_last(bodies.len()) {
                return Ok(swept);
            }
        }
    }

    /// Shrinks a cache over its size limit to nine tenths of it, so that eviction does not run on every sweep.
    async fn evict(&self) -> Result<usize, CacheError> {
        let Some(most) = self.settings().max_bytes else { return Ok(0) };
        let mut bytes = self.measure().await?;
        let goal = i64::try_from(most - most / 10).unwrap_or(i64::MAX);
        if u64::try_from(bytes).unwrap_or(0) <= most {
            return Ok(0);
        }
        let mut rows = 0;
        while bytes > goal {
            let gone = rows::oldest(&mut self.conn().await?, bytes - goal, BATCH).await?;
            if gone.rows == 0 {
                break;
            }
            rows += gone.rows;
            bytes -= gone.bytes;
        }
        self.measure().await?;
        Ok(rows)
    }
}

/// Whether this was the last batch: it was not full.
fn is_last(done: usize) -> bool {
    i64::try_from(done).unwrap_or(BATCH) < BATCH
}
