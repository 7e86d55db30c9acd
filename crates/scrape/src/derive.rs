//! Phases 2 to 4: detect, then every format that follows from the page alone, one line each, then finish.

use std::cell::LazyCell;
use std::sync::Arc;

use base::Stop;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fetch::{Fetched, Kind};
use formats::{Content, ContentOptions, MarkdownOptions, Page};
use wire::{AttributeValues, Document, Format, FormatKind, Metadata, ScrapeOptions};

use crate::detect::{Route, route};
use crate::{CpuError, Derived, ScrapeError, Target, Tools, finish, plain};

/// Makes the document of a page that was fetched now or comes from the cache.
///
/// The page is parsed once, off the async threads, when `tools.cpu` has room for the owner. At the deadline, and when the
/// future is dropped, the work is told to stop; it keeps its place until it has.
///
/// # Errors
/// [`ScrapeError::UnsupportedFile`], [`ScrapeError::Timeout`], and [`ScrapeError::Panicked`] when our code broke on it.
pub async fn derive(tools: &Tools, target: &Target, fetched: Fetched) -> Result<Derived, ScrapeError> {
    let route = route(&fetched, &target.options)?;
    let (source, options, collect) = (target.url.clone(), Arc::clone(&target.options), target.collect_links);
    let work = move |_stop: &Stop| {
        fail::fail_point!("convert_panic");
        let (mut document, warnings) = document(route, &fetched, &options, collect);
        let links = if collect { collected(&mut document, &options) } else { Vec::new() };
        let (document, warnings) = finish::finish(document, warnings, &fetched, &source);
        Derived { document, links, warnings }
    };
    tools.cpu.run(&target.owner, target.deadline, work).await.map_err(|error| match error {
        CpuError::Timeout => ScrapeError::Timeout,
        CpuError::Panicked => broken(target),
    })
}

/// The panic's own text went to the panic hook; here only the place is named, for those who may be named.
fn broken(target: &Target) -> ScrapeError {
    let host = target.url.host_str().filter(|_| !target.private).unwrap_or("***");
    tracing::error!(url.host = host, "a page broke the pipeline");
    ScrapeError::Panicked
}

/// The links that were made for the caller, and for the document if it was to have them.
fn collected(document: &mut Document, options: &ScrapeOptions) -> Vec<String> {
    let links = if options.wants(FormatKind::Links) { document.links.clone() } else { document.links.take() };
    links.unwrap_or_default()
}

fn document(route: Route, fetched: &Fetched, options: &ScrapeOptions, collect: bool) -> (Document, Vec<String>) {
    let document = match route {
        Route::Page => return page(fetched, options, collect),
        Route::Text => text(&fetched.text(), fetched, options, collect),
        Route::File => same(&STANDARD.encode(&fetched.body), options),
        Route::Nothing => same("", options),
        Route::Bytes => Document { raw_base64: Some(STANDARD.encode(&fetched.body)), ..Document::default() },
    };
    (document, Vec::new())
}

/// A page of HTML.
fn page(fetched: &Fetched, options: &ScrapeOptions, collect: bool) -> (Document, Vec<String>) {
    let wants = |kind| options.wants(kind);
    let source = fetched.text();
    let page = Page::parse(&source, &fetched.url);
    let content = LazyCell::new(|| content(&page, options));
    let how = MarkdownOptions { remove_base64_images: options.remove_base64_images, ..MarkdownOptions::default() };
    let mut bare = None;
    let mut markdown = || match formats::markdown(&content, &how) {
        text if text.is_empty() && may_be_bare(options) => {
            let about = formats::about(&page);
            bare = (!about.is_empty()).then_some(BARE);
            about
        }
        text => text,
    };
    let document = Document {
        markdown: wants(FormatKind::Markdown).then(&mut markdown),
        html: wants(FormatKind::Html).then(|| formats::html(&content)),
        raw_html: wants(FormatKind::RawHtml).then(|| source.to_string()),
        links: (collect || wants(FormatKind::Links)).then(|| formats::links(&page)),
        images: wants(FormatKind::Images).then(|| formats::images(&page)),
        attributes: attributes(options, |selector, attribute| formats::attributes(&page, selector, attribute)),
        metadata: Metadata { page: formats::metadata(&page), ..Metadata::default() },
        ..Document::default()
    };
    let cut = page.truncated().then_some("the page is too large to be read whole: a part of it was left out");
    (document, cut.into_iter().chain(bare).map(str::to_owned).collect())
}

/// Said with a page that has nothing to show.
const BARE: &str = "the page shows nothing until its scripts run: only its title and description are given";

/// Where the caller chose the parts of a page, nothing may be what was asked for.
fn may_be_bare(options: &ScrapeOptions) -> bool {
    options.include_tags.is_empty() && options.exclude_tags.is_empty()
}

/// The main content; the whole page when nothing of the main content is left.
fn content<'p>(page: &'p Page, options: &ScrapeOptions) -> Content<'p> {
    let mut which = ContentOptions {
        only_main_content: options.only_main_content,
        include_tags: options.include_tags.clone(),
        exclude_tags: options.exclude_tags.clone(),
    };
    let content = formats::content(page, &which);
    if !options.only_main_content || !content.is_empty() {
        return content;
    }
    which.only_main_content = false;
    formats::content(page, &which)
}

/// A body that is text already: JSON, markdown, plain text.
fn text(source: &str, fetched: &Fetched, options: &ScrapeOptions, collect: bool) -> Document {
    let wants = |kind| options.wants(kind);
    let markdown = || match fetched.kind {
        Kind::Json => plain::fenced(source, "json"),
        Kind::Markdown if options.remove_base64_images => plain::without_embedded_images(source),
        _ => source.to_owned(),
    };
    Document {
        markdown: wants(FormatKind::Markdown).then(markdown),
        html: wants(FormatKind::Html).then(|| plain::preformatted(source)),
        raw_html: wants(FormatKind::RawHtml).then(|| source.to_owned()),
        links: (collect || wants(FormatKind::Links)).then(|| formats::text_links(source, &fetched.url)),
        images: wants(FormatKind::Images).then(Vec::new),
        attributes: attributes(options, |_, _| Vec::new()),
        ..Document::default()
    }
}

/// A body that is not read: the same text stands for every text format.
fn same(source: &str, options: &ScrapeOptions) -> Document {
    let wants = |kind| options.wants(kind);
    Document {
        markdown: wants(FormatKind::Markdown).then(|| source.to_owned()),
        html: wants(FormatKind::Html).then(|| source.to_owned()),
        raw_html: wants(FormatKind::RawHtml).then(|| source.to_owned()),
        links: wants(FormatKind::Links).then(Vec::new),
        images: wants(FormatKind::Images).then(Vec::new),
        attributes: attributes(options, |_, _| Vec::new()),
        ..Document::default()
    }
}

/// One entry per selector that was asked for, also when nothing matches.
fn attributes(options: &ScrapeOptions, find: impl Fn(&str, &str) -> Vec<String>) -> Option<Vec<AttributeValues>> {
    let format = options.formats.iter().find_map(|format| match format {
        Format::Attributes(format) => Some(format),
        _ => None,
    })?;
    let entries = format.selectors.iter().map(|wanted| AttributeValues {
        selector: wanted.selector.clone(),
        attribute: wanted.attribute.clone(),
        values: find(&wanted.selector, &wanted.attribute),
    });
    Some(entries.collect())
}
