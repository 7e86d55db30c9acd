//! Captures the current page as one HTML document.
//!
//! Chromium returns the whole tree in one call, including frames and closed shadow roots, as its layout sees it: shadow
//! trees are inlined and slots are filled. No script runs for this, so no page can notice, delay or change it.

mod controls;
mod html;
mod invisible;
mod lists;
mod noscript;
mod opened;
mod page;
mod seen;
mod snapshot;
mod text;
mod tree;

use cdp::CdpError;
use serde_json::json;
use tokio::time::Instant;

pub(crate) use snapshot::Snapshot;
pub(crate) use text::Text;

use crate::tab::Tab;

/// Value of the attribute `hidden` on elements hidden by CSS; distinguishes it from the page's own `hidden`.
const UNSEEN: &str = "unseen";
/// Attribute of elements that are laid out and invisible all the same ([`invisible`]), with the reason.
const INVISIBLE: &str = "data-invisible";
/// Attribute of elements that CSS hides until a control of the page opens them ([`opened`]).
const COLLAPSED: &str = "data-collapsed";
/// Size limit of a captured page, in bytes; the rest is cut off.
const MAX_HTML: usize = 32 << 20;

/// Maximum number of values in a snapshot; a node takes ten to thirty. They are parsed into columns of numbers.
const MAX_SNAPSHOT: usize = 16_000_000;

/// Warning for a page that was cut off.
pub(crate) const CUT: &str = "the page is too large: everything after the first 32 MiB was cut off";

/// A captured page.
pub(crate) struct Capture {
    /// HTML of the document.
    pub(crate) html: String,
    /// Whether the end is missing because of the size limit.
    pub(crate) is_cut: bool,
}

/// Captures the page.
///
/// # Errors
/// Errors of the protocol; `Timeout` at the deadline.
pub(crate) async fn capture(tab: &Tab, deadline: Instant) -> Result<Capture, CdpError> {
    let snapshot = taken(tab, deadline, &snapshot::STYLES).await?;
    // Takes long for a large page.
    tokio::task::spawn_blocking(move || html::write(&snapshot, MAX_HTML)).await.map_err(|_| CdpError::Closed)
}

/// Captures the page; if its scripts block for half of the time, stops them for good and tries again.
///
/// # Errors
/// Errors of [`capture`].
pub(crate) async fn capture_by_force(tab: &Tab, deadline: Instant) -> Result<Capture, CdpError> {
    let half = Instant::now() + deadline.saturating_duration_since(Instant::now()) / 2;
    match capture(tab, half).await {
        Err(CdpError::Timeout) => {}
        result => return result,
    }
    stop_scripts(tab).await;
    capture(tab, deadline).await
}

/// Terminates the running script and prevents further scripts from running.
pub(crate) async fn stop_scripts(tab: &Tab) {
    tab.session().post("Emulation.setScriptExecutionDisabled", json!({"value": true})).await;
    tab.session().post("Runtime.terminateExecution", json!({})).await;
}

/// Allows scripts to run again.
pub(crate) async fn let_scripts_run(tab: &Tab) {
    tab.session().post("Emulation.setScriptExecutionDisabled", json!({"value": false})).await;
}

/// Reads the tree of the page for a summary of its text.
///
/// # Errors
/// Errors of [`capture`].
pub(crate) async fn snapshot(tab: &Tab, deadline: Instant) -> Result<Snapshot, CdpError> {
    taken(tab, deadline, &snapshot::STYLES[..snapshot::STYLES_OF_TEXT]).await
}

/// Reads the tree of the page with these computed styles.
async fn taken(tab: &Tab, deadline: Instant, styles: &[&str]) -> Result<Snapshot, CdpError> {
    let params = json!({ "computedStyles": styles });
    let snapshot = tab.session().call_as("DOMSnapshot.captureSnapshot", params, MAX_SNAPSHOT);
    tokio::time::timeout_at(deadline, snapshot).await.unwrap_or(Err(CdpError::Timeout))
}
