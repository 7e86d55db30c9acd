//! Every job there is, and the worker that runs them.

use std::time::Duration;

use queue::Worker;

use crate::App;
use crate::crawl::{Fill, Kickoff, Visit};
use crate::webhooks::Deliver;

/// How much a worker does at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerSettings {
    /// Pages of crawls and batches.
    pub pages: u32,
    /// Webhooks.
    pub hooks: u32,
    /// Requests to one host.
    pub per_host: u32,
    /// After which time without a sign of life its jobs are done by others.
    pub lease: Duration,
    /// How long running jobs may take to end when the worker stops.
    pub drain: Duration,
}

/// The worker of this service: [`Worker::run`] works until it is told to stop.
#[must_use]
pub fn worker(app: &App, settings: WorkerSettings) -> Worker {
    let WorkerSettings { pages, hooks, per_host, lease, drain } = settings;
    let slots = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let defaults = queue::Settings::default();
    let settings = queue::Settings {
        pages: slots(pages),
        hooks: slots(hooks),
        per_host,
        lease,
        heartbeat: lease / 3,
        reap: defaults.reap.min(lease / 4),
        drain,
        ..defaults
    };
    Worker::new(app.store.clone(), app.clock.clone(), settings)
        .woken_by(app.waker.clone())
        .with(Kickoff { app: app.clone() })
        .with(Fill { app: app.clone() })
        .with(Visit { app: app.clone() })
        .with(Deliver::new(app.store.clone(), app.clock.clone(), app.client.clone()))
}
