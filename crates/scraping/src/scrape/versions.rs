//! Adapter of the versions of a page for the scrape pipeline.

use std::time::Duration;

use ::scrape::{Extraction, NextVersion, Previous, PreviousVersion, ScrapeError, Target, Versions};
use async_trait::async_trait;
use base::Timestamp;
use cache::{CrawlOf, NewState, NewVersion, PageCopy, Series, SeriesOf, VersionNote};
use chrono::TimeDelta;
use fetch::Fetched;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};
use wire::{Format, ScrapeOptions};

use super::{Scraping, WRITTEN_WITHIN};
use crate::Scraper;

/// First and longest pause between two attempts to take a series that another scrape holds.
const PAUSE: Duration = Duration::from_millis(20);
const MAX_PAUSE: Duration = Duration::from_millis(500);

/// Versions of the page of one scrape.
pub(super) struct PageVersions<'a> {
    scraper: &'a Scraper,
    target: Target,
    /// Id of the scrape, which holds the series.
    scrape: String,
    /// Time at which the hold expires if the scrape is never recorded.
    until: Timestamp,
    crawl: Option<CrawlOf>,
    series: Mutex<Option<Series>>,
    next: Mutex<Option<NewVersion>>,
}

/// Returns the tag of the series that a request asks for; `None` if it does not track changes.
fn tag(options: &ScrapeOptions) -> Option<Option<&str>> {
    options.formats.iter().find_map(|format| match format {
        Format::ChangeTracking(tracking) => Some(tracking.tag.as_deref()),
        _ => None,
    })
}

impl Scraping {
    /// Returns the versions of the page, if the request tracks changes. A request that must leave no trace gets none.
    pub(super) fn versions<'a>(&self, scraper: &'a Scraper) -> Option<PageVersions<'a>> {
        if self.is_fleeting {
            return None;
        }
        tag(&self.target.options)?;
        let timeout = TimeDelta::milliseconds(self.target.options.timeout.into());
        let grace = TimeDelta::from_std(scraper.app().settings().reservation_grace).unwrap_or(WRITTEN_WITHIN);
        let written_within = if self.run.is_some() { WRITTEN_WITHIN } else { grace };
        Some(PageVersions {
            scraper,
            target: self.target.clone(),
            scrape: self.id.clone(),
            until: self.began + timeout + written_within,
            crawl: self.crawl.clone(),
            series: Mutex::default(),
            next: Mutex::default(),
        })
    }
}

impl PageVersions<'_> {
    /// Returns the version to be written with the scrape.
    pub(super) fn into_next(self) -> Option<PageCopy> {
        self.next.into_inner().map(|version| PageCopy::Version(Box::new(version)))
    }

    /// Takes the series; `None` when another scrape still holds it at the end of `patience`.
    async fn take(&self, patience: Instant) -> Result<Option<Series>, ScrapeError> {
        let Self { scraper, target, scrape, until, .. } = self;
        let tag = tag(&target.options).flatten();
        let of = SeriesOf { url: &target.url, tag, owner: &target.owner, scrape, until: *until };
        let mut pause = PAUSE;
        loop {
            if let Some(series) = scraper.cache().series(&of).await.map_err(ScrapeError::port)? {
                return Ok(Some(series));
            }
            if Instant::now() + pause >= patience {
                return Ok(None);
            }
            sleep(pause).await;
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }
}

#[async_trait]
impl Versions for PageVersions<'_> {
    async fn previous(&self, current: &Fetched, patience: Instant) -> Result<Previous, ScrapeError> {
        let mut held = self.series.lock().await;
        if held.is_none() {
            *held = self.take(patience).await?;
        }
        let Some(series) = &*held else { return Ok(Previous::Busy) };
        let Some(version) = &series.version else { return Ok(Previous::None) };
        let extraction = version.extraction.as_ref().and_then(|extraction| {
            let value = serde_json::from_str(&extraction.value).ok()?;
            Some(Extraction { key: extraction.key.clone(), value })
        });
        Ok(Previous::Version(PreviousVersion {
            scraped_at: version.scraped_at,
            is_removed: version.body.is_none(),
            has_same_bytes: series.has_bytes_of(current).await,
            has_same_terms: series.has_terms_of(current),
            text: series.text().await.map_err(ScrapeError::port)?,
            extraction,
        }))
    }

    async fn page(&self) -> Result<Option<Fetched>, ScrapeError> {
        match &*self.series.lock().await {
            Some(series) => series.page().await.map_err(ScrapeError::port),
            None => Ok(None),
        }
    }

    async fn keep(&self, next: NextVersion<'_>, extraction: Option<Extraction>) -> Result<bool, ScrapeError> {
        let Some(series) = self.series.lock().await.take() else { return Ok(false) };
        let state = match next {
            NextVersion::Page { page, text } => NewState::Page { page, text },
            NextVersion::Unchanged => NewState::Unchanged,
            NextVersion::Removed { page } => NewState::Removed { page },
        };
        let extraction =
            extraction.map(|Extraction { key, value }| cache::Extraction { key, value: value.to_string() });
        let note = VersionNote { scraped_at: self.scraper.app().now(), extraction, crawl: self.crawl.clone() };
        let version = series.next(&state, note).await.map_err(ScrapeError::port)?;
        let is_kept = version.is_some();
        *self.next.lock().await = version;
        Ok(is_kept)
    }
}
