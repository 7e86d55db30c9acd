//! Relay of messages between a WebSocket and a session. Clients that do not read are disconnected.

use std::time::Duration;

use app::browser::{Door, Entrance};
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, close_code};
use browser::{Client, LARGE_MESSAGE, RelayEnd, Shown, Sight, Viewer};
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

/// Number of queued messages in each direction: few, for backpressure. A large message takes the whole queue.
const QUEUE: usize = 8;
/// Write timeout of one message.
const PATIENCE: Duration = Duration::from_secs(30);
/// Interval of pings.
const PING: Duration = Duration::from_secs(20);
/// Silence, including unanswered pings, after which the client counts as gone.
const SILENCE: Duration = Duration::from_secs(60);

/// Serves one WebSocket until either side ends.
pub(super) async fn carry(socket: WebSocket, entrance: Entrance) {
    match entrance.door() {
        Door::Cdp => carry_protocol(socket, &entrance).await,
        Door::View | Door::Control => carry_view(socket, &entrance).await,
    }
}

async fn carry_protocol(socket: WebSocket, entrance: &Entrance) {
    let (said, from) = mpsc::channel(QUEUE);
    let (to, mut hears) = mpsc::channel::<String>(QUEUE);
    let mut watcher = WatchSocket { socket, entrance, said, heard: Instant::now() };
    let relay = entrance.relay(Client { from, to });
    let pump = watcher.pump(&mut hears, |text: String| Message::Text(Utf8Bytes::from(text)));
    let end = tokio::select! {
        end = relay => Some(end),
        () = pump => None,
    };
    let (code, reason) = match end {
        None => return,
        Some(Ok(RelayEnd::Left)) => (close_code::NORMAL, ""),
        Some(Ok(RelayEnd::Slow)) => {
            (close_code::POLICY, "the client reads too slowly, or sends too many messages for a shared browser")
        }
        Some(Ok(RelayEnd::Garbled)) => (close_code::UNSUPPORTED, "not a message of the DevTools protocol"),
        Some(Ok(RelayEnd::Gone)) => (close_code::AWAY, "the session has ended"),
        Some(Err(_)) => (close_code::AGAIN, "the session accepts no more clients"),
    };
    watcher.close(code, reason).await;
}

async fn carry_view(socket: WebSocket, entrance: &Entrance) {
    let (said, from) = mpsc::channel(QUEUE);
    let (to, mut hears) = mpsc::channel::<Sight>(1);
    let may_steer = entrance.door() == Door::Control;
    let mut watcher = WatchSocket { socket, entrance, said, heard: Instant::now() };
    let left = u64::try_from(entrance.time_left().as_millis()).unwrap_or(u64::MAX);
    if !watcher.put(json_message(&json!({ "type": "session", "leftMs": left, "steers": may_steer }))).await {
        return;
    }
    let show = entrance.show(Viewer { from, to, may_steer });
    let pump = watcher.pump(&mut hears, seen);
    let shown = tokio::select! {
        shown = show => Some(shown),
        () = pump => None,
    };
    match shown {
        None => {}
        Some(Ok(())) => watcher.close(close_code::AWAY, "the session has ended").await,
        Some(Err(_)) => watcher.close(close_code::AGAIN, "the session accepts no more clients").await,
    }
}

/// Converts an update of the live view: frames are binary messages, everything else is JSON.
fn seen(sight: Sight) -> Message {
    match sight {
        Sight::Frame(frame) => Message::Binary(frame),
        Sight::Page(Shown { url, title }) => json_message(&json!({ "type": "page", "url": url, "title": title })),
    }
}

fn json_message(what: &Value) -> Message {
    Message::Text(Utf8Bytes::from(what.to_string()))
}

/// A WebSocket and the channel for its incoming messages.
struct WatchSocket<'a> {
    socket: WebSocket,
    entrance: &'a Entrance,
    said: mpsc::Sender<String>,
    /// Time of the client's last message or pong.
    heard: Instant,
}

impl WatchSocket<'_> {
    /// Relays until the client disconnects or does not read.
    async fn pump<T>(&mut self, hears: &mut mpsc::Receiver<T>, message: impl Fn(T) -> Message) {
        let mut pings = interval(PING);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // A message that waits for room in the channel. The socket is not read meanwhile, which gives the client
        // backpressure, but messages to the client still flow: a client that writes before it reads must not deadlock.
        let mut waiting: Option<Utf8Bytes> = None;
        let to = self.said.clone();
        loop {
            tokio::select! {
                place = to.reserve_many(places(&to, waiting.as_ref())), if waiting.is_some() => {
                    let Ok(Some(place)) = place.map(|mut places| places.next()) else { return };
                    place.send(waiting.take().map(|text| text.to_string()).unwrap_or_default());
                    self.heard = Instant::now();
                }
                said = self.socket.recv(), if waiting.is_none() => match said {
                    Some(Ok(Message::Text(text))) => {
                        self.note(true);
                        waiting = Some(text);
                    }
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => self.note(false),
                    _ => return,
                },
                heard = hears.recv() => match heard {
                    Some(heard) => if !self.put(message(heard)).await { return },
                    None => return std::future::pending().await,
                },
                _ = pings.tick() => {
                    // While a message waits, the socket is not read, so pongs cannot arrive.
                    let is_silent = waiting.is_none() && self.heard.elapsed() > SILENCE;
                    if is_silent || !self.put(Message::Ping(Bytes::new())).await {
                        return;
                    }
                }
            }
        }
    }

    /// Records a message. Pongs are not activity: a client that only answers pings lets the session time out.
    fn note(&mut self, is_activity: bool) {
        self.heard = Instant::now();
        if is_activity {
            self.entrance.touch();
        }
    }

    async fn put(&mut self, message: Message) -> bool {
        matches!(timeout(PATIENCE, self.socket.send(message)).await, Ok(Ok(())))
    }

    async fn close(&mut self, code: u16, reason: &'static str) {
        let frame = CloseFrame { code, reason: Utf8Bytes::from_static(reason) };
        let _ = self.put(Message::Close(Some(frame))).await;
    }
}

/// Returns the number of channel slots of a message: a large one takes all, so it is alone in memory.
fn places(to: &mpsc::Sender<String>, message: Option<&Utf8Bytes>) -> usize {
    let is_large = message.is_some_and(|text| text.len() > LARGE_MESSAGE);
    if is_large { to.max_capacity() } else { 1 }
}
