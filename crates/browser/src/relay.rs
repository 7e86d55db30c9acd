//! Relay between a client of a session, such as Playwright's `connectOverCDP`, and its browser: calls are checked
//! ([`policy`]), and the client only receives what belongs to its session.

mod bounds;
mod call;
mod policy;
mod shared;
mod told;

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use base::json::MAX_VALUES;
use cdp::{CdpError, MAX_SAID, Passed, Raw, Session, Tap, What};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until, timeout};

pub(crate) use bounds::Bounds;
use call::{Call, FIRST_OWN_CALL, Params};
use shared::Shared;
pub use told::LARGE_MESSAGE;
use told::{answer, event, put};

/// Calls of one client in progress at the same time.
const MAX_OPEN: usize = 256;
/// Calls of one client per second; further ones wait for the next second.
const MAX_PER_SECOND: u32 = 3000;
/// Time limit for a client to read a message.
const PATIENCE: Duration = Duration::from_secs(30);
/// Open streams of one client.
const MAX_STREAMS: usize = 64;
/// Sessions that one client may have attached; those of pages and workers that attach automatically are not limited.
const MAX_SESSIONS: usize = 256;
/// Error code of the protocol for a refused call.
const REFUSED: i64 = -32000;

/// Connection to a client. Both channels should be short, so that a client that does not read is noticed.
pub struct Client {
    /// Messages from the client, one JSON object each.
    pub from: mpsc::Receiver<String>,
    /// Messages to the client.
    pub to: mpsc::Sender<String>,
}

/// Reason why a relay ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelayEnd {
    /// The client has disconnected.
    Left,
    /// The client does not read its messages.
    Slow,
    /// The client sent something that is not a call of the protocol.
    Garbled,
    /// The browser has ended.
    Gone,
}

/// State of one client's relay.
struct Relay<'a> {
    browser: &'a Session,
    tap: Tap,
    bounds: &'a Bounds,
    /// Sessions that the client may name: its own, and those attached below it.
    sessions: HashSet<Arc<str>>,
    /// Streams that the client has opened.
    streams: HashSet<String>,
    shared: Shared,
    /// Messages to the client that are sent next.
    outbox: VecDeque<String>,
    open: usize,
    /// Calls since `second`.
    calls: u32,
    second: Instant,
}

/// Relays messages until one side ends.
///
/// # Errors
/// The browser refused a session for the client.
pub(crate) async fn relay(browser: &Session, bounds: &Bounds, client: Client) -> Result<RelayEnd, CdpError> {
    // A root session for the client alone keeps its subscriptions and attachments apart from ours.
    let method = "Target.attachToBrowserTarget";
    let attached = browser.call(method, json!({})).await?;
    let lacking = || CdpError::Malformed { method: method.to_owned(), lacks: "sessionId" };
    let id = attached["sessionId"].as_str().ok_or_else(lacking)?.to_owned();
    let tap = browser.sibling(id.as_str()).tap(bounds.share.clone()).ok_or_else(lacking)?;
    let sessions = HashSet::from([Arc::clone(tap.session())]);
    let (streams, shared, outbox, second) = (HashSet::new(), Shared::default(), VecDeque::new(), Instant::now());
    let relay = Relay { browser, tap, bounds, sessions, streams, shared, outbox, open: 0, calls: 0, second };
    let detach = Detach { browser, id };
    let end = relay.run(client).await;
    drop(detach);
    Ok(end)
}

/// Detaches the client's session, and with it everything that the client has attached, when dropped.
struct Detach<'a> {
    browser: &'a Session,
    id: String,
}

impl Drop for Detach<'_> {
    fn drop(&mut self) {
        self.browser.post_now("Target.detachFromTarget", &json!({ "sessionId": self.id }));
    }
}

impl Relay<'_> {
    async fn run(mut self, mut client: Client) -> RelayEnd {
        loop {
            if self.second.elapsed() >= Duration::from_secs(1) {
                (self.second, self.calls) = (Instant::now(), 0);
            }
            // Backpressure: a client over one of its limits is not read from until it is within them again.
            let hurries = self.calls >= MAX_PER_SECOND;
            let debt = self.bounds.share.as_ref().map_or(Duration::ZERO, |share| share.debt());
            let listens = !hurries && debt.is_zero() && self.open < MAX_OPEN;
            tokio::select! {
                passed = self.tap.next() => match passed {
                    Some(passed) => if self.tell(passed).await.is_err() {
                        return RelayEnd::Gone;
                    },
                    None if self.browser.is_closed() => return RelayEnd::Gone,
                    None => return RelayEnd::Slow,
                },
                said = client.from.recv(), if listens => match said {
                    None => return RelayEnd::Left,
                    Some(said) => match Call::read(&said) {
                        None => return RelayEnd::Garbled,
                        Some(call) => if self.carry_out(call).await.is_err() {
                            return RelayEnd::Gone;
                        },
                    },
                },
                () = sleep(debt), if !debt.is_zero() => {}
                () = sleep_until(self.second + Duration::from_secs(1)), if hurries => {}
                () = client.to.closed() => return RelayEnd::Left,
            }
            while let Some(message) = self.outbox.pop_front() {
                match timeout(PATIENCE, put(&client.to, message)).await {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) => return RelayEnd::Left,
                    Err(_) => return RelayEnd::Slow,
                }
            }
        }
    }

    /// Forwards a call; a refused one is answered at once.
    async fn carry_out(&mut self, call: Call<'_>) -> Result<(), CdpError> {
        self.calls += 1;
        let Call { id, method, mut params, session } = call;
        let place = match &session {
            None => Some(self.tap.session()),
            Some(session) => self.sessions.get(session.as_str()),
        };
        let Some(place) = place.cloned() else {
            self.refuse(id, "Session with given id not found.", session.as_deref());
            return Ok(());
        };
        if let Err(why) = self.check(&place, &method, &mut params).await {
            self.refuse(id, &why, session.as_deref());
            return Ok(());
        }
        if !self.bounds.is_alone() && place == *self.tap.session() && method == "Target.setAutoAttach" {
            let attaches = params.read().is_ok_and(|params| params.get("autoAttach") == Some(&Value::Bool(true)));
            return self.attach_to_all(id, attaches).await;
        }
        match self.tap.call(&place, id, &method, &params.written()).await {
            Err(error @ CdpError::TooLong { .. }) => self.refuse(id, &error.to_string(), session.as_deref()),
            sent => {
                sent?;
                self.open += 1;
            }
        }
        Ok(())
    }

    fn refuse(&mut self, id: u64, why: &str, session: Option<&str>) {
        let error = json!({ "code": REFUSED, "message": why });
        self.outbox.push_back(answer(id, Err(&error.to_string()), session));
    }

    /// Checks whether a call may be carried out; adapts its parameters where that suffices.
    async fn check(&mut self, place: &Arc<str>, method: &str, params: &mut Params<'_>) -> Result<(), String> {
        if !self.bounds.is_alone() && params.len() > MAX_SAID {
            return Err(CdpError::TooLong { method: method.chars().take(64).collect(), limit: MAX_SAID }.to_string());
        }
        policy::check(method, params, self.bounds)?;
        if !self.bounds.is_alone() {
            shared::check(method, params, self.bounds, place == self.tap.session())?;
            self.check_target(method, params).await?;
        }
        self.check_state(method, params).await
    }

    /// In a shared browser, checks whether a named target or session belongs to the client.
    async fn check_target(&self, method: &str, params: &mut Params<'_>) -> Result<(), String> {
        if method == "Target.detachFromTarget" {
            let named = params.text("sessionId")?;
            let known = named.is_some_and(|id| self.sessions.contains(id) && id != &**self.tap.session());
            return if known { Ok(()) } else { Err("No session with given id".to_owned()) };
        }
        if !shared::OF_A_TARGET.contains(&method) {
            return Ok(());
        }
        let Some(target) = params.text("targetId")? else { return Ok(()) };
        let info = self.browser.call("Target.getTargetInfo", json!({ "targetId": target })).await;
        match info.is_ok_and(|info| self.bounds.has(&info["targetInfo"])) {
            true => Ok(()),
            false => Err("No target with given id found".to_owned()),
        }
    }

    /// Attaches the client to the pages of its context one by one, and answers its call when that is done.
    async fn attach_to_all(&mut self, id: u64, attaches: bool) -> Result<(), CdpError> {
        self.shared.attaches = attaches;
        let done = answer(id, Ok("{}"), None);
        if !attaches {
            self.outbox.push_back(done);
            return Ok(());
        }
        let found = self.browser.call("Target.getTargets", json!({ "filter": [{ "type": "page" }] })).await?;
        let ours = found["targetInfos"].as_array().into_iter().flatten().filter(|target| self.bounds.has(target));
        let ours: Vec<_> = ours.map(|target| target["targetId"].clone()).collect();
        let mut calls = HashSet::new();
        for target in ours {
            calls.insert(self.attach(&target).await?);
        }
        if calls.is_empty() {
            self.outbox.push_back(done);
        } else {
            self.shared.owe(calls, done);
        }
        Ok(())
    }

    /// Attaches the client to a page, as Chromium's auto-attach would. Returns the id of the call.
    async fn attach(&mut self, target: &Value) -> Result<u64, CdpError> {
        let (number, root) = (self.shared.number(), Arc::clone(self.tap.session()));
        let lacking = |_| CdpError::Malformed { method: "Target".to_owned(), lacks: "targetId" };
        let attach = to_raw_value(&json!({ "targetId": target, "flatten": true })).map_err(lacking)?;
        self.tap.call(&root, number, "Target.attachToTarget", &attach).await?;
        Ok(number)
    }

    /// Checks calls that depend on earlier calls of the client.
    async fn check_state(&mut self, method: &str, params: &mut Params<'_>) -> Result<(), String> {
        match method {
            "IO.read" | "IO.close" => {
                let handle = params.text("handle")?.unwrap_or_default();
                let known =
                    if method == "IO.close" { self.streams.remove(handle) } else { self.streams.contains(handle) };
                if known { Ok(()) } else { Err("Invalid stream handle".to_owned()) }
            }
            "Target.attachToTarget" | "Target.attachToBrowserTarget" | "Target.setAutoAttach"
                if self.sessions.len() >= MAX_SESSIONS =>
            {
                Err("too many sessions are attached, detach one of them".to_owned())
            }
            "Page.printToPDF" | "Fetch.takeResponseBodyAsStream" if self.streams.len() >= MAX_STREAMS => {
                Err("too many streams are open, close one of them".to_owned())
            }
            "Target.createTarget" => {
                let bounds = self.bounds;
                let most = if bounds.is_alone() { policy::MAX_TARGETS } else { shared::MAX_TARGETS };
                let counts = |target: &&Value| bounds.is_alone() || bounds.has(target);
                let targets = self.browser.call("Target.getTargets", json!({})).await;
                let count =
                    targets.ok().and_then(|all| Some(all["targetInfos"].as_array()?.iter().filter(counts).count()));
                match count {
                    Some(count) if count < most => Ok(()),
                    _ => Err(format!("the browser has {most} pages and workers, close one of them")),
                }
            }
            _ => Ok(()),
        }
    }

    /// Puts a message into the outbox. The client knows its own session without a name.
    async fn tell(&mut self, passed: Passed) -> Result<(), CdpError> {
        let session = passed.session.filter(|session| session != self.tap.session());
        match passed.what {
            What::Event { method, params } => {
                // Only events of the domain `Target` are parsed; all others are passed through.
                let of_targets = params.as_ref().filter(|_| method.starts_with("Target."));
                let read = of_targets.map_or(Value::Null, |params| params.read(MAX_VALUES).unwrap_or_default());
                self.follow(&method, &read);
                if self.hears(session.is_some(), &method, &read) {
                    self.outbox.push_back(event(&method, params.as_ref(), session.as_deref()));
                }
            }
            What::Answer { id, outcome, .. } if id >= FIRST_OWN_CALL => {
                if let Ok(result) = outcome {
                    self.note("Target.attachToTarget", &result);
                }
                self.outbox.extend(self.shared.answered(id));
            }
            What::Answer { id, method, outcome } => {
                self.open = self.open.saturating_sub(1);
                let outcome = outcome.map(|result| self.cut(&method, result));
                if let Ok(result) = &outcome {
                    self.note(&method, result);
                }
                let texts = outcome.as_ref().map(Raw::text).map_err(Raw::text);
                let message = answer(id, texts.as_deref().map_err(AsRef::as_ref), session.as_deref());
                // A client with auto-attach must learn of a new page before the call that created it is answered.
                match outcome {
                    Ok(result) if self.shared.attaches && method == "Target.createTarget" => {
                        let made: Value = result.read(MAX_VALUES).unwrap_or_default();
                        let attached = self.attach(&made["targetId"]).await?;
                        self.shared.owe(HashSet::from([attached]), message);
                    }
                    _ => self.outbox.push_back(message),
                }
            }
        }
        Ok(())
    }

    /// Removes what belongs to others from a result.
    fn cut(&self, method: &str, result: Raw) -> Raw {
        if self.bounds.is_alone() || !Shared::CUT.contains(&method) {
            return result;
        }
        // A result that is too large to parse is withheld.
        let mut read: Value = result.read(MAX_VALUES).unwrap_or_else(|_| json!({}));
        Shared::cut(method, &mut read, self.bounds);
        read.into()
    }

    /// Whether the client may receive an event of a page or of the browser itself.
    fn hears(&mut self, of_page: bool, method: &str, params: &Value) -> bool {
        let (bounds, shared) = (self.bounds, &mut self.shared);
        bounds.is_alone()
            || if of_page { shared.hears_of_page(method, params, bounds) } else { shared.hears(method, params, bounds) }
    }

    fn follow(&mut self, method: &str, params: &Value) {
        let Some(session) = params["sessionId"].as_str() else { return };
        match method {
            "Target.attachedToTarget" => {
                self.sessions.insert(Arc::from(session));
                // Sent before any call of the client, which may set another user agent.
                if params["targetInfo"]["type"] == "page" {
                    let page = self.browser.sibling(session);
                    page.post_now("Emulation.setUserAgentOverride", &self.bounds.agent);
                }
            }
            "Target.detachedFromTarget" => drop(self.sessions.remove(session)),
            _ => {}
        }
    }

    fn note(&mut self, method: &str, result: &Raw) {
        let noted = match method {
            "Target.attachToTarget" | "Target.attachToBrowserTarget" => "sessionId",
            "Page.printToPDF" | "Fetch.takeResponseBodyAsStream" => "stream",
            _ => return,
        };
        let result: Value = result.read(MAX_VALUES).unwrap_or_default();
        let Some(name) = result[noted].as_str() else { return };
        if noted == "stream" {
            self.streams.insert(name.to_owned());
        } else {
            self.sessions.insert(Arc::from(name));
        }
    }
}
