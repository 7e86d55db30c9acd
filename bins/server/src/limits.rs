//! Rate limits per minute, by team and, for calls without a key, by address; calls of `auth.keyless` also have one per day.
//!
//! The algorithm is GCRA (generic cell rate algorithm), as in the crate `governor`. This implementation can also read the
//! standing of a caller without counting a request, and it evicts idle callers in constant time.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use parking_lot::Mutex;

/// Window of the limits per minute.
const MINUTE: Duration = Duration::from_secs(60);

/// Name of the team's limit in `RateLimit-Policy`.
const TEAM: &str = "team";

const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const X_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const X_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const X_RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

/// The caller to whom a request is counted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Subject {
    /// A team, by its id.
    Team(String),
    /// Callers without a key, by [`network`].
    Address(IpAddr),
    /// Failed authentications from an address, by [`network`].
    Refused(IpAddr),
}

/// State of a caller's limit after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standing {
    policy: &'static str,
    /// Window of the limit.
    window: Duration,
    limit: u32,
    remaining: u32,
    /// Time until the whole limit is available again.
    reset: Duration,
    /// Time to wait, when the request is refused.
    pub(crate) refused_for: Option<Duration>,
}

/// Counters of the callers seen in the last two windows.
#[derive(Debug)]
pub(crate) struct Limits {
    /// Window of the limit.
    window: Duration,
    /// Maximum number of callers in one generation of [`Counters`].
    most: usize,
    counters: Mutex<Counters>,
}

impl Default for Limits {
    fn default() -> Self {
        Self::per(MINUTE, usize::MAX)
    }
}

/// GCRA state: for each caller the time at which its whole limit is available again (the theoretical arrival time). That
/// time is at most one window away, so a caller idle for a window can be evicted. Two generations make eviction cheap:
/// callers move to `recent` when they are seen, and `older` is dropped as a whole.
#[derive(Debug, Default)]
struct Counters {
    recent: HashMap<Subject, Instant>,
    older: HashMap<Subject, Instant>,
    turned: Option<Instant>,
}

impl Counters {
    /// Starts a new generation after a window, or earlier when `recent` is full. Returns the evicted map, so that it is
    /// dropped outside the lock.
    fn turn(&mut self, now: Instant, window: Duration, most: usize) -> HashMap<Subject, Instant> {
        let turned = *self.turned.get_or_insert(now);
        match now.saturating_duration_since(turned) >= window || self.recent.len() >= most {
            true => {
                self.turned = Some(now);
                std::mem::replace(&mut self.older, std::mem::take(&mut self.recent))
            }
            false => HashMap::new(),
        }
    }

    fn rest_of(&mut self, subject: Subject, now: Instant) -> &mut Instant {
        let older = self.older.remove(&subject);
        self.recent.entry(subject).or_insert(older.unwrap_or(now))
    }
}

impl Limits {
    /// Creates limits over `window`. At most twice `most` callers are kept; with more, the oldest are evicted.
    pub(crate) fn per(window: Duration, most: usize) -> Self {
        Self { window, most, counters: Mutex::default() }
    }

    /// Counts a request. A burst of `limit` requests is allowed, which refills evenly over the window; 0 means no limit.
    pub(crate) fn take(&self, subject: Subject, limit: u32, now: Instant) -> Option<Standing> {
        self.standing(subject, limit, now, true)
    }

    /// Returns the standing of a request without counting it.
    pub(crate) fn peek(&self, subject: Subject, limit: u32, now: Instant) -> Option<Standing> {
        self.standing(subject, limit, now, false)
    }

    fn standing(&self, subject: Subject, limit: u32, now: Instant, count: bool) -> Option<Standing> {
        if limit == 0 {
            return None;
        }
        let policy = match subject {
            Subject::Team(_) => TEAM,
            Subject::Address(_) => "address",
            Subject::Refused(_) => "refused",
        };
        let window = self.window;
        let mut all = self.counters.lock();
        let forgotten = all.turn(now, window, self.most);
        let rest_at = all.rest_of(subject, now);
        let step = window / limit;
        let used = rest_at.saturating_duration_since(now);
        let refused_for = (used + step).checked_sub(window).filter(|wait| !wait.is_zero());
        if refused_for.is_none() && count {
            *rest_at = now + used + step;
        }
        let reset = rest_at.saturating_duration_since(now);
        drop(all);
        // Dropping a large map takes time, so the lock is released before.
        drop(forgotten);
        let free = window.saturating_sub(reset).as_nanos() / step.as_nanos().max(1);
        let remaining = u32::try_from(free).unwrap_or(limit).min(limit);
        Some(Standing { policy, window, limit, remaining, reset, refused_for })
    }
}

impl Standing {
    /// Returns the stricter of two standings: a refusal, otherwise the one with fewer requests remaining.
    pub(crate) fn stricter(self, other: Self) -> Self {
        let rank = |standing: &Self| (standing.refused_for.is_none(), standing.remaining);
        if rank(&other) < rank(&self) { other } else { self }
    }

    /// Adds the headers of draft-ietf-httpapi-ratelimit-headers, the older `X-RateLimit-*` headers and `Retry-After`.
    pub(crate) fn describe(&self, headers: &mut HeaderMap) {
        let Self { policy, window, limit, remaining, .. } = self;
        let reset = seconds(self.reset);
        let mut put = |name, text: String| {
            if let Ok(value) = HeaderValue::try_from(text) {
                headers.insert(name, value);
            }
        };
        put(POLICY, format!("\"{policy}\";q={limit};w={}", window.as_secs()));
        put(LIMIT, format!("\"{policy}\";r={remaining};t={reset}"));
        put(X_LIMIT, limit.to_string());
        put(X_REMAINING, remaining.to_string());
        put(X_RESET, reset.to_string());
        if let Some(wait) = self.wait() {
            put(header::RETRY_AFTER, wait.to_string());
        }
    }

    /// Returns whether the limit is that of a team, not of an address.
    pub(crate) fn is_of_team(&self) -> bool {
        self.policy == TEAM
    }

    /// Returns the limit as text, such as `10 a minute`.
    pub(crate) fn allowance(&self) -> String {
        format!("{} a {}", self.limit, if self.window == MINUTE { "minute" } else { "day" })
    }

    /// Returns the whole seconds to wait, when the request is refused.
    pub(crate) fn wait(&self) -> Option<u64> {
        self.refused_for.map(|wait| seconds(wait).max(1))
    }

    /// Returns the value of `Retry-After` in seconds, at least 1.
    pub(crate) fn retry_after(&self) -> u64 {
        self.wait().unwrap_or(1)
    }
}

/// Returns the network that counts as one caller: an IPv4 address or an IPv6 /64, which one host usually has to itself.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
    }
}

/// Rounds up to whole seconds, so that waiting that long is always enough.
fn seconds(duration: Duration) -> u64 {
    duration.as_secs() + u64::from(duration.subsec_nanos() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn team() -> Subject {
        Subject::Team("t".to_owned())
    }

    #[test]
    fn the_limit_is_free_at_once_then_refills() {
        let limits = Limits::default();
        let start = Instant::now();
        for left in (0..6).rev() {
            let standing = limits.take(team(), 6, start).unwrap();
            assert_eq!((standing.remaining, standing.refused_for), (left, None));
        }
        let refused = limits.take(team(), 6, start).unwrap();
        assert_eq!(refused.refused_for, Some(Duration::from_secs(10)));
        assert_eq!(refused.reset, Duration::from_secs(60));
        // A refused request costs nothing: after the named time exactly one is free.
        let later = start + Duration::from_secs(10);
        assert_eq!(limits.take(team(), 6, later).unwrap().refused_for, None);
        assert!(limits.take(team(), 6, later).unwrap().refused_for.is_some());
        let rested = limits.take(team(), 6, start + Duration::from_secs(200)).unwrap();
        assert_eq!(rested.remaining, 5);
    }

    #[test]
    fn callers_are_counted_apart() {
        let limits = Limits::default();
        let now = Instant::now();
        assert_eq!(limits.take(team(), 1, now).unwrap().refused_for, None);
        assert!(limits.take(team(), 1, now).unwrap().refused_for.is_some());
        let address = Subject::Address("192.0.2.1".parse().unwrap());
        assert_eq!(limits.take(address, 1, now).unwrap().refused_for, None);
        assert_eq!(limits.take(team(), 0, now), None);
    }

    #[test]
    fn callers_at_rest_are_forgotten_and_nobody_else() {
        let limits = Limits::default();
        let start = Instant::now();
        let known = || {
            let all = limits.counters.lock();
            all.recent.len() + all.older.len()
        };
        for number in 0..1000 {
            limits.take(Subject::Team(number.to_string()), 60, start);
        }
        let late = start + Duration::from_secs(59);
        while limits.take(team(), 60, late).unwrap().refused_for.is_none() {}
        limits.take(Subject::Team("other".to_owned()), 60, start + Duration::from_secs(61));
        assert_eq!(known(), 1002);
        assert!(limits.take(team(), 60, late + Duration::from_millis(900)).unwrap().refused_for.is_some());
        limits.take(Subject::Team("other".to_owned()), 60, start + Duration::from_secs(122));
        assert_eq!(known(), 2, "none of those that were not seen for a minute");
    }

    #[test]
    fn many_callers_cost_one_request_no_more_than_few() {
        let limits = Limits::default();
        let start = Instant::now();
        for number in 0..200_000_u32 {
            limits.take(Subject::Address(std::net::Ipv4Addr::from_bits(number).into()), 60, start);
        }
        let clock = Instant::now();
        for _ in 0..2000 {
            limits.take(team(), 0x00ff_ffff, start);
        }
        // A look at every caller for every request took more than a millisecond each.
        assert!(clock.elapsed() < Duration::from_millis(500), "{:?}", clock.elapsed());
    }

    #[test]
    fn a_day_counts_over_a_day_and_knows_so_many_callers() {
        let limits = Limits::per(Duration::from_secs(86_400), 100);
        let start = Instant::now();
        let address = |number: u32| Subject::Address(std::net::Ipv4Addr::from_bits(number).into());
        for _ in 0..2 {
            assert_eq!(limits.take(address(0), 2, start).unwrap().refused_for, None);
        }
        let hour = start + Duration::from_secs(3600);
        let refused = limits.take(address(0), 2, hour).unwrap();
        assert_eq!((refused.wait(), refused.allowance().as_str()), (Some(11 * 3600), "2 a day"));
        assert_eq!(limits.take(address(0), 2, start + Duration::from_secs(43_200)).unwrap().refused_for, None);
        for number in 1..1000 {
            limits.take(address(number), 2, hour);
        }
        let all = limits.counters.lock();
        assert!(all.recent.len() + all.older.len() <= 200, "{} and {}", all.recent.len(), all.older.len());
    }

    #[test]
    fn headers_name_the_binding_limit() {
        let limits = Limits::default();
        let now = Instant::now();
        let address = Subject::Address("192.0.2.1".parse().unwrap());
        let wide = limits.take(team(), 100, now).unwrap();
        limits.take(address.clone(), 1, now);
        let tight = limits.take(address, 1, now).unwrap();
        let mut headers = HeaderMap::new();
        wide.stricter(tight).describe(&mut headers);
        assert_eq!(headers["ratelimit-policy"], "\"address\";q=1;w=60");
        assert_eq!(headers["ratelimit"], "\"address\";r=0;t=60");
        assert_eq!(headers["retry-after"], "60");
        assert_eq!(headers["x-ratelimit-limit"], "1");
        assert_eq!(headers["x-ratelimit-remaining"], "0");
        assert_eq!(headers["x-ratelimit-reset"], "60");
    }

    #[test]
    fn one_ipv6_host_is_one_caller() {
        let check = |address: &str, expect: &str| {
            assert_eq!(network(address.parse().unwrap()).to_string(), expect);
        };
        check("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::");
        check("192.0.2.1", "192.0.2.1");
        check("::ffff:192.0.2.1", "192.0.2.1");
    }
}
