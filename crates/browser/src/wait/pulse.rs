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
    /// Seconds that all other threads have worked.
    elsewhere: f64,
    workers: f64,
}

/// A thread that works for so large a part of the time is computing something. On a busy machine it gets no more.
const BUSY: f64 = 0.3;

impl Pulse {
    pub(super) async fn read(tab: &Tab, until: Instant) -> Result<Self, CdpError> {
        let answer = tab.session().call_by(until, "Performance.getMetrics", json!({})).await?;
        let metrics = answer["metrics"].as_array().map_or(&[][..], Vec::as_slice);
        let of = |name: &str| metrics.iter().find(|metric| metric["name"] == name).and_then(value).unwrap_or_default();
        Ok(Self {
            layouts: of("LayoutCount"),
            documents: of("Documents"),
            worked: of("TaskDuration") - of("DevToolsCommandDuration"),
            elsewhere: of("ProcessTime") - of("ThreadTime"),
            workers: of("WorkerGlobalScopes"),
        })
    }

    /// Whether the text may have changed since.
    pub(super) fn moved_since(&self, before: &Self) -> bool {
        self.layouts != before.layouts || self.documents != before.documents
    }

    /// Whether something was computing for most of the `seconds` since.
    pub(super) fn was_busy_since(&self, before: &Self, seconds: f64) -> bool {
        let worked = (self.worked - before.worked) / seconds;
        let elsewhere = (self.elsewhere - before.elsewhere) / seconds;
        worked > BUSY || self.workers > 0.0 && elsewhere > BUSY
    }
}

fn value(metric: &Value) -> Option<f64> {
    metric["value"].as_f64()
}
