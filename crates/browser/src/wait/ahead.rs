//! Upcoming changes that a page announces: animations, refreshes, service workers.

use std::time::Duration;

use cdp::CdpError;
use serde::Deserialize;
use tokio::time::Instant;
use url::Url;

use crate::tab::{Tab, World};

/// Script that collects them; returns an [`Answer`].
const PROBE: &str = include_str!("../js/probe.js");
/// Delay of a refresh above which the page is meant to be read first.
const MAX_REFRESH: Duration = Duration::from_secs(6);
/// Time that a refresh may take to navigate.
const MOVE: Duration = Duration::from_millis(800);
/// Duration of an animation above which it reveals nothing new.
const MAX_ANIMATION_MS: f64 = 3000.0;

/// Result of the script.
#[derive(Debug, Deserialize)]
struct Answer {
    /// Milliseconds until the last animation of text ends.
    animation: f64,
    /// Whether a script is fading text.
    fading: bool,
    /// Contents of `<meta http-equiv=refresh>`.
    refresh: Vec<String>,
    /// Milliseconds since the document was parsed.
    parsed: f64,
    /// Whether there is a service worker that does not control this document yet.
    worker: bool,
}

/// Upcoming changes.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Ahead {
    /// Time when the last change that is known to be in progress ends.
    pub(super) until: Option<Instant>,
    /// Whether a service worker is about to control the page.
    pub(super) has_worker: bool,
}

impl Ahead {
    pub(super) async fn read(tab: &Tab, deadline: Instant) -> Result<Self, CdpError> {
        let answer = tab.evaluate(World::Own, PROBE, &[], deadline).await?;
        let lacking = |_| CdpError::Malformed { method: "probe".to_owned(), lacks: "its members" };
        let answer: Answer = serde_json::from_value(answer).map_err(lacking)?;
        Ok(Self::of(&answer, tab))
    }

    fn of(answer: &Answer, tab: &Tab) -> Self {
        let now = Instant::now();
        let document = tab.document();
        let parsed = Duration::from_secs_f64((answer.parsed / 1000.0).clamp(0.0, 3600.0));
        let refresh = answer.refresh.iter().map(String::as_str).chain(document.header("refresh"));
        let moves = refresh.filter_map(|text| delay(text, &document.url)).min();
        let moves = moves.filter(|delay| parsed < *delay + MOVE).map(|delay| now + (delay + MOVE) - parsed);
        let moment = Duration::from_millis(100);
        let animation = answer.animation.min(MAX_ANIMATION_MS);
        let animation = (animation > 0.0).then(|| now + Duration::from_secs_f64(animation / 1000.0) + moment);
        let fading = answer.fading.then(|| now + moment);
        Self { until: [moves, animation, fading].into_iter().flatten().max(), has_worker: answer.worker }
    }
}

/// Returns the delay of a refresh such as `2; url=/next`. `None` if it is too long or only reloads the same page.
fn delay(text: &str, page: &str) -> Option<Duration> {
    let (seconds, rest) = text.split_once([';', ',']).unwrap_or((text, ""));
    let delay = Duration::try_from_secs_f64(seconds.trim().parse().ok()?).ok()?;
    let target = rest.trim_start();
    let target = target.get(..4).filter(|start| start.eq_ignore_ascii_case("url=")).map_or(target, |_| &target[4..]);
    let target = target.trim().trim_matches(['"', '\'']);
    let here = Url::parse(page).ok()?;
    let is_itself = target.is_empty() || here.join(target).is_ok_and(|target| target == here);
    (delay <= MAX_REFRESH && !(is_itself && delay > Duration::ZERO)).then_some(delay)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refresh_leads_somewhere_soon() {
        let check = |text: &str, millis: Option<u64>| {
            assert_eq!(delay(text, "http://a.test/x"), millis.map(Duration::from_millis), "{text}");
        };
        check("0; url=/next", Some(0));
        check("2;URL='http://b.test/'", Some(2000));
        check("1.5, /next", Some(1500));
        check("0", Some(0));
        check("5", None);
        check("3; url=/x", None);
        check("300; url=/next", None);
        check("x; url=/next", None);
        check("-1; url=/next", None);
    }
}
