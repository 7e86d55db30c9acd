//! Cache keys: the key identifies the page, the variant identifies how it was fetched.

use base::address;
use sha2::{Digest, Sha256};
use url::Url;
use wire::{ProxyMode, ScrapeOptions};

/// Returns the normalised URL that all spellings of a page share: https, no `www.`, no default port, no index file, no
/// trailing slash, no fragment unless it is a route (`#/…`, `#!…`). User name and password are never part of it.
pub(crate) fn normalised(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let host = host.strip_prefix("www.").filter(|rest| rest.contains('.')).unwrap_or(host);
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let path = address::without_index(url.path());
    let query = url.query().filter(|query| !query.is_empty()).map(|query| format!("?{query}")).unwrap_or_default();
    let route =
        url.fragment().filter(|part| address::is_route(part)).map(|part| format!("#{part}")).unwrap_or_default();
    format!("https://{host}{port}{path}{query}{route}")
}

/// Returns the SHA-256 of the normalised URL in hex. Rows are found by it, so no index contains addresses.
pub(crate) fn key(url: &Url) -> String {
    digest(&normalised(url))
}

/// Returns the SHA-256 in hex of all options that can change the bytes a server sends. Options that only change what is
/// derived from them are left out, so one copy serves all formats.
pub(crate) fn variant(url: &Url, options: &ScrapeOptions) -> String {
    let location = options.location.clone().unwrap_or_default();
    let (country, languages) = (location.country, location.languages.join(","));
    let enhanced = matches!(options.proxy, ProxyMode::Enhanced | ProxyMode::Stealth);
    // https and http share a key, but a caller who asks for a verified certificate must not get an unverified copy.
    // Requests with credentials get no copy at all.
    let verified = url.scheme() == "https" && !options.skips_tls_verification(false);
    digest(&format!(
        "1|mobile={}|ads={}|country={country}|languages={languages}|enhanced={enhanced}|wait={}|verified={verified}",
        options.mobile, options.block_ads, options.wait_for,
    ))
}

/// Returns the variant for answers in Markdown: a site that offers a page as Markdown and as HTML sends the preferred
/// one.
pub(crate) fn in_markdown(variant: &str) -> String {
    digest(&format!("markdown|{variant}"))
}

fn digest(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::Location;

    fn check(input: &str, expect: &str) {
        assert_eq!(normalised(&Url::parse(input).unwrap()), expect, "{input}");
    }

    #[test]
    fn spellings_of_one_page() {
        for input in [
            "https://example.com/a",
            "http://example.com/a",
            "http://www.example.com/a/",
            "https://www.example.com:443/a",
            "http://example.com:80/a",
            "https://example.com/a/index.html",
            "https://example.com/a/index.php",
            "https://example.com/a/index.html/",
            "https://example.com/a#part",
            "https://user:pass@example.com/a",
            "https://EXAMPLE.com/a?",
        ] {
            check(input, "https://example.com/a");
        }
        check("https://example.com/", "https://example.com");
        check("https://example.com/index.htm", "https://example.com");
    }

    #[test]
    fn different_pages_stay_different() {
        check("https://example.com/index.xml", "https://example.com/index.xml");
        check("https://example.com/myindex.html", "https://example.com/myindex.html");
        check("https://example.com/A", "https://example.com/A");
        check("https://example.com/a?b=1&a=2", "https://example.com/a?b=1&a=2");
        check("https://example.com/a/index.html?x=1", "https://example.com/a?x=1");
        check("https://example.com/#/users", "https://example.com#/users");
        check("https://example.com/#!news", "https://example.com#!news");
        check("https://example.com/#/", "https://example.com");
        check("https://example.com/#!/", "https://example.com");
        check("https://example.com:8443/", "https://example.com:8443");
        check("http://example.com:443/", "https://example.com:443");
        check("http://www.com/", "https://www.com");
        check("http://[::1]:80/x", "https://[::1]/x");
    }

    #[test]
    fn variants() {
        let url = Url::parse("https://example.com/").unwrap();
        let plain = ScrapeOptions::default();
        let same = ScrapeOptions {
            only_main_content: false,
            timeout: 5000,
            proxy: ProxyMode::Basic,
            location: Some(Location::default()),
            ..Default::default()
        };
        assert_eq!(variant(&url, &plain), variant(&url, &same));
        let location = Some(Location { country: "DE".into(), languages: vec!["de".into()] });
        for other in [
            ScrapeOptions { mobile: true, ..Default::default() },
            ScrapeOptions { block_ads: false, ..Default::default() },
            ScrapeOptions { location, ..Default::default() },
            ScrapeOptions { proxy: ProxyMode::Enhanced, ..Default::default() },
            ScrapeOptions { wait_for: 100, ..Default::default() },
            ScrapeOptions { skip_tls_verification: Some(false), ..Default::default() },
        ] {
            assert_ne!(variant(&url, &plain), variant(&url, &other), "{other:?}");
        }
    }
}
