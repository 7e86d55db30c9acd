//! Size of the cache: measured once a minute, plus what this process has added since.

use base::Timestamp;
use chrono::TimeDelta;
use parking_lot::Mutex;
use store::cache as rows;

use crate::{Cache, CacheError};

/// Age at which the size is measured again, and interval between two warnings.
const MAX_AGE: TimeDelta = TimeDelta::minutes(1);

/// Size of the cache as far as this process knows it.
#[derive(Debug, Default)]
pub(crate) struct Size(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// Measured size, plus what this process has added since.
    bytes: u64,
    asked: Option<Timestamp>,
    warned: Option<Timestamp>,
}

impl Size {
    /// Whether the size is due to be measured; true for one of several concurrent callers.
    fn is_due(&self, now: Timestamp) -> bool {
        due(&mut self.0.lock().asked, now)
    }

    fn set(&self, bytes: u64) {
        self.0.lock().bytes = bytes;
    }

    fn take(&self, bytes: u64, most: u64) -> bool {
        let mut known = self.0.lock();
        let sum = known.bytes.saturating_add(bytes);
        // Admitted bytes count at once, because the measured size is up to a minute old.
        if sum <= most {
            known.bytes = sum;
        }
        sum <= most
    }

    fn warn(&self, now: Timestamp) {
        if due(&mut self.0.lock().warned, now) {
            tracing::warn!("the cache is full, storing no more pages until upkeep has run: see cache.max_gib");
        }
    }
}

/// Whether the last time is long enough ago; if so, sets it to now.
fn due(last: &mut Option<Timestamp>, now: Timestamp) -> bool {
    let is_due = last.is_none_or(|last| now - last >= MAX_AGE);
    if is_due {
        *last = Some(now);
    }
    is_due
}

impl Cache {
    /// Whether the cache may store another `bytes` bytes: not on a disk that is nearly full, and not when the cache is
    /// more than a tenth over its size limit, which means that upkeep does not keep up.
    pub(crate) async fn admits(&self, bytes: usize) -> bool {
        if !(self.0.parts.has_room)() {
            return false;
        }
        let Some(most) = self.settings().max_bytes else { return true };
        let (size, now) = (&self.0.size, self.0.parts.clock.now());
        if size.is_due(now)
            && let Err(error) = self.measure().await
            && !error.is_outage()
        {
            tracing::warn!(?error, "could not measure the cache; using its last known size");
        }
        let admitted = size.take(bytes as u64, most.saturating_add(most / 10));
        if !admitted {
            size.warn(now);
        }
        admitted
    }

    /// Measures the size of the cache in bytes.
    pub(crate) async fn measure(&self) -> Result<i64, CacheError> {
        let bytes = rows::bytes(&mut self.conn().await?).await?;
        self.0.size.set(u64::try_from(bytes).unwrap_or(0));
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_admitted_counts_at_once() {
        let size = Size::default();
        assert!(size.take(60, 100) && !size.take(41, 100) && size.take(40, 100) && !size.take(1, 100));
        size.set(10);
        assert!(!size.take(u64::MAX, 100) && size.take(90, 100));
    }

    #[test]
    fn one_of_several_measures_once_a_minute() {
        let size = Size::default();
        let at = |seconds: i64| Timestamp::UNIX_EPOCH + TimeDelta::seconds(seconds);
        let due: Vec<i64> = [0, 0, 59, 60, 61, 119, 121].into_iter().filter(|now| size.is_due(at(*now))).collect();
        assert_eq!(due, [0, 60, 121]);
    }
}
