//! Webhooks: [`emit`] writes an event in the transaction of its cause, and [`Deliver`] delivers it to its receiver.
//!
//! [`Hook::check`] validates the webhook of a request. Events are emitted in the order in which things happen. After
//! the commit the queue `hooks` has to be woken, or the event waits for the next poll: workers do so after each commit
//! of their jobs; calls that start or cancel a job do it themselves.
//!
//! A receiver gets a job's start first and its end last. Events may be delivered more than once, with the same
//! `webhookId`.

mod admin;
mod deliver;
mod metrics;
mod post;

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use base::{Timestamp, new_id};
use kernel::AppError;
use queue::{Lane, NewJob, Queue};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use store::webhooks::{self as rows, NewDelivery};
use store::{Conn, StoreError, jobs};
use url::Url;
use webhooks::{Event, address, body};
use wire::{EventType, Invalid, Phase, WebhookConfig};

pub use admin::{deliveries, redeliver, rotate_secret, secret};
pub use deliver::{Attempted, Deliver, DeliveryPayload};
pub use post::{Answered, ReceiverRequest, post};

/// Queue of webhook deliveries, separate so that a slow receiver takes no slot from pages.
pub const HOOKS: Queue = Queue { name: "hooks", slots: 256 };

/// Receiver of a job's events.
#[derive(Clone)]
pub struct Hook {
    url: Url,
    headers: BTreeMap<String, String>,
    metadata: Map<String, Value>,
    /// Events to deliver.
    events: Vec<EventType>,
    private: bool,
}

impl Hook {
    /// Validates the webhook of a request. A user name and password in its URL become a header, so that the URL can be
    /// shown and logged. Deliveries of a `private` job (zero data retention) are removed from the log as soon as they
    /// have ended, and cannot be sent again by hand.
    ///
    /// # Errors
    /// [`AppError::Invalid`] when the URL is not http or https, or its host is not valid. Whether that host may be
    /// connected to is decided at each attempt, on the address that is dialled.
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

/// Writes an event for a webhook, if it subscribes to events of this kind. Once the transaction is committed, delivery
/// will be attempted. `job` is the id of the crawl or batch.
///
/// # Errors
/// [`StoreError`]; then the transaction must be rolled back, so that nothing happens without its event.
#[expect(clippy::too_many_arguments, reason = "receiver, sender, event and time belong together")]
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

/// Source of events.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Id of the team.
    pub team: &'a str,
    /// Id of the crawl or batch.
    pub job: &'a str,
}

/// Writes several events of one job as [`emit`] does, much faster for a batch of pages.
///
/// # Errors
/// Errors of [`emit`].
pub async fn emit_all(
    conn: &mut Conn,
    hook: &Hook,
    source: Source<'_>,
    events: &[Event<'_>],
    now: Timestamp,
) -> Result<(), StoreError> {
    let (mut deliveries, mut jobs) = (Vec::new(), Vec::new());
    for event in events.iter().filter(|event| hook.events.contains(&event.event_type)) {
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
        jobs.push(attempt(&id, phase(event.event_type.phase()), now)?);
    }
    if jobs.is_empty() {
        return Ok(());
    }
    // The queue's rows are locked first, as in all transactions: another order could deadlock.
    jobs::enqueue(conn, &lane(source.team, source.job), &jobs, now).await?;
    rows::insert(conn, &deliveries).await
}

/// Returns the lane for first attempts of a job's events: here an event waits for those of an earlier phase.
fn lane<'a>(team: &'a str, id: &'a str) -> Lane<'a> {
    Lane { queue: HOOKS.name, id, team_id: team, cap: AT_ONCE, team_cap: TEAM_AT_ONCE, delay: Duration::ZERO }
}

/// Returns the lane for retries: they have no order, and first attempts do not wait for them.
fn retry_lane(job: &str) -> String {
    format!("{job}:retry")
}

/// Builds the queue job for the next attempt at a delivery. Its unique key allows one at a time.
fn attempt(delivery: &str, phase: i32, run_at: Timestamp) -> Result<NewJob, StoreError> {
    let unique_key = Some(format!("webhook:{delivery}"));
    let job = NewJob::of(new_id(), &DeliveryPayload { delivery: delivery.to_owned() }, run_at)?;
    Ok(NewJob { phase, unique_key, ..job })
}

/// Maximum number of concurrent deliveries of one job, so that a slow receiver blocks no more.
const AT_ONCE: i32 = 4;
/// Maximum number of concurrent deliveries of one team.
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
