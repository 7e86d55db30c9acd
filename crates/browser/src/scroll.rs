//! One pass of scrolling over a page that loads what comes into view.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::cdp::CdpError;
use crate::clock::Clock;
use crate::tab::{OpenRequest, Tab, World};

/// Runs in the page; returns a [`Place`].
const SCROLL: &str = include_str!("js/scroll.js");
/// How long a pass may take.
const MAX_PASS: Duration = Duration::from_secs(3);
/// How many screens it covers.
const MAX_SCREENS: usize = 20;
/// How long one screen may take to bring what it has asked for.
const MAX_STEP: Duration = Duration::from_millis(600);
/// How long the end may take to grow.
const MAX_GROWTH: Duration = Duration::from_millis(200);
/// How often a step looks whether what was asked for has come.
const TICK: Duration = Duration::from_millis(25);
/// A function of the page's world whose instances tell that it waits for things to come into view.
const OBSERVER: &str = "typeof IntersectionObserver === 'function' && IntersectionObserver.prototype";
/// Names what a pass leaves in the page's inspector, to be let go of together.
const GROUP: &str = "quarry-scroll";

/// Where the page stands.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Place {
    /// All in CSS pixels.
    top: f64,
    height: f64,
    window: f64,
    /// Whether there are marks of things that load when they come into view.
    marks: bool,
}

impl Place {
    fn is_long(&self) -> bool {
        self.height > self.window * 1.1
    }

    fn is_at_end(&self) -> bool {
        self.top + self.window >= self.height - 2.0
    }
}

/// Scrolls to the end and back if something waits for it. Says whether it did.
///
/// # Errors
/// Those of the protocol.
pub(crate) async fn pass(clock: &mut Clock<'_>, until: Instant) -> Result<bool, CdpError> {
    let tab = clock.tab();
    let began = Instant::now();
    let until = until.min(began + MAX_PASS);
    let start = scroll(clock, "measure", until).await?;
    let watches = watches_view(tab, &start, until).await;
    let release = json!({ "objectGroup": GROUP });
    tab.session().post("Runtime.releaseObjectGroup", release).await;
    if !watches? {
        return Ok(false);
    }
    let mut since = began;
    for _ in 0..MAX_SCREENS {
        let before = scroll(clock, "step", until).await?;
        let has_asked = arrive(clock, &mut since, until).await;
        if !before.is_at_end() {
            continue;
        }
        // What has come may have made the page longer, or may do so in a moment.
        let patience = if has_asked { MAX_GROWTH } else { TICK };
        if !grows(clock, before.height, until.min(Instant::now() + patience)).await? {
            break;
        }
    }
    // The pass may be over because its time was; the way back always has some.
    scroll(clock, "back", Instant::now() + MAX_STEP).await?;
    Ok(true)
}

async fn scroll(clock: &mut Clock<'_>, what: &str, until: Instant) -> Result<Place, CdpError> {
    let args = [what.into()];
    let scrolls = clock.tab().evaluate(World::Own, SCROLL, &args, until);
    let answer = match clock.along(scrolls).await {
        // The time is over: as far as the pass is concerned, so is the page.
        Err(CdpError::Timeout) => return Ok(Place { top: 0.0, height: 0.0, window: 0.0, marks: false }),
        answer => answer?,
    };
    let lacking = |_| CdpError::Malformed { method: "scroll".to_owned(), lacks: "its members" };
    serde_json::from_value(answer).map_err(lacking)
}

/// Waits for what the pass has made the page ask for; says whether there was something. What was asked before `since` is not
/// waited for, which moves on when something does not come.
async fn arrive(clock: &mut Clock<'_>, since: &mut Instant, until: Instant) -> bool {
    let until = until.min(Instant::now() + MAX_STEP);
    let tab = clock.tab();
    let from = *since;
    let counts = |request: &OpenRequest| request.counts() && request.since >= from && !tab.is_poll(request.address);
    let is_under_way = || tab.network().open().iter().any(counts);
    let mut has_asked = false;
    while is_under_way() {
        if Instant::now() >= until {
            *since = Instant::now();
            break;
        }
        has_asked = true;
        clock.pass(TICK).await;
    }
    has_asked
}

async fn grows(clock: &mut Clock<'_>, height: f64, until: Instant) -> Result<bool, CdpError> {
    loop {
        if scroll(clock, "measure", until).await?.height > height + 2.0 {
            return Ok(true);
        }
        if Instant::now() >= until {
            return Ok(false);
        }
        clock.pass(TICK).await;
    }
}

/// Whether something of the page comes when it is scrolled to. A page that fits its window can still wait for the event. The
/// page does not notice the questions.
async fn watches_view(tab: &Tab, start: &Place, until: Instant) -> Result<bool, CdpError> {
    Ok(start.is_long() && (start.marks || has_observers(tab, until).await?)
        || listens(tab, "window", until).await?
        || listens(tab, "document", until).await?)
}

async fn has_observers(tab: &Tab, until: Instant) -> Result<bool, CdpError> {
    let Some(prototype) = object(tab, OBSERVER, until).await? else { return Ok(false) };
    let query = json!({"prototypeObjectId": prototype, "objectGroup": GROUP});
    let found = tab.session().call_by(until, "Runtime.queryObjects", query).await?;
    let list = &found["objects"]["objectId"];
    let count =
        json!({"objectId": list, "functionDeclaration": "function () { return this.length }", "returnByValue": true});
    let count = tab.session().call_by(until, "Runtime.callFunctionOn", count).await?;
    Ok(count["result"]["value"].as_f64().is_some_and(|count| count > 0.0))
}

async fn listens(tab: &Tab, target: &str, until: Instant) -> Result<bool, CdpError> {
    let Some(object) = object(tab, target, until).await? else { return Ok(false) };
    let answer = tab.session().call_by(until, "DOMDebugger.getEventListeners", json!({ "objectId": object })).await?;
    let mut listeners = answer["listeners"].as_array().into_iter().flatten();
    Ok(listeners.any(|listener| listener["type"] == "scroll"))
}

/// The name of an object of the page's world.
async fn object(tab: &Tab, expression: &str, until: Instant) -> Result<Option<Value>, CdpError> {
    let params = json!({"expression": expression, "objectGroup": GROUP, "throwOnSideEffect": true});
    let answer = tab.session().call_by(until, "Runtime.evaluate", params).await?;
    Ok(answer["result"].get("objectId").cloned())
}
