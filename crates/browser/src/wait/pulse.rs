//! How busy a page is, by Chromium's own counters: they are read without asking the page, even while it computes.

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::cdp::CdpError;
use crate::tab::Tab;

/// Counters of the page, as they stand.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Pulse {
    /// Layouts, documents and nodes: where none of them has changed, the text has not either.
    layouts: f64,
    documents: f64,
    /// Seconds that the main thread has worked, without what the protocol asked for.
    worked: f64,
}

/// A main thread that works for so large a part of the time is computing something. It is the time that its tasks take, so
/// that it says the same on a machine that others use too.
const BUSY: f64 = 0.6;

impl Pulse {
    pub(super) async fn read(tab: &Tab, until: Instant) -> Result<Self, CdpError> {
        let answer = tab.session().call_by(until, "Performance.getMetrics", json!({})).await?;
        let metrics = answer["metrics"].as_array().map_or(&[][..], Vec::as_slice);
        let of = |name: &str| metrics.iter().find(|metric| metric["name"] == name).and_then(value).unwrap_or_default();
        Ok(Self {
            layouts: of("LayoutCount"),
            documents: of("Documents"),
            worked: of("TaskDuration") - of("DevToolsCommandDuration"),
        })
    }

    /// Whether the text may have changed since.
    pub(super) fn moved_since(&self, before: &Self) -> bool {
        self.layouts != before.layouts || self.documents != before.documents
    }

    /// Whether the page was computing for most of the `seconds` since.
    pub(super) fn was_busy_since(&self, before: &Self, seconds: f64) -> bool {
        (self.worked - before.worked) / seconds > BUSY
    }
}

fn value(metric: &Value) -> Option<f64> {
    metric["value"].as_f64()
}
