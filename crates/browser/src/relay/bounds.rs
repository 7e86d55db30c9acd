//! Limits of a session's clients.

use std::sync::Arc;

use cdp::Share;
use serde_json::Value;

/// Limits that all clients of a session share.
pub(crate) struct Bounds {
    /// Proxy that contexts of the client must use.
    pub(crate) proxy: String,
    /// Context of calls that name none.
    pub(crate) context: String,
    /// Parameters of `Emulation.setUserAgentOverride` for every page: Chromium's own user agent reveals a headless
    /// browser.
    pub(crate) agent: Value,
    /// Bandwidth limit for all clients of the session together; `None` if the browser belongs to the session alone.
    pub(crate) share: Option<Arc<Share>>,
}

impl Bounds {
    /// Whether the browser belongs to the session alone.
    pub(crate) fn is_alone(&self) -> bool {
        self.share.is_none()
    }

    /// Whether a target (`Target.TargetInfo`) belongs to the context of the session.
    pub(crate) fn has(&self, target: &Value) -> bool {
        target["browserContextId"] == self.context.as_str()
    }
}
