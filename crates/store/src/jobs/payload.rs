//! What a job carries, and the queue that it belongs to, as types.

use base::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::NewJob;
use crate::error::{Result, StoreError};

/// A queue: jobs of different queues never take each other's slots. A constant beside the payloads of its jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queue {
    /// Its name in the database and in the settings.
    pub name: &'static str,
    /// How many of its jobs one process runs at a time, unless the settings say otherwise.
    pub slots: u32,
}

/// What a job carries from whoever enqueues it to its handler. It is stored as JSON and outlives the program that has
/// stored it: add fields with a default, never rename one, and give it another [`KIND`](Payload::KIND) when its meaning
/// changes.
pub trait Payload: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The name under which the database knows such jobs, and by which a worker finds their handler.
    const KIND: &'static str;
    /// Where such jobs wait.
    const QUEUE: Queue;
    /// How often such a job may be started before it is given up; workers that die under it count.
    const ATTEMPTS: i32 = 5;
}

impl NewJob {
    /// A job of the first phase, without a host, that may run from `run_at` on.
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`] when the payload cannot be written as JSON.
    pub fn of<P: Payload>(id: impl Into<String>, payload: &P, run_at: Timestamp) -> Result<Self> {
        let broken = |error| StoreError::Inconsistent(format!("payload of a {} job: {error}", P::KIND));
        Ok(Self {
            id: id.into(),
            kind: P::KIND,
            phase: 0,
            priority: 0,
            run_at,
            max_attempts: P::ATTEMPTS,
            host: None,
            payload: serde_json::to_string(payload).map_err(broken)?,
            unique_key: None,
        })
    }
}
