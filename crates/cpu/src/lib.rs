//! Scheduling of CPU-bound work ([`Cpu`]): on blocking threads, with limited concurrency, fairness between teams and
//! cancellation. Also a fair queue for any limited resource ([`mod@line`]), and a thread for work that can wait
//! ([`Spare`]).

pub mod line;
mod spare;
mod team_slots;
mod turns;

use std::sync::Arc;
use std::time::Duration;

use base::{Owner, Stop};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout_at};

use line::Load;
use team_slots::TeamSlots;

pub use spare::{LOWEST, Spare};

/// Time after which work moves from a quick slot to a slow slot. Most pages need a few milliseconds.
const QUANTUM: Duration = Duration::from_millis(200);

/// Slots for CPU-bound work. Clones share them.
///
/// Work starts at once when a slot is free. Otherwise teams take turns, and within a team its runs, each with its own
/// queue, so that a team with a hundred pages delays another by only one of them.
///
/// A running thread cannot be preempted, so two rules prevent a few large pages from blocking all others:
///
/// * work that runs longer than 200 ms moves to a slot for slow work, which frees its quick slot for the next waiter; the
///   system then shares the cores between both;
/// * one team never holds the last slot of either kind: with `n` slots per team there are `n + 1` in total.
///
/// Without contention the cost is one lock.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use std::time::Duration;
/// use tokio::time::Instant;
///
/// let cpu = cpu::Cpu::new(2);
/// let soon = Instant::now() + Duration::from_secs(5);
/// let owner = base::Owner::new("team", "scrape");
/// let sum = cpu.run(&owner, soon, |stop| (0..1000_u32).take_while(|_| !stop.is_set()).sum::<u32>()).await?;
/// assert_eq!(sum, 499_500);
/// # Ok::<(), cpu::CpuError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Cpu(Arc<TeamSlots>);

/// Error of CPU-bound work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CpuError {
    /// The deadline passed while waiting for a slot or working.
    #[error("the work did not finish in time")]
    Timeout,
    /// The work panicked; the panic hook has logged it.
    #[error("the work panicked")]
    Panicked,
}

/// Sets the flag when dropped: at the deadline, and when the caller's future is dropped.
struct Abandon(Stop);

impl Drop for Abandon {
    fn drop(&mut self) {
        self.0.set();
    }
}

/// The slots seen by one owner, for code that does not know its owner. Clones share them.
#[derive(Clone)]
pub struct Share {
    cpu: Cpu,
    owner: Owner,
}

impl Share {
    /// Runs work of the owner, like [`Cpu::run`].
    ///
    /// # Errors
    /// Those of [`Cpu::run`].
    pub async fn run<T: Send + 'static>(
        &self,
        deadline: Instant,
        work: impl FnOnce(&Stop) -> T + Send + 'static,
    ) -> Result<T, CpuError> {
        self.cpu.run(&self.owner, deadline, work).await
    }
}

impl Cpu {
    /// Returns the slots for one owner.
    #[must_use]
    pub fn share(&self, owner: &Owner) -> Share {
        Share { cpu: self.clone(), owner: owner.clone() }
    }

    /// Creates slots for `permits` pieces of work of one team at the same time, at least 1. The number of cores is a good
    /// value.
    #[must_use]
    pub fn new(permits: usize) -> Self {
        Self(Arc::new(TeamSlots::new(permits.max(1))))
    }

    /// Returns how often work was given to a thread. A page must cost one such trip; tests check it.
    #[must_use]
    pub fn trips(&self) -> u64 {
        self.0.taken()
    }

    /// Returns the load of the quick slots.
    #[must_use]
    pub fn load(&self) -> Load {
        self.0.load()
    }

    /// Runs `work` on a thread once there is a slot for `owner`.
    ///
    /// At the deadline, and when the future is dropped, [`Stop`] is set: work that can be long must check it and return
    /// early. Its slot is released only when the thread has ended.
    ///
    /// # Errors
    /// [`CpuError`]; see its variants.
    pub async fn run<T: Send + 'static>(
        &self,
        owner: &Owner,
        deadline: Instant,
        work: impl FnOnce(&Stop) -> T + Send + 'static,
    ) -> Result<T, CpuError> {
        let slot = match self.0.take(owner) {
            Some(slot) => slot,
            None => timeout_at(deadline, self.0.wait(owner)).await.map_err(|_| CpuError::Timeout)?,
        };
        let stop = Stop::new();
        let _abandon = Abandon(stop.clone());
        let slot = Arc::new(slot);
        let held = Arc::clone(&slot);
        let mut thread = spawn_blocking(move || {
            let done = work(&stop);
            drop(held);
            done
        });
        loop {
            // Retried every quantum, since a slow slot may become free only later.
            let next = if slot.is_slow() { deadline } else { deadline.min(Instant::now() + QUANTUM) };
            match timeout_at(next, &mut thread).await {
                Ok(done) => return done.map_err(|_| CpuError::Panicked),
                Err(_) if next >= deadline => return Err(CpuError::Timeout),
                Err(_) => slot.slow_down(),
            }
        }
    }
}
