//! Lanes of a run: how many of its jobs run at once, and at which pace.

use std::time::Duration;

use queue::{Lane, Queue};
use store::teams::Team;

use super::PAGES;

/// Team of a run, and the concurrency limits of its pages.
#[derive(Debug, Clone)]
pub struct Lanes {
    team: String,
    cap: i32,
    team_cap: i32,
    delay: Duration,
}

impl Lanes {
    /// Combines the limits; a delay means one page at a time (docs/CONTRACT.md, "Crawl").
    pub fn new(team: &Team, max_concurrency: Option<u32>, delay: Option<f64>) -> Self {
        let team_cap = team.concurrency;
        let delay = delay.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).unwrap_or_default();
        // A team cannot ask for more than its own limit.
        let asked = max_concurrency.and_then(|most| i32::try_from(most).ok()).unwrap_or(team_cap);
        let cap = if delay.is_zero() { asked.min(team_cap) } else { 1 };
        Self { team: team.id.clone(), cap, team_cap, delay }
    }

    /// Returns the lane of a run's pages.
    pub fn pages<'a>(&'a self, run: &'a str) -> Lane<'a> {
        let Self { team, cap, team_cap, delay } = self;
        Lane { queue: PAGES.name, id: run, team_id: team, cap: *cap, team_cap: *team_cap, delay: *delay }
    }

    /// Returns a lane for one job at a time beside the pages, so that it does not take the only slot of a run with one
    /// page at a time.
    pub fn beside<'a>(&'a self, lane: &'a str) -> Lane<'a> {
        Lane { cap: 1, delay: Duration::ZERO, ..self.pages(lane) }
    }
}

/// Returns the lanes of a run whose items are pages: that of the pages, and that of the jobs that prepare them.
pub fn page_lanes(run: &str) -> Vec<(Queue, String)> {
    vec![(PAGES, run.to_owned()), (PAGES, beside(run))]
}

/// Returns the lane of the jobs that prepare the pages of a run.
pub fn beside(run: &str) -> String {
    format!("{run}:start")
}

/// Returns the run that a lane belongs to, either of the two.
pub fn run_of(lane: &str) -> &str {
    lane.strip_suffix(":start").unwrap_or(lane)
}
