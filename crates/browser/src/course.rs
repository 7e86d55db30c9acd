//! State that the attempts at one visit share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::Instant;
use visit::Visit;

/// State that the attempts at one visit share.
pub(crate) struct Course {
    began: Instant,
    /// Whether an action was carried out that must not be repeated.
    pub(crate) has_acted: AtomicBool,
    may_hurry: AtomicBool,
    /// Whether the last attempt was abandoned because its clock was hurried.
    was_hasty: AtomicBool,
}

impl Course {
    /// Returns the state for a visit. Only a page that is discarded after reading may be hurried; `is_kept` says that
    /// it is kept open.
    pub(crate) fn of(visit: &Visit<'_>, is_kept: bool) -> Self {
        let does_more = !visit.actions.is_empty() || visit.screenshot.is_some() || visit.styles;
        let lasts = is_kept || visit.keeps_state || visit.state.is_some() || visit.wait_for > Duration::ZERO;
        Self { may_hurry: AtomicBool::new(!does_more && !lasts), ..Self::lasting() }
    }

    /// Returns the state for a page that is kept open.
    pub(crate) fn lasting() -> Self {
        let no = || AtomicBool::new(false);
        Self { began: Instant::now(), has_acted: no(), may_hurry: no(), was_hasty: no() }
    }

    /// Whether the clock of the page may run faster than ours.
    pub(crate) fn may_hurry(&self) -> bool {
        self.may_hurry.load(Ordering::Relaxed)
    }

    /// Makes the next attempt use real time, if enough is left until `deadline`. Returns whether there is.
    pub(crate) fn slow_down(&self, deadline: Instant) -> bool {
        let now = Instant::now();
        // A real-time attempt is expected to take longer than the hurried one; twice its duration must be left.
        let is_possible = self.may_hurry() && deadline.saturating_duration_since(now) >= (now - self.began) * 2;
        if is_possible {
            self.may_hurry.store(false, Ordering::Relaxed);
            self.was_hasty.store(true, Ordering::Relaxed);
        }
        is_possible
    }

    /// Whether a failed attempt is retried: it was hurried, or the browser died before any action was carried out.
    pub(crate) fn goes_again(&self, is_browser_gone: bool) -> bool {
        let was_hasty = self.was_hasty.swap(false, Ordering::Relaxed);
        was_hasty || is_browser_gone && !self.has_acted.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use url::Url;
    use visit::State;

    use super::*;

    #[test]
    fn only_a_page_that_is_read_and_thrown_away_is_hurried() {
        let url: Url = "http://a.test/".parse().unwrap();
        let plain = Visit::new(&url, Instant::now());
        assert!(Course::of(&plain, false).may_hurry());
        assert!(!Course::of(&plain, true).may_hurry() && !Course::lasting().may_hurry());
        let (actions, shot, state) = ([wire::Action::Scrape], wire::ScreenshotOptions::default(), State::default());
        for visit in [
            Visit { actions: &actions, ..plain.clone() },
            Visit { screenshot: Some(&shot), ..plain.clone() },
            Visit { styles: true, ..plain.clone() },
            Visit { state: Some(&state), ..plain.clone() },
            Visit { keeps_state: true, ..plain.clone() },
            Visit { wait_for: Duration::from_secs(1), ..plain.clone() },
        ] {
            assert!(!Course::of(&visit, false).may_hurry());
        }
    }

    #[test]
    fn what_was_too_hasty_goes_again_once_if_there_is_time() {
        let url: Url = "http://a.test/".parse().unwrap();
        let course = Course::of(&Visit::new(&url, Instant::now()), false);
        let course = Course { began: Instant::now() - Duration::from_secs(4), ..course };
        assert!(!course.slow_down(Instant::now() + Duration::from_secs(7)) && !course.goes_again(false));
        assert!(course.slow_down(Instant::now() + Duration::from_secs(9)) && !course.may_hurry());
        assert!(course.goes_again(false) && !course.goes_again(false));
        assert!(!course.slow_down(Instant::now() + Duration::from_secs(90)));
    }
}
