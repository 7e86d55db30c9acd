//! The smart wait: until a page shows what it is going to show.
//!
//! A page is settled when it has loaded, nothing that its text may depend on is under way, and its visible text has stayed the
//! same for a while. How long that while is depends on what the page has let us see ([`patience`]): there is no way to
//! know of a timer that is set, so a page that shows little and has asked for nothing yet gets more time than one that
//! shows what it asked for. What goes on for ever (streams, polls, clocks, carousels) does not count.

mod ahead;
mod gaze;
mod patience;
mod pulse;
mod traffic;
mod workers;

use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, sleep_until};

use crate::BrowserError;
use crate::cdp::CdpError;
use crate::dom;
use crate::run::broken;
use crate::tab::{Stage, Tab};
use gaze::Gaze;
use patience::Evidence;
use traffic::Traffic;

/// How often the page is looked at.
const TICK: Duration = Duration::from_millis(40);
/// How long after `DOMContentLoaded` one resource may hold up the page.
const MAX_LOAD: Duration = Duration::from_secs(3);
/// How long after the load of a document the word may come that its answer is complete, or has broken off.
const MAX_LATE_END: Duration = Duration::from_secs(1);
/// How long a page may go on changing without asking for anything.
const MAX_RESTLESS: Duration = Duration::from_millis(3500);
/// A page that loads itself so many times in a row would do so for ever.
const MAX_RELOADS: u64 = 4;
/// And one that goes from one document to the next.
const MAX_DOCUMENTS: u64 = 15;

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
pub(crate) async fn settle(tab: &Tab, patience: Patience, until: Instant) -> Result<Settled, BrowserError> {
    Watch::new(tab, patience).await?.settle(until).await
}

/// What is known while waiting.
struct Watch<'t> {
    tab: &'t Tab,
    patience: Patience,
    traffic: Traffic<'t>,
    gaze: Gaze,
    /// Number of the first document, and of the one that is looked at.
    first: u64,
    number: u64,
    reloads: u64,
    url: String,
    stage: Stage,
    /// When the document came this far.
    stage_since: Instant,
    /// Whether scripts were stopped because they would go on for ever.
    is_stopped: bool,
}

impl<'t> Watch<'t> {
    async fn new(tab: &'t Tab, patience: Patience) -> Result<Self, BrowserError> {
        let traffic = Traffic::of(tab);
        tab.session().call("Performance.enable", json!({})).await.map_err(|error| broken(&error))?;
        let (number, stage) = *tab.stage().borrow();
        let now = Instant::now();
        let url = tab.document().url;
        let gaze = Gaze::new(now);
        Ok(Self {
            tab,
            patience,
            traffic,
            gaze,
            first: number,
            number,
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
            self.traffic.drain();
            // After another error there is nothing to look at: it is between two documents.
            if let Err(error @ (CdpError::Closed | CdpError::Crashed)) = self.gaze.look(self.tab, until).await {
                return Err(broken(&error));
            }
            // Nothing more will come of it.
            if self.tab.is_cut_short() {
                return Ok(self.done());
            }
            let now = Instant::now();
            if now >= until {
                return self.give_up();
            }
            if self.is_ready(now) && now >= self.quiet_at() {
                return Ok(self.done());
            }
            sleep_until((now + TICK).min(until)).await;
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
                self.number > 0 && has_something && now - self.last_sign() >= MAX_LOAD
            }
        }
    }

    fn last_sign(&self) -> Instant {
        self.stage_since.max(self.traffic.last_sign()).max(self.gaze.last_change())
    }

    /// When the page has been quiet for long enough, if nothing more happens.
    fn quiet_at(&self) -> Instant {
        let now = Instant::now();
        // What a worker was asked for is an answer like any other.
        let worked = self.gaze.worked_until();
        let last_answer = worked.into_iter().fold(self.traffic.last_answer(), Instant::max);
        let evidence = Evidence {
            text: self.gaze.text(),
            has_changed: self.gaze.has_changed(),
            asked: self.traffic.asked() + u64::from(worked.is_some()),
            shows_answer: self.gaze.last_change() + TICK * 2 >= last_answer,
            has_failed: self.traffic.has_failed_after(self.gaze.last_change()),
            has_stream: self.traffic.has_stream(),
            has_worker: self.gaze.waits_for_worker(),
        };
        let window = if self.is_stopped { Duration::ZERO } else { patience::window(self.patience, &evidence) };
        let calm = self.last_sign() + window;
        if self.traffic.is_waiting(now, &evidence) {
            return now + TICK;
        }
        // What only moves, counts or computes is waited for, but not for ever.
        calm.max(self.gaze.restless_until()).min(self.patience_ends())
    }

    /// A page whose text changes again and again without any request is taken as it is.
    fn patience_ends(&self) -> Instant {
        self.stage_since.max(self.traffic.last_sign()).max(self.gaze.unblocked_at()) + MAX_RESTLESS
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
