//! Sitemaps: discovery, and lenient parsing of all formats.

mod encoding;
mod entry;
mod parser;
mod scan;

use std::collections::HashSet;

use url::Url;

pub use parser::SitemapParser;

/// Maximum number of pages of one sitemap (sitemaps.org protocol).
pub const MAX_SITEMAP_URLS: usize = 50_000;
/// Byte limit of one decoded sitemap (sitemaps.org protocol: 50 MB).
pub const MAX_SITEMAP_BYTES: usize = 52_428_800;
/// Maximum number of nested indexes above a sitemap with pages.
pub const MAX_SITEMAP_NESTING: u8 = 3;

/// A page listed by a sitemap or feed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SitemapUrl {
    /// URL as written, trimmed. It may be relative: join it with the sitemap's own URL.
    pub loc: String,
    /// Last change as written (W3C or RFC 822 date).
    pub lastmod: Option<String>,
    /// Priority from 0.0 to 1.0.
    pub priority: Option<f32>,
    /// Title of a feed or news entry, at most 300 characters.
    pub title: Option<String>,
    /// Description of a feed entry without markup, at most 500 characters.
    pub description: Option<String>,
}

/// Format of a sitemap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SitemapKind {
    /// The format is not known yet.
    #[default]
    Unknown,
    /// `<urlset>`, or anything else in XML that has `<loc>`.
    UrlSet,
    /// `<sitemapindex>`.
    Index,
    /// RSS, with or without RDF.
    Rss,
    /// Atom.
    Atom,
    /// One URL per line.
    Text,
    /// An HTML page, such as an error page: it lists nothing.
    Html,
}

/// Content of a sitemap.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sitemap {
    /// Format.
    pub kind: SitemapKind,
    /// Pages in order, at most [`MAX_SITEMAP_URLS`].
    pub pages: Vec<SitemapUrl>,
    /// Pages in other languages (`hreflang`), as written, at most [`MAX_SITEMAP_URLS`].
    pub alternates: Vec<String>,
    /// Other sitemaps, as written, at most [`MAX_SITEMAP_URLS`]. An index may list itself, so remember which were read.
    pub sitemaps: Vec<String>,
    /// Whether a limit has truncated the content.
    pub is_cut: bool,
}

/// A possible location of a sitemap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SitemapCandidate {
    /// URL of the location.
    pub url: Url,
    /// Whether robots.txt or the caller names it; the others are guesses that may not exist.
    pub is_declared: bool,
}

/// Common paths of content management systems other than `/sitemap.xml`.
const GUESSES: [&str; 5] =
    ["/sitemap_index.xml", "/sitemap-index.xml", "/wp-sitemap.xml", "/sitemap.xml.gz", "/sitemap.txt"];

/// Returns the possible sitemaps of a crawl, best first and without duplicates: the start URL if it is one itself, the
/// lines of robots.txt, `sitemap.xml` in the start's folder, at the root of its host and of its registrable domain, and,
/// when robots.txt names none, the common paths of content management systems.
#[must_use]
pub fn sitemap_candidates(start: &Url, robots_lines: &[String]) -> Vec<SitemapCandidate> {
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    let mut add = |url: Option<Url>, is_declared: bool| {
        let url = url.filter(|url| matches!(url.scheme(), "http" | "https")).map(|mut url| {
            url.set_fragment(None);
            url
        });
        if let Some(url) = url.filter(|url| seen.insert(url.clone())) {
            found.push(SitemapCandidate { url, is_declared });
        }
    };
    let path = start.path().to_ascii_lowercase();
    if [".xml", ".xml.gz", ".rss", ".atom"].iter().any(|ending| path.ends_with(ending)) || path.ends_with("sitemap.txt")
    {
        add(Some(start.clone()), true);
    }
    for line in robots_lines {
        add(start.join("/robots.txt").and_then(|robots| robots.join(line)).ok(), true);
    }
    add(folder_of(start), false);
    add(start.join("/sitemap.xml").ok(), false);
    if robots_lines.is_empty() {
        for guess in GUESSES {
            add(start.join(guess).ok(), false);
        }
    }
    add(at_registrable_domain(start), false);
    found
}

/// Returns `sitemap.xml` in the folder that a crawl from `start` covers.
fn folder_of(start: &Url) -> Option<Url> {
    let mut base = start.clone();
    if !base.path().ends_with('/') && !crate::file_type::is_file(base.path()) {
        base.set_path(&format!("{}/", start.path()));
    }
    base.join("sitemap.xml").ok()
}

fn at_registrable_domain(start: &Url) -> Option<Url> {
    let host = start.host_str()?;
    let domain = crate::registrable_domain(host)?;
    if crate::url_key::bare_host(host) == domain {
        return None;
    }
    let mut url = start.join("/sitemap.xml").ok()?;
    url.set_host(Some(domain)).ok()?;
    Some(url)
}

impl Sitemap {
    /// Parses a whole sitemap at once; see [`SitemapParser`] for pieces.
    ///
    /// ```
    /// let sitemap = crawl_frontier::Sitemap::parse(b"<urlset><url><loc>https://example.com/a</loc></urlset>", 0);
    /// assert_eq!(sitemap.pages[0].loc, "https://example.com/a");
    /// ```
    #[must_use]
    pub fn parse(bytes: &[u8], nesting: u8) -> Self {
        let mut parser = SitemapParser::new(nesting);
        parser.feed(bytes);
        parser.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(start: &str, robots: &[&str], expect: &[&str]) {
        let lines: Vec<String> = robots.iter().map(|&line| line.to_owned()).collect();
        let found = sitemap_candidates(&Url::parse(start).unwrap(), &lines);
        let found: Vec<&str> = found.iter().map(|candidate| candidate.url.as_str()).collect();
        assert_eq!(found, expect, "{start}");
    }

    #[test]
    fn places() {
        check(
            "https://docs.example.com/guide",
            &["https://cdn.example.net/s.xml", "/t.xml", "javascript:x", "https://cdn.example.net/s.xml"],
            &[
                "https://cdn.example.net/s.xml",
                "https://docs.example.com/t.xml",
                "https://docs.example.com/guide/sitemap.xml",
                "https://docs.example.com/sitemap.xml",
                "https://example.com/sitemap.xml",
            ],
        );
        check(
            "http://www.example.com:8080/",
            &[],
            &[
                "http://www.example.com:8080/sitemap.xml",
                "http://www.example.com:8080/sitemap_index.xml",
                "http://www.example.com:8080/sitemap-index.xml",
                "http://www.example.com:8080/wp-sitemap.xml",
                "http://www.example.com:8080/sitemap.xml.gz",
                "http://www.example.com:8080/sitemap.txt",
            ],
        );
        check(
            "http://127.0.0.1/news.xml",
            &["/s.xml"],
            &["http://127.0.0.1/news.xml", "http://127.0.0.1/s.xml", "http://127.0.0.1/sitemap.xml"],
        );
    }
}
