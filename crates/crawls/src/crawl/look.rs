//! Relation of a page to its crawl: the addresses it is known under and its links. Computed in the thread that parsed
//! the page.

use std::sync::Arc;

use ::runs::{Context, Look, Looked, Outcome, Page, digest, new_page};
use ::scrape::Scraped;
use base::{Stop, address};
use crawl_frontier::{Scope, UrlKey, Verdict, content_hash, template, words_hash};
use kernel::AppError;
use site::SiteRules;
use store::runs::{NewPage, PageState, Way};
use url::Url;
use wire::{Document, Visibility};

use super::frontier::{CrawlRun, Frontier};
use super::hidden::is_hidden;
use super::known::Known;
use super::links::{Links, Source, pack};

/// Page of a crawl as it was requested.
pub(super) struct CrawlLook {
    pub(super) context: Arc<Context>,
    /// Rules of its site's robots.txt, where they are obeyed.
    pub(super) site: Option<Arc<SiteRules>>,
    pub(super) url: Url,
    /// Number of hops from the start.
    pub(super) depth: u32,
    /// Page that links to it.
    pub(super) parent: Option<String>,
}

/// Facts about a crawled page that was read.
pub(super) struct CrawlPage {
    /// Key of the page.
    pub(super) key: Vec<u8>,
    /// Path to the page that its document states.
    pub(super) way: Way,
    /// Page at the address it was redirected to, if that has another key.
    pub(super) alias: Option<NewPage>,
    /// Key of the page that it names as canonical, if that is another page.
    pub(super) canonical: Option<Vec<u8>>,
    /// Hash of its text, to tell a copy from a page that only claims to be one.
    pub(super) content: Option<u64>,
    /// URL that the start was redirected to.
    pub(super) landed: Option<String>,
    /// Status of the start, if it is an error.
    pub(super) start_status: Option<u16>,
    /// Sorted links of the page.
    pub(super) links: Links,
    /// Packed links, to be followed again when a shorter path to the page is found.
    pub(super) way_on: Option<Vec<u8>>,
    /// Template of its address and hash of its content, to detect endless near-copies.
    pub(super) likeness: Option<(u64, u64)>,
}

/// Returns what the crawl knows of a page; `None` for a page that was not read.
pub(super) fn found<'r>(page: &Page<'r>) -> Option<&'r CrawlPage> {
    page.result.found()
}

impl CrawlPage {
    /// Returns the keys of all addresses that it names; without `with_found`, the keys of pages that could be added are
    /// left out.
    pub(super) fn keys(&self, with_found: bool) -> impl Iterator<Item = &[u8]> {
        let alias = self.alias.iter().map(|page| page.key.as_slice());
        alias.chain(self.links.keys(with_found))
    }
}

impl Look for CrawlLook {
    fn look(self: Box<Self>, page: &mut Scraped, stop: &Stop) -> Result<Looked, AppError> {
        let Self { context, site, url, depth, parent } = *self;
        let Some(run) = CrawlRun::of(&context) else { return Ok(Looked::Keep(None)) };
        let Some(frontier) = &run.frontier else { return Ok(Looked::Keep(None)) };
        let is_hidden = is_hidden(depth);
        page.document.metadata.depth = (!is_hidden).then_some(depth);
        if is_hidden && let Some(Some(tracking)) = &mut page.document.change_tracking {
            tracking.visibility = Visibility::Hidden;
        }
        page.document.metadata.parent.clone_from(&parent);
        let way = Way { depth: i32::try_from(depth).unwrap_or(i32::MAX), parent };
        let depth = if is_hidden { 0 } else { depth };
        let asked = Asked { url: &url, way, depth, site: site.as_deref() };
        match read(frontier, &run.known, asked, page, stop)? {
            Ok(found) => Ok(Looked::Keep(Some(Box::new(found)))),
            Err(outcome) => Ok(Looked::End(outcome)),
        }
    }
}

/// Page as it was requested.
struct Asked<'a> {
    url: &'a Url,
    way: Way,
    depth: u32,
    site: Option<&'a SiteRules>,
}

/// Sorts the links of a page and compares its addresses; returns the outcome of a page that has left the scope.
fn read(
    frontier: &Frontier,
    known: &Known,
    asked: Asked<'_>,
    page: &Scraped,
    stop: &Stop,
) -> Result<Result<CrawlPage, Outcome>, AppError> {
    let Asked { url, way, depth, site } = asked;
    let document = &page.document;
    let final_url = Url::parse(&document.metadata.url).unwrap_or_else(|_| url.clone());
    let final_url = with_route(final_url, url);
    // A redirect of the start moves the scope; any other page may be redirected out of the scope.
    let is_start = *url == frontier.start;
    let landed = (is_start && final_url != *url).then(|| final_url.to_string());
    let home = landed.is_some().then(|| frontier.scope.clone().landed_at(&final_url));
    let scope = home.as_ref().unwrap_or(&frontier.scope);
    if final_url != *url
        && !is_start
        && let Verdict::Skip(reason) = scope.admit_landing(&final_url, depth)
    {
        let (code, message) = (reason.code(), reason.message());
        return Ok(Err(Outcome::Left { state: PageState::External, code, message }));
    }
    let text = text_of(document);
    let (key, landing) = (scope.key(url), scope.key(&final_url));
    let alias = (landing != key).then(|| new_page(final_url.clone(), digest(landing.as_str()), depth));
    let canonical = canonical(scope, &final_url, document).filter(|named| *named != key && *named != landing);
    let source = Source { scope, known, site, url: &final_url, depth };
    let links = source.sorted(&page.links, frontier.max_links, stop);
    // The start has depth 0, so no shorter path to it is possible.
    let way_on = match frontier.scope.max_depth().is_some() && depth > 0 && !links.found.is_empty() {
        true => Some(pack(&links.found)?),
        false => None,
    };
    Ok(Ok(CrawlPage {
        key: digest(key.as_str()),
        way,
        alias,
        canonical: canonical.map(|named| digest(named.as_str())),
        content: text.map(|text| words_hash(&without_targets(text))),
        landed,
        start_status: Some(document.metadata.status_code).filter(|status| is_start && !has_loaded(*status)),
        links,
        way_on,
        likeness: text.map(|text| (template(&final_url), content_hash(text))),
    }))
}

/// Puts the fragment of a client-side route into the final URL, unless the page was redirected elsewhere.
fn with_route(mut final_url: Url, url: &Url) -> Url {
    if final_url.fragment().is_none() && url.fragment().is_some_and(address::is_route) {
        final_url.set_fragment(url.fragment());
        if final_url != *url {
            final_url.set_fragment(None);
        }
    }
    final_url
}

/// Whether a page with this status counts as loaded (docs/CONTRACT.md, "Answers").
fn has_loaded(status: u16) -> bool {
    matches!(status, 200..=299 | 304)
}

/// Returns the key of the page that the document names as canonical.
fn canonical(scope: &Scope, final_url: &Url, document: &Document) -> Option<UrlKey> {
    let canonical = document.metadata.page.get("canonical")?.as_str()?;
    Some(scope.canonical_key(final_url, &Url::parse(canonical).ok()?))
}

/// Removes link targets from Markdown: copies of a page link to their own addresses.
fn without_targets(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("](") {
        let (before, target) = rest.split_at(at + 2);
        kept.push_str(before);
        rest = &target[target.find([')', '\n']).unwrap_or(target.len())..];
    }
    kept.push_str(rest);
    kept
}

fn text_of(document: &Document) -> Option<&str> {
    document.markdown.as_deref().or(document.html.as_deref()).or(document.raw_html.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_of_links_say_nothing_of_the_text() {
        for (text, expect) in [
            ("a [b](https://a.test/x?y) c ![d](e) f", "a [b]() c ![d]() f"),
            ("[a](b\nc [d](e", "[a](\nc [d]("),
            ("plain", "plain"),
        ] {
            assert_eq!(without_targets(text), expect, "{text}");
        }
    }
}
