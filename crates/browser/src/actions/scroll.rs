//! Action `scroll`: by one screen.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use wire::{Direction, ScrollAction};

use super::actor::{Actor, Failure};
use super::wait::unusable;

/// Script that scrolls; runs after js/find.js.
const SHIFT: &str = include_str!("../js/shift.js");
/// Time limit for the page.
const MAX_WAIT: Duration = Duration::from_secs(5);

pub(super) async fn scroll(actor: &Actor<'_>, action: &ScrollAction) -> Result<(), Failure> {
    let selector = action.selector.as_deref();
    let sign = if action.direction == Direction::Up { -1 } else { 1 };
    let args = [json!(selector), json!(sign)];
    let moved = actor.run(SHIFT, &args, Instant::now() + MAX_WAIT).await;
    match (moved, selector) {
        (Ok(Value::Bool(false)), Some(selector)) => Err(Failure::of(selector, "no element matches")),
        (Err(error), Some(selector)) => Err(unusable(selector, error)),
        (Err(error), None) => Err(error.into()),
        (Ok(_), _) => Ok(()),
    }
}
