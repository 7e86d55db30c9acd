//! Action `click`: at the place that a person would choose, by mouse or touch.

use std::time::Duration;

use cdp::CdpError;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use wire::ClickAction;

use super::actor::{Actor, Failure};
use super::wait::unusable;

/// Script that finds the place to click; runs after js/find.js.
const CLICK: &str = include_str!("../js/click.js");
/// Script that keeps all matches and returns their number; runs after js/find.js.
const COUNT: &str = include_str!("../js/count.js");
/// Time limit for an element to become clickable.
const MAX_WAIT: Duration = Duration::from_secs(5);
/// Time limit for each element if all matches are clicked.
const MAX_WAIT_EACH: Duration = Duration::from_millis(800);
/// Maximum number of elements that one action clicks.
const MAX_CLICKS: u64 = 200;
/// Time limit for the page to acknowledge an input event.
const MAX_HEARD: Duration = Duration::from_secs(3);
/// Extra time for the script before the page counts as stuck.
const GRACE: Duration = Duration::from_secs(2);

/// Place of a click.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Aim {
    /// Position in the window, in CSS pixels.
    x: Option<f64>,
    y: Option<f64>,
    /// Reason why the element cannot be clicked.
    problem: Option<String>,
    /// Whether this match is invisible and skipped.
    skip: bool,
}

pub(super) async fn click(actor: &Actor<'_>, action: &ClickAction) -> Result<(), Failure> {
    let selector = &action.selector;
    if !action.all {
        return click_one(actor, selector, None, MAX_WAIT).await;
    }
    let count = actor.run(COUNT, &[json!(selector)], Instant::now() + MAX_WAIT).await;
    let count = count.map_err(|error| unusable(selector, error))?.as_u64().unwrap_or_default();
    for nth in 0..count.min(MAX_CLICKS) {
        click_one(actor, selector, Some(nth), MAX_WAIT_EACH).await?;
    }
    Ok(())
}

async fn click_one(actor: &Actor<'_>, selector: &str, nth: Option<u64>, patience: Duration) -> Result<(), Failure> {
    let end = Instant::now() + patience;
    let aim = loop {
        let left = end.saturating_duration_since(Instant::now());
        let args = [json!(selector), json!(nth), json!(u64::try_from(left.as_millis()).unwrap_or_default())];
        match actor.run(CLICK, &args, end + GRACE).await {
            Ok(answer) => break serde_json::from_value::<Aim>(answer).unwrap_or_default(),
            // The document is being replaced: a single element may exist in the next one, kept matches are lost.
            Err(CdpError::Navigated | CdpError::NoContext) if nth.is_some() => return Ok(()),
            Err(CdpError::Navigated | CdpError::NoContext) if left > Duration::ZERO => {
                sleep(Duration::from_millis(50)).await;
            }
            Err(CdpError::Timeout) => {
                break Aim { problem: Some("the page does not respond".to_owned()), ..Aim::default() };
            }
            Err(error) => return Err(unusable(selector, error)),
        }
    };
    match aim {
        Aim { skip: true, .. } => Ok(()),
        Aim { x: Some(x), y: Some(y), .. } if actor.is_mobile => tap(actor, x, y).await,
        Aim { x: Some(x), y: Some(y), .. } => press(actor, x, y).await,
        aim => {
            let problem = aim.problem.unwrap_or_else(|| "the element cannot be clicked".to_owned());
            Err(Failure::of(selector, format!("{problem} after {:.1} s", patience.as_secs_f64())))
        }
    }
}

async fn press(actor: &Actor<'_>, x: f64, y: f64) -> Result<(), Failure> {
    let event = |kind: &str, button: &str, count: u32| {
        let buttons = u32::from(kind == "mousePressed");
        json!({"type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": count})
    };
    send(actor, "Input.dispatchMouseEvent", event("mouseMoved", "none", 0)).await?;
    send(actor, "Input.dispatchMouseEvent", event("mousePressed", "left", 1)).await?;
    send(actor, "Input.dispatchMouseEvent", event("mouseReleased", "left", 1)).await
}

async fn tap(actor: &Actor<'_>, x: f64, y: f64) -> Result<(), Failure> {
    let start = json!({"type": "touchStart", "touchPoints": [{"x": x, "y": y}]});
    send(actor, "Input.dispatchTouchEvent", start).await?;
    send(actor, "Input.dispatchTouchEvent", json!({"type": "touchEnd", "touchPoints": []})).await
}

/// Dispatches an input event. A page that is busy or navigates may not acknowledge it, which is no error.
pub(super) async fn send(actor: &Actor<'_>, method: &str, params: Value) -> Result<(), Failure> {
    let until = actor.until.min(Instant::now() + MAX_HEARD);
    match actor.tab.session().call_by(until, method, params).await {
        Ok(_) | Err(CdpError::Timeout | CdpError::Navigated | CdpError::Refused { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
