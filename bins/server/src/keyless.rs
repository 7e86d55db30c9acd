//! Calls without a key that `auth.keyless` lets in where all others need one: which, how many, and what they are told.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use app::{App, AppError, AuthMode, teams};
use axum::extract::MatchedPath;
use axum::http::Method;
use axum::http::request::Parts;
use boot::StartError;
use boot::config::{Auth, Config, ConfigError, Keyless};
use wire::{Code, UsedUp};

use crate::error::Failure;
use crate::limits::{Limits, Standing, Subject, network};

/// The longer of the two times that calls are counted over.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Addresses whose calls are counted.
const MAX_ADDRESSES: usize = 100_000;
/// Seconds after which there may be credits again.
const CREDITS_AFTER: u64 = 3600;
/// Where a key comes from.
const GET_A_KEY: &str = "send a key (Authorization: Bearer <key>), which the operator of this service hands out";

/// How often each address has called.
#[derive(Debug)]
pub(crate) struct Strangers {
    minute: Limits,
    day: Limits,
}

impl Default for Strangers {
    fn default() -> Self {
        Self { minute: Limits::default(), day: Limits::over(DAY, MAX_ADDRESSES) }
    }
}

impl Strangers {
    /// Counts a call from an address. What is refused for the minute does not count for the day.
    pub(crate) fn take(&self, address: IpAddr, settings: &Auth, now: Instant) -> Option<Standing> {
        let subject = || Subject::Address(network(address));
        let minute = self.minute.take(subject(), settings.keyless_per_minute, now);
        if minute.is_some_and(|standing| standing.refused_for.is_some()) {
            return minute;
        }
        let day = self.day.take(subject(), settings.keyless_per_day, now);
        match (minute, day) {
            (Some(minute), Some(day)) => Some(minute.tighter(day)),
            (one, other) => one.or(other),
        }
    }
}

/// Whether a call is answered without a key.
pub(crate) fn admits(settings: &Auth, parts: &Parts) -> bool {
    let route = parts.extensions.get::<MatchedPath>().map(MatchedPath::as_str);
    settings.mode == AuthMode::Keys
        && settings.keyless.iter().any(|Keyless::Scrape| parts.method == Method::POST && route == Some("/v2/scrape"))
}

/// Refuses a call that needs a key, on a server where some do without.
pub(crate) fn needs_key() -> Failure {
    let why = format!("an API key is needed for this call; without one only POST /v2/scrape is answered: {GET_A_KEY}");
    Failure::new(Code::Unauthorized, why)
}

/// Refuses a call of an address that has called too often, or one more of a team that has no calls left.
pub(crate) fn too_many(standing: &Standing) -> Failure {
    let (allowance, wait) = (standing.allowance(), standing.retry_after());
    let why = match standing.is_of_team() {
        true => format!("too many calls without an API key at the moment; try again in {wait} s, or {GET_A_KEY}"),
        false => format!(
            "too many calls without an API key from this address: {allowance} are answered; try again in {wait} s, or \
             {GET_A_KEY}"
        ),
    };
    Failure::new(Code::RateLimited, why).used_up(UsedUp::Requests, wait)
}

/// The error that a call without a key gets. It tells neither the credits of the team nor its limits.
pub(crate) fn told(error: AppError) -> Failure {
    match error {
        AppError::InsufficientCredits { .. } => {
            let why = format!("the credits for calls without an API key are used up; {GET_A_KEY}");
            Failure::new(Code::RateLimited, why).used_up(UsedUp::Credits, CREDITS_AFTER)
        }
        AppError::ConcurrencyLimited { .. } => {
            let why = format!("too many calls without an API key are running; try again in a moment, or {GET_A_KEY}");
            Failure::new(Code::ConcurrencyLimited, why).retry_after(1)
        }
        other => other.into(),
    }
}

/// At the start: the team that such calls run as has to be there.
///
/// # Errors
/// [`ConfigError`] that says how to make one.
pub(crate) async fn check(config: &Config, app: &App) -> Result<(), StartError> {
    if config.auth.keyless.is_empty() {
        return Ok(());
    }
    if config.auth.mode == AuthMode::Open {
        tracing::warn!("auth.keyless has no effect with auth.mode = \"open\": every call is answered without a key");
        return Ok(());
    }
    let refused = |why: String| ConfigError::new("AUTH__KEYLESS_TEAM", why);
    let Some(team) = config.auth.keyless_team else {
        let why = "auth.keyless lets calls in without a key, so name the team that they run as: `quarry-server teams \
                   create keyless --credits 10000` makes one and prints its id";
        return Err(refused(why.to_owned()).into());
    };
    match teams::read(app, team).await {
        Ok(team) => {
            tracing::info!(team = %team.id, name = team.name, "auth.keyless: POST /v2/scrape is answered without a key");
            Ok(())
        }
        Err(AppError::NotFound(_)) => {
            let why = format!(
                "there is no team {team}: `quarry-server teams list` prints those that there are, `teams create` makes \
                 one"
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
        let (strangers, now) = (Strangers::default(), Instant::now());
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
        let (strangers, settings) = (Strangers::default(), settings(0, 0));
        for _ in 0..1000 {
            assert!(strangers.take("192.0.2.1".parse().unwrap(), &settings, Instant::now()).is_none());
        }
    }
}
