//! Why a link is not followed, and where a crawl's answers say so.

use serde::{Deserialize, Serialize};

use crate::traps::Trap;

/// Why a link is not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Reason {
    /// Neither http nor https.
    Scheme,
    /// Longer than [`crate::MAX_URL_BYTES`].
    TooLong,
    /// Beyond `maxDiscoveryDepth`.
    Depth,
    /// A file without words, by its name.
    FileType,
    /// Of the same site, but not below the start URL, and `crawlEntireDomain` is off.
    OutsidePath,
    /// Matches a pattern of `excludePaths`.
    Excluded,
    /// Matches no pattern of `includePaths`.
    NotIncluded,
    /// Of another site, or of a subdomain that is not allowed.
    External,
    /// The home page of another site, while `allowExternalLinks` is on.
    ExternalHomepage,
    /// Found on a page of another site: external links are followed for one hop only.
    ExternalHop,
    /// A profile or share link of a social network, which answers with a form to log in.
    Social,
    /// One of endlessly many addresses.
    Trap(Trap),
    /// The patterns of the request or the rules of robots.txt took too much work before it was its turn.
    TooCostly,
    /// robots.txt forbids it, or the site answered the request for robots.txt with a server error.
    Robots,
    /// The site could not be reached to ask for robots.txt.
    RobotsUnreachable,
}

/// Which list of `GET /v2/crawl/{id}/errors` names a skipped link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    /// `errors`, with [`Reason::code`].
    Errors,
    /// `robotsBlocked`.
    RobotsBlocked,
    /// None: it was not asked for.
    Nowhere,
}

impl Reason {
    /// The code in `errors`; `EXTERNAL_LINK` is the contract's, the others are for logs.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Scheme => "UNSUPPORTED_SCHEME",
            Self::TooLong => "URL_TOO_LONG",
            Self::Depth => "DEPTH_LIMIT",
            Self::FileType => "FILE_TYPE",
            Self::OutsidePath => "OUTSIDE_PATH",
            Self::Excluded => "EXCLUDED_PATH",
            Self::NotIncluded => "NOT_INCLUDED_PATH",
            Self::External | Self::ExternalHomepage | Self::ExternalHop | Self::Social => "EXTERNAL_LINK",
            Self::Trap(_) => "CRAWL_TRAP",
            Self::TooCostly => "TOO_COSTLY",
            Self::Robots => "ROBOTS_BLOCKED",
            Self::RobotsUnreachable => "ROBOTS_UNREACHABLE",
        }
    }

    /// One sentence for the owner of the crawl.
    #[must_use]
    pub fn message(self) -> &'static str {
        match self {
            Self::Scheme => "only http and https links are followed",
            Self::TooLong => "the URL is too long",
            Self::Depth => "the page is deeper than maxDiscoveryDepth",
            Self::FileType => "the link names a file without text",
            Self::OutsidePath => "the page is not below the start URL; set crawlEntireDomain to follow it",
            Self::Excluded => "the URL matches a pattern of excludePaths",
            Self::NotIncluded => "the URL matches no pattern of includePaths",
            Self::External => {
                "the link leads to another site; set allowSubdomains or allowExternalLinks to follow such links"
            }
            Self::ExternalHomepage => "the link leads to the home page of another site, which is skipped",
            Self::ExternalHop => "links on pages of other sites are not followed",
            Self::Social => "the link leads to a social network, which is skipped",
            Self::Trap(trap) => trap.message(),
            Self::TooCostly => {
                "the path patterns and the rules of robots.txt take too much work on the links of its page; \
                 use fewer and simpler patterns"
            }
            Self::Robots => "robots.txt forbids the page",
            Self::RobotsUnreachable => "robots.txt could not be fetched, so the site is left alone",
        }
    }

    /// Which list of the crawl's errors answer names the link.
    #[must_use]
    pub fn listing(self) -> Listing {
        match self {
            Self::ExternalHomepage | Self::RobotsUnreachable => Listing::Errors,
            Self::Robots => Listing::RobotsBlocked,
            _ => Listing::Nowhere,
        }
    }
}
