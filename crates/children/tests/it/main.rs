//! Real child processes.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has to fail")]

mod ends;
mod starts;

use std::fmt::Debug;
use std::ops::RangeBounds;
use std::time::{Duration, Instant};

use children::processes;

/// Counts the processes of a group that have not ended.
fn count(group: u32) -> usize {
    processes::of_group(group).filter(|(id, _)| processes::memory(*id).is_some()).count()
}

/// Waits until the number of processes of a group is in a range.
fn until(group: u32, expected: impl RangeBounds<usize> + Debug) {
    let began = Instant::now();
    while !expected.contains(&count(group)) {
        assert!(began.elapsed() < Duration::from_secs(10), "{} processes instead of {expected:?}", count(group));
        std::thread::sleep(Duration::from_millis(20));
    }
}
