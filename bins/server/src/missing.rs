//! Answers for unknown paths. Endpoints of the API that this server does not implement have an error code of their own, so
//! that clients do not search for a mistake in their base URL.

use axum::http::Uri;
use wire::Code;

use crate::error::Failure;

/// Endpoints that this server does not implement: path prefix and name.
const ELSEWHERE: [(&str, &str); 10] = [
    ("/v2/search/research", "The research index"),
    ("/v2/research", "The research index"),
    ("/v2/developer", "The search of developer documentation"),
    ("/v2/extract", "Extraction by a model"),
    ("/v2/agent", "The agent"),
    ("/v2/exchange", "The catalog of provider tools"),
    ("/v2/support", "Support"),
    ("/v2/slack", "Notification by chat"),
    ("/v2/team/threat-protection", "Threat protection"),
    ("/v2/team/siem", "The export of security events"),
];
/// Path prefixes of the API without the version, which indicate a base URL without `/v2`.
const RESOURCES: [&str; 8] = ["/scrape", "/crawl", "/batch", "/map", "/search", "/parse", "/browser", "/team"];

/// Fallback handler of the router.
pub(crate) async fn answer(uri: Uri) -> Failure {
    failure_for(uri.path())
}

/// Returns the 404 for a path that does not exist.
pub(crate) fn not_found() -> Failure {
    Failure::new(Code::NotFound, "there is nothing at this path")
}

fn failure_for(path: &str) -> Failure {
    let elsewhere = |why: String| Failure::new(Code::EndpointNotAvailable, why);
    if let Some((_, name)) = ELSEWHERE.iter().find(|(root, _)| is_under(path, root)) {
        return elsewhere(format!("{name} is not available on this server; GET /openapi.json lists what is"));
    }
    if is_under(path, "/v1") || is_under(path, "/v0") {
        let why = "this server implements only version 2 of the API: use paths that begin with /v2";
        return elsewhere(why.to_owned());
    }
    if is_under(path, "/v2/v2") {
        return Failure::new(Code::NotFound, "/v2 appears twice in this path: give the client a base URL without /v2");
    }
    if path.starts_with("//") {
        let why = "this path begins with two slashes: give the client a base URL without a trailing slash";
        return Failure::new(Code::NotFound, why);
    }
    if RESOURCES.iter().any(|root| is_under(path, root)) {
        return Failure::new(Code::NotFound, "there is nothing at this path: paths of the API begin with /v2");
    }
    not_found()
}

/// Returns whether a path is `root` or below it.
pub(crate) fn is_under(path: &str, root: &str) -> bool {
    path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, expect: &str) {
        assert_eq!(failure_for(path).to_string(), expect, "{path}");
    }

    #[test]
    fn what_the_interface_has_elsewhere() {
        let agent =
            "ENDPOINT_NOT_AVAILABLE: The agent is not available on this server; GET /openapi.json lists what is";
        check("/v2/agent", agent);
        check("/v2/agent/6f1e", agent);
        check("/v2/agent/", agent);
        for path in ["/v2/support/tickets", "/v2/agent", "/v2/extract/1", "/v2/search/research/papers"] {
            assert!(failure_for(path).to_string().starts_with("ENDPOINT_NOT_AVAILABLE: "), "{path}");
        }
    }

    #[test]
    fn what_no_server_has() {
        check("/v2/searching", "NOT_FOUND: there is nothing at this path");
        check("/v2/nope", "NOT_FOUND: there is nothing at this path");
        check("/", "NOT_FOUND: there is nothing at this path");
        check("/v10/scrape", "NOT_FOUND: there is nothing at this path");
    }

    #[test]
    fn a_wrong_base_url_is_told() {
        let version = "this server implements only version 2 of the API: use paths that begin with /v2";
        check("/v1/scrape", &format!("ENDPOINT_NOT_AVAILABLE: {version}"));
        check("/v1", &format!("ENDPOINT_NOT_AVAILABLE: {version}"));
        check("/v2/v2/scrape", "NOT_FOUND: /v2 appears twice in this path: give the client a base URL without /v2");
        let slashes = "this path begins with two slashes: give the client a base URL without a trailing slash";
        check("//v2/scrape", &format!("NOT_FOUND: {slashes}"));
        check("/scrape", "NOT_FOUND: there is nothing at this path: paths of the API begin with /v2");
        check("/batch/scrape", "NOT_FOUND: there is nothing at this path: paths of the API begin with /v2");
    }

    #[test]
    fn no_route_of_ours_counts_as_missing() {
        for route in crate::routes::table() {
            assert!(ELSEWHERE.iter().all(|(root, _)| !is_under(&route.path, root)), "{}", route.path);
        }
    }
}
