//! Relation of a page to its run: the addresses it is known under and its links. Computed in the thread that parsed the
//! page.

use std::sync::Arc;

use ::scrape::Scraped;
use base::{Stop, address};
use crawl_frontier::{Scope, UrlKey, Verdict, content_hash, template, words_hash};
use site::SiteRules;
use store::runs::PageState;
use url::Url;
use wire::Document;

use super::context::Context;
use super::document::Packed;
use super::links::{Source, pack};
use super::page::{Outcome, PageResult};
use super::submit::{digest, new_page};
use crate::AppError;

/// Page as it was requested.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) url: &'a Url,
    /// Number of hops from the start.
    pub(super) depth: u32,
    /// Rules of its site's robots.txt, where they are obeyed.
    pub(super) site: Option<&'a SiteRules>,
}

/// Packs the document and sorts the links. CPU-bound: run it off the async threads; `stop` cancels it.
pub(super) fn read(
    context: Arc<Context>,
    asked: Asked<'_>,
    page: Scraped,
    stop: &Stop,
) -> Result<PageResult, AppError> {
    let Asked { url, depth, site } = asked;
    let Scraped { document, links, room, .. } = page;
    let packed = Outcome::Document(Box::new(Packed::of(&document, room)?));
    let Some((run, frontier)) = context.crawl().and_then(|run| Some((run, run.frontier.as_ref()?))) else {
        return Ok(PageResult::without(context, packed));
    };
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
        let outcome = Outcome::Left { state: PageState::External, code: reason.code(), message: reason.message() };
        return Ok(PageResult::without(context, outcome));
    }
    let text = text_of(&document);
    let likeness = text.map(|text| (template(&final_url), content_hash(text)));
    let content = text.map(|text| words_hash(&without_targets(text)));
    let (key, landing) = (scope.key(url), scope.key(&final_url));
    let alias = (landing != key).then(|| new_page(final_url.clone(), digest(landing.as_str()), depth));
    let canonical = canonical(scope, &final_url, &document).filter(|named| *named != key && *named != landing);
    let source = Source { scope, known: &run.known, site, url: &final_url, depth };
    let links = source.sorted(&links, frontier.max_links, stop);
    // The start has depth 0, so no shorter path to it is possible.
    let way_on = match frontier.scope.max_depth().is_some() && depth > 0 && !links.found.is_empty() {
        true => Some(pack(&links.found)?),
        false => None,
    };
    let start_status = Some(document.metadata.status_code).filter(|status| is_start && !has_loaded(*status));
    Ok(PageResult {
        key: Some(digest(key.as_str())),
        alias,
        canonical: canonical.map(|named| digest(named.as_str())),
        content,
        landed,
        start_status,
        links,
        way_on,
        likeness,
        ..PageResult::without(context, packed)
    })
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
