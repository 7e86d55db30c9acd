//! Delivery attempts: read, sign and send the event, and judge the answer. The outcome and the next attempt are written
//! in the transaction that ends the job.

use std::collections::BTreeMap;
use std::mem::take;
use std::sync::Arc;
use std::time::Duration;

use base::{Clock, Secret, Timestamp};
use chrono::TimeDelta;
use net::Client;
use queue::{Failure, Finished, Handler, NewJob, Payload, Queue, Running};
use serde::{Deserialize, Serialize};
use store::webhooks::{self as rows, Attempt, State};
use store::{Conn, Store, StoreError, jobs};
use tokio::time::Instant;
use url::Url;
use webhooks::{AttemptVerdict, Message, SigningSecret, headers, verdict};

use super::post::{Answered, ReceiverRequest, post};
use super::{HOOKS, attempt, lane, metrics, retry_lane};

/// Handler that delivers events to their receivers.
#[derive(Debug, Clone)]
pub struct Deliver {
    store: Store,
    clock: Arc<dyn Clock>,
    client: Client,
}

/// Payload of a delivery attempt.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DeliveryPayload {
    /// Id of the delivery.
    pub(super) delivery: String,
}

impl Payload for DeliveryPayload {
    const KIND: &'static str = "webhook";
    const QUEUE: Queue = HOOKS;
    /// Number of worker crashes tolerated in one attempt. An answer of the receiver never fails the job.
    const ATTEMPTS: i32 = 5;
}

/// Outcome of an attempt; `None` when the delivery was no longer pending.
#[derive(Debug)]
pub struct Attempted(Option<EndedAttempt>);

#[derive(Debug)]
struct EndedAttempt {
    /// Number of this attempt, from 1.
    attempt: i32,
    job_id: String,
    event: String,
    status: Option<u16>,
    error: Option<String>,
    verdict: AttemptVerdict,
    took: Duration,
    at: Timestamp,
}

impl Deliver {
    /// Creates a handler that sends through this client, whose rules decide which receivers may be reached.
    #[must_use]
    pub fn new(store: Store, clock: Arc<dyn Clock>, client: Client) -> Self {
        Self { store, clock, client }
    }

    async fn attempt(&self, delivery: &str) -> Result<Option<EndedAttempt>, StoreError> {
        let mut conn = self.store.conn().await?;
        let found = rows::for_attempt(&mut conn, delivery, self.clock.now()).await?;
        let Some((mut outgoing, stored)) = found.filter(|(outgoing, _)| outgoing.state == State::Pending) else {
            return Ok(None);
        };
        let stored = match stored {
            Some(stored) => stored,
            None => stored_secrets(&mut conn, &outgoing.team_id, self.clock.now()).await?,
        };
        let secrets = secrets(stored)?;
        // Release the connection: sending takes up to ten seconds.
        drop(conn);
        let (attempt, job_id) = (outgoing.attempts.saturating_add(1), take(&mut outgoing.job_id));
        let (event, started) = (take(&mut outgoing.event), Instant::now());
        let sent = match self.request(delivery, outgoing, &secrets) {
            Ok(request) => post(&self.client, &*self.clock, request).await,
            Err(error) => Answered::none(error),
        };
        let Answered { answer, error } = sent;
        let verdict = verdict(u32::try_from(attempt).unwrap_or(u32::MAX), &answer);
        let (took, at) = (started.elapsed(), self.clock.now());
        Ok(Some(EndedAttempt { attempt, job_id, event, status: answer.status, error, verdict, took, at }))
    }

    fn request(
        &self,
        id: &str,
        outgoing: rows::Outgoing,
        secrets: &[SigningSecret],
    ) -> Result<ReceiverRequest, String> {
        let own: BTreeMap<String, String> =
            serde_json::from_str(&outgoing.headers).map_err(|error| error.to_string())?;
        let url: Url = outgoing.url.parse().map_err(|error: url::ParseError| error.to_string())?;
        let message = Message { id, timestamp: self.clock.now().timestamp(), body: &outgoing.body, headers: &own };
        let headers = headers(&message, secrets);
        // Receivers recognise a repeat by `webhook-id`.
        Ok(ReceiverRequest { url, headers, body: outgoing.body, repeatable: true })
    }
}

impl EndedAttempt {
    fn next_at(&self) -> Option<Timestamp> {
        match self.verdict {
            AttemptVerdict::Retry(pause) => Some(self.at + TimeDelta::from_std(pause).unwrap_or_default()),
            AttemptVerdict::Delivered | AttemptVerdict::Failed => None,
        }
    }

    fn row<'a>(&'a self, delivery: &'a str) -> Attempt<'a> {
        Attempt {
            id: delivery,
            state: match self.verdict {
                AttemptVerdict::Delivered => State::Delivered,
                AttemptVerdict::Failed => State::Failed,
                AttemptVerdict::Retry(_) => State::Pending,
            },
            attempts: self.attempt,
            status: self.status.map(i32::from),
            error: self.error.as_deref(),
            duration_ms: i64::try_from(self.took.as_millis()).unwrap_or(i64::MAX),
            at: self.at,
            next_at: self.next_at(),
        }
    }
}

impl Handler for Deliver {
    type Payload = DeliveryPayload;
    type Done = Attempted;

    async fn run(&self, job: &Running<DeliveryPayload>) -> Result<Attempted, Failure> {
        match self.attempt(&job.payload.delivery).await {
            Ok(outcome) => Ok(Attempted(outcome)),
            // An error of this server says nothing about the delivery, so it is not recorded as an attempt.
            Err(error) => Err(Failure::retry(error.to_string())),
        }
    }

    async fn commit(&self, conn: &mut Conn, done: &[&Finished<DeliveryPayload, Attempted>]) -> Result<(), StoreError> {
        let outcomes: Vec<(&Finished<DeliveryPayload, Attempted>, &EndedAttempt)> =
            done.iter().filter_map(|finished| Some((*finished, finished.done.0.as_ref()?))).collect();
        let attempts: Vec<Attempt<'_>> =
            outcomes.iter().map(|(finished, outcome)| outcome.row(&finished.job.payload.delivery)).collect();
        let pending = rows::record(conn, &attempts).await?;
        let mut later: BTreeMap<(&str, &str), Vec<NewJob>> = BTreeMap::new();
        for (Finished { job, .. }, outcome) in outcomes {
            let id = &job.payload.delivery;
            if let Some(next_at) = outcome.next_at().filter(|_| pending.contains(id)) {
                let key = (job.team_id.as_str(), outcome.job_id.as_str());
                later.entry(key).or_default().push(attempt(id, 0, next_at)?);
            }
        }
        for ((team, job), attempts) in later {
            jobs::enqueue(conn, &lane(team, &retry_lane(job)), &attempts, self.clock.now()).await?;
        }
        Ok(())
    }

    async fn give_up(&self, conn: &mut Conn, job: &Running<DeliveryPayload>, error: &str) -> Result<(), StoreError> {
        let id = &job.payload.delivery;
        let Some(logged) = rows::find(conn, id).await? else { return Ok(()) };
        let attempt = Attempt {
            id,
            state: State::Failed,
            attempts: logged.attempts,
            status: None,
            error: Some(error),
            duration_ms: 0,
            at: self.clock.now(),
            next_at: None,
        };
        rows::record(conn, &[attempt]).await?;
        Ok(())
    }

    fn after_commit(&self, done: &[&Finished<DeliveryPayload, Attempted>]) {
        for Finished { job, done } in done {
            let Some(EndedAttempt { attempt, event, status, verdict, took, .. }) = &done.0 else { continue };
            let result = match verdict {
                AttemptVerdict::Delivered => "delivered",
                AttemptVerdict::Retry(_) => "retried",
                AttemptVerdict::Failed => "failed",
            };
            metrics::attempt(result, *took);
            // Neither the URL nor the answer is logged: both may hold private data.
            tracing::debug!(delivery = job.payload.delivery, event, attempt, status, result, "webhook attempt");
        }
    }
}

/// Parses the team's secrets, newest first.
fn secrets(stored: rows::Secrets) -> Result<Vec<SigningSecret>, StoreError> {
    let texts = std::iter::once(stored.current).chain(stored.previous.map(|(secret, _)| secret));
    let broken = |_| StoreError::Inconsistent("a webhook secret cannot be read".to_owned());
    texts.map(|text| SigningSecret::parse(text.expose()).map_err(broken)).collect()
}

/// Returns a team's stored secrets; creates the first one if it has none.
pub(super) async fn stored_secrets(conn: &mut Conn, team: &str, now: Timestamp) -> Result<rows::Secrets, StoreError> {
    if let Some(found) = rows::secrets(conn, team, now).await? {
        return Ok(found);
    }
    let fresh = Secret::new(SigningSecret::generate(rand::random()).text());
    rows::add_secret(conn, team, &fresh, now).await?;
    // Another process may have been first, so read what is stored.
    rows::secrets(conn, team, now).await?.ok_or(StoreError::UnknownTeam)
}
