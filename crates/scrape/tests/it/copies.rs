//! Copies: when they answer, when pages are kept.

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use base::Timestamp;
use fetch::Fetched;
use scrape::{Copies, CopyLookup, Ports, ScrapeError, Target};
use testkit::Site;
use tokio::time::Instant;
use wire::{CacheState, Document, ScrapeOptions};

use crate::setup::{QUIET, target, tools};

/// One copy, or none; and what was kept.
#[derive(Default)]
struct Shelf {
    copy: Option<Fetched>,
    must_have: bool,
    keeps: bool,
    is_slow: bool,
    kept: Mutex<Vec<u16>>,
}

#[async_trait]
impl Copies for Shelf {
    async fn find(&self) -> Result<CopyLookup, ScrapeError> {
        match &self.copy {
            Some(copy) => Ok(CopyLookup::Hit(Box::new(copy.clone()), Timestamp::UNIX_EPOCH)),
            None if self.must_have => Err(ScrapeError::NoCopy),
            None => Ok(CopyLookup::Miss),
        }
    }

    fn keeps(&self) -> bool {
        self.keeps
    }

    async fn keep(&self, page: &Fetched) {
        if self.is_slow {
            std::future::pending::<()>().await;
        }
        assert!(!page.body.is_empty());
        self.kept.lock().unwrap().push(page.status);
    }
}

async fn scrape(site: &Site, shelf: &Shelf) -> Result<Document, ScrapeError> {
    let _quiet = QUIET.read().await;
    let asked = target(site.url("/"), ScrapeOptions::default());
    let asked = Target { deadline: Instant::now() + Duration::from_secs(2), ..asked };
    scrape::run(&tools(&[site]), Ports { copies: Some(shelf) }, &asked, |scraped, _| scraped.document).await
}

#[tokio::test]
async fn a_copy_answers_and_is_not_kept_again() {
    let site = Site::start().await;
    let copy = Fetched::new(site.url("/"), 200, None, "<p>copy".into());
    let shelf = Shelf { copy: Some(copy), keeps: true, ..Shelf::default() };
    let document = scrape(&site, &shelf).await.unwrap();
    assert_eq!((document.markdown.as_deref(), document.metadata.cache_state), (Some("copy"), Some(CacheState::Hit)));
    assert_eq!(document.metadata.cached_at.as_deref(), Some("1970-01-01T00:00:00.000Z"));
    assert_eq!((site.connections(), shelf.kept.lock().unwrap().len()), (0, 0));
}

#[tokio::test]
async fn a_page_is_kept_where_that_is_wanted() {
    let site = Site::start().await;
    site.html("/", "<p>new");
    for keeps in [true, false] {
        let shelf = Shelf { keeps, ..Shelf::default() };
        let document = scrape(&site, &shelf).await.unwrap();
        assert_eq!(document.metadata.cache_state, Some(CacheState::Miss));
        assert_eq!(shelf.kept.lock().unwrap().as_slice(), if keeps { &[200_u16][..] } else { &[] });
    }
}

#[tokio::test]
async fn nothing_is_fetched_where_only_a_copy_will_do() {
    let site = Site::start().await;
    let shelf = Shelf { must_have: true, ..Shelf::default() };
    assert!(matches!(scrape(&site, &shelf).await, Err(ScrapeError::NoCopy)));
    assert_eq!(site.connections(), 0);
}

#[tokio::test]
async fn slow_storage_costs_the_copy_only() {
    let site = Site::start().await;
    site.html("/", "<p>new");
    let shelf = Shelf { keeps: true, is_slow: true, ..Shelf::default() };
    assert_eq!(scrape(&site, &shelf).await.unwrap().markdown.as_deref(), Some("new"));
}
