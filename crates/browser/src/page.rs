//! A visit's page, from navigation to capture.

use std::time::Duration;

use cdp::CdpError;
use serde_json::Value;
use tokio::time::{Instant, sleep_until, timeout_at};
use visit::{Acted, Picture, Visit};

use crate::actions::{self, Actor};
use crate::clock::Clock;
use crate::course::Course;
use crate::results::Results;
use crate::tab::{Stage, Tab};
use crate::wait::{Patience, settle};
use crate::{BrowserError, dom, screenshot, scroll, styles};

/// Upper limit of the time that is reserved for screenshot and capture.
const MAX_RESERVE: Duration = Duration::from_secs(2);
/// Time limit for the page to settle after it was scrolled.
const MAX_AFTER_SCROLL: Duration = Duration::from_secs(3);
/// Time limit for the page to settle after the last action.
const MAX_AFTER_ACTIONS: Duration = Duration::from_secs(10);
/// Time limit for a document that is loading at the moment of the capture.
const MAX_BETWEEN: Duration = Duration::from_millis(500);
/// Time limit for sampling the styles.
const MAX_SAMPLE: Duration = Duration::from_secs(2);

/// A page in progress, from navigation to capture.
pub(crate) struct Stay<'a> {
    tab: &'a Tab,
    clock: Clock<'a>,
    visit: &'a Visit<'a>,
    results: &'a Results,
    /// Deadline for everything that waits: the visit's deadline minus the reserve.
    soon: Instant,
    /// Number of the document that has settled.
    settled: u64,
    pub(crate) warnings: Vec<String>,
}

/// Captured content of a page.
pub(crate) struct Shown {
    /// Captured page as HTML.
    pub(crate) dom: String,
    pub(crate) screenshot: Option<Picture>,
    /// Sample of the computed styles.
    pub(crate) styles: Option<Value>,
}

impl<'a> Stay<'a> {
    /// Starts with a page that is loading, to which `clock` belongs. The size of everything it returns is counted in
    /// `results`.
    pub(crate) fn new(clock: Clock<'a>, visit: &'a Visit<'a>, results: &'a Results) -> Self {
        let now = Instant::now();
        let left = visit.deadline.saturating_duration_since(now);
        let soon = now + left - MAX_RESERVE.min(left / 5);
        Self { tab: clock.tab(), clock, visit, results, soon, settled: 0, warnings: Vec::new() }
    }

    /// Waits until the page has settled, plus the time that the caller wants; scrolls over it if it loads content on
    /// scrolling.
    ///
    /// # Errors
    /// `Timeout` if there is nothing to show in time, `Crashed`.
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

    /// Whether a script of the page waits for a stopped clock ([`Clock::is_stuck`]).
    pub(crate) fn is_stuck(&self) -> bool {
        self.clock.is_stuck()
    }

    /// Carries out the actions and lets the page settle. `course` records the first that may change something.
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

    /// Takes the screenshot, if wanted, and captures the page.
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
        let capture = dom::capture_by_force(self.tab, deadline).await?;
        if capture.is_cut {
            self.warnings.push(dom::CUT.to_owned());
        }
        // A page that is kept open goes on running.
        dom::let_scripts_run(self.tab).await;
        self.tab.let_move(true);
        Ok(Shown { dom: capture.html, screenshot: picture, styles })
    }

    /// Blocks navigation, so that everything is captured from one document. If the page has just navigated, waits until
    /// the new document has content.
    async fn stand_still(&self) {
        self.tab.let_move(false);
        let until = self.visit.deadline.min(Instant::now() + MAX_BETWEEN);
        let mut stage = self.tab.stage();
        let is_there = |(number, stage): &(u64, Stage)| *number == self.settled || *stage > Stage::Loading;
        let _ = timeout_at(until, stage.wait_for(is_there)).await;
    }

    /// Samples the computed styles. Returns `None` if the page is too busy: it is worth returning without them.
    async fn styles(&self) -> Result<Option<Value>, BrowserError> {
        let until = self.visit.deadline.min(Instant::now() + MAX_SAMPLE);
        match styles::sample(self.tab, until).await {
            Ok(sample) => Ok(Some(sample)),
            Err(error @ (CdpError::Closed | CdpError::Crashed)) => Err(error.into()),
            Err(_) => Ok(None),
        }
    }
}

/// Scrolls over a page that loads content on scrolling.
async fn bring_into_view(clock: &mut Clock<'_>, soon: Instant) -> Result<(), BrowserError> {
    if Instant::now() >= soon {
        return Ok(());
    }
    match scroll::pass(clock, soon).await {
        Ok(true) => rest(clock, soon.min(Instant::now() + MAX_AFTER_SCROLL)).await,
        Err(error @ (CdpError::Closed | CdpError::Crashed)) => Err(error.into()),
        // A page that navigates or does not respond is captured as it is.
        Ok(false) | Err(_) => Ok(()),
    }
}

/// Waits until the page settles; a timeout is no error.
async fn rest(clock: &mut Clock<'_>, until: Instant) -> Result<(), BrowserError> {
    match settle(clock, Patience::Step, until).await {
        Ok(_) | Err(BrowserError::Timeout) => Ok(()),
        Err(error) => Err(error),
    }
}
