//! Owners of work, for fair scheduling.

use std::sync::Arc;

/// The owner of work: a team and a run within it. Where slots are limited, teams take turns, and within a team its runs, so
/// that a team with a hundred runs delays another team by only one of them. Cheap to clone.
///
/// A run is a unit of work that must not wait for the team's other work: a crawl, a batch, or a single scrape.
///
/// ```
/// let owner = base::Owner::new("team", "crawl");
/// assert_eq!((&*owner.team, &*owner.run), ("team", "crawl"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Owner {
    /// Id of the team; any label.
    pub team: Arc<str>,
    /// Id of the run, unique within the team; any label.
    pub run: Arc<str>,
}

impl Owner {
    /// Creates the owner for a run of a team.
    #[must_use]
    pub fn new(team: &str, run: &str) -> Self {
        Self { team: team.into(), run: run.into() }
    }

    /// Creates the owner for work of a team that belongs to no run. All such work together takes turns like one run.
    #[must_use]
    pub fn of_team(team: &str) -> Self {
        Self { team: team.into(), run: Arc::default() }
    }
}
