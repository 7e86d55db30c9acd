//! Start page of a map.

use std::sync::Arc;

use base::Stop;
use crawl_frontier::Scope;
use kernel::auth::Caller;
use scrape::{Ports, Scraped, Target};
use scraping::Scraper;
use url::Url;
use wire::{MapRequest, ScrapeOptions};

use super::links::Links;
use super::{MapError, Mapping};

/// Maximum total size of the page's links that are examined, in bytes.
const MAX_LINK_BYTES: usize = 8 << 20;

/// Outcome of the start page.
pub(super) enum StartPage {
    /// Not fetched, because only sitemaps are wanted.
    Unasked,
    /// Disallowed by robots.txt.
    Forbidden,
    Failed(MapError),
    Page {
        landed: Option<Url>,
        status: u16,
        links: Vec<String>,
        title: Option<String>,
        description: Option<String>,
    },
}

/// Returns the scrape options for the start page.
pub(super) fn options(request: &MapRequest) -> ScrapeOptions {
    ScrapeOptions {
        formats: Vec::new(),
        timeout: request.timeout,
        location: request.location.clone(),
        ..ScrapeOptions::default()
    }
}

/// Fetches the page and its links, without reading or writing the cache.
pub(super) async fn read(scraper: &Scraper, caller: &Caller, mapping: &Mapping) -> StartPage {
    let target = Target {
        basic_auth: mapping.basic_auth.clone(),
        private: mapping.request.zero_data_retention,
        owner: caller.owner(&mapping.id),
        collect_links: true,
        ..Target::new(mapping.url.clone(), Arc::new(options(&mapping.request)), mapping.soft_deadline)
    };
    let made = scrape::run(scraper.tools(), Ports::default(), &target, |scraped, _| StartPage::of(scraped)).await;
    made.unwrap_or_else(|error| StartPage::Failed(error.into()))
}

impl StartPage {
    fn of(scraped: Scraped) -> Self {
        let Scraped { document, links, .. } = scraped;
        let metadata = document.metadata;
        // Links and texts of an error page are not those of the site.
        let is_loaded = metadata.error.is_none();
        let text = |name: &str| Some(metadata.page.get(name)?.as_str()?.to_owned()).filter(|_| is_loaded);
        Self::Page {
            landed: Url::parse(&metadata.url).ok(),
            status: metadata.status_code,
            links: if is_loaded { links } else { Vec::new() },
            title: text("title"),
            description: text("description"),
        }
    }

    /// Fails if the page could not be read and there is no other source (`is_alone`).
    pub(super) fn unless_alone(self, is_alone: bool) -> Result<Self, MapError> {
        match self {
            Self::Failed(error) if is_alone => Err(error),
            page => Ok(page),
        }
    }

    /// Collects the start and the links of its page.
    pub(super) fn links(self, start: Url, request: &MapRequest, scope: &Scope, stop: &Stop) -> Links {
        let mut found = Links::new(request);
        match self {
            Self::Unasked => {}
            Self::Forbidden | Self::Failed(_) => found.add_start(scope, start, None, None),
            Self::Page { links, title, description, .. } => {
                found.add_start(scope, start, title, description);
                let mut bytes = 0;
                for link in links {
                    bytes += link.len();
                    if bytes > MAX_LINK_BYTES || stop.is_set() {
                        break;
                    }
                    let Ok(url) = Url::parse(&link) else { continue };
                    if found.add(scope, url, None, None).is_break() {
                        break;
                    }
                }
            }
        }
        found
    }

    /// Returns the final URL of the page.
    pub(super) fn landed(&self) -> Option<&Url> {
        match self {
            Self::Page { landed, .. } => landed.as_ref(),
            Self::Unasked | Self::Forbidden | Self::Failed(_) => None,
        }
    }

    pub(super) fn warning(&self) -> Option<String> {
        match self {
            Self::Forbidden => Some("robots.txt does not allow the page, so its links were not read".to_owned()),
            Self::Failed(error) => Some(format!("the page could not be read: {error}")),
            Self::Page { status, .. } if !matches!(status, 200..=299 | 304) => {
                Some(format!("the page answered with HTTP status {status}"))
            }
            Self::Unasked | Self::Page { .. } => None,
        }
    }
}
