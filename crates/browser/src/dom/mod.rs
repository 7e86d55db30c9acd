//! The page as it stands, as one HTML document.
//!
//! Chromium hands out the whole tree in one call, frames and closed shadow roots included, as its own layout sees it: shadow
//! trees are put in their places and slots filled. No script runs for it, so no page can tell, delay or change it.

mod controls;
mod html;
mod lists;
mod noscript;
mod opened;
mod page;
mod seen;
mod snapshot;
mod text;

use serde_json::json;
use tokio::time::Instant;

pub(crate) use snapshot::Snapshot;
pub(crate) use text::Text;

use crate::cdp::CdpError;
use crate::tab::Tab;

/// Value of the attribute `hidden` on what CSS hides; the page's own `hidden` has another one.
const UNSEEN: &str = "unseen";
/// Attribute of what CSS hides as long as no control of the page opens it ([`opened`]).
const COLLAPSED: &str = "data-collapsed";
/// The most bytes of a captured page; what is over it is cut.
const MAX_HTML: usize = 32 << 20;

/// The most values of a snapshot, of which a node has ten to twenty. They are read into columns of numbers.
const MAX_SNAPSHOT: usize = 16_000_000;

/// The warning of a page that was cut.
pub(crate) const CUT: &str = "the page is too large: what is over 32 MiB of it is missing";

/// A captured page.
pub(crate) struct Capture {
    /// The document.
    pub(crate) html: String,
    /// Whether the end is missing because there was too much.
    pub(crate) is_cut: bool,
}

/// Captures the page.
///
/// # Errors
/// Those of the protocol; `Timeout` at the deadline.
pub(crate) async fn capture(tab: &Tab, deadline: Instant) -> Result<Capture, CdpError> {
    let snapshot = snapshot(tab, deadline).await?;
    // That of a large page takes long.
    tokio::task::spawn_blocking(move || html::write(&snapshot, MAX_HTML)).await.map_err(|_| CdpError::Closed)
}

/// As [`capture`], also of a page whose scripts never give way: after half of the time they are stopped for good.
///
/// # Errors
/// As there.
pub(crate) async fn capture_by_force(tab: &Tab, deadline: Instant) -> Result<Capture, CdpError> {
    let half = Instant::now() + deadline.saturating_duration_since(Instant::now()) / 2;
    match capture(tab, half).await {
        Err(CdpError::Timeout) => {}
        result => return result,
    }
    stop_scripts(tab).await;
    capture(tab, deadline).await
}

/// Ends the script that runs now, and lets no further one begin.
pub(crate) async fn stop_scripts(tab: &Tab) {
    tab.session().post("Emulation.setScriptExecutionDisabled", json!({"value": true})).await;
    tab.session().post("Runtime.terminateExecution", json!({})).await;
}

/// Lets scripts begin again.
pub(crate) async fn let_scripts_run(tab: &Tab) {
    tab.session().post("Emulation.setScriptExecutionDisabled", json!({"value": false})).await;
}

/// Reads the tree of the page.
///
/// # Errors
/// As [`capture`].
pub(crate) async fn snapshot(tab: &Tab, deadline: Instant) -> Result<Snapshot, CdpError> {
    let params = json!({ "computedStyles": snapshot::STYLES });
    let snapshot = tab.session().call_as("DOMSnapshot.captureSnapshot", params, MAX_SNAPSHOT);
    tokio::time::timeout_at(deadline, snapshot).await.unwrap_or(Err(CdpError::Timeout))
}
