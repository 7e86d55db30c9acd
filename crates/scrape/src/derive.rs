//! Phase 3: from the body to a draft of the document, in a thread, and where nothing more is wanted to the end.

use std::sync::Arc;

use base::Stop;
use branding::Sheet;
use bytes::Bytes;
use fetch::{BodyKind, Fetched, Verdict};
use parking_lot::Mutex;
use url::Url;
use wire::{Document, FormatKind, ScrapeOptions};

use crate::detect::Route;
use crate::document::{self, Read};
use crate::embedded;
use crate::fetch::Page;
use crate::finish::Told;
use crate::source::{Besides, Origin, PageSource, Source, TextSource, add};
use crate::{CpuError, Ports, ScrapeError, Scraped, Target, Tools};

/// What became of a page.
pub(crate) enum Derived<T> {
    /// All is done.
    Done(T),
    /// The document so far.
    Draft(Box<Draft>),
}

/// A document on its way.
pub(crate) struct Draft {
    pub(crate) document: Document,
    /// Where the page points to; empty unless the target collects links.
    pub(crate) links: Vec<String>,
    /// What it was made of; the body is gone where it was read.
    pub(crate) page: Page,
    pub(crate) warnings: Vec<String>,
    pub(crate) verdict: Verdict,
    /// How many pages its price counts.
    pub(crate) pages: u32,
    /// The PDF that is all that the page shows.
    pub(crate) embedded: Option<Url>,
}

/// What is done with the result, by whichever thread gets that far. Clones share it; it can be taken once.
pub(crate) struct Last<F>(Arc<Mutex<Option<F>>>);

impl<F> Last<F> {
    pub(crate) fn new(last: F) -> Self {
        Self(Arc::new(Mutex::new(Some(last))))
    }

    /// # Errors
    /// [`ScrapeError::Panicked`] when it was taken before: then that is how it ended.
    pub(crate) fn take(&self) -> Result<F, ScrapeError> {
        self.0.lock().take().ok_or(ScrapeError::Panicked)
    }
}

impl<F> Clone for Last<F> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// Makes a draft of a page. The body is parsed once; a document is read elsewhere before. The same thread completes it and
/// does `last`, unless another step of the plan, or something in the page, may bring more.
///
/// # Errors
/// [`ScrapeError::Selectors`], and those of [`document::read`] and [`on_thread`].
pub(crate) async fn derive<T, F>(
    tools: &Tools,
    ports: Ports<'_>,
    target: &Target,
    (page, route, more): (Page, Route, More),
    last: &Last<F>,
) -> Result<Derived<T>, ScrapeError>
where
    T: Send + 'static,
    F: FnOnce(Scraped, &Stop) -> T + Send + 'static,
{
    let body = match route {
        Route::Document(kind) => {
            Body::Read(Box::new(document::read(tools, ports, target, (&page.fetched, kind)).await?))
        }
        Route::Page => Body::Page,
        Route::Text => Body::Text,
        Route::Bytes => Body::Bytes,
        Route::Nothing => Body::Nothing,
    };
    let (origin, last) = (Told::of(target), last.clone());
    let wants = Wants { options: Arc::clone(&target.options), collect_links: target.collect_links, more };
    let work = move |stop: &Stop| {
        fail::fail_point!("convert_panic");
        let draft = draft(body, page, &wants, stop)?;
        if draft.embedded.is_some() || (more.steps && draft.verdict != Verdict::Good) {
            return Ok(Derived::Draft(Box::new(draft)));
        }
        Ok(Derived::Done(last.take()?(draft.finish(origin), stop)))
    };
    on_thread(tools, target, work).await?
}

/// Does work on a page when `tools.cpu` has a place for the owner. At the deadline, and when the future is dropped, the work
/// is told to stop; it keeps its place until it has.
///
/// # Errors
/// [`ScrapeError::Timeout`], and [`ScrapeError::Panicked`] when our code broke on the page.
pub(crate) async fn on_thread<T: Send + 'static>(
    tools: &Tools,
    target: &Target,
    work: impl FnOnce(&Stop) -> T + Send + 'static,
) -> Result<T, ScrapeError> {
    tools.cpu.run(&target.owner, target.deadline, work).await.map_err(|error| match error {
        CpuError::Timeout => ScrapeError::Timeout,
        CpuError::Panicked => {
            // The panic's own text went to the panic hook; here only the host is named, for those who may be named.
            let host = target.url.host_str().filter(|_| !target.private).unwrap_or("***");
            tracing::error!(url.host = host, "a page broke the pipeline");
            ScrapeError::Panicked
        }
    })
}

/// What is to be made of a body.
struct Wants {
    options: Arc<ScrapeOptions>,
    collect_links: bool,
    more: More,
}

/// What may follow a page.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct More {
    /// Another way to it.
    pub(crate) steps: bool,
    /// The PDF that is all that it shows.
    pub(crate) embedded: bool,
}

/// A body, by how it is read.
enum Body {
    Page,
    Text,
    Bytes,
    Nothing,
    Read(Box<Read>),
}

fn draft(body: Body, mut page: Page, wants: &Wants, stop: &Stop) -> Result<Draft, ScrapeError> {
    let mut pages = 1;
    let Made { document, links, warnings, verdict, embedded } = match body {
        Body::Page => of_page(&mut page.fetched, std::mem::take(&mut page.sheets), wants, stop)?,
        Body::Text => of_text(&mut page.fetched, wants, stop),
        Body::Bytes => Made::of(&Source::Bytes(&page.fetched.body), wants, stop),
        Body::Nothing => Made::of(&Source::Bytes(&[]), wants, stop),
        Body::Read(read) => {
            page.fetched.body = Bytes::new();
            pages = read.pages;
            of_document(*read, wants, stop)
        }
    };
    Ok(Draft { document, links, page, warnings, verdict, pages, embedded })
}

/// What a body became.
struct Made {
    document: Document,
    links: Vec<String>,
    warnings: Vec<String>,
    verdict: Verdict,
    embedded: Option<Url>,
}

impl Made {
    /// Every format that was asked for, for as long as somebody waits for it.
    fn of(source: &Source<'_>, wants: &Wants, stop: &Stop) -> Self {
        let mut document = Document::default();
        for format in wants.options.formats.iter().take_while(|_| !stop.is_set()) {
            add(format, source, &mut document);
        }
        document.metadata.page = source.metadata();
        let links = || document.links.clone().unwrap_or_else(|| source.links());
        let links = if wants.collect_links { links() } else { Vec::new() };
        let verdict = if wants.more.steps { source.verdict() } else { Verdict::Good };
        Self { document, links, warnings: source.warnings(), verdict, embedded: None }
    }
}

/// A page of HTML, or XML as one.
fn of_page(fetched: &mut Fetched, sheets: Vec<Sheet>, wants: &Wants, stop: &Stop) -> Result<Made, ScrapeError> {
    let origin = Origin::of(fetched);
    let besides = Besides::of(fetched, sheets);
    let text = fetched.take_text();
    let xml = as_html(fetched, origin, &text.as_str(), stop);
    let mut made = {
        let sent = text.as_str();
        let page = formats::Page::parse_until(xml.as_deref().unwrap_or(&sent), &fetched.url, stop);
        let mut made =
            Made::of(&Source::Page(Box::new(PageSource::new(&page, &wants.options, origin, besides))), wants, stop);
        made.embedded = wants.more.embedded.then(|| embedded::pdf(&page)).flatten();
        if page.is_out_of_steps() {
            return Err(ScrapeError::Selectors);
        }
        made
    };
    // When the tree is gone, so that a large page is not in memory once more.
    made.document.raw_html = wants.options.wants(FormatKind::RawHtml).then(|| text.into_string());
    Ok(made)
}

/// XML, XHTML that was sent as such included, as the HTML that says the same; None for HTML. Read as HTML, a feed would lose
/// its titles and links, other XML what parts its texts, and XHTML all that stands behind `<script/>`.
fn as_html(fetched: &Fetched, origin: Origin, text: &str, stop: &Stop) -> Option<String> {
    let is_xml = fetched.kind == BodyKind::Xml;
    let feed = is_xml.then(|| formats::feed_page(text, &fetched.url, stop)).flatten();
    let is_sent = origin != Origin::Rendered && (is_xml || fetched.is_sent_as_xml());
    feed.or_else(|| is_sent.then(|| formats::xml_page(text, stop)).flatten())
}

/// A document that was read.
fn of_document(read: Read, wants: &Wants, stop: &Stop) -> Made {
    let mut made = Made::of(&Source::Document(&read), wants, stop);
    read.complete(&mut made.document);
    made
}

/// A body that is text already: JSON, markdown, plain text.
fn of_text(fetched: &mut Fetched, wants: &Wants, stop: &Stop) -> Made {
    let text = fetched.take_text();
    let mut made = {
        let (kind, url, keeps_images) = (fetched.kind, &fetched.url, !wants.options.remove_base64_images);
        Made::of(&Source::Text(TextSource { text: &text.as_str(), kind, url, keeps_images, stop }), wants, stop)
    };
    made.document.raw_html = wants.options.wants(FormatKind::RawHtml).then(|| text.into_string());
    made
}
