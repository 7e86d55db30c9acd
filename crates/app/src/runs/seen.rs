//! What a page is to its run: under which addresses it is known, and where it leads. Made in the thread that parsed it.

use std::sync::Arc;

use ::scrape::Scraped;
use base::{Stop, address};
use crawl_frontier::{Scope, UrlKey, Verdict, content_hash, template, words_hash};
use site::SiteRules;
use url::Url;
use wire::Document;

use super::context::Context;
use super::document::Packed;
use super::links::{pack, sorted};
use super::page::{Outcome, PageResult};
use super::submit::{digest, new_page};
use crate::AppError;

/// The page as it was asked for.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) url: &'a Url,
    /// Hops from the start.
    pub(super) depth: u32,
    /// The robots.txt of its site, where it is obeyed.
    pub(super) site: Option<&'a SiteRules>,
}

/// Packs the document and sorts the links. CPU work: run it off the async threads; `stop` cancels it.
pub(super) fn read(
    context: Arc<Context>,
    asked: Asked<'_>,
    page: Scraped,
    stop: &Stop,
) -> Result<PageResult, AppError> {
    let Asked { url, depth, site } = asked;
    let Scraped { document, links, room, .. } = page;
    let packed = Outcome::Document(Box::new(Packed::of(&document, room)?));
    let Some(frontier) = &context.frontier else { return Ok(PageResult::without(context, packed)) };
    let final_url = Url::parse(&document.metadata.url).unwrap_or_else(|_| url.clone());
    let final_url = with_route(final_url, url);
    // The start is home wherever it leads; every other page may lead away from where the crawl is allowed to be.
    let is_start = *url == frontier.start;
    let landed = (is_start && final_url != *url).then(|| final_url.to_string());
    let home = landed.is_some().then(|| frontier.scope.clone().landed_at(&final_url));
    let scope = home.as_ref().unwrap_or(&frontier.scope);
    if final_url != *url
        && !is_start
        && let Verdict::Skip(reason) = scope.admit_landing(&final_url, depth)
    {
        return Ok(PageResult::without(context, Outcome::LeftScope(reason)));
    }
    let text = text_of(&document);
    let likeness = text.map(|text| (template(&final_url), content_hash(text)));
    let content = text.map(|text| words_hash(&without_targets(text)));
    let (key, landing) = (scope.key(url), scope.key(&final_url));
    let alias = (landing != key).then(|| new_page(final_url.clone(), digest(landing.as_str()), depth));
    let canonical = canonical(scope, &final_url, &document).filter(|named| *named != key && *named != landing);
    let links = sorted((scope, &context.known), site, (&final_url, depth), (&links, frontier.max_links), stop);
    // Nothing is nearer than the start.
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

/// A page that its scripts make of a route is found at its route, whether its address tells that or not.
fn with_route(mut final_url: Url, url: &Url) -> Url {
    if final_url.fragment().is_none() && url.fragment().is_some_and(address::is_route) {
        final_url.set_fragment(url.fragment());
        if final_url != *url {
            final_url.set_fragment(None);
        }
    }
    final_url
}

/// Whether a page with this status is the page itself (docs/CONTRACT.md, "Answers").
fn has_loaded(status: u16) -> bool {
    matches!(status, 200..=299 | 304)
}

/// What the page is known by that it names as the one that counts.
fn canonical(scope: &Scope, final_url: &Url, document: &Document) -> Option<UrlKey> {
    let canonical = document.metadata.page.get("canonical")?.as_str()?;
    Some(scope.canonical_key(final_url, &Url::parse(canonical).ok()?))
}

/// Markdown without the targets of its links: copies of a page lead to their own places.
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
