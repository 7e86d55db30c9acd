//! Limits of a team for language models.

use answers::{Micros, TeamLimit};
use store::teams::Team;

/// Returns the limits of a team per day for language models.
#[must_use]
pub fn model_limit(team: &Team) -> TeamLimit {
    let whole = |limit: Option<i64>| limit.and_then(|limit| u64::try_from(limit).ok());
    TeamLimit { tokens: whole(team.model_tokens_per_day), cost: whole(team.model_cost_per_day).map(Micros) }
}
