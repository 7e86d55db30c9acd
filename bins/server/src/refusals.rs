//! Rate limit on failed authentications per client address. Each wrong key or token costs a database query.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use boot::metrics;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use wire::Code;

use crate::error::Failure;
use crate::limits::{Limits, Subject, network};

/// Time for which a key is remembered as valid after its last use.
const GOOD_FOR: Duration = Duration::from_secs(600);
/// Maximum number of remembered keys.
const MAX_GOOD: usize = 10_000;

/// Failed authentications by address, and the keys that were valid recently, which keep working while another client
/// guesses keys from the same address.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    counted: Limits,
    /// Time of the last use, by SHA-256 of the key.
    good: Mutex<HashMap<[u8; 32], Instant>>,
}

impl Refusals {
    /// Refuses an address with too many failed authentications.
    ///
    /// # Errors
    /// 429, unless the key was valid recently.
    pub(crate) fn check(&self, address: IpAddr, token: Option<&str>, per_minute: u32) -> Result<(), Failure> {
        let now = Instant::now();
        let standing = self.counted.peek(Subject::Refused(network(address)), per_minute, now);
        match standing.and_then(|standing| standing.refused_for) {
            Some(wait) if !token.is_some_and(|token| self.is_good(token, now)) => {
                metrics::rate_limited();
                let seconds = wait.as_secs() + 1;
                let why = format!("too many wrong keys or tokens from this address, try again in {seconds} s");
                Err(Failure::new(Code::RateLimited, why).retry_after(seconds))
            }
            _ => Ok(()),
        }
    }

    /// Counts a failed authentication and forgets its key, which may have been valid before.
    pub(crate) fn count(&self, address: IpAddr, token: Option<&str>, per_minute: u32) {
        self.counted.take(Subject::Refused(network(address)), per_minute, Instant::now());
        if let Some(token) = token {
            self.good.lock().remove(&digest(token));
        }
    }

    /// Remembers a valid key.
    pub(crate) fn remember(&self, token: &str) {
        let (digest, now) = (digest(token), Instant::now());
        let mut good = self.good.lock();
        if good.len() >= MAX_GOOD && !good.contains_key(&digest) {
            good.retain(|_, seen| now.saturating_duration_since(*seen) < GOOD_FOR);
            // Still full: without clearing, every further key would scan the whole map.
            if good.len() >= MAX_GOOD {
                good.clear();
            }
        }
        good.insert(digest, now);
    }

    fn is_good(&self, token: &str, now: Instant) -> bool {
        let good = self.good.lock();
        good.get(&digest(token)).is_some_and(|seen| now.saturating_duration_since(*seen) < GOOD_FOR)
    }
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guessing_is_bounded_and_good_keys_go_on() {
        let (refusals, guesser) = (Refusals::default(), "192.0.2.1".parse().unwrap());
        refusals.remember("good");
        for _ in 0..3 {
            assert!(refusals.check(guesser, Some("bad"), 3).is_ok());
            refusals.count(guesser, Some("bad"), 3);
        }
        for token in [None, Some("bad"), Some("")] {
            assert!(refusals.check(guesser, token, 3).is_err(), "{token:?}");
        }
        assert!(refusals.check(guesser, Some("good"), 3).is_ok());
        assert!(refusals.check("192.0.2.2".parse().unwrap(), Some("bad"), 3).is_ok());
        assert!(refusals.check(guesser, Some("bad"), 0).is_ok(), "0 is no limit");
        refusals.count("192.0.2.2".parse().unwrap(), Some("good"), 3);
        assert!(refusals.check(guesser, Some("good"), 3).is_err(), "it was refused since, such as after its end");
    }

    #[test]
    fn few_keys_are_remembered() {
        let refusals = Refusals::default();
        for number in 0..=MAX_GOOD {
            refusals.remember(&number.to_string());
        }
        assert!(refusals.good.lock().len() <= MAX_GOOD);
        assert!(refusals.is_good(&MAX_GOOD.to_string(), Instant::now()));
    }
}
