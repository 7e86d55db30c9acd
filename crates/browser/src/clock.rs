//! Clock of a page: the machine's clock, or virtual time (`Emulation.setVirtualTimePolicy`). With virtual time the
//! page's clock advances only by granted budgets, so a timer of one second fires at once. Real work (network answers,
//! frames, computing) continues while the clock stands. Answers of databases, files and permissions are delivered only
//! while it runs, so it runs at real speed while the page is drawn. A page never gets the machine's clock back, so only
//! a page that is discarded after reading may be hurried.

use std::time::Duration;

use cdp::{CdpError, Events};
use serde_json::json;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use crate::tab::{Tab, World};

/// Budget that is granted at a time while something real is awaited.
const BEAT: Duration = Duration::from_millis(40);
/// Budget that is granted at a time while the page is drawn. A database answers in a few milliseconds, and the next
/// query follows from its answer.
const MOMENT: Duration = Duration::from_millis(8);
/// Time limit of one grant. A script that spins until time has passed never ends, because the clock stands while it
/// runs.
const MAX_GRANT: Duration = Duration::from_millis(2500);
/// Number of tasks in a row after which time passes anyway: some pages never run out of tasks.
const MAX_TASKS: u32 = 500;
/// Time limit for drawing the page.
const MAX_FRAMES: Duration = Duration::from_millis(150);
/// Function that resolves when the page was drawn and its observers were notified. Animations would use the time of the
/// last frame, which ignores grants; reading `currentTime` outside of a frame updates it.
const FRAMES: &str = "() => {
    void document.timeline.currentTime;
    return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))));
}";
const EXPIRED: &str = "Emulation.virtualTimeBudgetExpired";

/// Clock of one page.
pub(crate) struct Clock<'t> {
    tab: &'t Tab,
    /// `None` if the page uses the machine's clock.
    grants: Option<Grants>,
}

/// Virtual time that was granted to a page.
struct Grants {
    events: Events,
    has_begun: bool,
    is_stuck: bool,
    /// Start of each hurried grant, and how far the page's clock was ahead after it.
    gains: Vec<(Instant, Duration)>,
}

impl<'t> Clock<'t> {
    /// Returns the machine's clock, for a page that stays open afterwards.
    pub(crate) fn real(tab: &'t Tab) -> Self {
        Self { tab, grants: None }
    }

    /// Returns a clock that may run faster, for a page that is discarded afterwards.
    pub(crate) fn fast(tab: &'t Tab) -> Self {
        let events = tab.session().events_of(&[EXPIRED]);
        Self { tab, grants: Some(Grants { events, has_begun: false, is_stuck: false, gains: Vec::new() }) }
    }

    /// Returns the page.
    pub(crate) fn tab(&self) -> &'t Tab {
        self.tab
    }

    /// Whether the clock may be hurried. Workers and out-of-process frames keep the machine's time.
    pub(crate) fn may_hurry(&self) -> bool {
        self.grants.as_ref().is_some_and(|grants| !grants.is_stuck) && !self.tab.has_parts()
    }

    /// Whether time passes only as it is granted.
    pub(crate) fn goes_by_grants(&self) -> bool {
        self.grants.as_ref().is_some_and(|grants| grants.has_begun)
    }

    /// Whether a script seems to wait for a clock that stands.
    pub(crate) fn is_stuck(&self) -> bool {
        self.grants.as_ref().is_some_and(|grants| grants.is_stuck)
    }

    /// Returns how much more time has passed for the page than for us, counting the grants since `moment`.
    pub(crate) fn gained_since(&self, moment: Instant) -> Duration {
        let gains = self.grants.iter().flat_map(|grants| grants.gains.iter().rev());
        gains.take_while(|(began, _)| *began >= moment).map(|(_, gain)| *gain).sum()
    }

    /// Waits while `span` passes at real speed, for the page too.
    pub(crate) async fn pass(&mut self, span: Duration) {
        let end = Instant::now() + span;
        if let Some(grants) = self.grants.as_mut().filter(|grants| grants.has_begun) {
            grants.grant(self.tab, span).await;
        }
        sleep_until(end).await;
    }

    /// Awaits `work` while the page's time passes at real speed.
    pub(crate) async fn along<T>(&mut self, work: impl Future<Output = T>) -> T {
        self.along_by(BEAT, work).await
    }

    /// Awaits `work`, granting `beat` at a time.
    async fn along_by<T>(&mut self, beat: Duration, work: impl Future<Output = T>) -> T {
        tokio::pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                () = sleep(beat) => {}
            }
            if let Some(grants) = self.grants.as_mut().filter(|grants| grants.has_begun) {
                grants.grant(self.tab, beat).await;
            }
        }
    }

    /// Advances the page's clock by `span` as fast as its tasks allow, then lets the page draw at real speed.
    pub(crate) async fn hurry(&mut self, span: Duration) {
        let Some(grants) = self.grants.as_mut() else { return };
        let began = Instant::now();
        grants.grant(self.tab, span).await;
        if grants.is_stuck {
            return;
        }
        grants.gains.push((began, span.saturating_sub(began.elapsed())));
        // Fails for a page between two documents, which has nothing to draw.
        let frames = self.tab.evaluate(World::Own, FRAMES, &[], Instant::now() + MAX_FRAMES);
        let _ = self.along_by(MOMENT, frames).await;
    }
}

impl Grants {
    async fn grant(&mut self, tab: &Tab, span: Duration) {
        if self.is_stuck {
            return;
        }
        let until = Instant::now() + MAX_GRANT;
        // Expiry events of an earlier grant, or repeated by a new document.
        self.events.skip();
        let milliseconds = span.as_secs_f64() * 1000.0;
        let budget =
            json!({"policy": "advance", "budget": milliseconds, "maxVirtualTimeTaskStarvationCount": MAX_TASKS});
        self.has_begun = true;
        match tab.session().call_by(until, "Emulation.setVirtualTimePolicy", budget).await {
            Ok(_) => self.is_stuck = timeout_at(until, self.events.next()).await.is_err(),
            Err(CdpError::Timeout) => self.is_stuck = true,
            // The page is between two documents, or gone.
            Err(_) => {}
        }
    }
}
