//! What the parts of a worker share.

use std::sync::Arc;

use base::{Clock, Timestamp};
use chrono::TimeDelta;
use store::jobs::Queue;
use store::{Store, StoreError};
use tokio::sync::Notify;

use crate::held::RunningJobs;
use crate::hosts::Hosts;
use crate::settings::Settings;
use crate::wake::Waker;

/// State shared by the parts of a worker.
pub(crate) struct Core {
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) settings: Settings,
    pub(crate) waker: Waker,
    /// Name of the worker in the politeness state of hosts.
    pub(crate) name: String,
    pub(crate) held: RunningJobs,
    pub(crate) hosts: Hosts,
    /// Queues served here, with their slots.
    pub(crate) queues: Vec<(Queue, usize)>,
    /// Notified when a queue has free slots and a claim got nothing.
    pub(crate) idle: Notify,
}

impl Core {
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Whether a transaction failed because the database is away or full. A lost connection counts only if the database
    /// is away: otherwise the transaction itself may lose the connection each time.
    pub(crate) fn is_outage(&self, error: &StoreError) -> bool {
        error.trouble().is_some() && (!error.is_lost() || self.store.trouble().is_some())
    }

    pub(crate) fn wake_all(&self) {
        self.queues.iter().for_each(|(queue, _)| self.waker.wake(*queue));
    }

    /// Returns the expiry of a lease that starts or is renewed now.
    pub(crate) fn lease_until(&self) -> Timestamp {
        self.now() + TimeDelta::from_std(self.settings.lease).unwrap_or_default()
    }
}
