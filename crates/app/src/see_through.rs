//! Work that has to end once it was begun, whatever becomes of the request.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;

/// Runs `work` as part of the request. Dropped before its end, as when the client hangs up, it goes on by itself as a task
/// of `tracker`, and its output is dropped there.
pub(crate) fn see_through<T: Send + 'static>(
    tracker: &TaskTracker,
    work: impl Future<Output = T> + Send + 'static,
) -> Unfinished<T> {
    Unfinished { work: Some(Box::pin(work)), tracker: tracker.clone() }
}

/// See [`see_through`].
pub(crate) struct Unfinished<T: Send + 'static> {
    /// `None` while it is polled and after its end: what panicked does not go on.
    work: Option<Pin<Box<dyn Future<Output = T> + Send>>>,
    tracker: TaskTracker,
}

impl<T: Send + 'static> Future for Unfinished<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let Some(mut work) = self.work.take() else { return Poll::Pending };
        let polled = work.as_mut().poll(context);
        if polled.is_pending() {
            self.work = Some(work);
        }
        polled
    }
}

impl<T: Send + 'static> Drop for Unfinished<T> {
    fn drop(&mut self) {
        // Outside a runtime, as at the very end of a process, nothing can go on.
        if let (Some(work), Ok(runtime)) = (self.work.take(), Handle::try_current()) {
            // Dropped inside the task: behind it, `drain` would no longer wait for what the output's own end starts.
            self.tracker.spawn_on(async move { drop(work.await) }, &runtime);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use tokio::time::{sleep, timeout};

    use super::*;

    #[tokio::test]
    async fn what_was_begun_ends() {
        let tracker = TaskTracker::new();
        assert_eq!(see_through(&tracker, async { 1 }).await, 1);
        let done = Arc::new(AtomicBool::new(false));
        let work = || {
            let done = Arc::clone(&done);
            async move {
                sleep(Duration::from_millis(20)).await;
                done.store(true, Ordering::Relaxed);
            }
        };
        assert!(timeout(Duration::from_millis(1), see_through(&tracker, work())).await.is_err());
        tracker.close();
        tracker.wait().await;
        assert!(done.load(Ordering::Relaxed));
    }

    #[tokio::test]
    async fn what_panicked_does_not_go_on() {
        let tracker = TaskTracker::new();
        let failing = see_through(&tracker, async { panic!("on purpose") });
        assert!(tokio::spawn(failing).await.unwrap_err().is_panic());
        assert!(tracker.is_empty());
    }
}
