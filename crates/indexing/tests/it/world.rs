//! A page cache with its database, and servers that index it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base::{Owner, new_id};
use blobs::Blobs;
use blobs::content::Hashed;
use bytes::Bytes;
use cache::{Cache, CacheSettings, Page, PageCopy, Parts};
use chrono::TimeDelta;
use cpu::Cpu;
use fetch::Fetched;
use indexing::{Hit, Indexing, IndexingSettings, Query, Question};
use store::Store;
use store::cache::CacheEntry;
use tempfile::TempDir;
use testkit::ManualClock;
use tokio::time::Instant;
use url::Url;
use wire::ScrapeOptions;

pub(crate) const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Cache with its database.
pub(crate) struct World {
    pub(crate) store: Store,
    pub(crate) clock: ManualClock,
    pub(crate) folder: TempDir,
    settings: CacheSettings,
}

impl World {
    pub(crate) async fn start() -> Self {
        Self::with(CacheSettings::default()).await
    }

    pub(crate) async fn with(settings: CacheSettings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/quarry.db", folder.path().display());
        let store = Store::open(&url, store::Options::default()).await.unwrap();
        store.migrate().await.unwrap();
        Self { store, clock: ManualClock::default(), folder, settings }
    }

    fn cache(&self) -> Cache {
        Cache::new(Parts {
            store: self.store.clone(),
            blobs: Blobs::open(&format!("file://{}/blobs", self.folder.path().display())).unwrap(),
            client: net::Client::new(net::Config::default()).unwrap(),
            clock: Arc::new(self.clock.clone()),
            settings: self.settings,
            has_room: Box::new(|| true),
        })
    }

    /// Returns a server whose index is in this folder.
    pub(crate) fn server(&self, folder: &str) -> Server {
        self.server_with(folder, IndexingSettings::default())
    }

    pub(crate) fn server_with(&self, folder: &str, settings: IndexingSettings) -> Server {
        let cache = self.cache();
        let indexing = Indexing::new(indexing::Parts {
            cache: cache.clone(),
            cpu: Cpu::new(2),
            clock: Arc::new(self.clock.clone()),
            documents: None,
            folder: self.folder.path().join(folder),
            settings,
        });
        Server { cache, indexing }
    }

    /// Returns the folder with the files of an index.
    pub(crate) fn files(&self, folder: &str) -> std::path::PathBuf {
        self.folder.path().join(folder).join("pages")
    }

    /// Adds a row with its body and a chosen id, as a transaction does that ends late.
    pub(crate) async fn add_with_id(&self, id: &str, team: &str, path: &str, html: &str) {
        let url = address(path);
        let body = Hashed::of(Bytes::from(html.to_owned())).await;
        let now = base::Clock::now(&self.clock);
        let entry = CacheEntry {
            id: id.to_owned(),
            scope: team.to_owned(),
            key: cache::page_key(&url),
            variant: "v".to_owned(),
            final_url: url.into(),
            status_code: 200,
            content_type: Some("text/html".to_owned()),
            charset: None,
            body_digest: body.digest().to_string(),
            body_bytes: i64::try_from(html.len()).unwrap(),
            proxy: "basic".to_owned(),
            fetched_at: now,
            expires_at: now + TimeDelta::days(1),
            in_row: true,
            rendered: false,
            etag: None,
            last_modified: None,
        };
        let packed = body.pack().await.unwrap();
        store::cache::insert_with_body(&mut self.store.conn().await.unwrap(), &entry, &packed).await.unwrap();
    }
}

/// Server: a page cache, and the index of it.
pub(crate) struct Server {
    pub(crate) cache: Cache,
    pub(crate) indexing: Indexing,
}

impl Server {
    /// Caches a page, as the end of its scrape does, and returns the id of its copy.
    pub(crate) async fn keep(&self, team: &str, page: Fetched) -> String {
        let (options, owner) = (ScrapeOptions::default(), Owner::new(team, "a scrape"));
        let slot = self.cache.slot(&Page { url: &page.url, options: &options, owner: &owner, takes_markdown: false });
        let copy = self.cache.keep(&slot, &page, true).await.unwrap();
        let id = copy.id().unwrap().to_owned();
        self.cache.write_copies(vec![copy]).await.unwrap();
        id
    }

    /// Caches many pages in few transactions.
    pub(crate) async fn keep_all(&self, team: &str, pages: Vec<Fetched>) {
        for pages in pages.chunks(100) {
            let mut copies: Vec<PageCopy> = Vec::new();
            for page in pages {
                let (options, owner) = (ScrapeOptions::default(), Owner::new(team, "a crawl"));
                let slot =
                    self.cache.slot(&Page { url: &page.url, options: &options, owner: &owner, takes_markdown: false });
                copies.extend(self.cache.keep(&slot, page, true).await);
            }
            assert_eq!(copies.len(), pages.len());
            self.cache.write_copies(copies).await.unwrap();
        }
    }

    pub(crate) async fn find(&self, team: &str, query: &str) -> Vec<Hit> {
        let question = Question { limit: 50, per_site: None, ..Question::new(Query::parse(query)) };
        self.indexing.find(team, question, Instant::now() + Duration::from_secs(30)).await.unwrap()
    }

    /// Returns the paths of the pages that a team finds, sorted.
    pub(crate) async fn paths(&self, team: &str, query: &str) -> Vec<String> {
        let hits = self.find(team, query).await;
        let mut paths: Vec<String> = hits.iter().map(|hit| Url::parse(&hit.url).unwrap().path().to_owned()).collect();
        paths.sort();
        paths
    }

    pub(crate) async fn pages(&self) -> u64 {
        self.indexing.stats().await.unwrap().unwrap().pages
    }
}

pub(crate) fn address(path: &str) -> Url {
    Url::parse("https://a.test").unwrap().join(path).unwrap()
}

/// Returns a page of its own words.
pub(crate) fn page(path: &str, words: &str) -> Fetched {
    Fetched::new(address(path), 200, Some("text/html".to_owned()), html(path, words).into())
}

pub(crate) fn html(path: &str, words: &str) -> String {
    // Words of its own, so that it is no duplicate of another page.
    let own: String = (0..30).map(|_| format!("<p>{} {}", new_id(), new_id())).collect();
    format!(
        "<html lang=en><title>Page {path}</title><main><h1>On {words}</h1><p>This page is about {words}, and about nothing \
         else but {words}.{own}</main>"
    )
}

/// Damages every file of a folder.
pub(crate) fn damage(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        std::fs::write(entry.unwrap().path(), b"{damaged").unwrap();
    }
}
