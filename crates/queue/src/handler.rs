//! What a handler is.

use std::time::Duration;

use base::Timestamp;
use politeness::HostAnswer;
use store::jobs::{Claimed, Payload};
use store::{Conn, StoreError};
use tokio_util::sync::CancellationToken;

use crate::Asking;

/// Does jobs of one kind. One value handles all jobs of the kind.
pub trait Handler: Send + Sync + 'static {
    /// What a job is given. It says the kind and the queue.
    type Payload: Payload;
    /// What running it brings.
    type Done: Send + Sync + 'static;

    /// Does the work. It may be dropped at any await, when the job was cancelled or the worker stops, and may run again.
    ///
    /// # Errors
    /// [`Failure`], which says whether to try again.
    fn run(&self, job: &Running<Self::Payload>) -> impl Future<Output = Result<Self::Done, Failure>> + Send;

    /// Writes down what jobs brought, in the transaction that removes them. Called with up to 64 at once; when it fails,
    /// with each alone.
    ///
    /// # Errors
    /// Then nothing is written. After one that [is permanent](StoreError::is_permanent) the job is given up; after others
    /// it is tried again.
    fn commit(
        &self,
        conn: &mut Conn,
        done: &[&Finished<Self::Payload, Self::Done>],
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Writes down that a job has failed for good, in the transaction that moves it to the dead letters.
    ///
    /// # Errors
    /// Then nothing is written, and it is tried again when the lease has ended.
    fn give_up(
        &self,
        conn: &mut Conn,
        job: &Running<Self::Payload>,
        error: &str,
    ) -> impl Future<Output = Result<(), StoreError>> + Send {
        let _ = (conn, job, error);
        async { Ok(()) }
    }

    /// As [`Handler::give_up`], of a job whose payload cannot be read: its id and its lane say whose it was.
    ///
    /// # Errors
    /// As [`Handler::give_up`].
    fn give_up_unread(
        &self,
        conn: &mut Conn,
        job: &Claimed,
        error: &str,
    ) -> impl Future<Output = Result<(), StoreError>> + Send {
        let _ = (conn, job, error);
        async { Ok(()) }
    }

    /// Notifies those who wait; nothing that must not be lost.
    fn after_commit(&self, done: &[&Finished<Self::Payload, Self::Done>]) {
        let _ = done;
    }
}

/// A handler whose jobs send requests to hosts. What the host of a job answered sets how fast it is asked
/// ([`politeness`]).
pub trait Polite: Handler {
    /// What the host of the job has answered; `None` when it was not asked.
    fn answer(done: &Self::Done) -> Option<HostAnswer>;
}

/// A job while it runs.
#[derive(Debug)]
pub struct Running<P> {
    /// Its id.
    pub id: String,
    /// The team it belongs to.
    pub team_id: String,
    /// The lane it stands in.
    pub lane: String,
    /// Which attempt this is, from 1.
    pub attempt: i32,
    /// How many there may be.
    pub max_attempts: i32,
    /// When it was added.
    pub created_at: Timestamp,
    /// What it was given.
    pub payload: P,
    /// Its requests to its host, if it has one. They are over when it has ended, or says so before.
    pub asking: Asking,
    /// Set when the job is no longer ours, as after a cancellation. [`Handler::run`] is dropped then anyway.
    pub cancelled: CancellationToken,
}

/// A job that ran well.
#[derive(Debug)]
pub struct Finished<P, D> {
    /// The job.
    pub job: Running<P>,
    /// What it brought.
    pub done: D,
}

/// Why a job brought nothing.
#[derive(Debug, Clone)]
pub enum Failure {
    /// Try again.
    Retry {
        /// Not before this; by default after a pause that grows with each attempt.
        at: Option<Timestamp>,
        /// Why.
        error: String,
        /// What the host has answered, if it was asked.
        answer: Option<HostAnswer>,
        /// Whether the attempt counts.
        counted: bool,
    },
    /// It will never work.
    Dead {
        /// Why.
        error: String,
    },
}

impl Failure {
    /// Something of ours broke: try again after a pause.
    #[must_use]
    pub fn retry(error: impl Into<String>) -> Self {
        Self::Retry { at: None, error: error.into(), answer: None, counted: true }
    }

    /// What the host has answered, if that is known.
    pub(crate) fn answer(&self) -> Option<HostAnswer> {
        match self {
            Self::Retry { answer, .. } => *answer,
            Self::Dead { .. } => None,
        }
    }
}

/// The first pause before another attempt, and the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_secs(300);

/// The pause after attempt number `attempt`: it doubles, and the ids spread it by up to a quarter.
pub(crate) fn pause(attempt: i32, id: &str) -> Duration {
    let doublings = u32::try_from(attempt - 1).unwrap_or(0).min(16);
    let pause = FIRST_PAUSE.saturating_mul(1 << doublings).min(MAX_PAUSE);
    let spread = id.bytes().fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into())) % 256;
    pause + pause * spread / 1024
}

/// The payload of a claimed job, read.
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
