//! The clock of a page. It is that of the machine, until it is made to go faster: then time passes for the page only as it is
//! granted ("virtual time" of the DevTools protocol), and a timer of a second rings at once. What takes real time (answers of the
//! network, frames, computing) comes while the clock stands, too; but the answers of databases, files and permissions are
//! heard only while it goes, so it goes as ours does while the page is drawn. No page gets its own clock back, so only one
//! that is thrown away after it was read may be hurried.

use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use crate::cdp::{CdpError, Events};
use crate::tab::{Tab, World};

/// A clock that stands is granted so much at a time while something real is waited for.
const BEAT: Duration = Duration::from_millis(40);
/// The same while the page is drawn. A database answers in a few milliseconds, and the next question follows from its answer.
const MOMENT: Duration = Duration::from_millis(8);
/// How long a grant may take. A script that waits in a loop for the time to pass waits for ever: the clock stands while it runs.
const MAX_GRANT: Duration = Duration::from_millis(2500);
/// After so many tasks in a row time passes all the same: there are pages that never run out of them.
const MAX_TASKS: u32 = 500;
/// How long what the page draws is waited for.
const MAX_FRAMES: Duration = Duration::from_millis(150);
/// Ends when the page was drawn, and what watches its view was told. The time of its animations would be that of the last
/// frame, which knows nothing of grants; reading it outside of a frame brings it up to the page's clock.
const FRAMES: &str = "() => {
    void document.timeline.currentTime;
    return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))));
}";
const EXPIRED: &str = "Emulation.virtualTimeBudgetExpired";

/// The clock of one page.
pub(crate) struct Clock<'t> {
    tab: &'t Tab,
    /// None where it is the machine's for good.
    grants: Option<Grants>,
}

/// What a page was granted.
struct Grants {
    events: Events,
    has_begun: bool,
    is_stuck: bool,
    /// When each began that made time pass faster, and how much the page was ahead after it.
    gains: Vec<(Instant, Duration)>,
}

impl<'t> Clock<'t> {
    /// The clock of the machine, for a page that goes on afterwards.
    pub(crate) fn real(tab: &'t Tab) -> Self {
        Self { tab, grants: None }
    }

    /// A clock that may go faster, for a page that is thrown away afterwards.
    pub(crate) fn fast(tab: &'t Tab) -> Self {
        let events = tab.session().events_of(&[EXPIRED]);
        Self { tab, grants: Some(Grants { events, has_begun: false, is_stuck: false, gains: Vec::new() }) }
    }

    /// The page.
    pub(crate) fn tab(&self) -> &'t Tab {
        self.tab
    }

    /// Whether it may go faster. What runs elsewhere (workers, frames of other processes) keeps the time of the machine.
    pub(crate) fn may_hurry(&self) -> bool {
        self.grants.as_ref().is_some_and(|grants| !grants.is_stuck) && !self.tab.has_parts()
    }

    /// Whether time passes for the page only as it is granted.
    pub(crate) fn goes_by_grants(&self) -> bool {
        self.grants.as_ref().is_some_and(|grants| grants.has_begun)
    }

    /// Whether a script of the page does not end because the clock stands, or seems so.
    pub(crate) fn is_stuck(&self) -> bool {
        self.grants.as_ref().is_some_and(|grants| grants.is_stuck)
    }

    /// How much more time has passed for the page than for us, by what it was granted since.
    pub(crate) fn gained_since(&self, moment: Instant) -> Duration {
        let gains = self.grants.iter().flat_map(|grants| grants.gains.iter().rev());
        gains.take_while(|(began, _)| *began >= moment).map(|(_, gain)| *gain).sum()
    }

    /// Waits while `span` passes for the page as for us.
    pub(crate) async fn pass(&mut self, span: Duration) {
        let end = Instant::now() + span;
        if let Some(grants) = self.grants.as_mut().filter(|grants| grants.has_begun) {
            grants.grant(self.tab, span).await;
        }
        sleep_until(end).await;
    }

    /// Waits for what needs the page, whose time passes meanwhile as for us.
    pub(crate) async fn along<T>(&mut self, work: impl Future<Output = T>) -> T {
        self.along_by(BEAT, work).await
    }

    /// The same, with so much granted at a time.
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

    /// Lets `span` pass for the page in the time that it takes to do what was to be done in it. Then it is drawn, while its time
    /// passes as for us.
    pub(crate) async fn hurry(&mut self, span: Duration) {
        let Some(grants) = self.grants.as_mut() else { return };
        let began = Instant::now();
        grants.grant(self.tab, span).await;
        if grants.is_stuck {
            return;
        }
        grants.gains.push((began, span.saturating_sub(began.elapsed())));
        // A page that is between two documents has nothing to draw.
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
        // What is left of an earlier one, or comes from a document that was told of it once more.
        self.events.skip();
        let milliseconds = span.as_secs_f64() * 1000.0;
        let budget =
            json!({"policy": "advance", "budget": milliseconds, "maxVirtualTimeTaskStarvationCount": MAX_TASKS});
        self.has_begun = true;
        match tab.session().call_by(until, "Emulation.setVirtualTimePolicy", budget).await {
            Ok(_) => self.is_stuck = timeout_at(until, self.events.next()).await.is_err(),
            Err(CdpError::Timeout) => self.is_stuck = true,
            // It is between two documents, or gone.
            Err(_) => {}
        }
    }
}
