//! Ad blocking: blocks requests of advertisements, trackers and consent notices by rule, and hides the elements that
//! remain.

mod hide;
mod lists;

use std::sync::Arc;

use adblock::Engine;
use adblock::request::Request;
use tokio::sync::OnceCell;

use crate::requests::Blocker;
use crate::settings::Settings;
use crate::tab::ResourceKind;

/// Number of bytes of an address that are matched: rules concern hosts, folders and file names, but pages may use
/// addresses of any length.
const MAX_ADDRESS: usize = 4096;

/// Rules, loaded on first use. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Ads(Arc<OnceCell<Arc<Rules>>>);

/// Compiled rules.
pub(crate) struct Rules(Engine);

impl Ads {
    /// Returns the rules of the operator's lists, or the built-in ones.
    pub(crate) async fn rules(&self, settings: &Settings) -> Arc<Rules> {
        let rules = self.0.get_or_init(|| async {
            let folder = settings.lists.clone();
            // Loading large lists takes a while.
            let read = tokio::task::spawn_blocking(move || lists::engine(folder.as_deref())).await;
            Arc::new(Rules(read.unwrap_or_default()))
        });
        Arc::clone(rules.await)
    }
}

impl Rules {
    /// Whether a request of a page is blocked.
    pub(crate) fn block(&self, url: &str, page: &str, kind: ResourceKind) -> bool {
        let Ok(request) = Request::new(start(url), start(page), word(kind), "GET") else { return false };
        self.0.check_network_request(&request).should_block()
    }
}

/// Returns the beginning of an address.
fn start(address: &str) -> &str {
    &address[..address.floor_char_boundary(MAX_ADDRESS)]
}

/// Returns a blocker for these rules, if there are any.
pub(crate) fn blocking(rules: Option<Arc<Rules>>) -> Option<Box<Blocker>> {
    let rules = rules?;
    Some(Box::new(move |url: &str, page: &str, kind| rules.block(url, page, kind)))
}

/// Returns the resource type in the terms of filter lists.
fn word(kind: ResourceKind) -> &'static str {
    match kind {
        // Frames only: the page's own document is never matched.
        ResourceKind::Document => "sub_frame",
        ResourceKind::Script => "script",
        ResourceKind::Stylesheet => "stylesheet",
        ResourceKind::Xhr | ResourceKind::Fetch | ResourceKind::EventSource => "xmlhttprequest",
        ResourceKind::Image => "image",
        ResourceKind::Font => "font",
        ResourceKind::Media => "media",
        ResourceKind::WebSocket => "websocket",
        ResourceKind::Other => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_list_knows_the_largest() {
        let rules = Rules(lists::engine(None));
        let blocks = |url: &str, kind| rules.block(url, "https://news.example/article", kind);
        assert!(blocks("https://securepubads.g.doubleclick.net/tag/js/gpt.js", ResourceKind::Script));
        assert!(blocks("https://cdn.cookielaw.org/scripttemplates/otSDKStub.js", ResourceKind::Script));
        assert!(blocks("https://www.google-analytics.com/collect", ResourceKind::Fetch));
        assert!(blocks("https://tpc.googlesyndication.com/frame", ResourceKind::Document));
        assert!(!blocks("https://news.example/app.js", ResourceKind::Script));
        let long = format!("https://x.adnxs.com/ad.js?{}", "é=1&".repeat(500_000));
        assert!(blocks(&long, ResourceKind::Script));
        assert!(!blocks("https://cdn.jsdelivr.net/npm/vue", ResourceKind::Script));
        // A visit to the blocked site itself is allowed.
        assert!(!rules.block("https://www.cookiebot.com/a.js", "https://www.cookiebot.com/", ResourceKind::Script));
    }
}
