//! Calls that `auth.keyless` admits without an API key: their routes, rate limits and errors.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use app::{App, AppError, AuthMode, Refusal, teams};
use boot::StartError;
use boot::config::{Auth, Config, ConfigError, Keyless};
use wire::{Code, EndpointGroup, UsedUp};

use crate::access::Access;
use crate::error::Failure;
use crate::limits::{Limits, Standing, Subject, network};

/// Window of the daily limit.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Number of addresses whose calls are counted per day, to bound the memory.
const MAX_ADDRESSES: usize = 100_000;
/// `Retry-After` when the credits are used up, in seconds.
const CREDITS_AFTER: u64 = 3600;
/// Advice in every refusal.
const GET_A_KEY: &str = "send an API key (Authorization: Bearer <key>), which the operator of this service issues";

/// Rate limits of calls without a key, per minute and per day, by client address.
#[derive(Debug)]
pub(crate) struct KeylessLimits {
    minute: Limits,
    day: Limits,
}

impl Default for KeylessLimits {
    fn default() -> Self {
        Self { minute: Limits::default(), day: Limits::per(DAY, MAX_ADDRESSES) }
    }
}

impl KeylessLimits {
    /// Counts a call from an address. Calls refused by the limit per minute do not count towards the limit per day.
    pub(crate) fn take(&self, address: IpAddr, settings: &Auth, now: Instant) -> Option<Standing> {
        let subject = || Subject::Address(network(address));
        let minute = self.minute.take(subject(), settings.keyless_per_minute, now);
        if minute.is_some_and(|standing| standing.refused_for.is_some()) {
            return minute;
        }
        let day = self.day.take(subject(), settings.keyless_per_day, now);
        match (minute, day) {
            (Some(minute), Some(day)) => Some(minute.stricter(day)),
            (one, other) => one.or(other),
        }
    }
}

/// Returns whether a call of a route with this access rule is admitted without a key.
pub(crate) fn admits(settings: &Auth, access: Option<Access>) -> bool {
    let Some(Access::TeamOrKeyless(group)) = access else { return false };
    settings.mode == AuthMode::Keys && settings.keyless.iter().any(|keyless| group_of(*keyless) == group)
}

/// Returns the group of the endpoint that needs no key.
fn group_of(keyless: Keyless) -> EndpointGroup {
    match keyless {
        Keyless::Scrape => EndpointGroup::Scrape,
        Keyless::Search => EndpointGroup::Search,
    }
}

/// Lists the calls that need no key.
fn calls(settings: &Auth) -> String {
    let call = |keyless: &Keyless| match keyless {
        Keyless::Scrape => "POST /v2/scrape",
        Keyless::Search => "POST /v2/search",
    };
    let calls: Vec<&str> = settings.keyless.iter().map(call).collect();
    calls.join(" and ")
}

/// Returns the refusal of a call that needs a key, on a server where `auth.keyless` admits others without.
pub(crate) fn needs_key(settings: &Auth) -> Failure {
    let (calls, verb) = (calls(settings), if settings.keyless.len() == 1 { "is" } else { "are" });
    let why = format!("this call requires an API key; only {calls} {verb} available without one: {GET_A_KEY}");
    Failure::new(Code::Unauthorized, why)
}

/// Returns the refusal of a call over the rate limit of its address, or of the team of all calls without a key.
pub(crate) fn too_many(standing: &Standing) -> Failure {
    let (allowance, wait) = (standing.allowance(), standing.retry_after());
    let why = match standing.is_of_team() {
        true => format!("too many calls without an API key at the moment; try again in {wait} s, or {GET_A_KEY}"),
        false => format!(
            "too many calls without an API key from this address: the limit is {allowance}; try again in {wait} s, or \
             {GET_A_KEY}"
        ),
    };
    Failure::new(Code::RateLimited, why).used_up(UsedUp::Requests, wait)
}

/// Returns the error for a call without a key. It reveals neither the credits nor the limits of the team.
pub(crate) fn failure<E: Refusal>(error: E) -> Failure {
    match error.code() {
        Code::InsufficientCredits => {
            let why = format!("the credits for calls without an API key are used up; {GET_A_KEY}");
            Failure::new(Code::RateLimited, why).used_up(UsedUp::Credits, CREDITS_AFTER)
        }
        Code::ConcurrencyLimited => {
            let why = format!("too many calls without an API key are running; try again shortly, or {GET_A_KEY}");
            Failure::new(Code::ConcurrencyLimited, why).retry_after(1)
        }
        _ => error.into(),
    }
}

/// Checks at startup that the team of `auth.keyless_team` exists.
///
/// # Errors
/// [`ConfigError`] that tells how to create the team.
pub(crate) async fn check(config: &Config, app: &App) -> Result<(), StartError> {
    if config.auth.keyless.is_empty() {
        return Ok(());
    }
    if config.auth.mode == AuthMode::Open {
        tracing::warn!("auth.keyless has no effect with auth.mode = \"open\": every call is allowed without a key");
        return Ok(());
    }
    let refused = |why: String| ConfigError::new("AUTH__KEYLESS_TEAM", why);
    let Some(team) = config.auth.keyless_team else {
        let why = "auth.keyless admits calls without a key, which need a team to run as: set auth.keyless_team to its id; \
                   `quarry-server teams create keyless --credits 10000` creates one and prints the id";
        return Err(refused(why.to_owned()).into());
    };
    match teams::read(app, team).await {
        Ok(team) => {
            let calls = calls(&config.auth);
            tracing::info!(team = %team.id, name = team.name, "auth.keyless: {calls} allowed without a key");
            Ok(())
        }
        Err(AppError::NotFound(_)) => {
            let why = format!(
                "team {team} does not exist: `quarry-server teams list` lists the teams, `quarry-server teams create` \
                 creates one"
            );
            Err(refused(why).into())
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(per_minute: u32, per_day: u32) -> Auth {
        Auth { keyless_per_minute: per_minute, keyless_per_day: per_day, ..Config::default().auth }
    }

    #[test]
    fn each_address_has_a_minute_and_a_day() {
        let (strangers, now) = (KeylessLimits::default(), Instant::now());
        let settings = settings(2, 3);
        let take = |address: &str, at: Instant| strangers.take(address.parse().unwrap(), &settings, at).unwrap();
        assert_eq!(take("192.0.2.1", now).wait(), None);
        assert_eq!(take("192.0.2.1", now).wait(), None);
        let refused = take("192.0.2.1", now);
        assert_eq!((refused.wait(), refused.allowance().as_str()), (Some(30), "2 a minute"));
        assert_eq!(take("192.0.2.2", now).wait(), None, "another address");
        let later = now + Duration::from_secs(120);
        assert_eq!(take("192.0.2.1", later).wait(), None, "what was refused did not count for the day");
        let refused = take("192.0.2.1", later);
        assert!(refused.wait().is_some_and(|wait| wait > 1000) && refused.allowance() == "3 a day", "{refused:?}");
        assert_eq!(take("2001:db8::1", now).wait(), None);
        assert_eq!(take("2001:db8::2", now).wait(), None);
        assert!(take("2001:db8::3", now).wait().is_some(), "a /64 is one address");
    }

    #[test]
    fn no_limit_is_no_limit() {
        let (strangers, settings) = (KeylessLimits::default(), settings(0, 0));
        for _ in 0..1000 {
            assert!(strangers.take("192.0.2.1".parse().unwrap(), &settings, Instant::now()).is_none());
        }
    }
}
