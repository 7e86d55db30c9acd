//! What a page asks for while it is waited for, without what it would go on asking for ever.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::Instant;

use super::patience::Evidence;
use crate::cdp::{Event, Events};
use crate::tab::{EVENT_STREAM, OpenRequest, ResourceKind, Tab};

/// An address that is asked more often is a poll.
const MAX_REPEATS: u32 = 4;
/// How many addresses and questions are told apart.
const MAX_KNOWN: usize = 2000;
/// How long an answer that has begun may go without a byte; after that it is a stream.
const MAX_PAUSE: Duration = Duration::from_millis(1500);
/// How long an answer may go on coming.
const MAX_ANSWER: Duration = Duration::from_secs(6);
/// How long a question without an answer holds up a page that shows what it has.
const MAX_QUESTION: Duration = Duration::from_secs(4);
/// The same for a page that shows little, or says that more is coming.
const MAX_URGENT_QUESTION: Duration = Duration::from_secs(12);
/// What that is.
const FEW_WORDS: usize = 25;

/// The requests of a page.
pub(super) struct Traffic<'t> {
    tab: &'t Tab,
    events: Events,
    /// How often each address was asked.
    repeats: HashMap<String, u32>,
    /// What was asked for and has not come yet.
    open: HashMap<Key, Asked>,
    streams: HashSet<Key>,
    answers: u64,
    last_sign: Instant,
    last_answer: Instant,
    last_failure: Option<Instant>,
}

/// Session and name of a request.
type Key = (Option<Arc<str>>, String);

struct Asked {
    is_poll: bool,
    /// Whether a script asked, and reads the answer.
    is_question: bool,
}

impl<'t> Traffic<'t> {
    pub(super) fn of(tab: &'t Tab) -> Self {
        let now = Instant::now();
        Self {
            tab,
            events: tab.session().events_of(&["Network."]),
            repeats: HashMap::new(),
            open: HashMap::new(),
            streams: HashSet::new(),
            answers: 0,
            last_sign: now,
            last_answer: now,
            last_failure: None,
        }
    }

    /// Another document: what was asked before is nobody's any more.
    pub(super) fn begin_document(&mut self) {
        self.drain();
        self.open.clear();
        self.streams.clear();
        self.answers = 0;
        self.last_failure = None;
        self.last_sign = Instant::now();
    }

    /// Reads what has happened since.
    pub(super) fn drain(&mut self) {
        while let Some(Some(event)) = self.events.next().now_or_never() {
            self.note(&event);
        }
    }

    fn note(&mut self, event: &Event) {
        let Some(id) = event.params["requestId"].as_str() else { return };
        let key = (event.session.clone(), id.to_owned());
        match event.method.as_str() {
            "Network.requestWillBeSent" => self.begin(key, event),
            "Network.webSocketCreated" => {
                self.streams.insert(key);
            }
            "Network.webSocketClosed" => {
                self.streams.remove(&key);
            }
            "Network.responseReceived" if event.params["response"]["mimeType"] == EVENT_STREAM => {
                self.open.remove(&key);
                self.streams.insert(key);
            }
            "Network.responseReceived"
                if event.params["response"]["status"].as_u64().is_some_and(|status| status >= 400)
                    && self.open.get(&key).is_some_and(|asked| asked.is_question) =>
            {
                self.last_failure = Some(Instant::now());
            }
            "Network.loadingFinished" => self.end(&key, false),
            "Network.loadingFailed" => self.end(&key, event.params["canceled"] != true),
            _ => {}
        }
    }

    fn begin(&mut self, key: Key, event: &Event) {
        let kind = ResourceKind::of(event.params["type"].as_str().unwrap_or_default());
        if kind == ResourceKind::EventSource {
            self.streams.insert(key);
            return;
        }
        if !kind.counts() || self.repeats.len() >= MAX_KNOWN || self.open.len() >= MAX_KNOWN {
            return;
        }
        let request = &event.params["request"];
        let address =
            address(request["method"].as_str().unwrap_or_default(), request["url"].as_str().unwrap_or_default());
        let count = self.repeats.entry(address).or_default();
        *count += 1;
        let is_poll = *count > MAX_REPEATS;
        if !is_poll {
            self.last_sign = Instant::now();
        }
        self.open.insert(key, Asked { is_poll, is_question: matches!(kind, ResourceKind::Xhr | ResourceKind::Fetch) });
    }

    fn end(&mut self, key: &Key, has_failed: bool) {
        self.streams.remove(key);
        let Some(asked) = self.open.remove(key).filter(|asked| !asked.is_poll) else { return };
        self.last_sign = Instant::now();
        if asked.is_question {
            self.answers += 1;
            self.last_answer = self.last_sign;
            if has_failed {
                self.last_failure = Some(self.last_sign);
            }
        }
    }

    /// How many questions of scripts were answered.
    pub(super) fn asked(&self) -> u64 {
        self.answers
    }

    pub(super) fn last_answer(&self) -> Instant {
        self.last_answer
    }

    /// When something began or ended that is no poll.
    pub(super) fn last_sign(&self) -> Instant {
        self.last_sign
    }

    /// Whether a question failed, and nothing has changed since.
    pub(super) fn has_failed_after(&self, change: Instant) -> bool {
        self.last_failure.is_some_and(|failure| failure >= self.last_answer.min(change))
    }

    /// Whether something is open that may send more at any time.
    pub(super) fn has_stream(&self) -> bool {
        !self.streams.is_empty()
    }

    /// Whether something is under way that the text may depend on and that will come to an end.
    pub(super) fn is_waiting(&self, now: Instant, seen: &Evidence) -> bool {
        let is_bare = seen.text.words < FEW_WORDS && !seen.has_changed && seen.asked == 0;
        let longest = if seen.text.is_loading || is_bare { MAX_URGENT_QUESTION } else { MAX_QUESTION };
        let polls = &self.repeats;
        self.tab
            .network()
            .open()
            .iter()
            .any(|request| request.counts() && !is_poll(polls, request) && is_hopeful(request, now, longest))
    }
}

/// A request whose end is to be expected.
fn is_hopeful(request: &OpenRequest, now: Instant, longest: Duration) -> bool {
    let age = now.saturating_duration_since(request.since);
    match request.answered {
        None => age < longest,
        Some(last) => now.saturating_duration_since(last) < MAX_PAUSE && age < MAX_ANSWER,
    }
}

fn is_poll(repeats: &HashMap<String, u32>, request: &OpenRequest) -> bool {
    let known = |method: &str| repeats.get(&address(method, &request.url)).copied().unwrap_or_default();
    known("GET").max(known("POST")) > MAX_REPEATS
}

/// An address as polls repeat it: numbers in it may count or tell the time, so long ones do not matter.
fn address(method: &str, url: &str) -> String {
    let mut text = String::with_capacity(url.len() + 8);
    text.push_str(method);
    text.push(' ');
    let mut digits = 0;
    for c in url.chars().take(500) {
        digits = if c.is_ascii_digit() { digits + 1 } else { 0 };
        // A time in seconds or more has ten digits.
        if digits <= 6 {
            text.push(c);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polls_are_told_by_their_address() {
        assert_eq!(address("GET", "/poll?t=1764000000123"), address("GET", "/poll?t=1764000000999"));
        assert_ne!(address("GET", "/list?page=2"), address("GET", "/list?page=3"));
        assert_ne!(address("GET", "/a"), address("POST", "/a"));
    }
}
