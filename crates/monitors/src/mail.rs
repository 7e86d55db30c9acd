//! Mails about checks, and those that ask a recipient for confirmation. Each is a job of a queue of its own, so that a mail
//! server that is slow or gone holds up nothing else.

mod at_end;
mod letter;
mod recipients;
mod subscribe;
#[cfg(test)]
mod tests;
mod view;

use std::collections::BTreeMap;
use std::time::Duration;

use ::runs::patience;
use base::{Timestamp, new_id};
use mail::{Letter, SendError};
use queue::{Failure, Finished, Handler, Lane, NewJob, Payload, Queue, Running};
use serde::{Deserialize, Serialize};
use store::mails::{self as rows, CheckMail};
use store::{Conn, StoreError, jobs};
use webhooks::ReceiverAnswer;

use crate::attempt::Outcome;
use crate::{Monitors, MonitorsError, metrics};

pub(crate) use at_end::tell;
pub(crate) use recipients::{Occasion, ask};
pub use subscribe::{Recipient, confirm, recipient, unsubscribe};
pub(crate) use view::{MailView, NO_SERVER, notification, view};

/// Queue of mails.
pub const MAILS: Queue = Queue { name: "mails", slots: 8 };

/// Maximum number of mails of a team at a time.
const TEAM_AT_ONCE: i32 = 4;

/// Payload of a mail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailPayload {
    /// Id of the monitor.
    pub(crate) monitor: String,
    /// Id of the check that it tells of; `None` for one that asks for confirmation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) check: Option<String>,
    /// Address of the recipient in lower case.
    pub(crate) to: String,
    /// Time of its cause, which is its date.
    pub(crate) at: Timestamp,
    /// Number of the attempt to hand it over, from 1.
    pub(crate) attempt: u32,
}

impl Payload for MailPayload {
    const KIND: &'static str = "monitor.mail";
    const QUEUE: Queue = MAILS;
    /// Number of worker crashes tolerated in one attempt. An answer of the mail server never fails the job.
    const ATTEMPTS: i32 = 20;
}

impl MailPayload {
    /// Word for metrics and logs.
    fn kind(&self) -> &'static str {
        if self.check.is_some() { "summary" } else { "confirmation" }
    }

    /// Returns the id of its lane: mails of a check, or those of a team that ask for confirmation.
    fn lane<'a>(&'a self, team: &'a str) -> &'a str {
        self.check.as_deref().unwrap_or(team)
    }

    fn job(&self, run_at: Timestamp) -> Result<NewJob, StoreError> {
        let cause = self.check.as_deref().unwrap_or("confirmation");
        // One attempt of a mail at a time.
        let unique_key = Some(format!("mail:{cause}:{}:{}", self.monitor, self.to));
        Ok(NewJob { unique_key, ..NewJob::of(new_id(), self, run_at)? })
    }
}

/// Returns a lane of mails.
fn lane<'a>(team: &'a str, id: &'a str) -> Lane<'a> {
    let (cap, delay) = (TEAM_AT_ONCE, Duration::ZERO);
    Lane { queue: MAILS.name, id, team_id: team, cap, team_cap: TEAM_AT_ONCE, delay }
}

/// Queues mails of one cause.
async fn enqueue(conn: &mut Conn, team: &str, mails: &[MailPayload], now: Timestamp) -> Result<(), StoreError> {
    let Some(first) = mails.first() else { return Ok(()) };
    let new = mails.iter().map(|mail| mail.job(now)).collect::<Result<Vec<_>, _>>()?;
    jobs::enqueue(conn, &lane(team, first.lane(team)), &new, now).await?;
    Ok(())
}

/// Handler of mails.
pub struct SendMail {
    /// Monitors that the mails tell of.
    pub monitors: Monitors,
}

impl Handler for SendMail {
    type Payload = MailPayload;
    type Done = Outcome;

    async fn run(&self, job: &Running<MailPayload>) -> Result<Outcome, Failure> {
        let app = self.monitors.app();
        let again = |error: MonitorsError| patience::again(app, job, &error, patience::PAUSE);
        let Some(parts) = self.monitors.mail() else {
            return Ok(Outcome::Failed { error: NO_SERVER.to_owned(), is_refused: false });
        };
        let written = letter::write(&self.monitors, parts, &job.team_id, &job.payload).await.map_err(again)?;
        let Some(written) = written else { return Ok(Outcome::Skipped) };
        let letter = Letter {
            key: &written.key,
            to: &written.to,
            content: written.content,
            unsubscribe: Some(&written.unsubscribe),
            date: job.payload.at,
        };
        Ok(match parts.mailer.send(&letter).await {
            Ok(()) => Outcome::Sent,
            Err(error) => outcome(&error, job.payload.attempt, app.now()),
        })
    }

    async fn commit(&self, conn: &mut Conn, done: &[&Finished<MailPayload, Outcome>]) -> Result<(), StoreError> {
        let now = self.monitors.app().now();
        let mut done: Vec<&Finished<MailPayload, Outcome>> = done.to_vec();
        done.sort_by(|one, other| key(one).cmp(&key(other)));
        let mut later: BTreeMap<(&str, &str), Vec<NewJob>> = BTreeMap::new();
        for Finished { job, done } in done.iter().copied() {
            note(conn, &job.team_id, &job.payload, done, now).await?;
            if let Outcome::Later { at, .. } = done {
                let next = MailPayload { attempt: job.payload.attempt + 1, ..job.payload.clone() };
                later.entry((job.team_id.as_str(), job.payload.lane(&job.team_id))).or_default().push(next.job(*at)?);
            }
        }
        for ((team, id), new) in later {
            jobs::enqueue(conn, &lane(team, id), &new, now).await?;
        }
        Ok(())
    }

    async fn give_up(&self, conn: &mut Conn, job: &Running<MailPayload>, error: &str) -> Result<(), StoreError> {
        let outcome = Outcome::Failed { error: error.to_owned(), is_refused: false };
        note(conn, &job.team_id, &job.payload, &outcome, self.monitors.app().now()).await
    }

    fn after_commit(&self, done: &[&Finished<MailPayload, Outcome>]) {
        for Finished { job, done } in done {
            let MailPayload { monitor, check, attempt, .. } = &job.payload;
            let (kind, result) = (job.payload.kind(), done.word());
            metrics::mailed(kind, result);
            // The address is private data, so it is not logged.
            match done {
                Outcome::Failed { error, .. } | Outcome::Later { error, .. } => {
                    tracing::warn!(monitor, check, kind, attempt, result, error, "a mail was not sent");
                }
                Outcome::Sent | Outcome::Skipped => tracing::debug!(monitor, check, kind, attempt, result, "mail"),
            }
        }
    }
}

/// Order in which rows are locked.
fn key(finished: &Finished<MailPayload, Outcome>) -> (Option<&str>, &str) {
    (finished.job.payload.check.as_deref(), &finished.job.payload.to)
}

/// Decides by the timetable of webhooks what follows attempt number `attempt`.
fn outcome(error: &SendError, attempt: u32, now: Timestamp) -> Outcome {
    let (SendError::Refused(reason) | SendError::Later(reason)) = error;
    if !error.is_temporary() {
        return Outcome::Failed { error: reason.clone(), is_refused: true };
    }
    Outcome::of(attempt, &ReceiverAnswer::default(), reason.clone(), now)
}

/// Writes the outcome of an attempt.
async fn note(
    conn: &mut Conn,
    team: &str,
    mail: &MailPayload,
    outcome: &Outcome,
    now: Timestamp,
) -> Result<(), StoreError> {
    let Some(check) = &mail.check else {
        // A recipient that this has not reached may be asked again, by the next check.
        if matches!(outcome, Outcome::Failed { is_refused: false, .. } | Outcome::Skipped) {
            rows::forget(conn, team, &mail.to).await?;
        }
        return Ok(());
    };
    let (status, error) = match outcome {
        Outcome::Sent => (rows::SENT, None),
        Outcome::Skipped => (rows::SKIPPED, None),
        Outcome::Failed { error, .. } => (rows::FAILED, Some(error.clone())),
        Outcome::Later { error, .. } => (rows::QUEUED, Some(error.clone())),
    };
    let row = CheckMail {
        check_id: check.clone(),
        address: mail.to.clone(),
        status: status.to_owned(),
        error,
        updated_at: now,
    };
    rows::end(conn, &row).await
}
