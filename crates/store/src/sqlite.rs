//! SQLite connections: each statement runs in place, on the thread that asks for it.

use std::error::Error as StdError;
use std::future::poll_fn;
use std::pin::{Pin, pin};

use diesel::SqliteConnection;
use diesel_async::sync_connection_wrapper::{SpawnBlocking, SyncConnectionWrapper};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// SQLite with an async interface: every statement runs immediately on the calling thread.
pub(crate) type AsyncSqlite = SyncConnectionWrapper<SqliteConnection, InPlace>;

/// Runs statements on the calling thread, while its other tasks move to another thread. Sending each statement to a
/// blocking thread takes several times as long as the statement.
pub(crate) struct InPlace;

/// Polls `work` inside `block_in_place`, so that its statements need not enter that one by one.
pub(crate) async fn in_place<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    poll_fn(|context| blocking(|| work.as_mut().poll(context))).await
}

/// Runs blocking work in place. A single-threaded runtime has no other thread for its tasks: there they wait.
fn blocking<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::CurrentThread) => work(),
        _ => block_in_place(work),
    }
}

impl SpawnBlocking for InPlace {
    fn spawn_blocking<'a, R>(
        &mut self,
        task: impl FnOnce() -> R + Send + 'static,
    ) -> Pin<Box<dyn Future<Output = Result<R, Box<dyn StdError + Send + Sync>>> + Send + 'a>>
    where
        R: Send + 'static,
    {
        Box::pin(async move { Ok(blocking(task)) })
    }

    fn get_runtime() -> Self {
        Self
    }
}
