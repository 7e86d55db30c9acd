//! Whose work it is, where places are few.

use std::sync::Arc;

/// Whose work it is: a team, and a run within it. Where places are few, teams take turns, and within a team its runs do, so
/// that a team with a hundred runs delays another team by one of them. Cheap to clone.
///
/// A run is anything that its team would not have wait for its other work: a crawl, a batch, or one scrape of its own.
///
/// ```
/// let owner = base::Owner::new("team", "crawl");
/// assert_eq!((&*owner.team, &*owner.run), ("team", "crawl"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Owner {
    /// The id of the team; any label.
    pub team: Arc<str>,
    /// The id of the run, unique within the team; any label.
    pub run: Arc<str>,
}

impl Owner {
    /// The run of a team.
    #[must_use]
    pub fn new(team: &str, run: &str) -> Self {
        Self { team: team.into(), run: run.into() }
    }

    /// A team, for work that belongs to none of its runs. All such work of a team has one turn among its runs.
    #[must_use]
    pub fn of_team(team: &str) -> Self {
        Self { team: team.into(), run: Arc::default() }
    }
}
