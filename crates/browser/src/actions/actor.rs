//! Context of actions: the page, and why an action failed.

use std::sync::atomic::AtomicBool;

use cdp::CdpError;
use serde_json::Value;
use tokio::time::Instant;

use crate::BrowserError;
use crate::results::{Results, TooMuch};
use crate::tab::{Tab, World};

/// Script with the functions that find elements; precedes every other action script.
const FIND: &str = include_str!("../js/find.js");

/// Context in which actions are carried out.
pub(crate) struct Actor<'t> {
    pub(crate) tab: &'t Tab,
    /// Whether touch is used instead of a mouse.
    pub(crate) is_mobile: bool,
    /// Deadline of all actions.
    pub(crate) until: Instant,
    /// Counter for the size of the results.
    pub(crate) results: &'t Results,
    /// Set before the first action that may change something and must not be repeated.
    pub(crate) has_acted: &'t AtomicBool,
}

/// Reason why an action failed.
pub(super) enum Failure {
    /// The whole visit failed.
    Visit(BrowserError),
    /// The page did not allow the action.
    Page { selector: Option<String>, reason: String },
}

impl Actor<'_> {
    /// Runs the function `run` of an action script in the page, after js/find.js.
    pub(super) async fn run(&self, file: &str, args: &[Value], until: Instant) -> Result<Value, CdpError> {
        let function = format!("async function (...args) {{\n{}\n{file}\nreturn run(...args);\n}}", FIND);
        self.tab.evaluate(World::Own, &function, args, until.min(self.until)).await
    }
}

impl Failure {
    pub(super) fn of(selector: &str, reason: impl Into<String>) -> Self {
        Self::Page { selector: Some(selector.to_owned()), reason: reason.into() }
    }
}

impl From<BrowserError> for Failure {
    fn from(error: BrowserError) -> Self {
        Self::Visit(error)
    }
}

impl From<TooMuch> for Failure {
    fn from(error: TooMuch) -> Self {
        Self::Page { selector: None, reason: error.to_string() }
    }
}

impl From<CdpError> for Failure {
    fn from(error: CdpError) -> Self {
        Self::Visit(error.into())
    }
}
