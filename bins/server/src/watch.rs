//! The watcher: a WebSocket on the path of a job that sends documents as they arrive (docs/CONTRACT.md, "Watcher").
//!
//! Each watcher reads the job from its own position, when notified and every few seconds. A slow client therefore delays no
//! other and needs no buffer; it is disconnected when it reads nothing for [`PATIENCE`].

use std::sync::Arc;
use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::http::header;
use axum::http::request::Parts;
use axum::response::Response;
use serde_json::value::RawValue;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use wire::{Code, JobProgress, JobStatus, ResultsQuery, WatchMessage};

use crate::Service;
use crate::error::Failure;
use crate::job::{RunRequest, Runs, body};
use crate::response_budget::Permit;
use crate::shares::{Share, Shares};

/// Maximum number of open watchers.
const MAX_WATCHERS: usize = 4096;
/// Maximum number of open watchers of one team, or of one address without a key.
const MAX_OF_ONE: usize = 256;
/// Number of documents per read.
const CHUNK: u32 = 20;
/// Shortest polling interval. It doubles up to [`MAX_POLL`] while nothing changes. Changes by this process notify the
/// watcher; polling finds changes by other processes.
const POLL: Duration = Duration::from_secs(1);
/// Longest polling interval.
const MAX_POLL: Duration = Duration::from_secs(4);
/// Interval of pings.
const PING: Duration = Duration::from_secs(20);
/// Silence, including unanswered pings, after which the client counts as gone.
const SILENCE: Duration = Duration::from_secs(60);
/// Write timeout for the documents of one read.
const PATIENCE: Duration = Duration::from_secs(30);
/// Write timeout for the message that the key was revoked.
const FAREWELL: Duration = Duration::from_secs(1);
/// Byte limit of a client's message; clients send only control frames.
const MAX_MESSAGE: usize = 64 * 1024;

/// The open watchers of a service.
#[derive(Debug)]
pub(crate) struct Watchers {
    slots: Shares,
    open: TaskTracker,
    stop: CancellationToken,
}

impl Default for Watchers {
    fn default() -> Self {
        Self { slots: Shares::new(MAX_WATCHERS, MAX_OF_ONE), open: TaskTracker::new(), stop: CancellationToken::new() }
    }
}

impl Watchers {
    /// Ends all watchers. Their clients reconnect to another server, or poll.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
        self.open.close();
    }

    /// Returns when the last watcher has ended.
    pub(crate) async fn ended(&self) {
        self.open.wait().await;
    }
}

/// Reads the handshake (RFC 6455 section 4.2) and accepts the first subprotocol offered: an official client sends its key
/// there and gives up when the server does not echo it.
pub(crate) async fn handshake(parts: &mut Parts, service: &Arc<Service>) -> Result<WebSocketUpgrade, Failure> {
    let offered = parts.headers.get(header::SEC_WEBSOCKET_PROTOCOL).and_then(|value| value.to_str().ok());
    let first = offered.and_then(|list| list.split(',').next()).map(|name| name.trim().to_owned());
    let upgrade = WebSocketUpgrade::from_request_parts(parts, service).await;
    let upgrade =
        upgrade.map_err(|error| Failure::new(Code::BadRequest, format!("invalid WebSocket handshake: {error}")))?;
    Ok(upgrade.protocols(first).max_message_size(MAX_MESSAGE).max_frame_size(MAX_MESSAGE))
}

/// Opens the WebSocket if the caller may read the job.
pub(crate) async fn watch(upgrade: WebSocketUpgrade, runs: Runs, request: RunRequest) -> Result<Response, Failure> {
    let Some(slot) = request.service.watchers.slots.get(&request.reader) else {
        return Err(Failure::new(Code::ConcurrencyLimited, "too many jobs are being watched").retry_after(5));
    };
    // Checked before the upgrade, while a refusal can still have an HTTP status.
    runs.status(&request, ResultsQuery { skip: Some(0), limit: Some(1) }).await?;
    let open = request.service.watchers.open.clone();
    Ok(upgrade.on_upgrade(move |socket| {
        open.track_future(Watcher { socket, runs, request, sent: 0, failure: None, slot }.run())
    }))
}

struct Watcher {
    socket: WebSocket,
    runs: Runs,
    request: RunRequest,
    /// Number of documents sent.
    sent: u64,
    /// Error of a failed job.
    failure: Option<String>,
    #[expect(dead_code, reason = "held as long as the watcher lives")]
    slot: Share,
}

/// Reason for the end of a watcher.
enum EndReason {
    /// The client has disconnected or does not read.
    Gone,
    /// All messages were sent.
    Told,
    /// The service is shutting down or cannot continue.
    Broken(&'static str),
    /// The client's API key was revoked.
    Revoked,
}

impl Watcher {
    async fn run(mut self) {
        let stop = self.request.service.watchers.stop.clone();
        let key = self.request.service.operations.app.hold_key(self.request.caller.key.as_deref());
        let end = tokio::select! {
            end = stop.run_until_cancelled(self.send_all()) => end.unwrap_or(Ok(EndReason::Broken("the server is shutting down"))),
            () = key.revoked() => Ok(EndReason::Revoked),
        };
        let (code, reason) = match end {
            Ok(EndReason::Gone) => return,
            Ok(EndReason::Revoked) => return self.end_for_key().await,
            Ok(EndReason::Told) => (close_code::NORMAL, ""),
            Ok(EndReason::Broken(reason)) => (close_code::AWAY, reason),
            // No error message: clients would take it for a failure of the job, which still runs. They reconnect instead.
            Err(failure) if failure.is_outage() => (close_code::AWAY, "the job cannot be read at the moment"),
            Err(failure) => {
                let error = failure.to_string();
                let _ = self.send(&WatchMessage::Error { error: &error }).await;
                (close_code::ERROR, "")
            }
        };
        let frame = CloseFrame { code, reason: reason.into() };
        let _ = timeout(PATIENCE, self.socket.send(Message::Close(Some(frame)))).await;
    }

    /// Ends a watcher whose key was revoked, with a short write timeout.
    async fn end_for_key(mut self) {
        let reason = "this API key was revoked";
        let ending = async {
            let _ = self.send(&WatchMessage::Error { error: reason }).await;
            let frame = CloseFrame { code: close_code::POLICY, reason: reason.into() };
            let _ = self.socket.send(Message::Close(Some(frame))).await;
        };
        let _ = timeout(FAREWELL, ending).await;
    }

    /// Sends the catch-up message, then every document, then the final message.
    async fn send_all(&mut self) -> Result<EndReason, Failure> {
        let mut changes = self.request.service.operations.runs.watch(self.request.id);
        let permit = self.permit().await;
        let (mut progress, mut more) = self.read_progress().await?;
        if !self.catch_up(&mut progress, more).await {
            return Ok(EndReason::Gone);
        }
        drop(permit);
        let mut pings = interval(PING);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut heard, mut pause) = (Instant::now(), POLL);
        loop {
            if progress.status.is_final() && !more {
                return Ok(if self.end(&progress).await { EndReason::Told } else { EndReason::Gone });
            }
            if !more {
                tokio::select! {
                    _ = changes.changed() => pause = POLL,
                    () = tokio::time::sleep(pause) => pause = (pause * 2).min(MAX_POLL),
                    message = self.socket.recv() => match message {
                        Some(Ok(Message::Close(_)) | Err(_)) | None => return Ok(EndReason::Gone),
                        Some(Ok(_)) => {
                            heard = Instant::now();
                            continue;
                        }
                    },
                    _ = pings.tick() => {
                        let sent = self.put(Message::Ping(Default::default())).await;
                        if !sent || heard.elapsed() > SILENCE {
                            return Ok(EndReason::Gone);
                        }
                        continue;
                    }
                }
            }
            let _permit = self.permit().await;
            let before = self.sent;
            (progress, more) = self.read_progress().await?;
            if !in_time(self.documents(std::mem::take(&mut progress.data))).await {
                return Ok(EndReason::Gone);
            }
            if self.sent > before {
                pause = POLL;
            }
        }
    }

    /// Waits for a permit, since documents are in memory from the read until they are sent.
    async fn permit(&mut self) -> Permit {
        self.request.service.response_budget.wait(&format!("{} watches", self.request.reader)).await
    }

    /// Returns the status of the job with the next documents, and whether more follow.
    async fn read_progress(&mut self) -> Result<(JobProgress, bool), Failure> {
        let query = ResultsQuery { skip: Some(self.sent), limit: Some(CHUNK) };
        let progress = self.runs.status(&self.request, query).await?;
        let more = progress.next_skip.is_some();
        self.failure.clone_from(&progress.error);
        Ok((body(progress, None, self.request.service.operations.app.now()), more))
    }

    /// Sends the first message. Clients take a final status in it for the end, so it has one only when no document follows.
    async fn catch_up(&mut self, progress: &mut JobProgress, more: bool) -> bool {
        let status = progress.status;
        if more {
            progress.status = JobStatus::Scraping;
        }
        let sent = self.send(&WatchMessage::Catchup { data: progress }).await;
        progress.status = status;
        self.sent += progress.data.len() as u64;
        progress.data.clear();
        sent
    }

    async fn documents(&mut self, documents: Vec<Box<RawValue>>) -> bool {
        for document in documents {
            if !self.send(&WatchMessage::Document { data: &document }).await {
                return false;
            }
            self.sent += 1;
        }
        true
    }

    /// Sends the last message. The contract has none for cancelled jobs: clients recognise them by the status.
    async fn end(&mut self, progress: &JobProgress) -> bool {
        match progress.status {
            JobStatus::Failed => {
                let error = self.failure.take().unwrap_or_else(|| "the job has failed".to_owned());
                self.send(&WatchMessage::Error { error: &error }).await
            }
            JobStatus::Cancelled => self.put_json(progress).await,
            JobStatus::Completed | JobStatus::Scraping => self.send(&WatchMessage::Done { data: progress }).await,
        }
    }

    async fn send(&mut self, message: &WatchMessage<'_>) -> bool {
        self.put_json(message).await
    }

    async fn put_json(&mut self, message: &impl serde::Serialize) -> bool {
        match serde_json::to_string(message) {
            Ok(text) => self.put(Message::Text(text.into())).await,
            Err(_) => false,
        }
    }

    /// Sends a message; returns whether the client read it in time.
    async fn put(&mut self, message: Message) -> bool {
        let socket = &mut self.socket;
        in_time(async { socket.send(message).await.is_ok() }).await
    }
}

async fn in_time(sending: impl Future<Output = bool>) -> bool {
    timeout(PATIENCE, sending).await.unwrap_or(false)
}
