//! Interpretation of the response to the request for robots.txt (RFC 9309 section 2.3.1).

use std::time::Duration;

use super::{DenyReason, Robots};

/// Maximum number of redirects for robots.txt, including those to other authorities (RFC 9309 section 2.3.1.2).
pub const MAX_ROBOTS_REDIRECTS: u8 = 5;

/// Cache time of a file: at most a day (RFC 9309 section 2.4).
const KEEP: Duration = Duration::from_secs(24 * 3600);
/// Cache time of a failure.
const KEEP_FAILURE: Duration = Duration::from_secs(300);

/// Outcome of the request for robots.txt of one authority, after redirects.
#[derive(Debug, Clone, Copy)]
pub enum RobotsAnswer<'a> {
    /// A response with status and decoded body, of which the first [`super::MAX_ROBOTS_BYTES`] are enough.
    Status(u16, &'a [u8]),
    /// More than [`MAX_ROBOTS_REDIRECTS`] redirects, or a redirect loop.
    TooManyRedirects,
    /// No response: name not found, connection refused, TLS failure, timeout, or a blocked address.
    Failed,
}

/// Returns the rules of an outcome and their cache time. They apply to the authority (scheme, host and port) of the
/// original request. 2xx: the file. 3xx and 4xx: no file, everything is allowed. 5xx and failures: everything is disallowed.
#[must_use]
pub fn judge(answer: RobotsAnswer<'_>) -> (Robots, Duration) {
    let denied = |why| Robots { denied: Some(why), ..Default::default() };
    match answer {
        // HTML instead of the file: single-page applications answer every path with their front page.
        RobotsAnswer::Status(200..=299, body) if is_markup(body) => (Robots::allow_all(), KEEP),
        RobotsAnswer::Status(200..=299, body) => (Robots::parse(body), KEEP),
        RobotsAnswer::Status(429, _) => (Robots::allow_all(), KEEP_FAILURE),
        RobotsAnswer::Status(300..=499, _) | RobotsAnswer::TooManyRedirects => (Robots::allow_all(), KEEP),
        RobotsAnswer::Status(..) => (denied(DenyReason::Server), KEEP_FAILURE),
        RobotsAnswer::Failed => (denied(DenyReason::Network), KEEP_FAILURE),
    }
}

fn is_markup(body: &[u8]) -> bool {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    body.trim_ascii_start().starts_with(b"<")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses() {
        const FILE: &[u8] = b"User-agent: *\nDisallow: /x";
        let check = |answer, allowed, unreachable| {
            let (robots, keep) = judge(answer);
            let rules = robots.rules("OurBot");
            assert_eq!((rules.allows("/x"), rules.is_unreachable()), (allowed, unreachable), "{answer:?}");
            assert!(keep <= Duration::from_secs(86_400));
        };
        check(RobotsAnswer::Status(200, FILE), false, false);
        check(RobotsAnswer::Status(200, b"<!doctype html>\nUser-agent: *\nDisallow: /"), true, false);
        for status in [301, 304, 400, 401, 403, 404, 410, 418, 429, 451] {
            check(RobotsAnswer::Status(status, FILE), true, false);
        }
        for status in [500, 502, 503, 504, 599, 100, 0] {
            check(RobotsAnswer::Status(status, FILE), false, false);
        }
        check(RobotsAnswer::TooManyRedirects, true, false);
        check(RobotsAnswer::Failed, false, true);
    }
}
