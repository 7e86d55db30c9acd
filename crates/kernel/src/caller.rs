//! Caller of an operation.

use std::sync::Arc;

use base::Owner;
use store::teams::Team;

use crate::rules::Rules;

/// Team and key for which an operation runs.
#[derive(Debug, Clone)]
pub struct Caller {
    /// Team whose limits and credits apply.
    pub team: Team,
    /// Id of the API key; `None` for a call without one, which the server limits per address.
    pub key: Option<String>,
    /// Base URL that the caller used, as `https://host:port`: URLs of files begin with it.
    pub address: Option<String>,
    /// Limits of the key, and networks from which the team may call.
    pub rules: Arc<Rules>,
    /// Whether the caller was admitted by `auth.keyless`. Nothing of such a call outlives it.
    pub is_keyless: bool,
}

impl Caller {
    /// Returns the caller of a job that was accepted earlier. The rules of its key are not checked again: they apply to
    /// new requests.
    #[must_use]
    pub fn of(team: Team, key: Option<String>, address: Option<String>) -> Self {
        Self { team, key, address, rules: Arc::default(), is_keyless: false }
    }

    /// Returns the owner of work for this run or scrape of the team.
    #[must_use]
    pub fn owner(&self, run: &str) -> Owner {
        Owner::new(&self.team.id, run)
    }
}
