//! The home of a crawl: site, folder and subdomains, and the distance of a URL from it.

use url::Url;

use crate::file_type::is_file;
use crate::spelling;
use crate::url_key::{bare_host, folded_port};

/// Distance of a URL from the start of the crawl.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Same site, in the start URL's folder.
    Inside,
    /// Same site, another folder.
    OutsidePath,
    /// Another site of the same registrable domain (public-suffix list).
    Subdomain,
    /// Another domain.
    External,
}

/// The default scope of a crawl: one site, and one folder of it.
#[derive(Debug, Clone)]
pub(crate) struct HomeScope {
    /// Host without `www.`.
    host: String,
    port: Option<u16>,
    registrable: Option<String>,
    folder: Folder,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Folder {
    /// All paths.
    All,
    /// A folder such as `/docs`: the page itself and everything below `/docs/`. Stored without the slash.
    Below(String),
}

/// Sites whose profile and share links show a login form. Registrable domains, sorted.
const SOCIAL: [&str; 17] = [
    "bsky.app",
    "calendly.com",
    "discord.com",
    "discord.gg",
    "facebook.com",
    "fb.com",
    "instagram.com",
    "linkedin.com",
    "pinterest.com",
    "snapchat.com",
    "t.me",
    "threads.net",
    "tiktok.com",
    "twitter.com",
    "wa.me",
    "whatsapp.com",
    "x.com",
];

impl HomeScope {
    /// Returns the site of a URL and the folder that a crawl from it covers: `/docs` covers `/docs` and `/docs/…`, a file
    /// covers its folder.
    pub(crate) fn of(url: &Url) -> Self {
        let host = bare_host(url.host_str().unwrap_or_default()).to_owned();
        Self {
            registrable: registrable_domain(&host).map(str::to_owned),
            host,
            port: folded_port(url),
            folder: folder(url),
        }
    }

    /// Returns the same site with all its paths.
    pub(crate) fn whole(mut self) -> Self {
        self.folder = Folder::All;
        self
    }

    /// Returns whether the crawl covers the whole site.
    pub(crate) fn is_whole(&self) -> bool {
        self.folder == Folder::All
    }

    /// Returns the distance of a URL.
    pub(crate) fn reach(&self, url: &Url) -> Reach {
        let host = bare_host(url.host_str().unwrap_or_default());
        if host == self.host && folded_port(url) == self.port {
            return if self.folder.covers(&spelling::path(url.path())) { Reach::Inside } else { Reach::OutsidePath };
        }
        match &self.registrable {
            Some(own) if ends_in_domain(host, own) => Reach::Subdomain,
            _ => Reach::External,
        }
    }
}

impl Folder {
    fn covers(&self, path: &str) -> bool {
        match self {
            Self::All => true,
            Self::Below(folder) => {
                path.strip_prefix(folder.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }
        }
    }
}

/// Returns the registrable domain by the public-suffix list including its private part: `example.co.uk` for
/// `a.b.example.co.uk`, `me.github.io` for itself. `None` for IP addresses, suffixes and single labels.
#[must_use]
pub fn registrable_domain(host: &str) -> Option<&str> {
    let host = host.trim_end_matches('.');
    let last = host.rsplit('.').next()?;
    if host.starts_with('[') || last.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    psl::domain_str(host)
}

/// Returns whether a URL belongs to a social network.
pub(crate) fn is_social(url: &Url) -> bool {
    let domain = url.host_str().and_then(registrable_domain);
    domain.is_some_and(|domain| SOCIAL.binary_search(&domain).is_ok())
}

/// Returns whether a URL is the front page of its site.
pub(crate) fn is_homepage(url: &Url) -> bool {
    let key = crate::url_key(url, crate::KeyRules::default());
    // The key of a front page has nothing after the host.
    !key.as_str().trim_start_matches("https://").contains(['/', '?', '#'])
}

fn folder(url: &Url) -> Folder {
    let path = spelling::path(url.path());
    let covered = if is_file(&path) { path.rsplit_once('/').map_or("", |(folder, _)| folder) } else { &path };
    match covered.trim_end_matches('/') {
        "" => Folder::All,
        folder => Folder::Below(folder.to_owned()),
    }
}

fn ends_in_domain(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(start: &str, link: &str, expect: Reach) {
        let home = HomeScope::of(&Url::parse(start).unwrap());
        assert_eq!(home.reach(&Url::parse(link).unwrap()), expect, "{link} from {start}");
    }

    #[test]
    fn child_paths() {
        let site = |path: &str| format!("https://example.com{path}");
        for (start, link, expect) in [
            ("/", "/anything", Reach::Inside),
            ("/docs", "/docs", Reach::Inside),
            ("/docs", "/docs/a/b", Reach::Inside),
            ("/docs", "/docs-old", Reach::OutsidePath),
            ("/docs", "/", Reach::OutsidePath),
            ("/docs/", "/docs", Reach::Inside),
            ("/docs/", "/docs?x=1", Reach::Inside),
            ("/docs/index.html", "/docs/a", Reach::Inside),
            ("/docs/index.html", "/blog", Reach::OutsidePath),
            ("/index.html", "/blog", Reach::Inside),
            ("/api/v1.2", "/api/v1.2/get", Reach::Inside),
            ("/api/v1.2", "/api/v1.3", Reach::OutsidePath),
            ("/d%6fcs", "/docs/a", Reach::Inside),
            ("/docs", "/%64ocs/a", Reach::Inside),
            ("/docs", "/Docs/a", Reach::OutsidePath),
        ] {
            check(&site(start), &site(link), expect);
        }
    }

    #[test]
    fn sites() {
        for (start, link, expect) in [
            ("https://example.com/", "http://www.example.com/", Reach::Inside),
            ("https://example.com/", "https://example.com:443/a", Reach::Inside),
            ("https://example.com/", "https://example.com:8443/", Reach::Subdomain),
            ("https://example.com/", "https://docs.example.com/", Reach::Subdomain),
            ("https://docs.example.com/", "https://example.com/", Reach::Subdomain),
            ("https://docs.example.com/", "https://blog.example.com/", Reach::Subdomain),
            ("https://example.com/", "https://notexample.com/", Reach::External),
            ("https://example.com/", "https://example.com.evil.org/", Reach::External),
            ("https://a.example.co.uk/", "https://b.example.co.uk/", Reach::Subdomain),
            ("https://a.co.uk/", "https://b.co.uk/", Reach::External),
            ("https://a.github.io/", "https://b.github.io/", Reach::External),
            ("http://127.0.0.1:8000/", "http://127.0.0.1:9000/", Reach::External),
            ("http://127.0.0.1:8000/", "http://127.0.0.1:8000/a", Reach::Inside),
            ("http://1.2.3.4/", "http://5.2.3.4/", Reach::External),
            ("http://[::1]/", "http://[::2]/", Reach::External),
            ("http://localhost:1/", "http://localhost:2/", Reach::External),
            ("http://origin.test:18100/", "http://a.origin.test:18100/", Reach::Subdomain),
        ] {
            check(start, link, expect);
        }
    }

    #[test]
    fn front_pages() {
        for (url, expect) in [
            ("https://example.org", true),
            ("https://www.example.org/index.html#top", true),
            ("https://example.org/?utm_source=x", true),
            ("https://example.org/?p=12", false),
            ("https://example.org/a", false),
            ("https://example.org/#/a", false),
        ] {
            assert_eq!(is_homepage(&Url::parse(url).unwrap()), expect, "{url}");
        }
    }

    #[test]
    fn social_networks_by_host() {
        assert!(SOCIAL.is_sorted());
        for (url, expect) in [
            ("https://www.facebook.com/x", true),
            ("https://de.linkedin.com/in/x", true),
            ("https://netflix.com/x", false),
            ("https://example.org/twitter.com", false),
        ] {
            assert_eq!(is_social(&Url::parse(url).unwrap()), expect, "{url}");
        }
    }
}
