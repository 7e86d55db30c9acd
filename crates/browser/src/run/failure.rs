//! Failure of an attempt at a visit, and its cause: the page or the browser.

use visit::Visit;

use crate::Browser;
use crate::context::Context;
use crate::error::BrowserError;
use crate::process::Process;

/// Exceeded quantity of a page that was killed for its memory.
const MEMORY: &str = "bytes of memory in the browser (browser.max_page_memory_mib)";

/// Failure of an attempt, and whether the browser has ended.
pub(super) struct Failure {
    pub(super) error: BrowserError,
    pub(super) is_browser_gone: bool,
}

impl Failure {
    /// Returns the error for the caller. The end of a whole browser is not the fault of this page.
    pub(super) fn told(self) -> BrowserError {
        match self.error {
            BrowserError::Crashed if self.is_browser_gone => {
                BrowserError::Unavailable { reason: "the browser ended during the visit; try again".to_owned() }
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
    /// Determines whether the page or its browser caused the failure, and remembers noisy pages.
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
