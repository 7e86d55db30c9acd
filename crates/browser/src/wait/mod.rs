//! The smart wait: until a page shows what it is going to show.
//!
//! A page is settled when it has loaded, nothing that its text may depend on is under way, and its visible text has stayed the
//! same for a while. How long that while is depends on what the page has let us see ([`patience`]): there is no way to
//! know of a timer that is set, so a page that shows little and has asked for nothing yet gets more time than one that
//! shows what it asked for. What goes on for ever (streams, polls, clocks, carousels) does not count: requests say that text
//! may come, but a request that is repeated and brings none says nothing ([`habits`]). Most of that while need
//! not be ours: where the page is not wanted afterwards, its own clock goes faster ([`Clock`]), and its timers ring at once.

mod ahead;
mod gaze;
mod habits;
mod patience;
mod pulse;
mod traffic;
mod workers;

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use crate::BrowserError;
use crate::cdp::CdpError;
use crate::clock::Clock;
use crate::dom;
use crate::run::broken;
use crate::tab::{Stage, Tab};
use gaze::Gaze;
use habits::Sort;
use patience::Evidence;
use traffic::{Look, Traffic};

/// How often the page is looked at.
const TICK: Duration = Duration::from_millis(40);
/// How long after `DOMContentLoaded` one resource may hold up the page.
const MAX_LOAD: Duration = Duration::from_secs(3);
/// How long after the load of a document the word may come that its answer is complete, or has broken off.
const MAX_LATE_END: Duration = Duration::from_secs(1);
/// How long a page may go on changing without asking for anything.
const MAX_RESTLESS: Duration = Duration::from_millis(2500);
/// The same where there is more of it each time.
const MAX_GROWTH: Duration = Duration::from_secs(6);
/// The same after an action, where the page is known never to stop: so many times shorter.
const KNOWN: u32 = 4;
/// A text that has not grown for so long does not grow.
const GROWS: Duration = Duration::from_secs(1);
/// How long a document may go on coming that shows something already.
const MAX_COMING: Duration = Duration::from_secs(6);
/// A page that loads itself so many times in a row would do so for ever.
const MAX_RELOADS: u64 = 4;
/// And one that goes from one document to the next.
const MAX_DOCUMENTS: u64 = 15;

/// What part of the time without a sign passes as it does for us, before a page's clock goes faster: what is under way
/// unseen gives a sign in it.
const REAL_PART: u32 = 6;
/// How much time passes for a hurried page between two frames.
const LEAP: Duration = Duration::from_millis(250);

/// How the wait ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Settled {
    /// What the caller should know.
    pub(crate) warning: Option<&'static str>,
}

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    /// A page that has just been opened.
    Page,
    /// What follows an action, or scrolling.
    Step,
}

/// Waits until the page has settled, at most until `until`.
///
/// # Errors
/// `Timeout` when there is nothing to show by then, `Crashed` when the page is gone.
pub(crate) async fn settle(clock: &mut Clock<'_>, patience: Patience, until: Instant) -> Result<Settled, BrowserError> {
    Watch::new(clock, patience).await?.settle(until).await
}

/// What is known while waiting.
struct Watch<'t, 'c> {
    tab: &'t Tab,
    clock: &'c mut Clock<'t>,
    patience: Patience,
    traffic: Traffic<'t>,
    gaze: Gaze,
    /// Number of the first document, and of the one that is looked at.
    first: u64,
    number: u64,
    /// When the wait began.
    began: Instant,
    reloads: u64,
    url: String,
    stage: Stage,
    /// When the document came this far.
    stage_since: Instant,
    /// Whether scripts were stopped because they would go on for ever.
    is_stopped: bool,
}

impl<'t, 'c> Watch<'t, 'c> {
    async fn new(clock: &'c mut Clock<'t>, patience: Patience) -> Result<Self, BrowserError> {
        let tab = clock.tab();
        let traffic = Traffic::of(tab);
        tab.session().call("Performance.enable", json!({})).await.map_err(|error| broken(&error))?;
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
            // After another error there is nothing to look at: it is between two documents.
            let look = self.gaze.look(self.tab, until);
            if let Err(error @ (CdpError::Closed | CdpError::Crashed)) = self.clock.along(look).await {
                return Err(broken(&error));
            }
            // Nothing more will come of it.
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

    /// When nothing real is waited for any more: neither the network nor what the page shows itself to be busy with. None while
    /// that cannot be said, or where nothing may hurry.
    fn hurries_at(&self, now: Instant) -> Option<Instant> {
        let seen = self.evidence();
        let is_real = seen.has_stream || seen.has_worker || self.is_waiting(now, &seen);
        let real = self.last_sign(now, &seen) + self.window(&seen) / REAL_PART;
        let may = self.clock.may_hurry() && self.is_ready(now) && !is_real;
        may.then(|| real.max(self.gaze.restless_until()))
    }

    /// Waits for a moment, or until the document has come further.
    async fn pause(&mut self, most: Duration) {
        let mut stage = self.tab.stage();
        let goes_by_grants = self.clock.goes_by_grants();
        tokio::select! {
            () = self.clock.pass(TICK.min(most)) => {}
            // A grant is not broken off.
            _ = stage.changed(), if !goes_by_grants => {}
        }
    }

    /// Lets `rest` pass for the page, unless it asks for something first.
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

    /// Begins anew when there is another document, and stops those that never end.
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

    /// Whether the document itself is there.
    fn is_ready(&self, now: Instant) -> bool {
        let age = now - self.stage_since;
        match self.stage {
            Stage::Loaded => !self.tab.is_receiving() || age >= MAX_LATE_END,
            Stage::Parsed => age >= MAX_LOAD || self.is_stopped,
            // It is still coming, or was stopped: then nothing else tells.
            Stage::Loading => {
                let has_something = self.gaze.text().words > 0 || self.tab.is_received();
                let is_still = now - self.last_sure_sign() >= MAX_LOAD;
                self.number > 0 && has_something && (is_still || age >= MAX_COMING)
            }
        }
    }

    /// When text, document or questions moved last.
    fn last_sure_sign(&self) -> Instant {
        self.stage_since.max(self.traffic.last_sign()).max(self.gaze.last_change())
    }

    /// Up to which sort requests count. What may be a poll holds up no page that was still for long, or moves for ever.
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

    /// Whether something is under way that the text may depend on.
    fn is_waiting(&self, now: Instant, seen: &Evidence) -> bool {
        self.traffic.is_waiting(&Look { now, change: self.gaze.last_change(), worst: self.worst(now, seen) }, seen)
    }

    /// How long it may go on moving. A page whose text changes again and again without a new question is taken as it is.
    fn restless_for(&self, now: Instant) -> Duration {
        let unmoved = self.stage_since.max(self.traffic.last_sign()).max(self.gaze.unblocked_at());
        let grows = now - self.gaze.last_growth() < GROWS;
        let most = if grows { MAX_GROWTH } else { MAX_RESTLESS };
        let is_known = self.patience == Patience::Step && self.tab.is_restless();
        self.left(unmoved, if is_known { most / KNOWN } else { most }, now)
    }

    fn evidence(&self) -> Evidence {
        // What a worker was asked for is an answer like any other.
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

    /// How long nothing may have happened, for the page.
    fn window(&self, seen: &Evidence) -> Duration {
        if self.is_stopped { Duration::ZERO } else { patience::window(self.patience, seen) }
    }

    /// How long it takes until the page has been quiet for long enough, if nothing more happens.
    fn rest(&self, now: Instant) -> Duration {
        let seen = self.evidence();
        if self.is_waiting(now, &seen) {
            return TICK;
        }
        let calm = self.left(self.last_sign(now, &seen), self.window(&seen), now);
        // What only moves, counts or computes is waited for, but not for ever.
        calm.max(self.gaze.restless_until() - now).min(self.restless_for(now))
    }

    /// What is left of `span`, which began at `moment`, in the time of the page.
    fn left(&self, moment: Instant, span: Duration, now: Instant) -> Duration {
        (moment + span - now).saturating_sub(self.clock.gained_since(moment))
    }

    /// What goes on for ever need not be found out after each action.
    fn remember(&self, now: Instant) {
        self.traffic.give_up();
        if self.restless_for(now).is_zero() {
            self.tab.note_restless();
        }
    }

    fn done(&self) -> Settled {
        let endless = "the page loads itself again and again: its scripts were stopped and it was taken as it stood";
        Settled { warning: self.is_stopped.then_some(endless) }
    }

    fn give_up(&self) -> Result<Settled, BrowserError> {
        if self.gaze.text().words == 0 {
            return Err(BrowserError::Timeout);
        }
        let unfinished = "the page had not settled when its time was over: it was taken as it stood";
        Ok(Settled { warning: Some(self.done().warning.unwrap_or(unfinished)) })
    }
}
