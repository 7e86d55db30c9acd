//! Requests of a page during the wait, without endless ones.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use cdp::{Event, Events};
use futures_util::FutureExt;
use tokio::time::Instant;

use super::habits::{Habits, Sort};
use super::patience::{self, Evidence};
use crate::tab::{Address, EVENT_STREAM, Key, OpenRequest, ResourceKind, Tab};

/// Maximum number of requests that are tracked.
const MAX_KNOWN: usize = 2000;
/// Pause within an answer after which it counts as a stream.
const MAX_PAUSE: Duration = Duration::from_millis(1500);
/// Time for which an answer may keep arriving.
const MAX_ANSWER: Duration = Duration::from_secs(6);
/// Time for which an answer may trickle in without changing the text.
const MAX_DROPS: Duration = Duration::from_millis(1500);
/// Bytes per second below which an answer trickles.
const DROPS: f64 = 2048.0;

/// Requests of a page.
pub(super) struct Traffic<'t> {
    tab: &'t Tab,
    events: Events,
    habits: Habits,
    /// Time of the text's last change, as last reported.
    change: Instant,
    /// Requests without a complete answer.
    open: HashMap<Key, Asked>,
    streams: HashSet<Key>,
    answers: u64,
    /// Times of the last request or answer that was a question or doubtful.
    last_sign: Instant,
    last_doubt: Instant,
    /// Time of the last request or answer that was a poll.
    last_poll: Instant,
    last_answer: Instant,
    last_failure: Option<Failure>,
}

/// A failed request.
struct Failure {
    place: u64,
    at: Instant,
}

struct Asked {
    sort: Sort,
    address: Address,
    /// Whether a script sent it and reads the answer.
    is_question: bool,
    /// Whether the answer is an error.
    has_failed: bool,
}

impl Asked {
    /// Whether its answer says something about the page.
    fn counts(&self) -> bool {
        self.is_question && self.sort != Sort::Poll
    }
}

impl<'t> Traffic<'t> {
    pub(super) fn of(tab: &'t Tab) -> Self {
        let now = Instant::now();
        Self {
            tab,
            events: tab.session().events_of(&["Network."]),
            habits: Habits::default(),
            change: now,
            open: HashMap::new(),
            streams: HashSet::new(),
            answers: 0,
            last_sign: now,
            last_doubt: now,
            last_poll: now,
            last_answer: now,
            last_failure: None,
        }
    }

    /// Forgets the requests of the previous document.
    pub(super) fn begin_document(&mut self) {
        self.drain();
        self.habits = Habits::default();
        self.open.clear();
        self.streams.clear();
        self.answers = 0;
        self.last_failure = None;
        self.last_sign = Instant::now();
    }

    /// Handles new events. `change` is the time of the text's last change.
    pub(super) fn drain_after(&mut self, change: Instant) {
        self.change = change;
        self.drain();
    }

    /// Handles new events.
    pub(super) fn drain(&mut self) {
        while let Some(Some(event)) = self.events.next().now_or_never() {
            self.note(&event);
        }
    }

    fn note(&mut self, event: &Event) {
        let Some(key) = Key::of(event) else { return };
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
            "Network.responseReceived" => self.answer(&key, event.params["response"]["status"].as_u64()),
            "Network.loadingFinished" => self.end(&key, false),
            "Network.loadingFailed" if event.params["canceled"] == true => self.withdraw(&key),
            "Network.loadingFailed" => self.end(&key, true),
            _ => {}
        }
    }

    fn begin(&mut self, key: Key, event: &Event) {
        let kind = ResourceKind::of(event.params["type"].as_str().unwrap_or_default());
        if kind == ResourceKind::EventSource {
            self.streams.insert(key);
            return;
        }
        if !kind.counts() || self.open.len() >= MAX_KNOWN {
            return;
        }
        let now = Instant::now();
        // A redirect of a known request.
        if let Some(sort) = self.open.get(&key).map(|asked| asked.sort) {
            return self.note_sign(sort, now);
        }
        let address = Address::of_event(kind, &event.params);
        let sort = self.habits.ask(address, self.change, now);
        let sort = if self.tab.is_poll(address) { Sort::Poll } else { sort };
        self.note_sign(sort, now);
        if sort == Sort::Poll {
            self.tab.note_poll(address);
        }
        let is_question = matches!(kind, ResourceKind::Xhr | ResourceKind::Fetch);
        self.open.insert(key, Asked { sort, address, is_question, has_failed: false });
    }

    fn answer(&mut self, key: &Key, status: Option<u64>) {
        let Some(asked) = self.open.get_mut(key).filter(|_| status.is_some_and(|status| status >= 400)) else { return };
        asked.has_failed = true;
        let (address, counts) = (asked.address, asked.counts());
        self.note_failure(address, counts);
    }

    /// Records a failure. A repeated failure says nothing.
    fn note_failure(&mut self, address: Address, counts: bool) {
        if counts && self.habits.has_failed(address) {
            self.forget_failure(address);
        } else if counts {
            self.last_failure = Some(Failure { place: address.place, at: Instant::now() });
        }
    }

    fn forget_failure(&mut self, address: Address) {
        self.last_failure = self.last_failure.take().filter(|failure| failure.place != address.place);
    }

    fn note_sign(&mut self, sort: Sort, now: Instant) {
        match sort {
            Sort::Question => self.last_sign = now,
            Sort::Doubtful => self.last_doubt = now,
            Sort::Poll => self.last_poll = now,
        }
    }

    fn end(&mut self, key: &Key, has_failed: bool) {
        self.streams.remove(key);
        let Some(asked) = self.open.remove(key) else { return };
        let now = Instant::now();
        self.note_failure(asked.address, has_failed && asked.counts());
        // The retry of a failed request has succeeded.
        let is_well = !has_failed && !asked.has_failed;
        if is_well && asked.counts() && self.habits.has_failed(asked.address) {
            self.forget_failure(asked.address);
        }
        self.habits.answer(asked.address, has_failed || asked.has_failed, now);
        self.note_sign(asked.sort, now);
        if asked.counts() {
            self.answers += 1;
            if asked.sort == Sort::Question {
                self.last_answer = now;
            }
        }
    }

    /// Withdraws a request that the page has cancelled.
    fn withdraw(&mut self, key: &Key) {
        self.streams.remove(key);
        let Some(asked) = self.open.remove(key) else { return };
        self.habits.withdraw(asked.address);
        self.note_sign(asked.sort, Instant::now());
    }

    /// Remembers the requests in progress as endless for this document, because the page is taken without them.
    pub(super) fn give_up(&self) {
        let open = self.tab.network().open();
        let asked = open.iter().filter(|request| matches!(request.kind, ResourceKind::Xhr | ResourceKind::Fetch));
        for request in asked {
            match self.open.get(&request.key).map(|asked| asked.sort) {
                Some(Sort::Question) => self.tab.note_unanswered(request.address),
                _ => self.tab.note_poll(request.address),
            }
        }
    }

    /// Returns the number of answered questions of scripts.
    pub(super) fn asked(&self) -> u64 {
        self.answers
    }

    pub(super) fn last_answer(&self) -> Instant {
        self.last_answer
    }

    /// Returns the time of the last question or answer.
    pub(super) fn last_sign(&self) -> Instant {
        self.last_sign
    }

    /// Returns the time of the last request or answer with a classification up to `worst`.
    pub(super) fn last_of(&self, worst: Sort) -> Instant {
        let all = [(Sort::Question, self.last_sign), (Sort::Doubtful, self.last_doubt), (Sort::Poll, self.last_poll)];
        all.into_iter().filter(|(sort, _)| *sort <= worst).map(|(_, at)| at).fold(self.last_sign, Instant::max)
    }

    /// Whether a question failed and nothing has changed since `change`, the time of the text's last change.
    pub(super) fn has_failed_after(&self, change: Instant) -> bool {
        self.last_failure.as_ref().is_some_and(|failure| failure.at >= change)
    }

    /// Whether a stream is open.
    pub(super) fn has_stream(&self) -> bool {
        !self.streams.is_empty()
    }

    /// Whether a finite request is in progress that the text may depend on.
    pub(super) fn is_waiting(&self, look: &Look, seen: &Evidence) -> bool {
        let longest = patience::longest_question(seen);
        let counts = |request: &OpenRequest| {
            let sort = self.open.get(&request.key).map(|asked| asked.sort);
            let is_known = sort.is_none() && self.tab.is_poll(request.address);
            request.counts() && !is_known && sort.is_none_or(|sort| sort <= look.worst)
        };
        self.tab.network().open().iter().any(|request| counts(request) && look.is_hopeful(request, longest))
    }
}

/// Parameters for judging requests in progress.
pub(super) struct Look {
    pub(super) now: Instant,
    /// Time of the text's last change.
    pub(super) change: Instant,
    /// Worst classification that still counts.
    pub(super) worst: Sort,
}

impl Look {
    /// Whether a request can be expected to end.
    fn is_hopeful(&self, request: &OpenRequest, longest: Duration) -> bool {
        let since = |moment: Instant| self.now.saturating_duration_since(moment);
        let age = since(request.since);
        let Some(last) = request.answered else { return age < longest };
        let spent = request.began.map_or(Duration::ZERO, since);
        let comes_in_drops = spent >= MAX_DROPS && (request.received as f64) < DROPS * spent.as_secs_f64();
        let is_idle = comes_in_drops && since(self.change) >= MAX_DROPS;
        since(last) < MAX_PAUSE && age < MAX_ANSWER && !is_idle
    }
}
