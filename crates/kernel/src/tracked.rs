//! Work that must complete once it has begun, even if the request is dropped.

use std::future::pending;
use std::panic::resume_unwind;

use tokio::sync::oneshot;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

/// Runs `work` as a task of `tracker` and waits for its output. If this future is dropped early, as when the client
/// disconnects, the task continues.
pub async fn tracked<T: Send + 'static>(tracker: &TaskTracker, work: impl Future<Output = T> + Send + 'static) -> T {
    let (done, output) = oneshot::channel();
    // An unclaimed output is dropped inside the task: after the task's end, `drain` would not wait for work that the
    // output's own drop starts.
    let task = tracker.spawn(async move { drop(done.send(work.await)) }.in_current_span());
    match output.await {
        Ok(output) => output,
        Err(_) => match task.await {
            Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
            // The runtime is shutting down, and this request with it.
            _ => pending().await,
        },
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use tokio::time::{sleep, timeout};

    use super::*;

    /// Records whether a task of the tracker runs while it is dropped.
    struct Output(TaskTracker, Arc<AtomicBool>);

    impl Drop for Output {
        fn drop(&mut self) {
            self.1.store(!self.0.is_empty(), Ordering::Relaxed);
        }
    }

    #[tokio::test]
    async fn what_was_begun_ends() {
        let tracker = TaskTracker::new();
        assert_eq!(tracked(&tracker, async { 1 }).await, 1);
        let in_task = Arc::new(AtomicBool::new(false));
        let output = Output(tracker.clone(), Arc::clone(&in_task));
        let work = async move {
            sleep(Duration::from_millis(20)).await;
            output
        };
        assert!(timeout(Duration::from_millis(1), tracked(&tracker, work)).await.is_err());
        tracker.close();
        tracker.wait().await;
        assert!(in_task.load(Ordering::Relaxed), "its output was dropped before the task ended");
    }

    #[tokio::test]
    async fn what_panicked_panics_here() {
        let tracker = TaskTracker::new();
        let work = tokio::spawn(async move { tracked(&tracker, async { panic!("on purpose") }).await });
        assert!(work.await.unwrap_err().is_panic());
    }
}
