//! `wait`: for a time, or for an element.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep, sleep_until};
use wire::WaitAction;

use super::{Actor, Failure};
use crate::BrowserError;
use crate::cdp::CdpError;

/// Runs in the page, behind js/find.js.
const PRESENT: &str = include_str!("../js/present.js");
/// How long an element may take.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// What is kept of the visit's time, so that the answer can still say what was missing.
const RESERVE: Duration = Duration::from_millis(500);
/// How long one look in the page lasts: the document may be replaced meanwhile.
const LOOK_MS: u64 = 1000;

pub(super) async fn wait(actor: &Actor<'_>, action: &WaitAction) -> Result<(), Failure> {
    match action {
        WaitAction::Time { milliseconds } => {
            let end = Instant::now() + Duration::from_millis(u64::from(*milliseconds));
            sleep_until(end.min(actor.until)).await;
            if end > actor.until { Err(BrowserError::Timeout.into()) } else { Ok(()) }
        }
        WaitAction::Element { selector } => element(actor, selector).await,
    }
}

async fn element(actor: &Actor<'_>, selector: &str) -> Result<(), Failure> {
    let began = Instant::now();
    let end = (began + MAX_WAIT).min(actor.until.checked_sub(RESERVE).unwrap_or(actor.until));
    loop {
        let look = Instant::now() + Duration::from_millis(LOOK_MS * 2);
        match actor.run(PRESENT, &[json!(selector), json!(LOOK_MS)], look.min(end)).await {
            Ok(Value::Bool(true)) => return Ok(()),
            Ok(_) | Err(CdpError::Timeout | CdpError::Navigated | CdpError::NoContext) => {}
            Err(error) => return Err(unusable(selector, error)),
        }
        if Instant::now() >= end {
            let seconds = began.elapsed().as_secs_f64();
            return Err(Failure::of(selector, format!("nothing that can be seen matches after {seconds:.1} s")));
        }
        // A document that is just being replaced refuses at once.
        sleep(Duration::from_millis(30)).await;
    }
}

/// The failure for an error of one of our functions, the only one of whose own is a selector that is none.
pub(super) fn unusable(selector: &str, error: CdpError) -> Failure {
    match error {
        CdpError::Script { message, .. } => Failure::of(selector, format!("the selector cannot be used: {message}")),
        other => other.into(),
    }
}
