//! Messages about checks to the chat channels of a team, told when mails are. Each is a job of a queue of its own, so that
//! a chat server that is slow or gone holds up nothing else.

mod message;
mod plain;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

use ::runs::patience;
use ::runs::webhooks::{ReceiverRequest, post};
use base::{Timestamp, new_id};
use queue::{Failure, Finished, Handler, Lane, NewJob, Payload, Queue, Running};
use serde::{Deserialize, Serialize};
use store::chats as rows;
use store::monitors::{self as monitor_rows, Check, Monitor};
use store::{Conn, StoreError, jobs};
use url::Url;
use wire::ChatKind;

use crate::attempt::Outcome;
use crate::told::{changes, silent, told};
use crate::{Monitors, MonitorsError, metrics};

/// Queue of messages to chat channels.
pub const CHATS: Queue = Queue { name: "chats", slots: 8 };

/// Maximum number of messages of a team at a time.
const TEAM_AT_ONCE: i32 = 4;
const AGENT: &str = concat!("quarry-chat/", env!("CARGO_PKG_VERSION"));

/// Payload of a message to a chat channel. The URL of the channel is a secret, so it is read when the message is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatPayload {
    /// Id of the monitor.
    pub(crate) monitor: String,
    /// Id of the check that it tells of.
    pub(crate) check: String,
    /// Id of the channel.
    pub(crate) channel: String,
    /// Number of the attempt to send it, from 1.
    pub(crate) attempt: u32,
}

impl Payload for ChatPayload {
    const KIND: &'static str = "monitor.chat";
    const QUEUE: Queue = CHATS;
    /// Number of worker crashes tolerated in one attempt. An answer of the chat server never fails the job.
    const ATTEMPTS: i32 = 20;
}

impl ChatPayload {
    fn job(&self, run_at: Timestamp) -> Result<NewJob, StoreError> {
        // One attempt of a message at a time.
        let unique_key = Some(format!("chat:{}:{}", self.check, self.channel));
        Ok(NewJob { unique_key, ..NewJob::of(new_id(), self, run_at)? })
    }
}

/// Returns the lane of the messages about a check.
fn lane<'a>(team: &'a str, check: &'a str) -> Lane<'a> {
    let (cap, delay) = (TEAM_AT_ONCE, Duration::ZERO);
    Lane { queue: CHATS.name, id: check, team_id: team, cap, team_cap: TEAM_AT_ONCE, delay }
}

/// Queues the messages about a check that has ended, one for each channel of its team, whether the monitor wants mails or
/// not.
///
/// # Errors
/// [`StoreError`]; then the transaction must be rolled back.
pub(crate) async fn tell(conn: &mut Conn, monitor: &Monitor, check: &Check, now: Timestamp) -> Result<(), StoreError> {
    let channels = rows::of_team(conn, &monitor.team_id).await?;
    if channels.is_empty() || silent(conn, check).await?.is_some() {
        return Ok(());
    }
    let message = |channel: rows::ChatChannel| {
        let (monitor, check) = (monitor.id.clone(), check.id.clone());
        ChatPayload { monitor, check, channel: channel.id, attempt: 1 }.job(now)
    };
    let new = channels.into_iter().map(message).collect::<Result<Vec<_>, _>>()?;
    jobs::enqueue(conn, &lane(&monitor.team_id, &check.id), &new, now).await?;
    Ok(())
}

/// Handler of messages to chat channels.
pub struct SendChat {
    /// Monitors that the messages tell of.
    pub monitors: Monitors,
}

/// Ended attempt to send a message.
#[derive(Debug)]
pub struct Chatted {
    /// Kind of the channel; `None` for one that is gone.
    kind: Option<ChatKind>,
    outcome: Outcome,
}

/// Message with its channel.
struct Written {
    kind: ChatKind,
    request: ReceiverRequest,
}

impl SendChat {
    /// Writes a message; `None` if its channel, its monitor or its check is gone.
    async fn write(&self, team: &str, chat: &ChatPayload) -> Result<Option<Written>, MonitorsError> {
        let mut conn = self.monitors.app().conn().await?;
        let Some(channel) = rows::find(&mut conn, team, &chat.channel).await? else { return Ok(None) };
        let Some(monitor) = monitor_rows::find(&mut conn, team, &chat.monitor).await? else { return Ok(None) };
        let Some(check) = monitor_rows::check(&mut conn, &monitor.id, &chat.check).await? else { return Ok(None) };
        let kind = ChatKind::ALL.iter().copied().find(|kind| kind.as_str() == channel.kind);
        let (Some(kind), Ok(url)) = (kind, Url::parse(channel.url.expose())) else { return Ok(None) };
        let pages = changes(&mut conn, &check, message::MAX_PAGES).await?;
        let pages: Vec<_> = pages.iter().map(|page| told(page, None)).collect();
        let body = message::body(kind, &monitor.name, &check, &pages).to_string().into_bytes();
        let headers = [("Content-Type", "application/json"), ("User-Agent", AGENT)];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        // A chat server does not know a repeat.
        Ok(Some(Written { kind, request: ReceiverRequest { url, headers, body, repeatable: false } }))
    }
}

impl Handler for SendChat {
    type Payload = ChatPayload;
    type Done = Chatted;

    async fn run(&self, job: &Running<ChatPayload>) -> Result<Chatted, Failure> {
        let app = self.monitors.app();
        let again = |error: MonitorsError| patience::again(app, job, &error, patience::PAUSE);
        let written = self.write(&job.team_id, &job.payload).await.map_err(again)?;
        let Some(Written { kind, request }) = written else {
            return Ok(Chatted { kind: None, outcome: Outcome::Skipped });
        };
        let answered = post(app.client(), &**app.clock(), request).await;
        // The text of an answer is left out: it may repeat the URL.
        let error = answered.answer.status.map(|status| format!("status {status}")).or(answered.error);
        let outcome = Outcome::of(job.payload.attempt, &answered.answer, error.unwrap_or_default(), app.now());
        Ok(Chatted { kind: Some(kind), outcome })
    }

    async fn commit(&self, conn: &mut Conn, done: &[&Finished<ChatPayload, Chatted>]) -> Result<(), StoreError> {
        let mut later: BTreeMap<(&str, &str), Vec<NewJob>> = BTreeMap::new();
        for Finished { job, done } in done {
            if let Outcome::Later { at, .. } = done.outcome {
                let next = ChatPayload { attempt: job.payload.attempt + 1, ..job.payload.clone() };
                later.entry((job.team_id.as_str(), job.payload.check.as_str())).or_default().push(next.job(at)?);
            }
        }
        for ((team, check), new) in later {
            jobs::enqueue(conn, &lane(team, check), &new, self.monitors.app().now()).await?;
        }
        Ok(())
    }

    fn after_commit(&self, done: &[&Finished<ChatPayload, Chatted>]) {
        for Finished { job, done } in done {
            let ChatPayload { monitor, check, channel, attempt } = &job.payload;
            let (kind, result) = (done.kind.map_or("none", ChatKind::as_str), done.outcome.word());
            metrics::chatted(kind, result);
            match &done.outcome {
                Outcome::Failed { error, .. } | Outcome::Later { error, .. } => {
                    tracing::warn!(
                        monitor,
                        check,
                        channel,
                        kind,
                        attempt,
                        result,
                        error,
                        "a chat message was not sent"
                    );
                }
                Outcome::Sent | Outcome::Skipped => {
                    tracing::debug!(monitor, check, channel, kind, attempt, result, "chat message");
                }
            }
        }
    }
}
