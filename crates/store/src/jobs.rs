//! The durable queue. A job lies in a queue, belongs to a team and stands in a lane (a crawl, a batch, an endpoint); team
//! and lane each cap how many of their jobs run at a time. Finished jobs are deleted.
//!
//! Counters change in the transaction of the state change that they count. Locks are taken in one order: rows of
//! `job_team`, then those of `host`, each sorted; a team's lanes and jobs change only under its row. A transaction that
//! enqueues and books credits must enqueue first, because the jobs' own transactions book with the team locked. Rows of
//! hosts are what most want, so whoever ends many jobs ([`Finishing`]) locks them last of all.

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
pub use claim::{More, claim};
pub use dead::{Dead, dead, find_dead, forget_dead, forget_one, redrive};
pub use end::{Finishing, Retry, bury, cancel, finish, release, retry, trim};
pub use enqueue::{enqueue, set_cap, set_team_cap};
pub use inspect::{Depth, Filter, Listed, depths, list, next_due, sweep_lanes};
pub use lease::{Reaped, reap, renew, still_ours};
pub use payload::{Payload, Queue};
pub use team::{lock_team, running};

/// The PostgreSQL channel on which [`enqueue`] tells workers that a team has work again; the payload is
/// the name of the queue. See [`crate::listen`].
pub const CHANNEL: &str = "quarry_jobs";

/// Where new jobs stand. A lane belongs to one team for good; its limits are those of the last [`enqueue`].
#[derive(Debug, Clone, Copy)]
pub struct Lane<'a> {
    /// The name of the queue.
    pub queue: &'a str,
    /// Its id, unique in the queue.
    pub id: &'a str,
    /// The id of the team, which must exist.
    pub team_id: &'a str,
    /// How many of its jobs may run at a time.
    pub cap: i32,
    /// How many jobs of the team may run at a time in this queue.
    pub team_cap: i32,
    /// The pause between two jobs of one host (see [`politeness::Pace`]); zero for none.
    pub delay: Duration,
}

/// A job to be added.
#[derive(Debug, Clone, PartialEq)]
pub struct NewJob {
    /// Its id, which no other job has.
    pub id: String,
    /// Which handler runs it.
    pub kind: &'static str,
    /// A barrier: it waits until no job of a lower phase is left in its lane.
    pub phase: i32,
    /// Lower ones come first in a lane.
    pub priority: i32,
    /// Not before this; earlier ones come first, those of the same time in no particular order.
    pub run_at: Timestamp,
    /// How often it may be started before it is given up.
    pub max_attempts: i32,
    /// The host that it asks, if it must be polite to it. In a lane of one host all jobs wait while that host must not be
    /// asked, those without a host included, once they stand behind such a job.
    pub host: Option<String>,
    /// What the handler needs, JSON text. See [`NewJob::of`].
    pub payload: String,
    /// Of all jobs that are not done, one has this key; another one is dropped.
    pub unique_key: Option<String>,
}

/// What a worker wants.
#[derive(Debug, Clone, Copy)]
pub struct Claim<'a> {
    /// From which queue.
    pub queue: &'a str,
    /// How many jobs at most.
    pub most: usize,
    /// A fresh secret for these jobs: whoever does not have it cannot end them.
    pub token: &'a str,
    /// The current time.
    pub now: Timestamp,
    /// When the jobs are lost unless [`renew`]ed.
    pub lease_until: Timestamp,
    /// How many requests to one host may run at a time.
    pub per_host: u32,
    /// The name of a worker that keeps to [`Claimed::host_slots`] by itself. Where it asks a quick host alone, it gets jobs
    /// ahead of their turns, so that one can follow another without a claim in between.
    pub worker: Option<&'a str>,
}

/// A job that is ours until its lease ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimed {
    /// See [`NewJob::id`].
    pub id: String,
    /// See [`Lane::queue`].
    pub queue: String,
    /// See [`NewJob::kind`].
    pub kind: String,
    /// See [`Lane::team_id`].
    pub team_id: String,
    /// See [`Lane::id`].
    pub lane: String,
    /// See [`NewJob::payload`]; JSON text.
    pub payload: String,
    /// Which attempt this is, from 1.
    pub attempt: i32,
    /// See [`NewJob::max_attempts`].
    pub max_attempts: i32,
    /// See [`Claim::token`].
    pub token: String,
    /// See [`NewJob::host`].
    pub host: Option<String>,
    /// When to begin: politeness may ask for up to a second of patience.
    pub start_at: Timestamp,
    /// How many requests to its host the worker may run at a time, this one included; matters where it gave its name.
    pub host_slots: u32,
    /// When it was added.
    pub created_at: Timestamp,
}

/// What its holder says of a claimed job.
#[derive(Debug, Clone, Copy)]
pub struct Lease<'a> {
    /// See [`Claimed::id`].
    pub id: &'a str,
    /// See [`Claimed::token`].
    pub token: &'a str,
}

/// A claimed job that its holder ends.
#[derive(Debug, Clone, Copy)]
pub struct Held<'a> {
    /// Which. If it is not ours, nothing happens.
    pub lease: Lease<'a>,
    /// See [`Lane::queue`].
    pub queue: &'a str,
    /// See [`Claimed::team_id`].
    pub team_id: &'a str,
    /// How its host answered; `None` when it was not asked or nobody knows.
    pub answer: Option<HostAnswer>,
}

impl Claimed {
    /// The name under which to keep it.
    #[must_use]
    pub fn lease(&self) -> Lease<'_> {
        Lease { id: &self.id, token: &self.token }
    }

    /// The name under which to end it.
    #[must_use]
    pub fn held(&self, answer: Option<HostAnswer>) -> Held<'_> {
        Held { lease: self.lease(), queue: &self.queue, team_id: &self.team_id, answer }
    }
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

fn from_millis(millis: i64) -> Option<Duration> {
    u64::try_from(millis).ok().filter(|millis| *millis > 0).map(Duration::from_millis)
}
