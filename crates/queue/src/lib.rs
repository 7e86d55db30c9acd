//! Job queue: payloads, handlers, leases, retries, and the worker that runs jobs.
//!
//! A [`Handler`] runs a job outside of a transaction, and writes the result in [`Handler::commit`], in the transaction
//! that removes the job from its queue. So a job may run twice, when a worker dies or loses its lease, but its result
//! is written once.
//!
//! ```
//! use std::sync::{Arc, Mutex};
//!
//! use base::{Clock, SystemClock};
//! use queue::{Failure, Finished, Handler, Lane, NewJob, Payload, Queue, Running, Settings, Worker};
//! use serde::{Deserialize, Serialize};
//! use store::{Conn, Options, Store, StoreError, jobs, teams};
//! use tokio_util::sync::CancellationToken;
//!
//! const GREETINGS: Queue = Queue { name: "greetings", slots: 8 };
//!
//! /// Payload of the job.
//! #[derive(Serialize, Deserialize)]
//! struct Greeting {
//!     name: String,
//! }
//!
//! impl Payload for Greeting {
//!     const KIND: &'static str = "greet";
//!     const QUEUE: Queue = GREETINGS;
//! }
//!
//! /// Handler of the job.
//! struct Greet(Arc<Mutex<Vec<String>>>, CancellationToken);
//!
//! impl Handler for Greet {
//!     type Payload = Greeting;
//!     type Done = String;
//!
//!     async fn run(&self, job: &Running<Greeting>) -> Result<String, Failure> {
//!         Ok(format!("hello {}", job.payload.name))
//!     }
//!
//!     async fn commit(&self, _: &mut Conn, done: &[&Finished<Greeting, String>]) -> Result<(), StoreError> {
//!         self.0.lock().unwrap().extend(done.iter().map(|finished| finished.done.clone()));
//!         Ok(())
//!     }
//!
//!     fn after_commit(&self, _: &[&Finished<Greeting, String>]) {
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
//! let queue = GREETINGS.name;
//! let lane = Lane { queue, id: "lane", team_id: "team", cap: 1, team_cap: 1, delay: Default::default() };
//! let job = NewJob::of("job-1", &Greeting { name: "world".to_owned() }, now)?;
//! jobs::enqueue(&mut store.conn().await?, &lane, &[job], now).await?;
//!
//! let (said, stop) = (Arc::default(), CancellationToken::new());
//! let worker = Worker::new(store, Arc::new(SystemClock), Settings::default());
//! worker.with(Greet(Arc::clone(&said), stop.clone())).run(stop).await;
//! assert_eq!(*said.lock().unwrap(), ["hello world"]);
//! # Ok(())
//! # }
//! ```

/// Boxes the future of an async function, so that its code is compiled once, in this crate. Otherwise every crate that
/// awaits the function would compile it again, queries included.
pub(crate) use async_recursion::async_recursion as boxed;

mod bury;
mod claims;
mod commits;
mod due;
mod erased;
mod handler;
mod held;
mod hosts;
mod leases;
mod listen;
mod periodic;
mod settings;
mod shared;
mod wake;
mod worker;

pub use handler::{Failure, Finished, Handler, Polite, Running};
pub use hosts::Asking;
pub use periodic::{Periodic, Status, run_periodic};
pub use settings::Settings;
pub use store::jobs::{Lane, NewJob, Payload, Queue};
pub use wake::Waker;
pub use worker::Worker;
