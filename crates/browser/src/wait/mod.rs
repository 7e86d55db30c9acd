//! Smart wait: waits until a page shows its final content.
//!
//! A page has settled when it has loaded, no request is in progress that its text may depend on, and its visible text
//! has been stable for a quiet period. The length of that period depends on what is known of the page ([`patience`]):
//! pending timers cannot be detected, so a page that shows little and has requested nothing yet gets more time than one
//! that shows what it requested. Endless activity (streams, polls, clocks, carousels) is ignored: a request indicates
//! that text may come, but one that is repeated without bringing any does not ([`habits`]). Most of the quiet period
//! need not be real time: if the page is discarded afterwards, its clock is hurried ([`Clock`]), so that its timers
//! fire at once.

mod ahead;
mod gaze;
mod habits;
mod patience;
mod pulse;
mod traffic;
mod workers;

use std::time::Duration;

use cdp::CdpError;
use serde_json::json;
use tokio::time::Instant;

use crate::BrowserError;
use crate::clock::Clock;
use crate::dom;
use crate::tab::{Stage, Tab};
use gaze::Gaze;
use habits::Sort;
use patience::Evidence;
pub(crate) use patience::Patience;
use traffic::{Look, Traffic};

/// Polling interval.
const TICK: Duration = Duration::from_millis(40);
/// Time after `DOMContentLoaded` for which a resource may delay the page.
const MAX_LOAD: Duration = Duration::from_secs(3);
/// Time after `load` in which the completion or failure of the document's answer may be reported.
const MAX_LATE_END: Duration = Duration::from_secs(1);
/// Time for which a page may keep changing without new requests.
const MAX_RESTLESS: Duration = Duration::from_millis(2500);
/// Time for which a page may keep growing without new requests.
const MAX_GROWTH: Duration = Duration::from_secs(6);
/// Divisor of these times after an action, if the page is known never to stop.
const KNOWN: u32 = 4;
/// Time without growth after which a text no longer counts as growing.
const GROWS: Duration = Duration::from_secs(1);
/// Time for which a document may keep arriving although it shows something already.
const MAX_COMING: Duration = Duration::from_secs(6);
/// Number of consecutive reloads that count as an endless loop.
const MAX_RELOADS: u64 = 4;
/// Number of consecutive documents that count as an endless loop.
const MAX_DOCUMENTS: u64 = 15;

/// Fraction of the quiet period that passes in real time before the clock is hurried, for activity that gives no sign
/// yet.
const REAL_PART: u32 = 6;
/// Amount of time by which a hurried page advances between two frames.
const LEAP: Duration = Duration::from_millis(250);

/// Result of the wait.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Settled {
    /// Warning for the caller.
    pub(crate) warning: Option<&'static str>,
}

/// Waits until the page has settled, or until `until`.
///
/// # Errors
/// `Timeout` if there is nothing to show by then, `Crashed` if the page has ended.
pub(crate) async fn settle(clock: &mut Clock<'_>, patience: Patience, until: Instant) -> Result<Settled, BrowserError> {
    Watch::new(clock, patience).await?.settle(until).await
}

/// State of a wait.
struct Watch<'t, 'c> {
    tab: &'t Tab,
    clock: &'c mut Clock<'t>,
    patience: Patience,
    traffic: Traffic<'t>,
    gaze: Gaze,
    /// Number of the first document, and of the current one.
    first: u64,
    number: u64,
    /// Start of the wait.
    began: Instant,
    reloads: u64,
    url: String,
    stage: Stage,
    /// Time when the document reached this stage.
    stage_since: Instant,
    /// Whether scripts were stopped because of an endless loop.
    is_stopped: bool,
}

impl<'t, 'c> Watch<'t, 'c> {
    async fn new(clock: &'c mut Clock<'t>, patience: Patience) -> Result<Self, BrowserError> {
        let tab = clock.tab();
        let traffic = Traffic::of(tab);
        tab.session().call("Performance.enable", json!({})).await?;
        let (number, stage) = *tab.stage().borrow();
        let now = Instant::now();
        let url = tab.document().url;
        let gaze = Gaze::new(now);
        Ok(Self {
            tab,
            clock,
            patience,
            traffic,
            gaze,
            first: number,
            number,
            began: now,
            reloads: 0,
            url,
            stage,
            stage_since: now,
            is_stopped: false,
        })
    }

    async fn settle(mut self, until: Instant) -> Result<Settled, BrowserError> {
        loop {
            self.note_document().await;
            self.traffic.drain_after(self.gaze.changed_after(self.began));
            // Any other error means that the page is between two documents.
            let look = self.gaze.look(self.tab, until);
            if let Err(error @ (CdpError::Closed | CdpError::Crashed)) = self.clock.along(look).await {
                return Err(error.into());
            }
            // Nothing more will arrive.
            if self.tab.is_cut_short() || self.clock.is_stuck() {
                return Ok(self.done());
            }
            let now = Instant::now();
            if now >= until {
                return self.give_up();
            }
            let rest = self.rest(now);
            if self.is_ready(now) && rest.is_zero() {
                self.remember(now);
                return Ok(self.done());
            }
            match self.hurries_at(now) {
                Some(at) if now >= at => self.hurry(rest, until).await,
                Some(at) => self.pause((at - now).min(until - now)).await,
                None => self.pause(until - now).await,
            }
        }
    }

    /// Returns the time from which the clock may be hurried: nothing real is awaited, neither network nor known
    /// activity. `None` if that is unknown or the clock must not be hurried.
    fn hurries_at(&self, now: Instant) -> Option<Instant> {
        let seen = self.evidence();
        let is_real = seen.has_stream || seen.has_worker || self.is_waiting(now, &seen);
        let real = self.last_sign(now, &seen) + self.window(&seen) / REAL_PART;
        let may = self.clock.may_hurry() && self.is_ready(now) && !is_real;
        may.then(|| real.max(self.gaze.restless_until()))
    }

    /// Waits for the next poll, or until the document reaches another stage.
    async fn pause(&mut self, most: Duration) {
        let mut stage = self.tab.stage();
        let goes_by_grants = self.clock.goes_by_grants();
        tokio::select! {
            () = self.clock.pass(TICK.min(most)) => {}
            // A grant in progress must not be cancelled.
            _ = stage.changed(), if !goes_by_grants => {}
        }
    }

    /// Advances the page's clock by `rest`, unless it sends a request first.
    async fn hurry(&mut self, mut rest: Duration, until: Instant) {
        let last_sign = |traffic: &Traffic<'_>| traffic.last_of(Sort::Doubtful);
        let (sign, stage) = (last_sign(&self.traffic), *self.tab.stage().borrow());
        while !rest.is_zero() && self.clock.may_hurry() && Instant::now() < until {
            let leap = LEAP.min(rest);
            self.clock.hurry(leap).await;
            rest -= leap;
            self.traffic.drain();
            if last_sign(&self.traffic) != sign || *self.tab.stage().borrow() != stage {
                return;
            }
        }
    }

    /// Restarts the wait for another document, and stops endless loops of documents.
    async fn note_document(&mut self) {
        let (number, stage) = *self.tab.stage().borrow();
        let now = Instant::now();
        if number != self.number {
            let url = self.tab.document().url;
            self.reloads = if url == self.url { self.reloads + (number - self.number) } else { 0 };
            (self.number, self.url) = (number, url);
            self.gaze.begin_document(now);
            self.traffic.begin_document();
            self.stage = Stage::Loading;
            self.stage_since = now;
        }
        if stage != self.stage {
            (self.stage, self.stage_since) = (stage, now);
        }
        if !self.is_stopped && (self.reloads >= MAX_RELOADS || number - self.first >= MAX_DOCUMENTS) {
            self.is_stopped = true;
            self.tab.let_move(false);
            dom::stop_scripts(self.tab).await;
        }
        if self.is_stopped && self.stage == Stage::Parsed {
            self.tab.session().post("Page.stopLoading", json!({})).await;
        }
    }

    /// Whether the document itself is complete, or complete enough.
    fn is_ready(&self, now: Instant) -> bool {
        let age = now - self.stage_since;
        match self.stage {
            Stage::Loaded => !self.tab.is_receiving() || age >= MAX_LATE_END,
            Stage::Parsed => age >= MAX_LOAD || self.is_stopped,
            // Still arriving, or stopped, in which case no further event is reported.
            Stage::Loading => {
                let has_something = self.gaze.text().words > 0 || self.tab.is_received();
                let is_still = now - self.last_sure_sign() >= MAX_LOAD;
                self.number > 0 && has_something && (is_still || age >= MAX_COMING)
            }
        }
    }

    /// Returns the time of the last change of text, document or questions.
    fn last_sure_sign(&self) -> Instant {
        self.stage_since.max(self.traffic.last_sign()).max(self.gaze.last_change())
    }

    /// Returns the worst classification that still counts. Possible polls do not delay a page that was stable for long
    /// or never stops changing.
    fn worst(&self, now: Instant, seen: &Evidence) -> Sort {
        if now - self.last_sure_sign() >= patience::doubt(seen) || self.restless_for(now).is_zero() {
            Sort::Question
        } else if seen.text.is_loading {
            Sort::Poll
        } else {
            Sort::Doubtful
        }
    }

    fn last_sign(&self, now: Instant, seen: &Evidence) -> Instant {
        self.last_sure_sign().max(self.traffic.last_of(self.worst(now, seen)))
    }

    /// Whether a request is in progress that the text may depend on.
    fn is_waiting(&self, now: Instant, seen: &Evidence) -> bool {
        self.traffic.is_waiting(&Look { now, change: self.gaze.last_change(), worst: self.worst(now, seen) }, seen)
    }

    /// Returns for how long the text may keep changing. A page that changes without new requests is taken as it is.
    fn restless_for(&self, now: Instant) -> Duration {
        let unmoved = self.stage_since.max(self.traffic.last_sign()).max(self.gaze.unblocked_at());
        let grows = now - self.gaze.last_growth() < GROWS;
        let most = if grows { MAX_GROWTH } else { MAX_RESTLESS };
        let is_known = self.patience == Patience::Step && self.tab.is_restless();
        self.left(unmoved, if is_known { most / KNOWN } else { most }, now)
    }

    fn evidence(&self) -> Evidence {
        // A worker's result counts like an answer.
        let worked = self.gaze.worked_until();
        let last_answer = worked.into_iter().fold(self.traffic.last_answer(), Instant::max);
        Evidence {
            text: self.gaze.text(),
            has_changed: self.gaze.has_changed(),
            asked: self.traffic.asked() + u64::from(worked.is_some()),
            shows_answer: self.gaze.last_change() + TICK * 2 >= last_answer,
            has_failed: self.traffic.has_failed_after(self.gaze.last_change()),
            has_stream: self.traffic.has_stream(),
            has_worker: self.gaze.waits_for_worker(),
        }
    }

    /// Returns the length of the quiet period, in the page's time.
    fn window(&self, seen: &Evidence) -> Duration {
        if self.is_stopped { Duration::ZERO } else { patience::window(self.patience, seen) }
    }

    /// Returns the time until the page has been quiet for long enough, if nothing more happens.
    fn rest(&self, now: Instant) -> Duration {
        let seen = self.evidence();
        if self.is_waiting(now, &seen) {
            return TICK;
        }
        let calm = self.left(self.last_sign(now, &seen), self.window(&seen), now);
        // Mere movement, counting and computing is waited for, but within limits.
        calm.max(self.gaze.restless_until() - now).min(self.restless_for(now))
    }

    /// Returns what is left of `span` since `moment`, in the page's time.
    fn left(&self, moment: Instant, span: Duration, now: Instant) -> Duration {
        (moment + span - now).saturating_sub(self.clock.gained_since(moment))
    }

    /// Remembers endless activity, so that it need not be detected again after each action.
    fn remember(&self, now: Instant) {
        self.traffic.give_up();
        if self.restless_for(now).is_zero() {
            self.tab.note_restless();
        }
    }

    fn done(&self) -> Settled {
        let endless = "the page reloads itself again and again: its scripts were stopped and it was captured as is";
        Settled { warning: self.is_stopped.then_some(endless) }
    }

    fn give_up(&self) -> Result<Settled, BrowserError> {
        if self.gaze.text().words == 0 {
            return Err(BrowserError::Timeout);
        }
        let unfinished = "the page had not settled at the deadline: it was captured as is";
        Ok(Settled { warning: Some(self.done().warning.unwrap_or(unfinished)) })
    }
}
