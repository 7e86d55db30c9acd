//! Scrolls once over a page that loads content as it comes into view.

use std::time::Duration;

use cdp::CdpError;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::clock::Clock;
use crate::tab::{OpenRequest, Tab, World};

/// Script that scrolls; returns a [`Place`].
const SCROLL: &str = include_str!("js/scroll.js");
/// Time limit of a pass.
const MAX_PASS: Duration = Duration::from_secs(3);
/// Maximum number of screens per pass.
const MAX_SCREENS: usize = 20;
/// Time limit for the requests of one screen.
const MAX_STEP: Duration = Duration::from_millis(600);
/// Time limit for the page to grow at its end.
const MAX_GROWTH: Duration = Duration::from_millis(200);
/// Polling interval.
const TICK: Duration = Duration::from_millis(25);
/// Expression for the prototype of `IntersectionObserver`, whose instances show that the page waits for elements to
/// come into view.
const OBSERVER: &str = "typeof IntersectionObserver === 'function' && IntersectionObserver.prototype";
/// Object group of everything that a pass creates in the inspector, for releasing it together.
const GROUP: &str = "quarry-scroll";

/// Scroll position and size of the page.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Place {
    /// Scroll offset in CSS pixels, like the heights.
    top: f64,
    height: f64,
    window: f64,
    /// Whether elements are marked as loading lazily.
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

/// Scrolls to the end and back if the page loads content on scrolling. Returns whether it did.
///
/// # Errors
/// Errors of the protocol calls.
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
        // New content may have made the page longer, or may do so shortly.
        let patience = if has_asked { MAX_GROWTH } else { TICK };
        if !grows(clock, before.height, until.min(Instant::now() + patience)).await? {
            break;
        }
    }
    // Scrolling back always gets some time, even if the pass has timed out.
    scroll(clock, "back", Instant::now() + MAX_STEP).await?;
    Ok(true)
}

async fn scroll(clock: &mut Clock<'_>, what: &str, until: Instant) -> Result<Place, CdpError> {
    let args = [what.into()];
    let scrolls = clock.tab().evaluate(World::Own, SCROLL, &args, until);
    let answer = match clock.along(scrolls).await {
        // Out of time: ends the pass as if the page had ended.
        Err(CdpError::Timeout) => return Ok(Place { top: 0.0, height: 0.0, window: 0.0, marks: false }),
        answer => answer?,
    };
    let lacking = |_| CdpError::Malformed { method: "scroll".to_owned(), lacks: "its members" };
    serde_json::from_value(answer).map_err(lacking)
}

/// Waits for the requests that the pass has caused; returns whether there were any. Ignores requests from before
/// `since`, which is moved forward when a request does not finish in time.
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

/// Whether the page loads content on scrolling. Even a page that fits its window can listen to the event. The page
/// cannot notice these queries.
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

/// Returns the object id of an expression in the page's own world.
async fn object(tab: &Tab, expression: &str, until: Instant) -> Result<Option<Value>, CdpError> {
    let params = json!({"expression": expression, "objectGroup": GROUP, "throwOnSideEffect": true});
    let answer = tab.session().call_by(until, "Runtime.evaluate", params).await?;
    Ok(answer["result"].get("objectId").cloned())
}
