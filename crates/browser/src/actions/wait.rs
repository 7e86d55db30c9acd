//! Action `wait`: for a duration or for an element.

use std::time::Duration;

use cdp::CdpError;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, sleep_until};
use wire::WaitAction;

use super::actor::{Actor, Failure};
use crate::BrowserError;

/// Script that looks for an element; runs after js/find.js.
const PRESENT: &str = include_str!("../js/present.js");
/// Time limit for an element to appear.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// Reserved time at the end of the visit, so that the answer can name the missing element.
const RESERVE: Duration = Duration::from_millis(500);
/// Duration of one look in the page; short, because the document may be replaced meanwhile.
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
            return Err(Failure::of(selector, format!("no visible element matches after {seconds:.1} s")));
        }
        // A document that is being replaced refuses calls at once.
        sleep(Duration::from_millis(30)).await;
    }
}

/// Maps an error of an action script. An exception in it can only mean an invalid selector.
pub(super) fn unusable(selector: &str, error: CdpError) -> Failure {
    match error {
        CdpError::Script { message, .. } => Failure::of(selector, format!("invalid selector: {message}")),
        other => other.into(),
    }
}
