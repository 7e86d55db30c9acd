//! Sites and teams whose pages used excessive resources: for a while their pages are visited in a separate browser.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;
use url::Url;

/// Number of sites and teams that are remembered.
const MAX_KNOWN: usize = 1000;
/// Number of noisy pages after which all pages of a team are visited separately.
const MAX_OF_TEAM: usize = 3;

/// Times at which sites and teams were noisy. Clones share them.
#[derive(Clone)]
pub(crate) struct Noisy {
    /// Time until a noisy page is forgotten.
    lasts: Duration,
    known: Arc<Mutex<HashMap<Name, Vec<Instant>>>>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Name {
    Site(String),
    Team(String),
}

impl Noisy {
    pub(crate) fn new(lasts: Duration) -> Self {
        Self { lasts, known: Arc::default() }
    }

    /// Records that a page was noisy.
    pub(crate) fn note(&self, url: &Url, team: &str) {
        self.note_at(url, team, Instant::now());
    }

    fn note_at(&self, url: &Url, team: &str, now: Instant) {
        if self.lasts.is_zero() {
            return;
        }
        let mut known = self.known.lock();
        for name in names(url, team) {
            if known.len() >= MAX_KNOWN && !known.contains_key(&name) {
                forget(&mut known, self.lasts, now);
            }
            let times = known.entry(name).or_default();
            times.push(now);
            // `is_noisy` never needs more than the newest ones.
            times.drain(..times.len().saturating_sub(MAX_OF_TEAM));
        }
    }

    /// Whether a page has to be visited in the separate browser.
    pub(crate) fn is_noisy(&self, url: &Url, team: &str) -> bool {
        self.is_noisy_at(url, team, Instant::now())
    }

    fn is_noisy_at(&self, url: &Url, team: &str, now: Instant) -> bool {
        let known = self.known.lock();
        names(url, team).into_iter().any(|name| {
            let enough = if matches!(name, Name::Site(_)) { 1 } else { MAX_OF_TEAM };
            let lately = |at: &&Instant| now.duration_since(**at) < self.lasts;
            known.get(&name).is_some_and(|times| times.iter().filter(lately).count() >= enough)
        })
    }
}

fn names(url: &Url, team: &str) -> [Name; 2] {
    [Name::Site(url.host_str().unwrap_or_default().to_owned()), Name::Team(team.to_owned())]
}

/// Makes room: removes expired entries, or the oldest one if there are none.
fn forget(known: &mut HashMap<Name, Vec<Instant>>, lasts: Duration, now: Instant) {
    known.retain(|_, times| times.last().is_some_and(|at| now.duration_since(*at) < lasts));
    if known.len() >= MAX_KNOWN
        && let Some(oldest) = known.iter().min_by_key(|(_, times)| times.last().copied()).map(|(name, _)| name.clone())
    {
        known.remove(&oldest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(host: &str) -> Url {
        format!("http://{host}/page").parse().unwrap()
    }

    #[test]
    fn sites_go_aside_at_once_and_teams_after_some_for_a_while() {
        let noisy = Noisy::new(Duration::from_secs(600));
        let start = Instant::now();
        let later = start + Duration::from_secs(300);
        noisy.note_at(&url("a.test"), "one", start);
        let is_noisy = |host: &str, team: &str, now: Instant| noisy.is_noisy_at(&url(host), team, now);
        assert!(is_noisy("a.test", "one", start) && is_noisy("a.test", "two", start));
        assert!(!is_noisy("b.test", "one", start));
        noisy.note_at(&url("b.test"), "one", later);
        noisy.note_at(&url("c.test"), "one", later);
        assert!(is_noisy("d.test", "one", later) && !is_noisy("d.test", "two", later));
        let last = start + Duration::from_secs(601);
        assert!(!is_noisy("a.test", "two", last) && !is_noisy("d.test", "one", last));
        assert!(is_noisy("b.test", "two", last));
        let never = Noisy::new(Duration::ZERO);
        never.note(&url("a.test"), "one");
        assert!(!never.is_noisy(&url("a.test"), "one"));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let noisy = Noisy::new(Duration::from_secs(600));
        let start = Instant::now();
        for at in 0..2 * MAX_KNOWN {
            let now = start + Duration::from_millis(at as u64);
            noisy.note_at(&url(&format!("h{at}.test")), &at.to_string(), now);
        }
        assert!(noisy.known.lock().len() <= MAX_KNOWN);
        assert!(noisy.is_noisy(&url("h1999.test"), "") && !noisy.is_noisy(&url("h0.test"), ""));
    }
}
