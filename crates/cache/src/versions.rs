//! Versions of pages for change tracking: the latest one of each series is kept, with a body that it may share with copies
//! in the cache.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base::{Owner, Timestamp, new_id};
use blobs::content::Hashed;
use bytes::Bytes;
use fetch::{Fetched, Validators};
use store::cache::{self as rows, BodyPlace};
use store::versions::{self, Claim, StoredBody, Version};
use store::{Conn, StoreError};
use tokio::runtime::Handle;
use url::Url;
use wire::ProxyUsed;

use crate::facts::{Facts, kept_body, page_of};
use crate::{Cache, CacheError, MAX_IN_ROW, MAX_TO_TRY, Parts, key};

pub use store::versions::{CrawlOf, Extraction};

/// Number of times that a body is stored again after a deletion that was in progress, and the pause before each.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(100);

/// Series of a page, for the scrape that holds it.
#[derive(Debug, Clone, Copy)]
pub struct SeriesOf<'a> {
    /// URL as asked for, without user name and password.
    pub url: &'a Url,
    /// Name of the series, if it has one.
    pub tag: Option<&'a str>,
    /// Team and run of the scrape.
    pub owner: &'a Owner,
    /// Id of the scrape.
    pub scrape: &'a str,
    /// Time at which the hold expires if the scrape is not recorded.
    pub until: Timestamp,
}

/// Series that a scrape holds. Other scrapes of it wait until its version is written, or until this is dropped.
pub struct Series {
    hold: Hold,
    owner: Owner,
    /// Latest version; `None` for a page that was never scraped.
    pub version: Option<Version>,
}

/// Hold on a series; dropping it unwritten gives the series free.
struct Hold {
    cache: Cache,
    id: String,
    holder: String,
    is_over: AtomicBool,
}

/// New state of a page.
pub enum NewState<'a> {
    /// The page, and the text that a reader has made of it.
    Page {
        /// Page as it was fetched.
        page: &'a Fetched,
        /// Text of a document.
        text: Option<Bytes>,
    },
    /// As in the latest version.
    Unchanged,
    /// The page was removed.
    Removed {
        /// Its answer.
        page: &'a Fetched,
    },
}

/// Facts about a new version besides the page.
#[derive(Debug, Clone)]
pub struct VersionNote {
    /// Time of the scrape.
    pub scraped_at: Timestamp,
    /// Extracted values.
    pub extraction: Option<Extraction>,
    /// Crawl that has scraped the page.
    pub crawl: Option<CrawlOf>,
}

/// New version of a page, to be written with its scrape.
pub struct NewVersion {
    hold: Hold,
    version: Version,
    /// Bodies that are written into the database with it.
    pub(crate) packed: Vec<PackedBody>,
}

/// Compressed body for the database.
pub(crate) struct PackedBody {
    pub(crate) digest: String,
    pub(crate) bytes: Vec<u8>,
}

impl Series {
    /// Whether the latest version has the same bytes as this page.
    pub async fn has_bytes_of(&self, page: &Fetched) -> bool {
        let body = self.version.as_ref().and_then(|version| version.body.as_ref());
        match body.filter(|body| usize::try_from(body.bytes).is_ok_and(|bytes| bytes == kept_body(page).len())) {
            Some(body) => Hashed::of(kept_body(page).clone()).await.digest().to_string() == body.place.digest,
            None => false,
        }
    }

    /// Whether the latest version was sent under the same conditions as this page, so that the same bytes mean the same.
    #[must_use]
    pub fn has_terms_of(&self, page: &Fetched) -> bool {
        self.version.as_ref().is_some_and(|version| {
            version.final_url == page.url.as_str()
                && version.content_type == page.content_type
                && version.charset == page.charset
                && version.rendered == page.dom().is_some()
        })
    }

    /// Returns the page of the latest version, in the form of a fetched page; `None` if it was removed, or if its body is
    /// damaged.
    ///
    /// # Errors
    /// [`CacheError`] when the database or the blob store fails.
    #[crate::boxed]
    pub async fn page(&self) -> Result<Option<Fetched>, CacheError> {
        let Some(version) = &self.version else { return Ok(None) };
        let (Some(body), Ok(url)) = (&version.body, Url::parse(&version.final_url)) else { return Ok(None) };
        let Some((body, room)) = self.hold.cache.body(&body.place, body.bytes, &self.owner).await? else {
            return Ok(None);
        };
        let facts = Facts {
            url,
            status: u16::try_from(version.status_code).unwrap_or(0),
            content_type: version.content_type.clone(),
            charset: version.charset.clone(),
            rendered: version.rendered,
            proxy: ProxyUsed::Basic,
            validators: Validators::default(),
        };
        Ok(Some(page_of(facts, body, room)))
    }

    /// Returns the text of a document in the latest version, if a reader has read it.
    ///
    /// # Errors
    /// [`CacheError`] when the database or the blob store fails.
    #[crate::boxed]
    pub async fn text(&self) -> Result<Option<Bytes>, CacheError> {
        let text = self.version.as_ref().and_then(|version| version.text.as_ref());
        let Some(text) = text else { return Ok(None) };
        Ok(self.hold.cache.body(&text.place, text.bytes, &self.owner).await?.map(|(text, _)| text))
    }

    /// Prepares the next version: large bodies are stored, the rest is written with the scrape. `None` when the series
    /// was lost to another scrape, or when the disks have no room.
    ///
    /// # Errors
    /// [`CacheError`] when the database or the blob store fails.
    #[crate::boxed]
    pub async fn next(self, state: &NewState<'_>, note: VersionNote) -> Result<Option<NewVersion>, CacheError> {
        let VersionNote { scraped_at, extraction, crawl } = note;
        let mut packed = Vec::new();
        let page = match state {
            NewState::Page { page, .. } | NewState::Removed { page } => page,
            NewState::Unchanged => {
                let Some(version) = &self.version else { return Ok(None) };
                let version = Version { scraped_at, extraction, crawl, ..version.clone() };
                return Ok(Some(NewVersion { hold: self.hold, version, packed }));
            }
        };
        let mut version = Version {
            scraped_at,
            status_code: i32::from(page.status),
            final_url: page.url.to_string(),
            content_type: page.content_type.clone(),
            charset: page.charset.clone(),
            rendered: page.dom().is_some(),
            body: None,
            text: None,
            extraction,
            crawl,
        };
        if let NewState::Page { page, text } = state {
            let Some(body) = self.place(kept_body(page).clone(), &mut packed).await? else { return Ok(None) };
            version.body = Some(body);
            if let Some(text) = text {
                version.text = self.place(text.clone(), &mut packed).await?;
            }
        }
        Ok(Some(NewVersion { hold: self.hold, version, packed }))
    }

    /// Decides where a body is stored. A small one is packed, a large one is stored at once.
    async fn place(&self, body: Bytes, packed: &mut Vec<PackedBody>) -> Result<Option<StoredBody>, CacheError> {
        let Parts { blobs, has_room, .. } = &self.hold.cache.0.parts;
        let bytes = i64::try_from(body.len()).unwrap_or(i64::MAX);
        let hashed = Hashed::of(body).await;
        let digest = hashed.digest().to_string();
        let stored = |in_row| Some(StoredBody { place: BodyPlace { digest: digest.clone(), in_row }, bytes });
        let before = self.version.iter().flat_map(|version| version.body.iter().chain(&version.text));
        if let Some(same) = before.into_iter().find(|body| body.place.digest == digest) {
            return Ok(Some(same.clone()));
        }
        if !has_room() {
            return Ok(None);
        }
        if usize::try_from(bytes).is_ok_and(|bytes| bytes <= MAX_TO_TRY) {
            let bytes = hashed.pack().await?;
            if bytes.len() <= MAX_IN_ROW {
                packed.push(PackedBody { digest: digest.clone(), bytes });
                return Ok(stored(true));
            }
        }
        if !self.expect(&digest).await? {
            return Ok(None);
        }
        hashed.put(blobs).await?;
        Ok(stored(false))
    }

    /// Makes the series a user of a body in the blob store, which is about to be written. Waits for a deletion of it that
    /// is in progress.
    async fn expect(&self, digest: &str) -> Result<bool, CacheError> {
        let Hold { cache, id, holder, .. } = &self.hold;
        for _ in 0..TRIES {
            let mut conn = cache.conn().await?;
            if !versions::expect_body(&mut conn, id, holder, digest).await? {
                return Ok(false);
            }
            if rows::rely_on(&mut conn, digest).await? {
                return Ok(true);
            }
            versions::withdraw_body(&mut conn, id, digest).await?;
            drop(conn);
            tokio::time::sleep(PAUSE).await;
        }
        Ok(false)
    }
}

impl NewVersion {
    /// Writes the row; returns the bodies that the series does not use any more, or `None` if nothing was written because
    /// the series was lost to another scrape.
    pub(crate) async fn write(&self, conn: &mut Conn) -> Result<Option<Vec<BodyPlace>>, StoreError> {
        // If the transaction is rolled back, the hold expires, or the retry of the page takes it again.
        self.hold.is_over.store(true, Ordering::Relaxed);
        versions::write(conn, &self.hold.id, &self.hold.holder, &self.version).await
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if self.is_over.load(Ordering::Relaxed) {
            return;
        }
        // Without a runtime, as at process exit, the hold expires.
        let Ok(runtime) = Handle::try_current() else { return };
        let (cache, id, holder) = (self.cache.clone(), std::mem::take(&mut self.id), std::mem::take(&mut self.holder));
        runtime.spawn(async move {
            let release =
                async { Ok::<_, CacheError>(versions::release(&mut cache.conn().await?, &id, &holder).await?) };
            if let Err(error) = release.await
                && !error.is_outage()
            {
                tracing::warn!(?error, "could not release the series of a page; its hold will expire");
            }
        });
    }
}

impl Cache {
    /// Takes the series of a page for a scrape; `None` while another scrape holds it.
    ///
    /// # Errors
    /// [`CacheError`] when the database fails.
    #[crate::boxed]
    pub async fn series(&self, of: &SeriesOf<'_>) -> Result<Option<Series>, CacheError> {
        let SeriesOf { url, tag, owner, scrape, until } = *of;
        let (key, id) = (key::key(url), new_id().to_string());
        let series = versions::Series { team: &owner.team, key: &key, tag: tag.unwrap_or_default() };
        let now = self.0.parts.clock.now();
        let claim = Claim { series, url: url.as_str(), id: &id, holder: scrape, now, until };
        let claimed = versions::claim(&mut self.conn().await?, &claim).await?;
        Ok(claimed.map(|claimed| {
            let hold = Hold {
                cache: self.clone(),
                id: claimed.id,
                holder: scrape.to_owned(),
                is_over: AtomicBool::new(false),
            };
            Series { hold, owner: owner.clone(), version: claimed.version }
        }))
    }
}
