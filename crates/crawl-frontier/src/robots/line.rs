//! Parsing of the lines of robots.txt, in all spellings.

use std::borrow::Cow;
use std::time::Duration;

use super::alike;

/// A meaningful line.
#[derive(Debug, PartialEq)]
pub(super) enum Line<'a> {
    /// `User-agent`.
    Agent(Cow<'a, str>),
    /// `Allow` or `Disallow` with a non-empty pattern in its normal form.
    Rule { allow: bool, pattern: Cow<'a, str> },
    /// `Crawl-delay`, a finite number of seconds.
    Delay(Duration),
    /// `Sitemap`.
    Sitemap(Cow<'a, str>),
}

/// Maximum length of a line in bytes; the rest is ignored. Eight times 2083, the URL limit of old browsers.
const MAX_LINE: usize = 2083 * 8;
/// Spellings of `Disallow` in real files.
const DISALLOW: [&str; 6] = ["disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"];
const AGENT: [&str; 3] = ["user-agent", "useragent", "user agent"];
const SITEMAP: [&str; 2] = ["sitemap", "site-map"];
const DELAY: [&str; 2] = ["crawl-delay", "crawldelay"];
/// Longest delay; longer ones are capped.
const MAX_DELAY: Duration = Duration::from_secs(86_400);

/// Returns the meaningful lines with their numbers from 1.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, Line<'_>)> {
    let bytes = without_mark(bytes);
    // A CRLF yields an additional empty line, which is not counted.
    let mut number = 1;
    let mut last = b'\n';
    bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')).filter_map(move |line| {
        let here = number;
        let end = line.last().copied().unwrap_or_default();
        if line == b"\n" && last == b'\r' {
            last = end;
            return None;
        }
        last = end;
        number += 1;
        parse(line).map(|line| (here, line))
    })
}

/// Removes a UTF-8 byte-order mark, also an incomplete one.
fn without_mark(bytes: &[u8]) -> &[u8] {
    let mark = [0xef, 0xbb, 0xbf];
    let length = bytes.iter().zip(mark).take_while(|(byte, mark)| **byte == *mark).count();
    &bytes[length..]
}

fn parse(line: &[u8]) -> Option<Line<'_>> {
    let line = &line[..line.len().min(MAX_LINE)];
    let line = line.split(|byte| *byte == b'#').next()?.trim_ascii();
    let (key, value) = split(line)?;
    let key = std::str::from_utf8(key).ok()?;
    let starts = |names: &[&str]| {
        names.iter().any(|name| key.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)))
    };
    if starts(&AGENT) {
        return Some(Line::Agent(String::from_utf8_lossy(value)));
    }
    let allow = starts(&["allow"]);
    if allow || starts(&DISALLOW) {
        // An empty pattern is not a rule, but it ends the list of user agents like one.
        return Some(Line::Rule { allow, pattern: alike::pattern(value) });
    }
    if starts(&SITEMAP) {
        return (!value.is_empty()).then(|| Line::Sitemap(String::from_utf8_lossy(value)));
    }
    if starts(&DELAY) {
        return seconds(value).map(Line::Delay);
    }
    None
}

/// Splits a line into name and value at the first colon, or at the only gap of a line without a colon.
fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let (key, value) = match line.iter().position(|byte| *byte == b':') {
        Some(colon) => (&line[..colon], &line[colon + 1..]),
        None => {
            // `User agent *` has a gap within the name.
            let skip =
                if line.get(..10).is_some_and(|start| start.eq_ignore_ascii_case(b"user agent")) { 10 } else { 0 };
            let gap = skip + line[skip..].iter().position(|byte| matches!(byte, b' ' | b'\t'))?;
            let value = line[gap..].trim_ascii();
            if value.iter().any(|byte| matches!(byte, b' ' | b'\t')) {
                return None;
            }
            (&line[..gap], value)
        }
    };
    let (key, value) = (key.trim_ascii(), value.trim_ascii());
    (!key.is_empty()).then_some((key, value))
}

/// Parses a number of seconds, which may be followed by words.
fn seconds(value: &[u8]) -> Option<Duration> {
    let word = value.split(u8::is_ascii_whitespace).next()?;
    let number: f64 = std::str::from_utf8(word).ok()?.parse().ok()?;
    if !number.is_finite() || number < 0.0 {
        return None;
    }
    Some(Duration::try_from_secs_f64(number).unwrap_or(MAX_DELAY).min(MAX_DELAY))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<'a>(line: &'a str, expect: impl Into<Option<Line<'a>>>) {
        assert_eq!(parse(line.as_bytes()), expect.into(), "{line}");
    }

    #[test]
    fn spellings() {
        let rule = |allow, pattern: &'static str| Some(Line::Rule { allow, pattern: pattern.into() });
        check("Allow: /a", rule(true, "/a"));
        check("disallow : /a b", rule(false, "/a%20b"));
        check("Diasllow:/", rule(false, "/"));
        check("Disallow", None);
        check("Disallow:", rule(false, ""));
        check("disallow /a", rule(false, "/a"));
        check("disallow /a b", None);
        check(": /a", None);
        check("# Disallow: /", None);
        check("Noindex: /a", None);
        check("Crawl-delay: 0.5", Some(Line::Delay(Duration::from_millis(500))));
        check("Crawl-delay: 10 seconds", Some(Line::Delay(Duration::from_secs(10))));
        check("Crawl-delay: 1e300", Some(Line::Delay(MAX_DELAY)));
        check("Crawl-delay: NaN", None);
        check("Sitemap: http://a.test:80/s", Some(Line::Sitemap("http://a.test:80/s".into())));
    }

    #[test]
    fn numbers_of_lines() {
        let found: Vec<usize> = lines(b"allow: /\r\n\r\nallow: /\n\rallow: /").map(|(number, _)| number).collect();
        assert_eq!(found, [1, 3, 5]);
    }

    #[test]
    fn long_lines_are_cut() {
        let line = format!("Disallow: /{}", "a".repeat(20_000));
        let Some(Line::Rule { pattern, .. }) = parse(line.as_bytes()) else { panic!() };
        assert_eq!(pattern.len(), MAX_LINE - "Disallow: ".len());
    }
}
