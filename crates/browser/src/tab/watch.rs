//! Follows the events of a page, and answers those that would block it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use cdp::{CdpError, Event, Events, Session};
use serde_json::{Value, json};

use super::{Stage, View, body};

/// Domains of the followed events.
pub(super) const DOMAINS: &[&str] = &["Page.", "Network.", "Target.", "Inspector."];

/// Number of dialogs after which the running script is terminated: endless dialogs would block the page.
const MAX_DIALOGS: usize = 20;
/// Maximum number of workers whose activity is monitored.
const MAX_WORKERS: usize = 8;
/// Maximum number of windows whose addresses are recorded.
const MAX_WINDOWS: usize = 100;
/// Maximum length of such an address, in bytes.
const MAX_ADDRESS: usize = 2048;

pub(super) async fn follow(mut events: Events, page: Session, view: Arc<View>) {
    let mut dialogs = 0;
    while let Some(event) = events.next().await {
        if let Some(too_much) = view.noise.count(&event) {
            view.end.send_if_modified(|end| end.is_none() && end.replace(too_much).is_none());
            // The owner of the page closes it; its events are ignored from now on.
            return;
        }
        let from = event.session.clone().map_or_else(|| page.clone(), |id| page.sibling(id));
        match event.method.as_str() {
            "Page.javascriptDialogOpening" => {
                dialogs += 1;
                answer(&from, dialogs).await;
            }
            "Target.attachedToTarget" => begin(&from, &event.params, &view).await,
            "Inspector.targetCrashed" => {
                view.end.send_replace(Some(CdpError::Crashed));
            }
            "Target.detachedFromTarget" => {
                let session = event.params["sessionId"].as_str().unwrap_or_default();
                view.network.end_session(session);
                view.workers.lock().remove(session);
            }
            method if method.starts_with("Page.") => note_page(&view, &from, &event),
            method if method.starts_with("Network.") => note_network(&view, &from, &event),
            _ => {}
        }
    }
    view.end.send_if_modified(|end| end.is_none() && end.replace(CdpError::Closed).is_none());
}

/// Returns the parameters of `Network.enable`: buffers just large enough for short documents, which are read once they
/// are complete.
pub(super) fn network() -> Value {
    json!({"maxTotalBufferSize": 8 << 20, "maxResourceBufferSize": 4 << 20})
}

/// Accepts a dialog, including the question whether to leave the page.
async fn answer(session: &Session, count: usize) {
    if count > MAX_DIALOGS {
        session.post("Runtime.terminateExecution", json!({})).await;
    }
    session.post("Page.handleJavaScriptDialog", json!({"accept": true})).await;
}

/// Sets up a worker, a frame of another process or a window, which Chromium holds until then.
async fn begin(from: &Session, params: &Value, view: &View) {
    let Some(id) = params["sessionId"].as_str() else { return };
    let child = from.sibling(id);
    match params["targetInfo"]["type"].as_str() {
        Some("page") if !view.children.keeps_popups => {
            let target = &params["targetInfo"]["targetId"];
            from.browser().post("Target.closeTarget", json!({ "targetId": target })).await;
            return;
        }
        Some("page") => {}
        Some("worker") => {
            view.network.begin_worker(params["targetInfo"]["url"].as_str().unwrap_or_default());
            let mut workers = view.workers.lock();
            if workers.len() < MAX_WORKERS {
                workers.insert(id.to_owned(), child.clone());
            }
        }
        Some("iframe") => {
            child.post("Page.enable", json!({})).await;
            let attach = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
            child.post("Target.setAutoAttach", attach).await;
        }
        _ => {}
    }
    if params["targetInfo"]["type"] != "page" {
        view.has_parts.store(true, Ordering::Relaxed);
        child.post("Network.enable", network()).await;
    }
    for (method, params) in &view.children.calls {
        child.post(method, params.clone()).await;
    }
    child.post("Runtime.runIfWaitingForDebugger", json!({})).await;
}

fn note_page(view: &View, from: &Session, event: &Event) {
    let params = &event.params;
    let text = |name: &str| params[name].as_str().unwrap_or_default();
    match event.method.as_str() {
        "Page.frameAttached" => view.frames.lock().attached(from, text("frameId"), text("parentFrameId")),
        "Page.frameNavigated" => navigated(view, from, &params["frame"]),
        // A frame that moves to another process keeps its id.
        "Page.frameDetached" if params["reason"] != "swap" => view.frames.lock().detached(text("frameId")),
        "Page.navigatedWithinDocument" => {
            let mut frames = view.frames.lock();
            frames.renamed(text("frameId"), text("url"));
            if frames.is_main(text("frameId")) {
                text("url").clone_into(&mut view.documents.lock().now.url);
            }
        }
        "Page.windowOpen" => note_window(view, text("url")),
        "Page.domContentEventFired" => advance(view, Stage::Parsed),
        "Page.loadEventFired" => advance(view, Stage::Loaded),
        _ => {}
    }
}

fn note_window(view: &View, url: &str) {
    let mut windows = view.windows.lock();
    if windows.len() < MAX_WINDOWS && url.len() <= MAX_ADDRESS && !windows.iter().any(|known| known == url) {
        windows.push(url.to_owned());
    }
}

fn navigated(view: &View, from: &Session, frame: &Value) {
    view.frames.lock().navigated(from, frame);
    if frame["parentId"].is_string() {
        return;
    }
    let mut documents = view.documents.lock();
    let loader = documents.committed(frame);
    view.stage.send_replace((documents.now.number, Stage::Loading));
    drop(documents);
    view.network.begin_document(&loader);
    view.polls.lock().clear();
    view.is_restless.store(false, Ordering::Relaxed);
}

fn advance(view: &View, stage: Stage) {
    view.stage.send_modify(|(_, now)| *now = stage.max(*now));
}

fn note_network(view: &Arc<View>, from: &Session, event: &Event) {
    let params = &event.params;
    let text = |name: &str| params[name].as_str().unwrap_or_default();
    if params["type"] == "Document" && view.frames.lock().is_main(text("frameId")) {
        match event.method.as_str() {
            "Network.requestWillBeSent" => {
                let url = params["request"]["url"].as_str().unwrap_or_default();
                url.clone_into(&mut view.documents.lock().asked);
            }
            "Network.responseReceived" => {
                view.documents.lock().answered(params);
                body::follow(view, from, text("loaderId"));
            }
            _ => {}
        }
    }
    match event.method.as_str() {
        "Network.dataReceived" => view.bodies.lock().more(params),
        "Network.loadingFinished" => view.bodies.lock().end(text("requestId")),
        "Network.loadingFailed" => {
            view.bodies.lock().end(text("requestId"));
            view.documents.lock().failed(text("requestId"), text("errorText"));
        }
        _ => {}
    }
    view.network.note(event);
}
