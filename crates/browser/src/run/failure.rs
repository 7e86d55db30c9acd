//! Why an attempt at a visit brought nothing, and who is to blame.

use crate::Browser;
use crate::context::Context;
use crate::error::BrowserError;
use crate::process::Process;
use crate::visit::Visit;

/// What a page has too much of that was ended for its memory.
const MEMORY: &str = "bytes of memory in the browser (browser.max_page_memory_mib)";

/// Why an attempt brought nothing, and whether another one may.
pub(super) struct Failure {
    pub(super) error: BrowserError,
    pub(super) is_browser_gone: bool,
}

impl Failure {
    /// As it is told: that a browser ended, with all its pages, is not this page's fault.
    pub(super) fn told(self) -> BrowserError {
        match self.error {
            BrowserError::Crashed if self.is_browser_gone => {
                BrowserError::Unavailable { reason: "it ended while it worked on the page; try again".to_owned() }
            }
            error => error,
        }
    }
}

impl From<BrowserError> for Failure {
    fn from(error: BrowserError) -> Self {
        Self { error, is_browser_gone: false }
    }
}

impl Browser {
    /// Whether the page itself is to blame for the end of an attempt, which is remembered, or its browser.
    pub(super) async fn judge(
        &self,
        visit: &Visit<'_>,
        context: &Context,
        process: &Process,
        error: BrowserError,
    ) -> Failure {
        let is_browser_gone = context.is_browser_gone();
        let is_crash = matches!(error, BrowserError::Crashed) && !is_browser_gone;
        let is_overfed = is_crash && process.overfed.claim().await;
        if is_overfed || context.tab.is_noisy() {
            self.noisy.note(visit.url, &visit.owner.team);
        }
        let limit = self.settings().max_page_memory;
        let too_large = BrowserError::TooLarge { what: MEMORY, limit };
        Failure { error: if is_overfed { too_large } else { error }, is_browser_gone }
    }
}
