//! Work that keeps a core busy: in threads of its own, as many as there is room for, and no longer than somebody waits.
//! See [`Cpu`]. And a fair [`mod@line`] for anything of which there are few places.

pub mod line;
mod places;
mod turns;

use std::sync::Arc;
use std::time::Duration;

use base::{Owner, Stop};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout_at};

use line::Load;
use places::Places;

/// How long work may hold a place among the quick. Most pages need a few milliseconds.
const QUANTUM: Duration = Duration::from_millis(200);

/// Places for work that keeps a core busy. Clones share them.
///
/// Work starts at once when a place is free. Otherwise teams take turns, and within a team its runs, each of which has a
/// queue of its own, so that a team with a hundred pages delays another by one of them.
///
/// A running thread cannot be pushed out of its place, so two things stop a few large pages from stopping all others:
///
/// * work that runs longer than 200 ms leaves its place to the next in line and goes on beside it, in one of the places
///   for slow work, so that the system shares the cores among both;
/// * of either kind one team never holds the last place: with `n` places for a team there are `n + 1` in all.
///
/// Nothing of this costs more than a lock while there is room.
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
pub struct Cpu(Arc<Places>);

/// Why work has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CpuError {
    /// The deadline passed, waiting for a place or working.
    #[error("the work did not finish in time")]
    Timeout,
    /// The work panicked; the panic hook has said why.
    #[error("the work panicked")]
    Panicked,
}

/// Sets the flag when nobody waits any more, however that came about.
struct Abandon(Stop);

impl Drop for Abandon {
    fn drop(&mut self) {
        self.0.set();
    }
}

/// The places of one owner, for what does not know whose work it does. Clones share them.
#[derive(Clone)]
pub struct Share {
    cpu: Cpu,
    owner: Owner,
}

impl Share {
    /// As [`Cpu::run`], for the owner.
    ///
    /// # Errors
    /// As there.
    pub async fn run<T: Send + 'static>(
        &self,
        deadline: Instant,
        work: impl FnOnce(&Stop) -> T + Send + 'static,
    ) -> Result<T, CpuError> {
        self.cpu.run(&self.owner, deadline, work).await
    }
}

impl Cpu {
    /// The places of this owner.
    #[must_use]
    pub fn share(&self, owner: &Owner) -> Share {
        Share { cpu: self.clone(), owner: owner.clone() }
    }

    /// Room for `permits` pieces of work of one team at a time, at least 1; as many as there are cores is right.
    #[must_use]
    pub fn new(permits: usize) -> Self {
        Self(Arc::new(Places::new(permits.max(1))))
    }

    /// How often work was given to a thread. A page costs one trip; tests hold it to that.
    #[must_use]
    pub fn trips(&self) -> u64 {
        self.0.taken()
    }

    /// How many places for quick work are taken, and how much work waits for one.
    #[must_use]
    pub fn load(&self) -> Load {
        self.0.load()
    }

    /// Does `work` in a thread when there is a place for `owner`.
    ///
    /// At the deadline, and when the future is dropped, [`Stop`] is set: work that may be long has to look at it and
    /// return, whatever it has by then. Its place is free when the thread has really ended.
    ///
    /// # Errors
    /// [`CpuError`]; see its variants.
    pub async fn run<T: Send + 'static>(
        &self,
        owner: &Owner,
        deadline: Instant,
        work: impl FnOnce(&Stop) -> T + Send + 'static,
    ) -> Result<T, CpuError> {
        let place = match self.0.take(owner) {
            Some(place) => place,
            None => timeout_at(deadline, self.0.wait(owner)).await.map_err(|_| CpuError::Timeout)?,
        };
        let stop = Stop::new();
        let _abandon = Abandon(stop.clone());
        let place = Arc::new(place);
        let held = Arc::clone(&place);
        let mut thread = spawn_blocking(move || {
            let done = work(&stop);
            drop(held);
            done
        });
        loop {
            // A place for slow work may be free only later.
            let next = if place.is_slow() { deadline } else { deadline.min(Instant::now() + QUANTUM) };
            match timeout_at(next, &mut thread).await {
                Ok(done) => return done.map_err(|_| CpuError::Panicked),
                Err(_) if next >= deadline => return Err(CpuError::Timeout),
                Err(_) => place.slow_down(),
            }
        }
    }
}
