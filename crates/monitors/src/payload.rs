//! Jobs of monitors: their queues, payloads and lanes. Those of mails and chat messages are beside their handlers.

use std::time::Duration;

use base::{Timestamp, new_id};
use queue::{Lane, NewJob, Payload, Queue};
use serde::{Deserialize, Serialize};
use store::{Conn, StoreError, jobs};

use crate::link::Link;

/// Queue of the fires of schedules and of searches, separate so that many monitors that are due at once hold up no crawl.
pub const MONITORS: Queue = Queue { name: "monitors", slots: 16 };
/// Queue of judgments.
pub const JUDGE: Queue = Queue { name: "judge", slots: 8 };

/// Maximum number of fires and searches of a team at a time, so that other teams have their turns.
const TEAM_AT_ONCE: i32 = 16;
/// Maximum number of fires and searches of a monitor at a time.
const MONITOR_AT_ONCE: i32 = 4;
/// Maximum number of judgments of a team at a time.
const JUDGMENTS_AT_ONCE: i32 = 4;

/// Payload of a fire.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FirePayload {
    /// Id of the monitor.
    pub(crate) monitor: String,
    /// Moment of the schedule.
    pub(crate) at: Timestamp,
}

impl Payload for FirePayload {
    const KIND: &'static str = "monitor.fire";
    const QUEUE: Queue = MONITORS;
    /// A fire that is given up is found by upkeep.
    const ATTEMPTS: i32 = 20;
}

/// Payload of a search.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SearchPayload {
    /// Id of the monitor.
    pub(crate) monitor: String,
    /// Id of the check.
    pub(crate) check: String,
    /// Id of the target.
    pub(crate) target: String,
    /// Position of the target.
    pub(crate) position: i32,
}

impl SearchPayload {
    /// Returns the payload for a part of a check.
    pub(crate) fn of(link: &Link) -> Self {
        let Link { monitor, check, target, position } = link.clone();
        Self { monitor, check, target, position }
    }

    /// Returns the part of the check that it searches for.
    pub(crate) fn link(&self) -> Link {
        let Self { monitor, check, target, position } = self.clone();
        Link { monitor, check, target, position }
    }

    /// Queues the search.
    ///
    /// # Errors
    /// [`StoreError`]; then the transaction must be rolled back.
    pub(crate) async fn enqueue(&self, conn: &mut Conn, team: &str, now: Timestamp) -> Result<(), StoreError> {
        let job = NewJob::of(new_id(), self, now)?;
        jobs::enqueue(conn, &lane(team, &self.monitor), &[job], now).await?;
        Ok(())
    }
}

impl Payload for SearchPayload {
    const KIND: &'static str = "monitor.search";
    const QUEUE: Queue = MONITORS;
    const ATTEMPTS: i32 = 3;
}

/// Payload of a judgment.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct JudgePayload {
    /// Id of the monitor.
    pub(crate) monitor: String,
    /// Id of the check.
    pub(crate) check: String,
    /// Id of the page.
    pub(crate) page: String,
}

impl JudgePayload {
    /// Queues judgments of pages. Must be called with the team locked in this queue.
    ///
    /// # Errors
    /// [`StoreError`]; then the transaction must be rolled back.
    pub(crate) async fn enqueue(
        conn: &mut Conn,
        team: &str,
        link: &Link,
        pages: &[&str],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let job = |page: &&str| {
            let Link { monitor, check, .. } = link;
            let payload = Self { monitor: monitor.clone(), check: check.clone(), page: (*page).to_owned() };
            NewJob::of(new_id(), &payload, now)
        };
        let new: Vec<NewJob> = pages.iter().map(job).collect::<Result<_, _>>()?;
        let (cap, delay) = (JUDGMENTS_AT_ONCE, Duration::ZERO);
        let lane = Lane { queue: JUDGE.name, id: &link.check, team_id: team, cap, team_cap: cap, delay };
        jobs::enqueue(conn, &lane, &new, now).await?;
        Ok(())
    }
}

impl Payload for JudgePayload {
    const KIND: &'static str = "monitor.judge";
    const QUEUE: Queue = JUDGE;
    const ATTEMPTS: i32 = 3;
}

/// Returns the lane of the fires and searches of a monitor.
pub(crate) fn lane<'a>(team: &'a str, monitor: &'a str) -> Lane<'a> {
    let (cap, delay) = (MONITOR_AT_ONCE, Duration::ZERO);
    Lane { queue: MONITORS.name, id: monitor, team_id: team, cap, team_cap: TEAM_AT_ONCE, delay }
}
