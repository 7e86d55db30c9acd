//! Handlers of jobs.

use std::time::Duration;

use base::Timestamp;
use politeness::HostAnswer;
use store::jobs::{Claimed, Payload};
use store::{Conn, StoreError};
use tokio_util::sync::CancellationToken;

use crate::Asking;

/// Handler of one kind of job. One value handles all jobs of the kind.
pub trait Handler: Send + Sync + 'static {
    /// Payload of a job, which names its kind and queue.
    type Payload: Payload;
    /// Result of a job.
    type Done: Send + Sync + 'static;

    /// Runs the job. The future may be dropped at any await, when the job is cancelled or the worker stops, and the job
    /// may run again.
    ///
    /// # Errors
    /// [`Failure`], which says whether to retry.
    fn run(&self, job: &Running<Self::Payload>) -> impl Future<Output = Result<Self::Done, Failure>> + Send;

    /// Writes the results of jobs, in the transaction that removes them. Called with up to 64 results; if that fails,
    /// with each one alone.
    ///
    /// # Errors
    /// On an error nothing is written. If it [is permanent](StoreError::is_permanent), the job is dead-lettered;
    /// otherwise it is retried.
    fn commit(
        &self,
        conn: &mut Conn,
        done: &[&Finished<Self::Payload, Self::Done>],
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Records that a job has failed for good, in the transaction that moves it to the dead letters.
    ///
    /// # Errors
    /// On an error nothing is written, and it is tried again when the lease has expired.
    fn give_up(
        &self,
        conn: &mut Conn,
        job: &Running<Self::Payload>,
        error: &str,
    ) -> impl Future<Output = Result<(), StoreError>> + Send {
        let _ = (conn, job, error);
        async { Ok(()) }
    }

    /// Variant of [`Handler::give_up`] for a job whose payload cannot be read; its id and lane identify it.
    ///
    /// # Errors
    /// Those of [`Handler::give_up`].
    fn give_up_unread(
        &self,
        conn: &mut Conn,
        job: &Claimed,
        error: &str,
    ) -> impl Future<Output = Result<(), StoreError>> + Send {
        let _ = (conn, job, error);
        async { Ok(()) }
    }

    /// Notifies waiters after the commit. It may be skipped by a crash, so it must not do anything essential.
    fn after_commit(&self, done: &[&Finished<Self::Payload, Self::Done>]) {
        let _ = done;
    }
}

/// Handler whose jobs send requests to hosts. The answers of a host set the pace at which it is asked ([`politeness`]).
pub trait Polite: Handler {
    /// Returns the answer of the job's host; `None` if it was not asked.
    fn answer(done: &Self::Done) -> Option<HostAnswer>;
}

/// Running job.
#[derive(Debug)]
pub struct Running<P> {
    /// Id of the job.
    pub id: String,
    /// Id of the team.
    pub team_id: String,
    /// Id of the lane.
    pub lane: String,
    /// Number of this attempt, from 1.
    pub attempt: i32,
    /// Limit of attempts.
    pub max_attempts: i32,
    /// Time at which it was enqueued.
    pub created_at: Timestamp,
    /// Payload.
    pub payload: P,
    /// Slot at its host, if it has one; released when the job ends or calls [`Asking::over`].
    pub asking: Asking,
    /// Token that is cancelled when the lease is lost, as after a cancellation. [`Handler::run`] is dropped then
    /// anyway.
    pub cancelled: CancellationToken,
}

/// Job that ran successfully.
#[derive(Debug)]
pub struct Finished<P, D> {
    /// Job with its payload.
    pub job: Running<P>,
    /// Result of the job.
    pub done: D,
}

/// Failure of a job.
#[derive(Debug, Clone)]
pub enum Failure {
    /// Retry the job.
    Retry {
        /// Earliest start of the next attempt; by default after a back-off that grows with each attempt.
        at: Option<Timestamp>,
        /// Error message.
        error: String,
        /// Answer of the host, if it was asked.
        answer: Option<HostAnswer>,
        /// Whether the attempt counts towards the limit.
        counted: bool,
    },
    /// The job can never succeed: dead-letter it.
    Dead {
        /// Error message.
        error: String,
    },
}

impl Failure {
    /// Creates a failure that is retried after the default back-off and counts as an attempt.
    #[must_use]
    pub fn retry(error: impl Into<String>) -> Self {
        Self::Retry { at: None, error: error.into(), answer: None, counted: true }
    }

    /// Returns the answer of the host, if it is known.
    pub(crate) fn answer(&self) -> Option<HostAnswer> {
        match self {
            Self::Retry { answer, .. } => *answer,
            Self::Dead { .. } => None,
        }
    }
}

/// Shortest and longest back-off between two attempts.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_secs(300);

/// Returns the back-off after attempt number `attempt`: doubled for each attempt, plus a jitter of up to a quarter
/// derived from the id.
pub(crate) fn pause(attempt: i32, id: &str) -> Duration {
    let doublings = u32::try_from(attempt - 1).unwrap_or(0).min(16);
    let pause = FIRST_PAUSE.saturating_mul(1 << doublings).min(MAX_PAUSE);
    let spread = id.bytes().fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into())) % 256;
    pause + pause * spread / 1024
}

/// Returns a claimed job with its parsed payload.
pub(crate) fn running<P: Payload>(claimed: &Claimed, cancelled: CancellationToken) -> serde_json::Result<Running<P>> {
    Ok(Running {
        id: claimed.id.clone(),
        team_id: claimed.team_id.clone(),
        lane: claimed.lane.clone(),
        attempt: claimed.attempt,
        max_attempts: claimed.max_attempts,
        created_at: claimed.created_at,
        payload: serde_json::from_str(&claimed.payload)?,
        asking: Asking::default(),
        cancelled,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_are_spread() {
        let check = |attempt: i32, least: u64| {
            let pause = pause(attempt, "some-id").as_millis();
            let least = u128::from(least);
            assert!((least..=least + least / 4).contains(&pause), "{attempt}: {pause}");
        };
        check(1, 1000);
        check(2, 2000);
        check(4, 8000);
        check(50, 300_000);
        assert_ne!(pause(3, "a"), pause(3, "b"));
    }
}
