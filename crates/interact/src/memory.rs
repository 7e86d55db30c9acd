//! Memory limit for all processes of a call together; the kernel limits each of them, not their sum.
//!
//! Private memory is counted. The sandbox allows no shared memory except files in a folder of limited size (no
//! anonymous shared `mmap`, `memfd_create` or System V).

use children::{Group, processes};
use tokio::time::{Duration, sleep};

/// Memory limit of all processes of a call together, in bytes.
pub(crate) const MAX_TOGETHER: u64 = 1 << 30;
/// Polling interval.
const PACE: Duration = Duration::from_millis(100);

/// Waits until the processes of a group exceed the limit.
pub(crate) async fn too_much(group: Group) {
    loop {
        sleep(PACE).await;
        let held = tokio::task::spawn_blocking(move || of_group(group.id())).await;
        if held.is_ok_and(|held| held > MAX_TOGETHER) {
            return;
        }
    }
}

/// Returns the memory of the processes of a group, in bytes, without file-backed pages.
fn of_group(group: u32) -> u64 {
    processes::of_group(group).filter_map(|(id, _)| Some(processes::memory(id)?.own)).sum()
}
