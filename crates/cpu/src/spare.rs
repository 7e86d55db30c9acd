//! A thread for work that can wait: it takes what the processor has left.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Sender};
use std::thread;

use tokio::sync::oneshot;

use crate::CpuError;

/// Nice value of the lowest priority: beside others that are busy such a thread gets about one and a half percent of a core.
pub const LOWEST: i32 = 19;

type Work = Box<dyn FnOnce() + Send>;

/// Thread of the lowest priority, for work that keeps a core busy and that nothing waits for, such as an index of what
/// was read. Threads that the work starts have this priority too. The thread ends when this is dropped, after the work
/// that it has begun.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let spare = cpu::Spare::start("sums")?;
/// assert_eq!(spare.run(|| (1..=100_u32).sum::<u32>()).await?, 5050);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Spare(Sender<Work>);

impl Spare {
    /// Starts the thread. Its name is for tools that list threads.
    ///
    /// # Errors
    /// Those of the system, when it has no more threads.
    pub fn start(name: &str) -> io::Result<Self> {
        let (give, take) = mpsc::channel::<Work>();
        let work = move || {
            lower();
            while let Ok(work) = take.recv() {
                // The sender of the result is dropped by a panic, which tells the caller.
                let _ = catch_unwind(AssertUnwindSafe(work));
            }
        };
        thread::Builder::new().name(name.to_owned()).spawn(work)?;
        Ok(Self(give))
    }

    /// Runs work after all that was given before it. It goes on to its end when the future is dropped.
    ///
    /// # Errors
    /// [`CpuError::Panicked`].
    pub async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, CpuError> {
        let (give, done) = oneshot::channel();
        let work: Work = Box::new(move || {
            let _ = give.send(work());
        });
        self.0.send(work).map_err(|_| CpuError::Panicked)?;
        done.await.map_err(|_| CpuError::Panicked)
    }
}

/// Lowers the priority of this thread for good.
fn lower() {
    // On Linux the call concerns the calling thread; on other systems it would lower the whole process.
    // Where it fails, the work is done at the cost of others.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, LOWEST);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_runs_in_order_and_a_panic_ends_only_itself() {
        let spare = Spare::start("test").unwrap();
        assert_eq!(spare.run(|| 1).await, Ok(1));
        assert_eq!(spare.run(|| panic!("on purpose")).await, Err::<(), _>(CpuError::Panicked));
        assert_eq!(spare.run(|| 2).await, Ok(2));
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn the_thread_and_its_threads_have_the_lowest_priority_alone() {
        let nice = || rustix::process::getpriority_process(None).unwrap();
        let before = nice();
        let spare = Spare::start("test").unwrap();
        let inside = spare.run(move || (nice(), thread::spawn(nice).join().unwrap())).await.unwrap();
        assert_eq!(inside, (LOWEST, LOWEST));
        assert_eq!(nice(), before);
    }
}
