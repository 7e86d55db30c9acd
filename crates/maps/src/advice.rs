//! Advice for a map of a part of a site that found next to nothing.

use crawl_frontier::registrable_domain;
use url::{Position, Url};

/// Returns the warning when at most one address was found and `url` is not a whole site. Callers look for its exact
/// words (docs/CONTRACT.md, "Map").
pub(super) fn broader(url: &Url, limit: u32, found: usize) -> Option<String> {
    if found > 1 || limit == 1 {
        return None;
    }
    let base = base_domain(url)?;
    Some(format!("Only {found} result(s) found. For broader coverage, try mapping the base domain: {base}"))
}

/// Returns the registrable domain of the host, or the host if it has none, with a port other than the default; `None`
/// when `url` is its front page.
fn base_domain(url: &Url) -> Option<String> {
    let host = url.host_str()?;
    let bare = host.strip_prefix("www.").unwrap_or(host);
    let domain = registrable_domain(bare).unwrap_or(bare);
    if domain == bare && matches!(&url[Position::BeforePath..Position::AfterQuery], "/" | "/?") {
        return None;
    }
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    Some(format!("{domain}{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_site_lead_to_its_domain() {
        let check = |url: &str, expect: Option<&str>| {
            assert_eq!(base_domain(&Url::parse(url).unwrap()).as_deref(), expect, "{url}");
        };
        check("https://example.com/", None);
        check("https://www.example.com", None);
        check("https://example.com/#top", None);
        check("http://127.0.0.1:8080/", None);
        check("https://example.com/docs", Some("example.com"));
        check("https://example.com/?page=2", Some("example.com"));
        check("https://docs.example.co.uk/", Some("example.co.uk"));
        check("https://www.example.com/docs/", Some("example.com"));
        check("http://127.0.0.1:8080/docs", Some("127.0.0.1:8080"));
        check("http://[::1]/docs", Some("[::1]"));
        check("http://localhost:3003/docs", Some("localhost:3003"));
    }

    #[test]
    fn advice_is_for_those_who_found_next_to_nothing() {
        let url = Url::parse("https://example.com/docs").unwrap();
        let sentence = |found: usize| {
            format!("Only {found} result(s) found. For broader coverage, try mapping the base domain: example.com")
        };
        assert_eq!(broader(&url, 5000, 0), Some(sentence(0)));
        assert_eq!(broader(&url, 5000, 1), Some(sentence(1)));
        assert_eq!(broader(&url, 5000, 2), None);
        assert_eq!(broader(&url, 1, 1), None, "one was asked for");
    }
}
