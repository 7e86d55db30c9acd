//! Durable job queue. A job belongs to a queue, a team and a lane (a crawl, a batch, a webhook endpoint). Team and lane
//! each cap the number of their running jobs. Finished jobs are deleted.
//!
//! Counters change in the transaction of the state change that they count. Lock order, which prevents deadlocks: rows
//! of `job_team`, then rows of `host`, each sorted. A team's lanes and jobs change only under the lock of its
//! `job_team` row. A transaction that enqueues jobs and books credits must enqueue first, because the commits of jobs
//! book with the team locked. Rows of hosts are the most contended, so transactions that end many jobs ([`Finishing`])
//! lock them last.

mod check;
mod claim;
mod dead;
mod due;
mod end;
mod enqueue;
mod inspect;
mod lease;
mod payload;
mod release;
mod start;
mod team;

use std::time::Duration;

use base::Timestamp;
use politeness::HostAnswer;

pub use check::inconsistencies;
pub use claim::{ClaimedNext, claim};
pub use dead::{Dead, dead, find_dead, forget_dead, forget_one, redrive};
pub use end::{Finishing, Retry, bury, cancel, finish, release, retry, trim};
pub use enqueue::{enqueue, set_cap, set_team_cap};
pub use inspect::{Depth, Filter, Listed, depths, list, next_due, sweep_lanes};
pub use lease::{Reaped, reap, renew, still_leased};
pub use payload::{Payload, Queue};
pub use team::{lock_team, running};

/// PostgreSQL channel on which [`enqueue`] notifies workers that an idle team has work; the payload is the name of the
/// queue. [`crate::listen`] receives it.
pub const CHANNEL: &str = "quarry_jobs";

/// Lane that jobs are added to. A lane belongs to one team for good; its limits are those of the last [`enqueue`].
#[derive(Debug, Clone, Copy)]
pub struct Lane<'a> {
    /// Name of the queue.
    pub queue: &'a str,
    /// Id of the lane, unique in the queue.
    pub id: &'a str,
    /// Id of the team, which must exist.
    pub team_id: &'a str,
    /// Limit of running jobs of the lane.
    pub cap: i32,
    /// Limit of running jobs of the team in this queue.
    pub team_cap: i32,
    /// Delay between two jobs of one host (see [`politeness::Pace`]); zero for none.
    pub delay: Duration,
}

/// Job to be enqueued.
#[derive(Debug, Clone, PartialEq)]
pub struct NewJob {
    /// Id of the job, unique among all jobs.
    pub id: String,
    /// Kind of the job, which selects its handler.
    pub kind: &'static str,
    /// Phase, a barrier: the job waits until its lane has no job of a lower phase left.
    pub phase: i32,
    /// Priority within the lane; lower values come first.
    pub priority: i32,
    /// Earliest start. Jobs with an earlier time come first; the order of jobs with equal times is undefined.
    pub run_at: Timestamp,
    /// Limit of attempts; after the last one fails, the job is dead-lettered.
    pub max_attempts: i32,
    /// Host that the job sends requests to, if politeness applies. In a lane with a single host, all jobs wait while
    /// that host must not be asked, including jobs without a host that come after such a job.
    pub host: Option<String>,
    /// Payload for the handler, as JSON text; [`NewJob::of`] writes it.
    pub payload: String,
    /// Unique key among all jobs that are not done; a new job with a taken key is dropped.
    pub unique_key: Option<String>,
}

/// Request of a worker for jobs.
#[derive(Debug, Clone, Copy)]
pub struct Claim<'a> {
    /// Name of the queue.
    pub queue: &'a str,
    /// Limit of claimed jobs.
    pub most: usize,
    /// Fresh lease token for these jobs; only its holder can end them.
    pub token: &'a str,
    /// Current time.
    pub now: Timestamp,
    /// Time at which the leases expire unless [`renew`]ed.
    pub lease_until: Timestamp,
    /// Limit of concurrent requests to one host.
    pub per_host: u32,
    /// Name of a worker that enforces [`Claimed::host_slots`] itself. If it is the only one that asks a fast host, it
    /// gets jobs ahead of their turns, so that one can follow another without a claim in between.
    pub worker: Option<&'a str>,
}

/// Claimed job, held until its lease expires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimed {
    /// Id of the job.
    pub id: String,
    /// Name of the queue.
    pub queue: String,
    /// Kind of the job, which selects its handler.
    pub kind: String,
    /// Id of the team.
    pub team_id: String,
    /// Id of the lane.
    pub lane: String,
    /// Payload, as JSON text.
    pub payload: String,
    /// Number of this attempt, from 1.
    pub attempt: i32,
    /// Limit of attempts.
    pub max_attempts: i32,
    /// Lease token, from [`Claim::token`].
    pub token: String,
    /// Host that the job sends requests to.
    pub host: Option<String>,
    /// Earliest start: politeness may delay it by up to a second.
    pub start_at: Timestamp,
    /// Limit of concurrent requests of this worker to the host, this job included; used if the worker gave its name.
    pub host_slots: u32,
    /// Time at which the job was enqueued.
    pub created_at: Timestamp,
}

/// Lease of a claimed job: proof that the caller holds it.
#[derive(Debug, Clone, Copy)]
pub struct Lease<'a> {
    /// Id of the job.
    pub id: &'a str,
    /// Lease token, from [`Claim::token`].
    pub token: &'a str,
}

/// Claimed job that its holder ends.
#[derive(Debug, Clone, Copy)]
pub struct HeldJob<'a> {
    /// Lease of the job; if it is lost, the call has no effect.
    pub lease: Lease<'a>,
    /// Name of the queue.
    pub queue: &'a str,
    /// Id of the team.
    pub team_id: &'a str,
    /// Answer of the host; `None` if the host was not asked or the answer is unknown.
    pub answer: Option<HostAnswer>,
}

impl Claimed {
    /// Returns the lease, to renew it.
    #[must_use]
    pub fn lease(&self) -> Lease<'_> {
        Lease { id: &self.id, token: &self.token }
    }

    /// Returns the job as its holder ends it, with the answer of its host.
    #[must_use]
    pub fn held(&self, answer: Option<HostAnswer>) -> HeldJob<'_> {
        HeldJob { lease: self.lease(), queue: &self.queue, team_id: &self.team_id, answer }
    }
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

fn from_millis(millis: i64) -> Option<Duration> {
    u64::try_from(millis).ok().filter(|millis| *millis > 0).map(Duration::from_millis)
}
