//! Collection of the addresses of a map: unique, in scope, limited in number, ranked.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, RandomState};
use std::ops::ControlFlow;
use std::sync::LazyLock;

use base::{Stop, address};
use crawl_frontier::{Candidate, Scope, Verdict, page_of_markdown, rank};
use kernel::credentials;
use site::SitemapPage;
use store::runs::KnownUrl;
use url::Url;
use wire::{MAX_MAP_LIMIT, MapLink, MapRequest};

/// Randomly keyed, so that no site can craft colliding addresses that hide each other.
static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// Addresses in order of discovery.
#[derive(Default)]
pub(super) struct Links {
    found: Vec<(u64, MapLink)>,
    /// Index of each address by the hash of its key: keys of a hundred thousand addresses would take more memory than
    /// the addresses.
    places: HashMap<u64, usize>,
    /// Maximum number of results.
    limit: usize,
    /// Maximum number of addresses collected.
    room: usize,
    ignore_query: bool,
}

impl Links {
    pub(super) fn new(request: &MapRequest) -> Self {
        let limit = count(request.limit);
        // A search has to rank all addresses, not only the first ones.
        let room = if request.search.is_some() { count(MAX_MAP_LIMIT) } else { limit };
        Self { limit, room, ignore_query: request.ignore_query_parameters, ..Self::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Whether there is an address on the site of `url`.
    pub(super) fn is_of(&self, url: &Url) -> bool {
        let site = format!("{}/", url.origin().ascii_serialization());
        self.found.iter().any(|(_, link)| link.url.starts_with(&site))
    }

    /// Adds an address if it is in scope and new; returns `Break` when there are enough.
    pub(super) fn add(
        &mut self,
        scope: &Scope,
        url: Url,
        title: Option<String>,
        description: Option<String>,
    ) -> ControlFlow<()> {
        let url = shown(url, self.ignore_query);
        if let Verdict::Follow { key, .. } = scope.admit_listed(&url) {
            self.put(HASHER.hash_one(key.as_str()), MapLink { url: url.into(), title, description });
        }
        if self.found.len() < self.room { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    /// Adds the start, which is in scope by definition.
    pub(super) fn add_start(&mut self, scope: &Scope, url: Url, title: Option<String>, description: Option<String>) {
        let url = shown(url, self.ignore_query);
        let key = scope.key(&url);
        self.put(HASHER.hash_one(key.as_str()), MapLink { url: url.into(), title, description });
    }

    /// Appends the addresses of `others` that are new.
    pub(super) fn and(mut self, others: Self) -> Self {
        others.found.into_iter().for_each(|(hash, link)| self.put(hash, link));
        self
    }

    /// Adds the pages of `llms.txt`. The Markdown version of a known page is not added.
    pub(super) fn and_named(mut self, scope: &Scope, named: Vec<SitemapPage>, stop: &Stop) -> Self {
        for SitemapPage { url, about } in named.into_iter().take_while(|_| !stop.is_set()) {
            let page = page_of_markdown(&url).filter(|page| {
                let key = scope.key(&shown(page.clone(), self.ignore_query));
                self.places.contains_key(&HASHER.hash_one(key.as_str()))
            });
            if self.add(scope, page.unwrap_or(url), about.title, about.description).is_break() {
                break;
            }
        }
        self
    }

    /// Returns the results: the first addresses, or with a search the best ones.
    pub(super) fn ranked(self, search: Option<&str>, stop: &Stop) -> Vec<MapLink> {
        let mut links: Vec<MapLink> = self.found.into_iter().map(|(_, link)| link).collect();
        if let Some(search) = search {
            links = sorted(search, links, stop);
        }
        links.truncate(self.limit);
        links
    }

    fn put(&mut self, hash: u64, link: MapLink) {
        match self.places.entry(hash) {
            Entry::Occupied(place) => {
                if let Some((_, known)) = self.found.get_mut(*place.get()) {
                    known.title = known.title.take().or(link.title);
                    known.description = known.description.take().or(link.description);
                }
            }
            Entry::Vacant(place) if self.found.len() < self.room => {
                place.insert(self.found.len());
                self.found.push((hash, link));
            }
            Entry::Vacant(_) => {}
        }
    }
}

/// Collects the addresses known from earlier crawls.
pub(super) fn known(request: &MapRequest, scope: &Scope, pages: Vec<KnownUrl>, stop: &Stop) -> Links {
    let mut links = Links::new(request);
    for page in pages.into_iter().take_while(|_| !stop.is_set()) {
        let Ok(url) = Url::parse(&page.url) else { continue };
        let _is_full = links.add(scope, url, page.title, page.description);
    }
    links
}

/// Returns the address as shown: without user name and password, without a fragment unless it is a route, and without
/// the query when queries are ignored.
fn shown(url: Url, ignore_query: bool) -> Url {
    let mut url = credentials::cut(url);
    // Client-side routes are in the fragment.
    if !url.fragment().is_some_and(address::is_route) {
        url.set_fragment(None);
    }
    if ignore_query {
        url.set_query(None);
    }
    url
}

fn sorted(search: &str, links: Vec<MapLink>, stop: &Stop) -> Vec<MapLink> {
    let candidates: Vec<Candidate<'_>> = links
        .iter()
        .map(|link| Candidate {
            url: &link.url,
            title: link.title.as_deref(),
            description: link.description.as_deref(),
        })
        .collect();
    let order = rank(search, &candidates, stop);
    let mut links: Vec<Option<MapLink>> = links.into_iter().map(Some).collect();
    order.into_iter().filter_map(|place| links.get_mut(place)?.take()).collect()
}

fn count(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use crawl_frontier::ScopeOptions;

    use super::*;

    fn url(text: &str) -> Url {
        Url::parse("https://a.test/").unwrap().join(text).unwrap()
    }

    fn links(limit: u32, search: Option<&str>, urls: &[&str]) -> Links {
        let options = ScopeOptions { crawl_entire_domain: true, ..ScopeOptions::default() };
        let scope = Scope::new(&url("/"), &options).unwrap();
        let request = MapRequest { limit, search: search.map(str::to_owned), ..MapRequest::new(url("/")) };
        let mut links = Links::new(&request);
        for text in urls {
            let _enough = links.add(&scope, url(text), None, None);
        }
        links
    }

    fn check(found: Links, search: Option<&str>, expect: &[&str]) {
        let found = found.ranked(search, &Stop::new());
        assert_eq!(found.iter().map(|link| link.url.as_str()).collect::<Vec<_>>(), expect);
    }

    #[test]
    fn each_once_and_in_scope() {
        let urls =
            ["/a?x=1#top", "/a", "http://www.a.test/a/", "/b#/route", "https://b.test/", "/c.zip", "mailto:x@a.test"];
        check(links(9, None, &urls), None, &["https://a.test/a", "https://a.test/b#/route"]);
        check(links(1, None, &urls), None, &["https://a.test/a"]);
        check(links(9, None, &["/#/", "/#!/", "/#/a"]), None, &["https://a.test/", "https://a.test/#/a"]);
        check(links(9, None, &["https://me:pw@a.test/x"]), None, &["https://a.test/x"]);
    }

    #[test]
    fn a_search_looks_at_all_before_the_limit() {
        let urls = ["/one", "/two", "/three", "/pricing"];
        check(links(1, Some("pricing"), &urls), Some("pricing"), &["https://a.test/pricing"]);
    }

    #[test]
    fn sources_complete_each_other() {
        let mut others = links(9, None, &["/b", "/c"]);
        others.found[0].1.title = Some("B".to_owned());
        let all = links(9, None, &["/a", "/b"]).and(others);
        assert_eq!(all.found[1].1.title.as_deref(), Some("B"));
        check(all, None, &["https://a.test/a", "https://a.test/b", "https://a.test/c"]);
        check(
            links(2, None, &["/a"]).and(links(9, None, &["/b", "/c"])),
            None,
            &["https://a.test/a", "https://a.test/b"],
        );
    }
}
