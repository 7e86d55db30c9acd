//! What happens on a page from its opening to its capture.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::actions::{self, Actor};
use crate::cdp::CdpError;
use crate::clock::Clock;
use crate::course::Course;
use crate::results::Results;
use crate::run::broken;
use crate::tab::{Stage, Tab};
use crate::visit::{Acted, Picture, Visit};
use crate::wait::{Patience, settle};
use crate::{BrowserError, dom, screenshot, scroll, styles};

/// What is kept of the visit's time for its pictures and its capture, at most.
const MAX_RESERVE: Duration = Duration::from_secs(2);
/// How long a page may take to come to rest after it was scrolled.
const MAX_AFTER_SCROLL: Duration = Duration::from_secs(3);
/// And after the last action.
const MAX_AFTER_ACTIONS: Duration = Duration::from_secs(10);
/// How long a document that is on its way when the page is taken may be waited for.
const MAX_BETWEEN: Duration = Duration::from_millis(500);
/// How long the page may take to tell its styles.
const MAX_SAMPLE: Duration = Duration::from_secs(2);

/// A page that is being looked at, from its opening to its capture.
pub(crate) struct Stay<'a> {
    tab: &'a Tab,
    clock: Clock<'a>,
    visit: &'a Visit<'a>,
    results: &'a Results,
    /// When waiting has to end.
    soon: Instant,
    /// Number of the document that has settled.
    settled: u64,
    pub(crate) warnings: Vec<String>,
}

/// What a page has shown.
pub(crate) struct Shown {
    /// The captured page.
    pub(crate) dom: String,
    pub(crate) screenshot: Option<Picture>,
    /// The sample of computed styles.
    pub(crate) styles: Option<Value>,
}

impl<'a> Stay<'a> {
    /// Begins with the page that the `clock` belongs to, which is on its way. What it gives back is counted in `results`.
    pub(crate) fn new(clock: Clock<'a>, visit: &'a Visit<'a>, results: &'a Results) -> Self {
        let now = Instant::now();
        let left = visit.deadline.saturating_duration_since(now);
        let soon = now + left - MAX_RESERVE.min(left / 5);
        Self { tab: clock.tab(), clock, visit, results, soon, settled: 0, warnings: Vec::new() }
    }

    /// Waits until the page has settled, and for as long as the caller wants; scrolls over it if it loads what comes into view.
    ///
    /// # Errors
    /// `Timeout` when there is nothing to show in time, `Crashed`.
    pub(crate) async fn arrive(&mut self) -> Result<(), BrowserError> {
        let settled = settle(&mut self.clock, Patience::Page, self.soon).await?;
        self.warnings.extend(settled.warning.map(str::to_owned));
        if self.visit.wait_for > Duration::ZERO {
            sleep_until((Instant::now() + self.visit.wait_for).min(self.soon)).await;
        }
        if !self.is_stuck() {
            bring_into_view(&mut self.clock, self.soon).await?;
        }
        self.settled = self.tab.stage().borrow().0;
        Ok(())
    }

    /// Whether a script of the page waits for a clock that stands ([`Clock::is_stuck`]).
    pub(crate) fn is_stuck(&self) -> bool {
        self.clock.is_stuck()
    }

    /// Carries out the actions, and lets the page come to rest. `course` hears of the first that may change something.
    ///
    /// # Errors
    /// `Action`, `Timeout`, `TooLarge` and `Crashed`.
    pub(crate) async fn act(&mut self, course: &Course) -> Result<Acted, BrowserError> {
        if self.visit.actions.is_empty() {
            return Ok(Acted::default());
        }
        self.tab.let_move(true);
        let Visit { mobile: is_mobile, deadline: until, .. } = *self.visit;
        let (results, has_acted) = (self.results, &course.has_acted);
        let actor = Actor { tab: self.tab, is_mobile, until, results, has_acted };
        let acted = actions::perform(&actor, self.visit.actions, &mut self.warnings).await?;
        rest(&mut self.clock, self.soon.min(Instant::now() + MAX_AFTER_ACTIONS)).await?;
        self.settled = self.tab.stage().borrow().0;
        Ok(acted)
    }

    /// Takes the picture that is wanted, and the page.
    ///
    /// # Errors
    /// `Timeout`, `TooLarge` and `Crashed`.
    pub(crate) async fn capture(&mut self) -> Result<Shown, BrowserError> {
        let Visit { screenshot, mobile, deadline, .. } = *self.visit;
        self.stand_still().await;
        let picture = match screenshot {
            Some(options) => Some(screenshot::take(self.tab, options, mobile, deadline, &mut self.warnings).await?),
            None => None,
        };
        self.results.add(picture.as_ref().map_or(0, |picture| picture.bytes.len())).await?;
        let styles = if self.visit.styles { self.styles().await? } else { None };
        let capture = dom::capture_by_force(self.tab, deadline).await.map_err(|error| broken(&error))?;
        if capture.is_cut {
            self.warnings.push(dom::CUT.to_owned());
        }
        // A page that is kept open goes on.
        dom::let_scripts_run(self.tab).await;
        self.tab.let_move(true);
        Ok(Shown { dom: capture.html, screenshot: picture, styles })
    }

    /// Keeps the page where it is, so that all that is taken of it is of one document. When it has gone elsewhere in this
    /// moment, waits until there is something of that.
    async fn stand_still(&self) {
        self.tab.let_move(false);
        let until = self.visit.deadline.min(Instant::now() + MAX_BETWEEN);
        let mut stage = self.tab.stage();
        let is_there = |(number, stage): &(u64, Stage)| *number == self.settled || *stage > Stage::Loading;
        let _ = timeout_at(until, stage.wait_for(is_there)).await;
    }

    /// A sample of the computed styles. A page that is too busy for it is worth having without.
    async fn styles(&self) -> Result<Option<Value>, BrowserError> {
        let until = self.visit.deadline.min(Instant::now() + MAX_SAMPLE);
        match styles::sample(self.tab, until).await {
            Ok(sample) => Ok(Some(sample)),
            Err(error @ (CdpError::Closed | CdpError::Crashed)) => Err(broken(&error)),
            Err(_) => Ok(None),
        }
    }
}

/// Scrolls over a page that loads what comes into view.
async fn bring_into_view(clock: &mut Clock<'_>, soon: Instant) -> Result<(), BrowserError> {
    if Instant::now() >= soon {
        return Ok(());
    }
    match scroll::pass(clock, soon).await {
        Ok(true) => rest(clock, soon.min(Instant::now() + MAX_AFTER_SCROLL)).await,
        Err(error @ (CdpError::Closed | CdpError::Crashed)) => Err(broken(&error)),
        // A page that goes elsewhere, or does not give way, is taken as it stands.
        Ok(false) | Err(_) => Ok(()),
    }
}

/// Lets the page come to rest, if it does.
async fn rest(clock: &mut Clock<'_>, until: Instant) -> Result<(), BrowserError> {
    match settle(clock, Patience::Step, until).await {
        Ok(_) | Err(BrowserError::Timeout) => Ok(()),
        Err(error) => Err(error),
    }
}
