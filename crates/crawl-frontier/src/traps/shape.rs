//! Heuristics on the shape of a URL: depth, repetition, numbers, dates and random words.

use base::Fnv;
use url::Url;

use super::{Family, MAX_VARIANTS, Trap};
use crate::spelling;
use crate::url_key::{MAX_SORTED, bare_host, is_noise, is_opaque};

/// Maximum number of segments of a path.
const MAX_SEGMENTS: usize = 30;
/// Maximum number of consecutive repetitions of a group of segments.
const MAX_IN_A_ROW: usize = 2;
/// Maximum number of consecutive repetitions of numbers, which repeat in dates and coordinates.
const MAX_NUMBERS_IN_A_ROW: usize = 4;
/// Maximum number of occurrences of one segment that is not a number.
const MAX_TIMES: usize = 5;
/// Plausible years of a date.
const YEARS: std::ops::RangeInclusive<u32> = 1500..=2100;

/// Returns the trap that a URL is by its shape alone, if any.
#[must_use]
pub fn url_trap(url: &Url) -> Option<Trap> {
    let path = url.path();
    // Fast path for nearly all links: too short to repeat, and without a date.
    if path.bytes().filter(|byte| *byte == b'/').count() <= MAX_IN_A_ROW && !path.contains('-') {
        return None;
    }
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    if segments.len() > MAX_SEGMENTS {
        return Some(Trap::Depth);
    }
    if repeats(&segments) {
        return Some(Trap::Repetition);
    }
    let impossible = |at: usize| date(&segments[at..]).is_some_and(|date| date.day && !YEARS.contains(&date.year));
    (0..segments.len()).any(impossible).then_some(Trap::Calendar)
}

/// Returns the family that a new URL is counted in, if any: all queries of its path, or all dates of its calendar.
#[must_use]
pub fn family(url: &Url) -> Option<Family> {
    let of = |kind: &str, path: &str| {
        let host = bare_host(url.host_str().unwrap_or_default());
        let hash = Fnv::default().with(kind.as_bytes()).with(host.as_bytes()).with(b"\0").with(path.as_bytes());
        Some(Family { hash: hash.value(), most: MAX_VARIANTS })
    };
    let path = spelling::path(url.path());
    if url.query().is_some_and(|query| !query.is_empty()) {
        return of("query", &path);
    }
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    // Only paths that end in a date: articles below a date are not counted.
    let start = (0..segments.len())
        .find(|at| date(&segments[*at..]).is_some_and(|date| at + date.segments == segments.len()))?;
    of("calendar", &segments[..start].join("/"))
}

/// Returns the hash of a URL's shape without its numbers and random words. The host is ignored, so that a site with
/// unlimited subdomains has one template too. The hash is stable over versions and machines, so it may be stored.
#[must_use]
pub fn template(url: &Url) -> u64 {
    let mut hash = Fnv::default();
    for segment in spelling::path(url.path()).split('/').filter(|segment| !segment.is_empty()) {
        hash = hash.with(b"/");
        if is_opaque(segment) || is_long_hex(segment) {
            hash = hash.with(b"*");
            continue;
        }
        let mut was_digit = false;
        for byte in segment.bytes() {
            let is_digit = byte.is_ascii_digit();
            if !is_digit {
                hash = hash.with(&[byte]);
            } else if !was_digit {
                hash = hash.with(b"#");
            }
            was_digit = is_digit;
        }
    }
    let query = url.query().unwrap_or_default();
    let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let mut names: Vec<&str> =
        pairs.filter(|(name, value)| !name.is_empty() && !is_noise(name, value)).map(|(name, _)| name).collect();
    if names.len() <= MAX_SORTED {
        names.sort_unstable();
    }
    names.iter().fold(hash, |hash, name| hash.with(b"?").with(name.as_bytes())).value()
}

/// A date in one or more segments.
struct Date {
    year: u32,
    /// Whether the date has a day, not only a month.
    day: bool,
    segments: usize,
}

/// Parses a date at the beginning of segments: `2024/05/17`, `2024/05`, `2024-05-17`, `2024-05`.
fn date(segments: &[&str]) -> Option<Date> {
    let (first, rest) = segments.split_first()?;
    let mut parts = first.split('-');
    let year = digits(parts.next()?, 4)?;
    let mut used = 1;
    let mut next = |used: &mut usize| match parts.next() {
        Some(part) => Some(part),
        None if first.contains('-') => None,
        None => rest.get(*used - 1).map(|part| {
            *used += 1;
            *part
        }),
    };
    let month = next(&mut used).and_then(|part| two_digits(part, 12));
    month?;
    let before = used;
    let day = next(&mut used).and_then(|part| two_digits(part, 31)).is_some();
    if !day {
        used = before;
    }
    // `2024-05-17-title` and `2024-05-x` are not dates.
    let is_whole = !first.contains('-') || first.split('-').count() == if day { 3 } else { 2 };
    is_whole.then_some(Date { year, day, segments: used })
}

fn digits(part: &str, count: usize) -> Option<u32> {
    (part.len() == count && part.bytes().all(|byte| byte.is_ascii_digit())).then(|| part.parse().ok())?
}

fn two_digits(part: &str, most: u32) -> Option<u32> {
    digits(part, 1).or_else(|| digits(part, 2)).filter(|number| (1..=most).contains(number))
}

fn is_long_hex(segment: &str) -> bool {
    segment.len() >= 8
        && segment.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
        && segment.bytes().any(|byte| byte.is_ascii_digit())
        && segment.bytes().any(|byte| byte.is_ascii_alphabetic())
}

fn repeats(segments: &[&str]) -> bool {
    let is_number = |segment: &str| segment.bytes().all(|byte| byte.is_ascii_digit());
    for period in 1..=segments.len() / (MAX_IN_A_ROW + 1) {
        let mut equal = 0;
        for at in period..segments.len() {
            equal = if segments[at] == segments[at - period] { equal + 1 } else { 0 };
            let group = &segments[at + 1 - period..=at];
            let most = if group.iter().all(|segment| is_number(segment)) { MAX_NUMBERS_IN_A_ROW } else { MAX_IN_A_ROW };
            if equal >= most * period {
                return true;
            }
        }
    }
    segments.len() > MAX_TIMES
        && segments
            .iter()
            .any(|one| !is_number(one) && segments.iter().filter(|other| *other == one).count() > MAX_TIMES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(path: &str) -> Url {
        Url::parse("https://example.com").unwrap().join(path).unwrap()
    }

    fn check(path: &str, expect: Option<Trap>) {
        assert_eq!(url_trap(&url(path)), expect, "{path}");
    }

    #[test]
    fn repetition() {
        for path in ["/a/a/a", "/x/a/b/a/b/a/b/y", "/a/b/c/a/b/c/a/b/c", "/1/1/1/1/1", "/r/a/r/b/r/c/c/r/d/r/e/r"] {
            check(path, Some(Trap::Repetition));
        }
        for path in ["/a/a", "/a/b/a/b", "/2011/11/11/11", "/en/a/en/b/en", "/0/0/0/0", "/a//a", "/"] {
            check(path, None);
        }
    }

    #[test]
    fn depth() {
        let path = |count: usize| (0..count).map(|number| format!("/{number}x")).collect::<String>();
        check(&path(30), None);
        check(&path(31), Some(Trap::Depth));
    }

    #[test]
    fn calendars() {
        for path in ["/cal/9999/01/02", "/cal/2101-01-01", "/0001/1/1"] {
            check(path, Some(Trap::Calendar));
        }
        for path in ["/cal/2024/01/02", "/item/9999", "/item/9999/12", "/9999-12-31-end-of-time", "/1812-06-24"] {
            check(path, None);
        }
    }

    #[test]
    fn families() {
        let same = |one: &str, other: &str| family(&url(one)).is_some() && family(&url(one)) == family(&url(other));
        assert!(same("/a?x=1", "/a?y=2"));
        assert!(same("/%61?x=1", "http://www.example.com/a?y=2"));
        assert!(same("/cal/2024/05/17", "/cal/2023/1/2/"));
        assert!(same("/cal/2024-05", "/cal/2023-06-01"));
        assert!(!same("/a?x=1", "/b?x=1"));
        assert!(!same("/a/2024/05", "/b/2024/05"));
        for path in ["/a", "/2024/05/17/title", "/item/123", "/2024", "/2024-05-17-title"] {
            assert_eq!(family(&url(path)), None, "{path}");
        }
    }

    #[test]
    fn templates() {
        let same = |one: &str, other: &str| template(&url(one)) == template(&url(other));
        assert!(same("/item/12", "https://x.example.com/item/345/"));
        assert!(same("/s/0a1b2c3d4e5f/p", "/s/99887766aabb/p"));
        assert!(same("/a?x=1&y=2&utm_source=z", "/a?y=3&x=4"));
        assert!(!same("/a?x=1", "/a?z=1"));
        assert!(!same("/item/12", "/items/12"));
        assert!(!same("/a/b", "/ab"));
    }
}
