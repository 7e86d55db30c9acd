//! The page that a map starts from.

use std::sync::Arc;

use base::Stop;
use crawl_frontier::Scope;
use scrape::{Target, derive, fetch};
use url::Url;
use wire::{MapRequest, ScrapeOptions};

use super::Job;
use super::links::Links;
use crate::auth::Caller;
use crate::{App, AppError};

/// Bytes of the page's links that are looked at.
const MAX_LINK_BYTES: usize = 8 << 20;

/// What became of it.
pub(super) enum Front {
    /// Only sitemaps are wanted.
    Unasked,
    /// robots.txt does not allow it.
    Forbidden,
    Failed(AppError),
    Page {
        landed: Url,
        status: u16,
        links: Vec<String>,
        title: Option<String>,
        description: Option<String>,
    },
}

/// Gets the page and its links. It is neither taken from the cache nor kept there.
pub(super) async fn read(app: &App, caller: &Caller, job: &Job) -> Front {
    let options = ScrapeOptions {
        formats: Vec::new(),
        timeout: job.request.timeout,
        location: job.request.location.clone(),
        ..ScrapeOptions::default()
    };
    let target = Target {
        basic_auth: job.basic_auth.clone(),
        private: job.request.zero_data_retention,
        owner: caller.team.id.clone(),
        collect_links: true,
        ..Target::new(job.url.clone(), Arc::new(options), job.soft_deadline)
    };
    let fetched = match fetch(&app.tools, &target).await {
        Ok(fetched) => fetched,
        Err(error) => return Front::Failed(error.into()),
    };
    let (landed, status, is_loaded) = (fetched.url.clone(), fetched.status, fetched.is_loaded());
    match derive(&app.tools, &target, fetched).await {
        // The links of an error page are those of the error.
        Ok(derived) => {
            let links = if is_loaded { derived.links } else { Vec::new() };
            let page = derived.document.metadata.page;
            let text = |name: &str| Some(page.get(name)?.as_str()?.to_owned()).filter(|_| is_loaded);
            Front::Page { landed, status, links, title: text("title"), description: text("description") }
        }
        Err(error) => Front::Failed(error.into()),
    }
}

/// The start and its links. `is_alone` tells that there is no other source: then a failure of the page is one of the map.
pub(super) fn links(
    front: Front,
    (start, request): (Url, &MapRequest),
    scope: &Scope,
    (is_alone, stop): (bool, &Stop),
) -> Result<Links, AppError> {
    let mut found = Links::new(request);
    match front {
        Front::Unasked => {}
        Front::Failed(error) if is_alone => return Err(error),
        Front::Forbidden | Front::Failed(_) => found.add_start(scope, start, None, None),
        Front::Page { links, title, description, .. } => {
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
    Ok(found)
}

impl Front {
    /// Where the page was found.
    pub(super) fn landed(&self) -> Option<&Url> {
        match self {
            Self::Page { landed, .. } => Some(landed),
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
