//! Webhooks: [`emit`] an event in the transaction of what it tells of, and [`Deliver`] carries it to its receiver.
//!
//! [`Hook::check`] takes the hook of a request, and refuses an address that cannot be one. Events are emitted in the order
//! in which things happen. After the commit somebody wakes the queue `hooks`, or the event waits for the next poll: the
//! worker does after each commit of its jobs, the calls that begin and cancel a job do it themselves.
//!
//! A receiver hears of a job's start first and of its end last. It may hear of something twice: `webhookId` stays the
//! same then.

mod admin;
mod deliver;

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use base::{Timestamp, new_id};
use queue::{Lane, NewJob, Queue};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use store::webhooks::{self as rows, NewDelivery};
use store::{Conn, StoreError, jobs};
use url::Url;
use webhooks::{Event, address, body};
use wire::{Invalid, Phase, WebhookConfig, WebhookEvent};

use crate::AppError;

pub use admin::{deliveries, redeliver, rotate_secret, secret};
pub use deliver::{Attempted, Deliver, DeliveryPayload};

/// Delivering webhooks: a receiver that hangs takes no slot from a page.
pub(crate) const HOOKS: Queue = Queue { name: "hooks", slots: 256 };

/// Who wants to hear of a job's events.
#[derive(Clone)]
pub struct Hook {
    url: Url,
    headers: BTreeMap<String, String>,
    metadata: Map<String, Value>,
    /// Those that are wanted.
    events: Vec<WebhookEvent>,
    private: bool,
}

impl Hook {
    /// The hook that a request asks for, checked. A user name and password in its URL become a header, so that the URL
    /// can be shown and logged. Of a `private` job nothing may be kept (zero data retention): its deliveries leave the
    /// log as soon as they have ended, and cannot be sent again by hand.
    ///
    /// # Errors
    /// [`AppError::Invalid`] when the URL is not http or https, or has no host that could exist. Whether that host may
    /// be connected to is decided at each attempt, on the address that is dialled.
    pub fn check(config: Option<&WebhookConfig>, private: bool) -> Result<Option<Hook>, AppError> {
        let Some(config) = config else { return Ok(None) };
        let place = address(config.url.as_str()).map_err(|error| Invalid::at("webhook.url", error.to_string()))?;
        let mut headers = config.headers.clone();
        let has_credentials = headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"));
        if let Some(credentials) = place.authorization.filter(|_| !has_credentials) {
            headers.insert("Authorization".to_owned(), credentials);
        }
        let (metadata, events) = (config.metadata.clone(), config.events.clone());
        Ok(Some(Self { url: place.url, headers, metadata, events, private }))
    }
}

/// Writes down an event for a hook, if it wants events of this kind. Once the transaction is committed, the delivery is
/// certain to be tried. `job` is the id of the crawl or batch.
///
/// # Errors
/// [`StoreError`]: the transaction has to be given up, so that nothing happens that the receiver is not told.
#[expect(clippy::too_many_arguments, reason = "who is told, by whom, of what, when")]
#[crate::boxed]
pub async fn emit(
    conn: &mut Conn,
    hook: &Hook,
    team: &str,
    job: &str,
    event: &Event<'_>,
    now: Timestamp,
) -> Result<(), StoreError> {
    emit_all(conn, hook, Source { team, job }, std::slice::from_ref(event), now).await
}

/// Whose events they are.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The team's id.
    pub team: &'a str,
    /// The id of the crawl or batch.
    pub job: &'a str,
}

/// As [`emit`], for several events of one job at once: much faster for a batch of pages.
///
/// # Errors
/// As [`emit`].
pub async fn emit_all(
    conn: &mut Conn,
    hook: &Hook,
    source: Source<'_>,
    events: &[Event<'_>],
    now: Timestamp,
) -> Result<(), StoreError> {
    let (mut deliveries, mut jobs) = (Vec::new(), Vec::new());
    for event in events.iter().filter(|event| hook.events.contains(&event.event_type.word)) {
        let id = new_id().to_string();
        let broken = |error: serde_json::Error| StoreError::Inconsistent(format!("a webhook body: {error}"));
        let body = body(event, source.job, &id, &hook.metadata).map_err(broken)?;
        deliveries.push(NewDelivery {
            digest: hex::encode(Sha256::digest(&body)),
            body,
            team_id: source.team.to_owned(),
            job_id: source.job.to_owned(),
            event: event.event_type.to_string(),
            url: hook.url.to_string(),
            headers: serde_json::to_string(&hook.headers).map_err(broken)?,
            keep: !hook.private,
            created_at: now,
            id: id.clone(),
        });
        jobs.push(attempt(&id, phase(event.event_type.word.phase()), now)?);
    }
    if jobs.is_empty() {
        return Ok(());
    }
    // The queue's rows are locked first, as everywhere.
    jobs::enqueue(conn, &lane(source.team, source.job), &jobs, now).await?;
    rows::insert(conn, &deliveries).await
}

/// First attempts of a job's events: an event that waits for an earlier phase waits here.
fn lane<'a>(team: &'a str, id: &'a str) -> Lane<'a> {
    Lane { queue: HOOKS.name, id, team_id: team, cap: AT_ONCE, team_cap: TEAM_AT_ONCE, delay: Duration::ZERO }
}

/// Where later attempts stand: there is no order among them, and first ones do not wait for them.
fn retry_lane(job: &str) -> String {
    format!("{job}:retry")
}

/// The queue's job for the next attempt at a delivery. The unique key makes sure that there is one at a time.
fn attempt(delivery: &str, phase: i32, run_at: Timestamp) -> Result<NewJob, StoreError> {
    let unique_key = Some(format!("webhook:{delivery}"));
    let job = NewJob::of(new_id(), &DeliveryPayload { delivery: delivery.to_owned() }, run_at)?;
    Ok(NewJob { phase, unique_key, ..job })
}

/// How many deliveries of one job may be under way: a slow receiver holds up no more.
const AT_ONCE: i32 = 4;
/// How many deliveries of one team may be under way.
const TEAM_AT_ONCE: i32 = 16;

fn phase(phase: Phase) -> i32 {
    match phase {
        Phase::Start => 0,
        Phase::Progress => 1,
        Phase::End => 2,
    }
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hook").field("host", &self.url.host_str()).field("events", &self.events).finish_non_exhaustive()
    }
}
