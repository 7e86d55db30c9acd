//! Tests of the index in a real folder.

mod crash;
mod filters;
mod folder;
mod media;
mod order;
mod pages;

use page_index::{Asked, Domains, Hit, IndexedPage, PageIndex, Query, Settings};
use tempfile::TempDir;

/// Index in a folder of its own.
pub(crate) struct Fixture {
    pub(crate) folder: TempDir,
    pub(crate) index: PageIndex,
}

pub(crate) const TEAM: &str = "team-a";

impl Fixture {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let index = PageIndex::open(folder.path(), Settings::default()).unwrap();
        Fixture { folder, index }
    }

    pub(crate) fn with(pages: &[IndexedPage]) -> Self {
        let fixture = Fixture::new();
        fixture.put(pages);
        fixture
    }

    pub(crate) fn put(&self, pages: &[IndexedPage]) {
        let mut writer = self.index.writer().unwrap();
        for page in pages {
            writer.put(page).unwrap();
        }
        writer.commit("here").unwrap();
    }

    pub(crate) fn ask(&self, query: &str) -> Vec<Hit> {
        self.ask_with(query, |_| {})
    }

    pub(crate) fn ask_with(&self, query: &str, change: impl FnOnce(&mut Asked<'_>)) -> Vec<Hit> {
        let query = Query::parse(query);
        let mut asked = Asked::new(&[TEAM, "*"], &query);
        change(&mut asked);
        self.index.search(&asked, &|| false).unwrap()
    }

    pub(crate) fn ask_within(&self, query: &str, domains: &Domains) -> Vec<Hit> {
        let query = Query::parse(query);
        let asked = Asked { domains: Some(domains), ..Asked::new(&[TEAM, "*"], &query) };
        self.index.search(&asked, &|| false).unwrap()
    }

    /// Returns the paths of the hits of a query.
    pub(crate) fn paths(&self, query: &str) -> Vec<String> {
        paths(&self.ask(query))
    }
}

pub(crate) fn paths(hits: &[Hit]) -> Vec<String> {
    hits.iter().map(|hit| hit.url.splitn(4, '/').nth(3).unwrap_or_default().to_owned()).collect()
}

/// Returns a page whose copy and key are those of its address.
pub(crate) fn page(url: &str, title: &str, text: &str) -> IndexedPage {
    IndexedPage {
        copy: format!("1-{url}"),
        scope: TEAM.to_owned(),
        page_key: url.to_owned(),
        url: url.to_owned(),
        title: title.to_owned(),
        text: text.to_owned(),
        language: Some("en".to_owned()),
        fetched: 1_000,
        ..IndexedPage::default()
    }
}
