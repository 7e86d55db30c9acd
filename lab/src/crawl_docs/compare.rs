//! Comparison of the pages of a crawl with those of the walk, with reasons for differences.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use crawl_frontier::{KeyRules, url_key, url_trap};
use url::Url;

use super::crawl::{Crawled, Document};
use super::folder::{ContentKind, Folder, type_of};
use super::walk::{ReachedFile, Spot, Walk, address, spot};

/// Reason why a page of one side is missing on the other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Why {
    /// Missing: the file has no text, by its media type.
    NoWords(&'static str),
    /// Missing: the canonical URL of the page is another page that was found.
    Canonical,
    /// Missing: a found page differs only in parts that `deduplicateSimilarURLs` ignores.
    SameSpelling,
    /// Missing: all pages that link to it are missing too.
    Unlinked,
    /// Missing: the service reported it as failed with this code.
    GivenUp(String),
    /// Missing: the service detected it as part of an endless trap.
    Trap,
    /// Missing for an unknown reason.
    Missed,
    /// Extra: a broken link, with the status of its answer.
    DeadLink(u64),
    /// Extra: linked only from a text file, or from a page found through one. The walk reads only HTML.
    FromText,
    /// Extra for an unknown reason.
    Surplus,
    /// Found twice.
    Twice,
}

/// All differences between a crawl and a walk.
#[derive(Debug, Default)]
pub(crate) struct Differences {
    /// Number of files of the folder that were found.
    pub(crate) found: usize,
    pub(crate) missing: Group,
    pub(crate) extra: Group,
    pub(crate) twice: Group,
}

/// Pages grouped by the reason for their difference.
pub(crate) type Group = BTreeMap<Why, Vec<String>>;

/// Compares a crawl of the site of `start` with the walk over its folder.
pub(crate) fn compare(folder: &Folder, walk: &Walk, start: &Url, crawled: &Crawled) -> Differences {
    let mut there = HashMap::new();
    let mut twice = Group::new();
    let mut strays = Vec::new();
    for document in &crawled.documents {
        let known = spot(folder, &document.url).filter(|_| document.url.origin() == start.origin());
        match known.filter(|_| document.status < 400) {
            None => strays.push((document, None)),
            Some(spot) => {
                if !walk.reached.contains_key(&spot) {
                    strays.push((document, Some(spot.clone())));
                }
                if let Some(other) = there.insert(spot, document) {
                    twice.entry(Why::Twice).or_default().push(format!("{} and {}", other.url, document.url));
                }
            }
        }
    }
    let missing = MissingPages::new(walk, crawled, &there).all();
    let extra = extra(folder, walk, &strays, crawled);
    let found = walk.reached.keys().filter(|spot| there.contains_key(*spot)).count();
    Differences { found, missing, extra, twice }
}

/// Search for the reasons of missing pages.
struct MissingPages<'a> {
    walk: &'a Walk,
    there: &'a HashMap<Spot, &'a Document>,
    keys: BTreeSet<String>,
    given_up: HashMap<String, &'a str>,
}

impl<'a> MissingPages<'a> {
    fn new(walk: &'a Walk, crawled: &'a Crawled, there: &'a HashMap<Spot, &'a Document>) -> Self {
        let given_up = |(url, code): (&String, &'a String)| Some((key(&Url::parse(url).ok()?), code.as_str()));
        Self {
            walk,
            there,
            keys: there.values().map(|document| key(&document.url)).collect(),
            given_up: crawled.failures.iter().filter_map(given_up).collect(),
        }
    }

    fn all(&self) -> Group {
        let mut group = Group::new();
        for (spot, page) in self.walk.reached.iter().filter(|(spot, _)| !self.there.contains_key(*spot)) {
            let from = page.from.first().map(|from| format!(", linked from {from}")).unwrap_or_default();
            let more = self.known_by(spot, page).map(|other| format!(", known as {other}")).unwrap_or(from);
            group.entry(self.why(spot, page)).or_default().push(format!("{spot}{more}"));
        }
        group
    }

    fn why(&self, spot: &Spot, page: &ReachedFile) -> Why {
        let (media, kind) = type_of(&spot.file);
        let key = key(&page.url);
        if kind == ContentKind::Other {
            Why::NoWords(media)
        } else if self.given_up.get(&key) == Some(&"DUPLICATE_PAGE") {
            Why::Canonical
        } else if let Some(code) = self.given_up.get(&key) {
            Why::GivenUp((*code).to_owned())
        } else if self.canonical(page).is_some() {
            Why::Canonical
        } else if self.keys.contains(&key) {
            Why::SameSpelling
        } else if !page.from.iter().any(|from| self.was_read(from)) {
            Why::Unlinked
        } else if url_trap(&page.url).is_some() {
            Why::Trap
        } else {
            Why::Missed
        }
    }

    fn known_by(&self, spot: &Spot, page: &ReachedFile) -> Option<String> {
        match self.why(spot, page) {
            Why::Canonical => page.canonical.as_ref().map(ToString::to_string),
            Why::SameSpelling => Some(key(&page.url)),
            _ => None,
        }
    }

    fn canonical(&self, page: &'a ReachedFile) -> Option<&'a Spot> {
        page.canonical.as_ref().filter(|other| self.there.contains_key(*other))
    }

    /// Whether the service has read the links of a page, also under another of its addresses.
    fn was_read(&self, spot: &Spot) -> bool {
        self.there.contains_key(spot) || self.walk.reached.get(spot).is_some_and(|page| self.canonical(page).is_some())
    }
}

/// Finds the reasons of pages that only the crawl has.
fn extra(folder: &Folder, walk: &Walk, strays: &[(&Document, Option<Spot>)], crawled: &Crawled) -> Group {
    let strange: BTreeSet<&Url> = strays.iter().map(|(document, _)| &document.url).collect();
    let is_text = |url: &Url| spot(folder, url).is_some_and(|spot| type_of(&spot.file).1 == ContentKind::Text);
    let mut named = BTreeMap::new();
    for document in crawled.documents.iter().filter(|one| strange.contains(&one.url) || is_text(&one.url)) {
        for link in document.links.iter().filter_map(|link| Url::parse(link).ok()) {
            named.entry(key(&link)).or_insert(&document.url);
        }
    }
    let mut group = Group::new();
    for (document, spot) in strays {
        let dead = walk.dead.get(&address(&document.url)).filter(|_| spot.is_none());
        let (why, from) = match (dead, named.get(&key(&document.url))) {
            (Some(from), _) => (Why::DeadLink(document.status), format!(", linked from {from}")),
            (None, Some(from)) => (Why::FromText, format!(" ({}), named by {}", document.status, address(from))),
            (None, None) => (Why::Surplus, format!(" ({})", document.status)),
        };
        group.entry(why).or_default().push(format!("{}{from}", address(&document.url)));
    }
    group
}

/// Returns the service's deduplication key of a page with default options.
fn key(url: &Url) -> String {
    url_key(url, KeyRules::default()).into_string()
}

impl Why {
    /// Whether the difference is expected.
    pub(crate) fn is_explained(&self) -> bool {
        match self {
            Self::NoWords(_)
            | Self::Canonical
            | Self::SameSpelling
            | Self::Unlinked
            | Self::DeadLink(_)
            | Self::FromText => true,
            Self::GivenUp(_) | Self::Trap | Self::Missed | Self::Surplus | Self::Twice => false,
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoWords(media) => write!(f, "a file without words ({media})"),
            Self::Canonical => f.write_str("the same page as another by its canonical link"),
            Self::SameSpelling => f.write_str("the same page as another by deduplicateSimilarURLs"),
            Self::Unlinked => f.write_str("linked only from pages that are missing themselves"),
            Self::GivenUp(code) => write!(f, "NOT EXPLAINED: the service gave it up with {code}"),
            Self::Trap => f.write_str("NOT EXPLAINED: the service takes it for a trap"),
            Self::Missed => f.write_str("NOT EXPLAINED: links lead to it"),
            Self::DeadLink(status) => write!(f, "a link to no file, answered {status}"),
            Self::FromText => f.write_str("named only in a file of text, which the walk does not read"),
            Self::Surplus => f.write_str("NOT EXPLAINED: no link leads to it"),
            Self::Twice => f.write_str("NOT EXPLAINED: one page twice"),
        }
    }
}
