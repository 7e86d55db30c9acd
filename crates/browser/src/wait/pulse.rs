//! Activity counters of a page, kept by Chromium: they can be read even while the page is blocked.

use cdp::CdpError;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::tab::Tab;

/// Values of the counters.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Pulse {
    /// Number of layouts and documents: the text cannot have changed if both are the same.
    layouts: f64,
    documents: f64,
    /// Seconds that the main thread has worked, without work for the protocol.
    worked: f64,
}

/// Fraction of the time that the main thread must work to count as busy. Measured by the time of its tasks, so that it
/// is the same on a loaded machine.
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

    /// Whether the page was busy for most of the `seconds` since.
    pub(super) fn was_busy_since(&self, before: &Self, seconds: f64) -> bool {
        (self.worked - before.worked) / seconds > BUSY
    }
}

fn value(metric: &Value) -> Option<f64> {
    metric["value"].as_f64()
}
