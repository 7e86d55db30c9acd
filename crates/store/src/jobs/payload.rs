//! Typed payloads of jobs and typed queues.

use base::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::NewJob;
use crate::error::{Result, StoreError};

/// Queue with slots of its own, which jobs of other queues never take. Declared as a constant beside its payloads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queue {
    /// Name in the database and in the settings.
    pub name: &'static str,
    /// Default number of jobs that one process runs at a time; the settings can change it.
    pub slots: u32,
}

/// Payload of a job, stored as JSON. Stored payloads outlive the version of the program that wrote them: add fields
/// with a default, never rename one, and use a new [`KIND`](Payload::KIND) when the meaning changes.
pub trait Payload: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// Kind of the job, stored in its row; a worker finds the handler by it.
    const KIND: &'static str;
    /// Queue of such jobs.
    const QUEUE: Queue;
    /// Limit of attempts, including those that end with a lost worker.
    const ATTEMPTS: i32 = 5;
}

impl NewJob {
    /// Creates a job of phase 0 without a host, due at `run_at`.
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`] when the payload cannot be serialised as JSON.
    pub fn of<P: Payload>(id: impl Into<String>, payload: &P, run_at: Timestamp) -> Result<Self> {
        let broken =
            |error| StoreError::Inconsistent(format!("cannot serialise the payload of a {} job: {error}", P::KIND));
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
