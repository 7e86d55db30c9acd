//! View of a client on a shared browser: only its own context exists for it. Chromium cannot auto-attach to the pages
//! of one context, so the relay attaches the client page by page.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::bounds::Bounds;
use super::call::{FIRST_OWN_CALL, Params};
use super::policy::OF_A_CONTEXT;

/// Maximum number of pages and workers of one context.
pub(super) const MAX_TARGETS: usize = 10;
/// Methods that affect more than one context.
const REFUSED: &[&str] = &[
    "Browser.cancelDownload",
    "Browser.getWindowBounds",
    "Browser.setWindowBounds",
    "Target.attachToBrowserTarget",
    "Target.createBrowserContext",
    "Target.disposeBrowserContext",
];
/// Methods that name a target.
pub(super) const OF_A_TARGET: &[&str] = &[
    "Browser.getWindowForTarget",
    "Target.activateTarget",
    "Target.attachToTarget",
    "Target.closeTarget",
    "Target.getTargetInfo",
];
/// Methods allowed on the session of the browser itself; all others are for pages.
const TO_THE_BROWSER: &[&str] = &[
    "Browser.getVersion",
    "Browser.getWindowForTarget",
    "IO.close",
    "IO.read",
    "Target.activateTarget",
    "Target.attachToTarget",
    "Target.closeTarget",
    "Target.detachFromTarget",
    "Target.getBrowserContexts",
    "Target.getTargetInfo",
    "Target.getTargets",
    "Target.setAutoAttach",
    "Target.setDiscoverTargets",
];

/// State of a client in a shared browser.
#[derive(Default)]
pub(super) struct Shared {
    /// Whether the client has requested auto-attach.
    pub(super) attaches: bool,
    /// Targets of its context that it knows.
    known: HashSet<String>,
    /// Messages that are held back until the relay's own calls are answered.
    owed: Vec<Owed>,
    last_call: u64,
}

struct Owed {
    calls: HashSet<u64>,
    message: String,
}

/// Checks a call beyond [`super::policy`]. `is_root` says that it is for the browser itself.
///
/// # Errors
/// A message for the client if the call is refused.
pub(super) fn check(method: &str, params: &mut Params<'_>, bounds: &Bounds, is_root: bool) -> Result<(), String> {
    let of_a_context = OF_A_CONTEXT.contains(&method);
    let for_another = match is_root {
        true => !of_a_context && !TO_THE_BROWSER.contains(&method),
        // Discovery by a page would report the targets of all contexts.
        false => method == "Target.setDiscoverTargets",
    };
    if REFUSED.contains(&method) || for_another {
        return Err(format!("{method} is not available for the page of a scrape"));
    }
    if of_a_context {
        params.read()?.insert("browserContextId".to_owned(), bounds.context.as_str().into());
    }
    Ok(())
}

impl Shared {
    /// Returns an id for a call of the relay itself.
    pub(super) fn number(&mut self) -> u64 {
        self.last_call += 1;
        FIRST_OWN_CALL + self.last_call
    }

    /// Holds back a message until these calls are answered.
    pub(super) fn owe(&mut self, calls: HashSet<u64>, message: String) {
        self.owed.push(Owed { calls, message });
    }

    /// Handles the answer to a call of the relay itself. Returns the messages that are no longer held back.
    pub(super) fn answered(&mut self, call: u64) -> Vec<String> {
        for owed in &mut self.owed {
            owed.calls.remove(&call);
        }
        self.owed.extract_if(.., |owed| owed.calls.is_empty()).map(|owed| owed.message).collect()
    }

    /// Whether an event of the browser itself concerns the client's context.
    pub(super) fn hears(&mut self, method: &str, params: &Value, bounds: &Bounds) -> bool {
        let target = params["targetId"].as_str().unwrap_or_default();
        match method {
            "Target.attachedToTarget" | "Target.detachedFromTarget" => true,
            "Target.targetCreated" | "Target.targetInfoChanged" => {
                let is_theirs = bounds.has(&params["targetInfo"]);
                if is_theirs {
                    self.known.extend(params["targetInfo"]["targetId"].as_str().map(str::to_owned));
                }
                is_theirs
            }
            "Target.targetDestroyed" => self.known.remove(target),
            "Target.targetCrashed" => self.known.contains(target),
            _ => false,
        }
    }

    /// Whether the client may receive an event of a page: events about targets must concern its context.
    pub(super) fn hears_of_page(&self, method: &str, params: &Value, bounds: &Bounds) -> bool {
        match method {
            "Target.targetCreated" | "Target.targetInfoChanged" => bounds.has(&params["targetInfo"]),
            "Target.targetDestroyed" | "Target.targetCrashed" => {
                self.known.contains(params["targetId"].as_str().unwrap_or_default())
            }
            _ => true,
        }
    }

    /// Methods whose results [`Shared::cut`] filters.
    pub(super) const CUT: &[&str] = &["Target.getTargets", "Target.getBrowserContexts"];

    /// Removes what belongs to other contexts from a result.
    pub(super) fn cut(method: &str, result: &mut Value, bounds: &Bounds) {
        match method {
            "Target.getTargets" => {
                if let Some(targets) = result["targetInfos"].as_array_mut() {
                    targets.retain(|target| bounds.has(target));
                }
            }
            "Target.getBrowserContexts" => *result = json!({ "browserContextIds": [bounds.context] }),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn bounds() -> Bounds {
        Bounds { proxy: String::new(), context: "ours".to_owned(), agent: json!({}), share: Some(Arc::default()) }
    }

    #[expect(clippy::needless_pass_by_value, reason = "calls write it in place")]
    fn checked(method: &str, params: Value, is_root: bool) -> Result<Value, String> {
        let text = serde_json::value::to_raw_value(&params).unwrap();
        let mut params = Params::from(Some(&*text));
        check(method, &mut params, &bounds(), is_root)?;
        Ok(serde_json::from_str(params.written().get()).unwrap())
    }

    #[test]
    fn nothing_reaches_beyond_the_context() {
        for method in ["Target.createBrowserContext", "Target.attachToBrowserTarget", "Browser.setWindowBounds"] {
            assert!(
                checked(method, json!({}), true).is_err() && checked(method, json!({}), false).is_err(),
                "{method}"
            );
        }
        for method in ["Fetch.enable", "Network.enable", "Storage.clearDataForOrigin", "Runtime.evaluate"] {
            assert!(checked(method, json!({}), true).is_err() && checked(method, json!({}), false).is_ok(), "{method}");
        }
        let discover = |is_root| checked("Target.setDiscoverTargets", json!({ "discover": true }), is_root);
        assert!(discover(true).is_ok() && discover(false).is_err());
        for context in [json!({}), json!({ "browserContextId": "theirs" })] {
            let expect = json!({ "browserContextId": "ours" });
            assert_eq!(checked("Storage.getCookies", context.clone(), true), Ok(expect.clone()));
            assert_eq!(checked("Storage.getCookies", context, false), Ok(expect));
        }
    }

    #[test]
    fn others_are_not_seen() {
        let (ours, theirs) = (json!({ "targetId": "a", "browserContextId": "ours" }), json!({ "targetId": "b" }));
        let mut result = json!({ "targetInfos": [theirs, ours] });
        Shared::cut("Target.getTargets", &mut result, &bounds());
        assert_eq!(result, json!({ "targetInfos": [ours] }));
        let mut contexts = json!({ "browserContextIds": ["theirs", "ours"] });
        Shared::cut("Target.getBrowserContexts", &mut contexts, &bounds());
        assert_eq!(contexts, json!({ "browserContextIds": ["ours"] }));
        let mut shared = Shared::default();
        shared.hears("Target.targetCreated", &json!({ "targetInfo": ours }), &bounds());
        let of_page = |method: &str, params: Value| shared.hears_of_page(method, &params, &bounds());
        for method in ["Target.targetCreated", "Target.targetInfoChanged"] {
            assert!(
                of_page(method, json!({ "targetInfo": ours })) && !of_page(method, json!({ "targetInfo": theirs }))
            );
        }
        for method in ["Target.targetDestroyed", "Target.targetCrashed"] {
            assert!(of_page(method, json!({ "targetId": "a" })) && !of_page(method, json!({ "targetId": "b" })));
        }
        assert!(of_page("Fetch.requestPaused", json!({})) && of_page("Target.attachedToTarget", json!({})));
        let mut hears = |method: &str, params: Value| shared.hears(method, &params, &bounds());
        assert!(hears("Target.targetCreated", json!({ "targetInfo": ours })));
        assert!(!hears("Target.targetCreated", json!({ "targetInfo": theirs })));
        assert!(hears("Target.targetCrashed", json!({ "targetId": "a" })));
        assert!(hears("Target.targetDestroyed", json!({ "targetId": "a" })));
        assert!(!hears("Target.targetDestroyed", json!({ "targetId": "a" })));
        assert!(!hears("Target.targetDestroyed", json!({ "targetId": "b" })));
        assert!(!hears("Fetch.requestPaused", json!({})));
    }

    #[test]
    fn an_answer_waits_for_our_own_calls() {
        let mut shared = Shared::default();
        let (first, second) = (shared.number(), shared.number());
        shared.owe(HashSet::from([first, second]), "1".to_owned());
        assert!(shared.answered(first).is_empty() && shared.answered(first).is_empty());
        assert_eq!(shared.answered(second), ["1"]);
        assert!(shared.answered(second).is_empty());
    }
}
