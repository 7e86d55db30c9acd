//! Decisions on the links of a crawl: URL keys, scope, filters, depth, robots.txt, sitemaps, traps. No I/O, no clock.
//!
//! ```
//! use crawl_frontier::{Reason, Robots, Scope, ScopeOptions, Url, Verdict};
//!
//! let start = Url::parse("https://example.com/docs/")?;
//! let options = ScopeOptions { exclude_paths: vec!["/old/".into()], ..Default::default() };
//! let scope = Scope::new(&start, &options)?;
//!
//! let link = start.join("guide/index.html#install")?;
//! let Verdict::Follow { key, depth } = scope.admit(&link, &start, 0) else { panic!("it is a child path") };
//! assert_eq!((key.as_str(), depth), ("https://example.com/docs/guide", 1));
//!
//! let blog = start.join("/blog/")?;
//! assert_eq!(scope.admit(&blog, &start, 0), Verdict::Skip(Reason::OutsidePath));
//!
//! let robots = Robots::parse(b"User-agent: *\nDisallow: /docs/private").rules("OurBot/1.0");
//! let hidden = start.join("private/a")?;
//! assert_eq!(scope.admit(&hidden, &start, 0).and_robots(&robots, &hidden), Verdict::Skip(Reason::Robots));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod file_type;
mod filter;
mod frontier;
mod llms;
mod rank;
mod reason;
mod robots;
mod scope;
mod sieve;
mod sitemap;
mod spelling;
mod steps;
mod traps;
mod url_key;

pub use file_type::is_skipped_file;
pub use filter::{
    Expression, Field, MAX_ALL_PATTERN_CHARS, MAX_PATTERN_CHARS, MAX_PATTERNS, PathFilter, PatternError, PatternFault,
};
pub use frontier::{MAX_URL_BYTES, Scope, ScopeOptions, Verdict};
pub use llms::{MAX_LLMS_BYTES, llms_pages, page_of_markdown};
pub use rank::{Candidate, rank};
pub use reason::{Listing, Reason};
pub use robots::{MAX_ROBOTS_BYTES, MAX_ROBOTS_REDIRECTS, Robots, RobotsAnswer, Rule, Rules, judge};
pub use scope::{Reach, registrable_domain};
pub use sieve::Sieve;
pub use sitemap::{
    MAX_SITEMAP_BYTES, MAX_SITEMAP_NESTING, MAX_SITEMAP_URLS, Sitemap, SitemapCandidate, SitemapKind, SitemapParser,
    SitemapUrl, sitemap_candidates,
};
pub use steps::Steps;
pub use traps::{Family, Run, Trap, Traps, content_hash, family, template, url_trap, words_hash};
pub use url::Url;
pub use url_key::{KeyRules, UrlKey, url_key, without_tracking};
