//! Pages of results, scraped side by side: each is an ordinary scrape, with a row and a charge of its own.

use std::time::Duration;

use futures_util::stream::{self, StreamExt as _};
use kernel::auth::Caller;
use kernel::{AppError, Refusal as _};
use scraping::{Scraper, ScrapingError};
use tokio::time::{Instant, sleep};
use url::Url;
use wire::{Document, ScrapeOptions, ScrapeRequest, ScrapedPage};

/// Time between two attempts to get a slot of the team.
const SLOT_WAIT: Duration = Duration::from_millis(50);
/// Maximum number of pages of one search that are scraped at the same time.
const MAX_PARALLEL: usize = 20;

/// Parameters of scraping the pages of a search.
pub(crate) struct Scraping<'a> {
    pub(crate) scraper: &'a Scraper,
    pub(crate) caller: &'a Caller,
    pub(crate) options: &'a ScrapeOptions,
    /// Whether nothing of the pages may be kept.
    pub(crate) private: bool,
    pub(crate) deadline: Instant,
}

/// Page of a result, with its share of the memory budget for bodies.
pub(crate) struct Page {
    pub(crate) page: ScrapedPage,
    pub(crate) room: Option<net::Room>,
}

impl Scraping<'_> {
    /// Scrapes pages side by side, as many as the team may have in flight, and returns them in the given order. A page
    /// that cannot be scraped, or not before the deadline, says why.
    pub(crate) async fn all(&self, urls: Vec<Url>) -> Vec<Page> {
        let slots = usize::try_from(self.caller.team.concurrency).unwrap_or(0).clamp(1, MAX_PARALLEL);
        stream::iter(urls).map(|url| self.one(url)).buffered(slots).collect().await
    }

    async fn one(&self, url: Url) -> Page {
        match self.scraped(&url).await {
            Ok((document, room)) => {
                Page { page: ScrapedPage::Document(Box::new(addressed(document, &url))), room: Some(room) }
            }
            Err(error) => Page { page: ScrapedPage::failed(url.as_str(), error.message()), room: None },
        }
    }

    /// Scrapes a page as soon as the team has a slot.
    async fn scraped(&self, url: &Url) -> Result<(Document, net::Room), ScrapingError> {
        loop {
            let left = self.deadline.saturating_duration_since(Instant::now());
            let left = u32::try_from(left.as_millis()).unwrap_or(u32::MAX);
            if left == 0 {
                return Err(AppError::Timeout.into());
            }
            let mut request = ScrapeRequest::new(url.clone());
            request.options = self.options.clone();
            request.options.timeout = request.options.timeout.min(left);
            request.zero_data_retention = self.private;
            match scraping::scrape::scrape_with_room(self.scraper, self.caller, request).await {
                Err(ScrapingError::App(AppError::ConcurrencyLimited { .. })) => sleep(SLOT_WAIT).await,
                result => return result,
            }
        }
    }
}

/// Gives the document the addresses that clients read of a result.
fn addressed(mut document: Document, url: &Url) -> Document {
    let metadata = &mut document.metadata;
    for address in [&mut metadata.url, &mut metadata.source_url] {
        if address.is_empty() {
            *address = url.to_string();
        }
    }
    document
}

/// Returns the credits that were charged for a page.
pub(crate) fn credits(page: &ScrapedPage) -> i64 {
    match page {
        ScrapedPage::Document(document) => document.metadata.credits_used,
        ScrapedPage::Failed { .. } => 0,
    }
}
