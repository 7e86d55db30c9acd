//! Cache policy: whether a request may read the cache, how old a copy may be, what happens on a miss, and whether the
//! page is cached.

use std::time::Duration;

use base::Timestamp;
use chrono::TimeDelta;
use fetch::BodyKind;
use wire::{FormatKind, ScrapeOptions};

/// Cache policy of one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Fetch times of copies that may answer; `None` if the cache is not consulted.
    pub window: Option<Window>,
    /// Whether a stale copy may be revalidated. With `maxAge: 0` the page itself is wanted.
    pub revalidates: bool,
    /// Behaviour when no copy answers.
    pub on_miss: OnMiss,
    /// Whether a page fetched for this request is cached.
    pub store: bool,
}

/// Range of fetch times, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Earliest time of the fetch.
    pub not_before: Timestamp,
    /// Latest time of the fetch.
    pub not_after: Timestamp,
}

/// Behaviour on a cache miss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnMiss {
    /// Fetch the page.
    Fetch,
    /// Answer `SCRAPE_NO_CACHED_DATA`, because `minAge` was set.
    NoCachedData,
    /// Answer `SCRAPE_LOCKDOWN_CACHE_MISS`, because `lockdown` was set.
    LockdownMiss,
}

/// Inputs of the policy other than the options.
#[derive(Debug, Clone, Copy)]
pub struct Situation {
    /// Whether the cache is enabled on this server.
    pub enabled: bool,
    /// Retention of copies.
    pub retention: Duration,
    /// Whether zero data retention was requested.
    pub zero_data_retention: bool,
    /// Whether the URL had a user name or password.
    pub credentials: bool,
}

/// Decides the policy by docs/CONTRACT.md, "Cache".
#[must_use]
pub fn policy(options: &ScrapeOptions, situation: Situation, now: Timestamp) -> Policy {
    let on_miss = match (options.lockdown, options.min_age) {
        (true, _) => OnMiss::LockdownMiss,
        (false, Some(_)) => OnMiss::NoCachedData,
        (false, None) => OnMiss::Fetch,
    };
    let personal = situation.credentials
        || !options.headers.is_empty()
        || !options.actions.is_empty()
        || options.profile.is_some()
        || options.wants(FormatKind::ChangeTracking);
    // No copy has a screenshot or computed styles. A request that accepts only copies is answered without them.
    let needs_page = options.wants(FormatKind::Screenshot) || options.wants(FormatKind::Branding);
    let is_of_use = !needs_page || on_miss != OnMiss::Fetch;
    // Lockdown stores nothing but has to read: it has no other source.
    let readable = situation.enabled && !personal && is_of_use && (options.lockdown || !situation.zero_data_retention);
    let store = situation.enabled
        && !personal
        && !situation.zero_data_retention
        && options.store_in_cache
        && on_miss == OnMiss::Fetch;
    let window = window(options, situation.retention, now).filter(|_| readable);
    let revalidates = on_miss == OnMiss::Fetch && window.is_some();
    Policy { window, revalidates, on_miss, store }
}

/// `maxAge` that the official Python client adds to every call with options: 4 hours.
const CLIENT_MAX_AGE_MS: u64 = 14_400_000;

fn window(options: &ScrapeOptions, retention: Duration, now: Timestamp) -> Option<Window> {
    let max_age = match (options.max_age, options.min_age) {
        (Some(0), None) => return None,
        (_, None) => options.max_age_ms(),
        (Some(max_age), Some(min_age)) if max_age > min_age && max_age != CLIENT_MAX_AGE_MS => max_age,
        // `minAge` 1 accepts any cached data. There is no upper bound if `maxAge` is absent, is the value that clients
        // add unasked, or makes the range empty.
        (_, Some(_)) => u64::try_from(retention.as_millis()).unwrap_or(u64::MAX),
    };
    Some(Window { not_before: ago(now, max_age), not_after: ago(now, options.min_age.unwrap_or(0)) })
}

/// Returns `now` minus `milliseconds`, no earlier than the Unix epoch.
fn ago(now: Timestamp, milliseconds: u64) -> Timestamp {
    let delta = i64::try_from(milliseconds).ok().and_then(TimeDelta::try_milliseconds);
    delta.and_then(|delta| now.checked_sub_signed(delta)).unwrap_or(Timestamp::UNIX_EPOCH).max(Timestamp::UNIX_EPOCH)
}

/// Whether an answer is worth caching. Answers of a busy, broken or access-restricted server (5xx, 401, 403, 429 …)
/// must not be repeated from the cache for days. Office files are cached, because documents are read again on each hit;
/// images and other files are not.
pub(crate) fn storable(status: u16, kind: BodyKind, is_document: bool, body_bytes: usize) -> bool {
    let lasting = match status {
        200..=299 => true,
        401 | 403 | 407 | 408 | 425 | 429 => false,
        400..=499 => true,
        _ => false,
    };
    let is_read = match kind {
        BodyKind::Image => false,
        BodyKind::Other => is_document,
        _ => true,
    };
    lasting && body_bytes > 0 && is_read
}

/// Number of newer error copies after which the page counts as gone (docs/CONTRACT.md, "Cache").
const ERRORS_THAT_OUTVOTE: usize = 3;

/// Picks the copy that answers, given newest first by status and whether scripts have run in it: the newest good one,
/// unless three or more newer ones are errors. Among good copies, one with scripts wins over a newer one without,
/// because it serves every request.
pub(crate) fn pick(copies: &[(u16, bool)]) -> Option<usize> {
    let is_good = |(status, _): &(u16, bool)| (200..300).contains(status);
    match copies.iter().position(is_good) {
        Some(index) if index < ERRORS_THAT_OUTVOTE => {
            Some(copies.iter().position(|copy| is_good(copy) && copy.1).unwrap_or(index))
        }
        _ if copies.len() >= ERRORS_THAT_OUTVOTE => Some(0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use wire::Format;

    use super::*;

    const DAY_MS: u64 = 86_400_000;

    fn now() -> Timestamp {
        Timestamp::UNIX_EPOCH + TimeDelta::days(20_000)
    }

    fn situation() -> Situation {
        Situation {
            enabled: true,
            retention: Duration::from_secs(30 * 86_400),
            zero_data_retention: false,
            credentials: false,
        }
    }

    fn ages(policy: &Policy) -> Option<(u64, u64)> {
        let age = |moment: Timestamp| u64::try_from((now() - moment).num_milliseconds()).unwrap();
        policy.window.map(|window| (age(window.not_after), age(window.not_before)))
    }

    fn check(options: &ScrapeOptions, expect: (Option<(u64, u64)>, OnMiss, bool)) {
        let got = policy(options, situation(), now());
        assert_eq!((ages(&got), got.on_miss, got.store), expect, "{options:?}");
    }

    #[test]
    fn ages_and_misses() {
        use OnMiss::{Fetch, LockdownMiss, NoCachedData};
        let some = ScrapeOptions::default;
        check(&some(), (Some((0, 2 * DAY_MS)), Fetch, true));
        check(&ScrapeOptions { max_age: Some(5000), ..some() }, (Some((0, 5000)), Fetch, true));
        check(&ScrapeOptions { max_age: Some(0), ..some() }, (None, Fetch, true));
        check(&ScrapeOptions { store_in_cache: false, ..some() }, (Some((0, 2 * DAY_MS)), Fetch, false));
        check(&ScrapeOptions { min_age: Some(1), ..some() }, (Some((1, 30 * DAY_MS)), NoCachedData, false));
        let both = ScrapeOptions { min_age: Some(1000), max_age: Some(2000), ..some() };
        check(&both, (Some((1000, 2000)), NoCachedData, false));
        // An empty range, and the value that the Python client adds.
        for max_age in [0, 1, 999, 1000, CLIENT_MAX_AGE_MS] {
            let both = ScrapeOptions { min_age: Some(1000), max_age: Some(max_age), ..some() };
            check(&both, (Some((1000, 30 * DAY_MS)), NoCachedData, false));
        }
        let python = ScrapeOptions { max_age: Some(CLIENT_MAX_AGE_MS), ..some() };
        check(&python, (Some((0, CLIENT_MAX_AGE_MS)), Fetch, true));
        check(&ScrapeOptions { lockdown: true, ..some() }, (Some((0, 730 * DAY_MS)), LockdownMiss, false));
        check(&ScrapeOptions { lockdown: true, max_age: Some(0), ..some() }, (None, LockdownMiss, false));
        let huge = ScrapeOptions { max_age: Some(u64::MAX), ..some() };
        check(&huge, (Some((0, 20_000 * DAY_MS)), Fetch, true));
    }

    #[test]
    fn an_older_copy_may_be_the_page_still() {
        let some = ScrapeOptions::default;
        for (options, expect) in [
            (some(), true),
            (ScrapeOptions { max_age: Some(0), ..some() }, false),
            (ScrapeOptions { store_in_cache: false, ..some() }, true),
            (ScrapeOptions { min_age: Some(1), ..some() }, false),
            (ScrapeOptions { lockdown: true, ..some() }, false),
            (ScrapeOptions { formats: vec![Format::Branding], ..some() }, false),
            (ScrapeOptions { headers: [("if-none-match".into(), "\"a\"".into())].into(), ..some() }, false),
        ] {
            assert_eq!(policy(&options, situation(), now()).revalidates, expect, "{options:?}");
        }
        for situation in [
            Situation { credentials: true, ..situation() },
            Situation { zero_data_retention: true, ..situation() },
            Situation { enabled: false, ..situation() },
        ] {
            assert!(!policy(&some(), situation, now()).revalidates, "{situation:?}");
        }
    }

    #[test]
    fn no_copy_has_a_picture() {
        for format in [Format::Screenshot(wire::ScreenshotOptions::default()), Format::Branding] {
            let options = ScrapeOptions { formats: vec![Format::Markdown, format], ..Default::default() };
            check(&options, (None, OnMiss::Fetch, true));
            let old = ScrapeOptions { min_age: Some(1), ..options };
            check(&old, (Some((1, 30 * DAY_MS)), OnMiss::NoCachedData, false));
        }
    }

    #[test]
    fn personal_requests_stay_outside() {
        let headers = ScrapeOptions { headers: [("cookie".into(), "a=1".into())].into(), ..Default::default() };
        check(&headers, (None, OnMiss::Fetch, false));
        let lockdown = ScrapeOptions { lockdown: true, ..headers };
        check(&lockdown, (None, OnMiss::LockdownMiss, false));
        let plain = ScrapeOptions::default();
        for situation in [
            Situation { credentials: true, ..situation() },
            Situation { zero_data_retention: true, ..situation() },
            Situation { enabled: false, ..situation() },
        ] {
            let got = policy(&plain, situation, now());
            assert_eq!((got.window, got.store), (None, false), "{situation:?}");
        }
        let lockdown = ScrapeOptions { lockdown: true, ..Default::default() };
        let got = policy(&lockdown, Situation { zero_data_retention: true, ..situation() }, now());
        assert!(got.window.is_some() && !got.store);
    }

    #[test]
    fn lasting_answers() {
        for (status, expect) in [(200, true), (206, true), (404, true), (410, true), (500, false), (503, false)] {
            assert_eq!(storable(status, BodyKind::Html, false, 1), expect, "{status}");
        }
        for status in [401, 403, 407, 408, 425, 429, 304] {
            assert!(!storable(status, BodyKind::Html, false, 1), "{status}");
        }
        assert!(!storable(200, BodyKind::Html, false, 0));
        assert!(!storable(200, BodyKind::Image, true, 1) && !storable(200, BodyKind::Other, false, 1));
        assert!(storable(200, BodyKind::Other, true, 1) && storable(200, BodyKind::Pdf, true, 1));
    }

    #[test]
    fn newest_good_copy_unless_outvoted() {
        for (statuses, expect) in [
            (vec![], None),
            (vec![200, 404], Some(0)),
            (vec![404, 200], Some(1)),
            (vec![404, 404, 200], Some(2)),
            (vec![404, 404, 404, 200], Some(0)),
            (vec![404, 404, 404], Some(0)),
            (vec![404, 404], None),
        ] {
            let copies: Vec<_> = statuses.iter().map(|status| (*status, false)).collect();
            assert_eq!(pick(&copies), expect, "{statuses:?}");
        }
        assert_eq!(pick(&[(200, false), (200, true)]), Some(1));
        assert_eq!(pick(&[(404, false), (200, false), (404, true), (200, true)]), Some(3));
        assert_eq!(pick(&[(404, false), (404, false), (404, true), (200, true)]), Some(0));
    }
}
