//! Advertisements, trackers and questions for consent are kept out: requests by rule, and what is drawn all the same is
//! hidden.

mod hide;
mod lists;

use std::sync::Arc;

use adblock::Engine;
use adblock::request::Request;
use tokio::sync::OnceCell;

use crate::requests::Blocker;
use crate::settings::Settings;
use crate::tab::ResourceKind;

/// What is looked at of an address, in bytes: rules are about hosts, folders and names of files. Pages make addresses as long
/// as they like.
const MAX_ADDRESS: usize = 4096;

/// Rules, read when they are needed first. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Ads(Arc<OnceCell<Arc<Rules>>>);

/// Rules that are ready.
pub(crate) struct Rules(Engine);

impl Ads {
    /// The rules of the operator's lists, or those that are built in.
    pub(crate) async fn rules(&self, settings: &Settings) -> Arc<Rules> {
        let rules = self.0.get_or_init(|| async {
            let folder = settings.lists.clone();
            // Large lists take a while to be read.
            let read = tokio::task::spawn_blocking(move || lists::engine(folder.as_deref())).await;
            Arc::new(Rules(read.unwrap_or_default()))
        });
        Arc::clone(rules.await)
    }
}

impl Rules {
    /// Whether a request of a page is kept out.
    pub(crate) fn block(&self, url: &str, page: &str, kind: ResourceKind) -> bool {
        let Ok(request) = Request::new(start(url), start(page), word(kind), "GET") else { return false };
        self.0.check_network_request(&request).should_block()
    }
}

/// The beginning of an address.
fn start(address: &str) -> &str {
    &address[..address.floor_char_boundary(MAX_ADDRESS)]
}

/// Who keeps requests out by these rules, if there are any.
pub(crate) fn blocking(rules: Option<Arc<Rules>>) -> Option<Box<Blocker>> {
    let rules = rules?;
    Some(Box::new(move |url: &str, page: &str, kind| rules.block(url, page, kind)))
}

/// What the rules call it.
fn word(kind: ResourceKind) -> &'static str {
    match kind {
        // Documents of frames: those of pages are not asked about.
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
        // Who visits them wants to see them.
        assert!(!rules.block("https://www.cookiebot.com/a.js", "https://www.cookiebot.com/", ResourceKind::Script));
    }
}
