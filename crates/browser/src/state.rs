//! Saves and restores the cookies and storage of a browser, which profiles consist of.
//!
//! Cookies belong to the whole context. Storage belongs to an origin, and only a page of that origin can read it. It is
//! saved for the origins that the page shows at the end, including frames; for all other origins the state from the
//! start is kept.

use std::collections::HashSet;

use cdp::{CdpError, Events, Session};
use serde_json::{Value, json};
use tokio::time::{Duration, Instant, sleep, timeout_at};
use visit::{MAX_STATE_BYTES, State};

use crate::context::Context;
use crate::tab::{FrameId, Stage, Tab, World};

/// Number of origins whose storage is kept.
const MAX_ORIGINS: usize = 200;
/// Number of attempts to reset the history of a page.
const MAX_TRIES: usize = 20;
/// Pause between these attempts.
const PAUSE: Duration = Duration::from_millis(25);
/// Function that reads or writes the storage of the origin in which it runs.
const STORAGE: &str = include_str!("storage.js");

/// Restores cookies and storage into a context before its first navigation. The page is blank afterwards.
///
/// Storage is written by empty pages served in place of the origins' own: no request reaches the network, and data that
/// a site deletes later stays deleted.
///
/// # Errors
/// Errors of [`Session::call`], after which part of the state may be restored; `Timeout` at the deadline.
pub(crate) async fn load(context: &Context, state: &State, deadline: Instant) -> Result<(), CdpError> {
    let browser = context.browser().ok_or(CdpError::Closed)?;
    if !state.cookies.is_empty() {
        let params = json!({ "cookies": state.cookies, "browserContextId": context.id() });
        browser.call_by(deadline, "Storage.setCookies", params).await?;
    }
    if state.origins.is_empty() {
        return Ok(());
    }
    // A separate session with the page, so that its requests are not seen by other listeners.
    let attach = json!({ "targetId": context.tab.target(), "flatten": true });
    let attached = browser.call_by(deadline, "Target.attachToTarget", attach).await?;
    let id = attached["sessionId"].as_str().unwrap_or_default();
    let page = browser.sibling(id);
    let stand_in = stand_in(page.clone(), page.events_of(&["Fetch."]));
    let written = tokio::select! {
        written = timeout_at(deadline, write_all(&page, &state.origins)) => written.unwrap_or(Err(CdpError::Timeout)),
        () = stand_in => Err(CdpError::Closed),
    };
    browser.post("Target.detachFromTarget", json!({ "sessionId": id })).await;
    let written = written?;
    // The tab must have seen all of these documents before it can forget them.
    let mut stage = context.tab.stage();
    let seen = stage.wait_for(|(number, stage)| *number >= written && *stage == Stage::Loaded);
    timeout_at(deadline, seen).await.map_err(|_| CdpError::Timeout)?.map_err(|_| CdpError::Closed)?;
    forget_history(context.tab.session()).await;
    context.tab.begin_anew();
    Ok(())
}

/// Removes the empty pages from the history. Chromium refuses this for a moment after a page was replaced, so it is
/// retried.
async fn forget_history(page: &Session) {
    for _ in 0..MAX_TRIES {
        match page.call("Page.resetNavigationHistory", json!({})).await {
            Err(CdpError::Refused { .. }) => sleep(PAUSE).await,
            _ => return,
        }
    }
    tracing::debug!("could not reset the history of a page; it contains empty pages of restored origins");
}

/// Answers every request with an empty page.
async fn stand_in(session: Session, mut events: Events) {
    while let Some(event) = events.next().await {
        let headers = json!([{ "name": "Content-Type", "value": "text/html" }]);
        let answer = json!({ "requestId": event.params["requestId"], "responseCode": 200, "responseHeaders": headers });
        session.post("Fetch.fulfillRequest", answer).await;
    }
}

/// Writes the storage of all origins. Returns the number of documents that the page has shown for this.
async fn write_all(page: &Session, origins: &[Value]) -> Result<u64, CdpError> {
    let mut shown = 1;
    page.call("Page.enable", json!({})).await?;
    page.call("Fetch.enable", json!({})).await?;
    for storage in origins.iter().take(MAX_ORIGINS) {
        let Some(origin) = storage["origin"].as_str().filter(|origin| is_of_the_web(origin)) else { continue };
        page.call("Page.navigate", json!({ "url": format!("{origin}/") })).await?;
        let write = format!("({STORAGE})('write', {storage})");
        page.call("Runtime.evaluate", json!({ "expression": write, "awaitPromise": true })).await?;
        shown += 1;
    }
    page.call("Page.navigate", json!({ "url": "about:blank" })).await?;
    Ok(shown)
}

fn is_of_the_web(origin: &str) -> bool {
    origin.starts_with("http://") || origin.starts_with("https://")
}

/// Saves cookies and storage of a context. `before` is the restored state.
///
/// # Errors
/// Errors of [`Session::call`] for the cookies. Storage that cannot be read, such as that of a hanging page, is kept as
/// before.
pub(crate) async fn save(context: &Context, before: &State, deadline: Instant) -> Result<State, CdpError> {
    save_page(context, &context.tab, before, deadline).await
}

/// Saves the state of a context like [`save`], with the storage of the origins that `tab` shows.
pub(crate) async fn save_page(
    context: &Context,
    tab: &Tab,
    before: &State,
    deadline: Instant,
) -> Result<State, CdpError> {
    let browser = context.browser().ok_or(CdpError::Closed)?;
    let params = json!({ "browserContextId": context.id() });
    let mut answer = browser.call_by(deadline, "Storage.getCookies", params).await?;
    let cookies = match answer["cookies"].take() {
        Value::Array(cookies) => cookies.into_iter().map(param).collect(),
        _ => Vec::new(),
    };
    let mut origins = Vec::new();
    let mut seen = HashSet::new();
    for frame in tab.frames() {
        let Some(storage) = storage(tab, &frame.id, deadline).await else { continue };
        let Some(origin) = storage["origin"].as_str() else { continue };
        if seen.insert(origin.to_owned()) {
            origins.push(storage);
        }
    }
    let of = |storage: &Value| storage["origin"].as_str().unwrap_or_default().to_owned();
    origins.extend(before.origins.iter().filter(|storage| !seen.contains(&of(storage))).cloned());
    // Origins seen now come first, so that truncation drops those that have not been seen for longest.
    origins.truncate(MAX_ORIGINS);
    Ok(State { cookies, origins })
}

async fn storage(tab: &Tab, frame: &FrameId, deadline: Instant) -> Option<Value> {
    let args = [Value::from("read"), Value::from(MAX_STATE_BYTES)];
    let read = tab.evaluate_in(frame, World::Own, STORAGE, &args, deadline).await;
    read.ok().filter(|storage| storage["origin"].is_string())
}

/// Converts a `Network.Cookie`, as it is read, to the `Network.CookieParam` that it is written as.
fn param(mut cookie: Value) -> Value {
    let is_of_session = cookie["session"].as_bool().unwrap_or(false);
    if let Some(members) = cookie.as_object_mut() {
        if is_of_session {
            members.remove("expires");
        }
        for known in ["session", "size", "partitionKeyOpaque", "sourcePort"] {
            members.remove(known);
        }
    }
    cookie
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_can_be_written_as_they_were_read() {
        let cookie = json!({"name": "sid", "value": "1", "domain": "a.example", "path": "/", "expires": -1, "size": 4,
            "httpOnly": true, "secure": false, "session": true, "priority": "Medium", "sourceScheme": "NonSecure",
            "sourcePort": 80});
        let expect = json!({"name": "sid", "value": "1", "domain": "a.example", "path": "/", "httpOnly": true,
            "secure": false, "priority": "Medium", "sourceScheme": "NonSecure"});
        assert_eq!(param(cookie), expect);
        let lasting = json!({"name": "a", "value": "", "expires": 1_900_000_000.5, "session": false});
        assert_eq!(param(lasting), json!({"name": "a", "value": "", "expires": 1_900_000_000.5}));
    }
}
