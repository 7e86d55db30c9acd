//! Jobs: a payload, a handler, a lease, retries, and the loop that runs them. What jobs do is the handlers' business.
//!
//! A [`Job`] runs without a transaction, and its effects are written by [`Job::commit`] in the transaction that removes it
//! from the queue. So a job may run twice, when a worker dies or loses its lease, but its effects happen once.
//!
//! ```
//! use std::sync::{Arc, Mutex};
//!
//! use base::{Clock, SystemClock};
//! use queue::{Failure, Finished, Job, Running, Settings, Worker};
//! use store::jobs::{self, Lane, NewJob, Queue};
//! use store::{Conn, Options, Store, StoreError, teams};
//! use tokio_util::sync::CancellationToken;
//!
//! struct Greet(Arc<Mutex<Vec<String>>>, CancellationToken);
//!
//! impl Job for Greet {
//!     const KIND: &'static str = "greet";
//!     type Payload = String;
//!     type Done = String;
//!
//!     async fn run(&self, job: &Running<String>) -> Result<String, Failure> {
//!         Ok(format!("hello {}", job.payload))
//!     }
//!
//!     async fn commit(&self, _: &mut Conn, done: &[&Finished<String, String>]) -> Result<(), StoreError> {
//!         self.0.lock().unwrap().extend(done.iter().map(|finished| finished.done.clone()));
//!         Ok(())
//!     }
//!
//!     fn after_commit(&self, _: &[&Finished<String, String>]) {
//!         self.1.cancel();
//!     }
//! }
//!
//! # #[tokio::main]
//! # async fn main() -> store::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let url = format!("sqlite://{}/quarry.db", folder.path().display());
//! let store = Store::open(&url, Options::default()).await?;
//! store.migrate().await?;
//! let now = SystemClock.now();
//! teams::create(&mut store.conn().await?, &teams::Team::new("team", "Team", now)).await?;
//! let lane = Lane { queue: Queue::Pages, id: "lane", team_id: "team", cap: 1, team_cap: 1, delay: Default::default() };
//! let job = NewJob::new("job-1", "greet", "\"world\"".parse().unwrap(), now);
//! jobs::enqueue(&mut store.conn().await?, &lane, &[job], now).await?;
//!
//! let (said, stop) = (Arc::default(), CancellationToken::new());
//! let worker = Worker::new(store, Arc::new(SystemClock), Settings::default());
//! worker.with(Greet(Arc::clone(&said), stop.clone())).run(stop).await;
//! assert_eq!(*said.lock().unwrap(), ["hello world"]);
//! # Ok(())
//! # }
//! ```

/// Boxes the future of an async function, so that its code is compiled once, in this crate. Without it every crate that
/// awaits the function compiles all of it again, queries included.
pub(crate) use async_recursion::async_recursion as boxed;

mod claims;
mod commits;
mod grave;
mod job;
mod kind;
mod leases;
mod wake;
mod worker;

pub use job::{Failure, Finished, Job, Running};
pub use wake::Waker;
pub use worker::{Settings, Worker};
