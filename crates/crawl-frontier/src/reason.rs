//! Reasons for skipping a link, and where the API reports them.

use serde::{Deserialize, Serialize};

use crate::traps::Trap;

/// Reason for skipping a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Reason {
    /// The scheme is neither http nor https.
    Scheme,
    /// The URL is longer than [`crate::MAX_URL_BYTES`].
    TooLong,
    /// The page is beyond `maxDiscoveryDepth`.
    Depth,
    /// The name is that of a file without text.
    FileType,
    /// The URL is on the same site but not below the start URL, and `crawlEntireDomain` is off.
    OutsidePath,
    /// The URL matches a pattern of `excludePaths`.
    Excluded,
    /// The URL matches no pattern of `includePaths`.
    NotIncluded,
    /// The URL is on another site, or on a subdomain that is not allowed.
    External,
    /// The URL is the home page of another site, with `allowExternalLinks`.
    ExternalHomepage,
    /// The link is on a page of another site: external links are followed for one hop only.
    ExternalHop,
    /// The URL is a profile or share link of a social network, which shows a login form.
    Social,
    /// The URL belongs to a crawler trap.
    Trap(Trap),
    /// The step budget was used up by the patterns of the request or the rules of robots.txt before this link.
    TooCostly,
    /// robots.txt disallows the URL, or the site answered the request for robots.txt with a server error.
    Robots,
    /// The site could not be reached for its robots.txt.
    RobotsUnreachable,
}

/// The list of `GET /v2/crawl/{id}/errors` that contains a skipped link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    /// `errors`, with [`Reason::code`].
    Errors,
    /// `robotsBlocked`.
    RobotsBlocked,
    /// No list: the link was outside the request.
    Nowhere,
}

impl Reason {
    /// Returns the code in `errors`; `EXTERNAL_LINK` belongs to the contract, the others are for logs.
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

    /// Returns a message for the owner of the crawl.
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

    /// Returns the list of the crawl's errors that contains the link.
    #[must_use]
    pub fn listing(self) -> Listing {
        match self {
            Self::ExternalHomepage | Self::RobotsUnreachable => Listing::Errors,
            Self::Robots => Listing::RobotsBlocked,
            _ => Listing::Nowhere,
        }
    }
}
