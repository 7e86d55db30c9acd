//! Payload of the jobs that read pages.

use queue::{Payload, Queue};
use serde::{Deserialize, Serialize};

use super::PAGES;

/// Payload of a page job.
#[derive(Debug, Serialize, Deserialize)]
pub struct PagePayload {
    /// Run id, under the stored name of the member.
    pub(super) crawl: String,
    pub(super) depth: u32,
    pub(super) url: String,
    /// URL of the page that links to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) parent: Option<String>,
}

impl Payload for PagePayload {
    const KIND: &'static str = "crawl.page";
    const QUEUE: Queue = PAGES;
    /// Includes attempts that sites have answered with 429 or 503.
    const ATTEMPTS: i32 = 5;
}
