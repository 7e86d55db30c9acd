//! Phase 3: turns the body into a draft of the document on a CPU thread, and completes it there if no other step
//! follows.

use std::sync::Arc;
use std::time::Duration;

use answers::PageText;
use base::Stop;
use billing::Delivered;
use branding::Sheet;
use bytes::Bytes;
use fetch::{BodyKind, Fetched, Text, Verdict};
use parking_lot::Mutex;
use url::Url;
use wire::{Document, Format, FormatKind, ScrapeOptions};

use crate::detect::{self, Route};
use crate::document::{self, Read};
use crate::embedded;
use crate::fetch::Page;
use crate::finish::Told;
use crate::product_service::{self, Failure};
use crate::source::{Besides, Origin, PageSource, Source, TextSource, add};
use crate::target::needs_whole_markdown;
use crate::{CpuError, Ports, Reviewer, ScrapeError, Scraped, Target, Tools, Values, page_text};

/// Result of deriving a page.
pub(crate) enum Derived<T> {
    /// Result of `last`, with nothing left to do.
    Done(T),
    /// Draft that another step may improve.
    Draft(Box<Draft>),
}

/// Unfinished document.
pub(crate) struct Draft {
    pub(crate) document: Document,
    /// Markdown for later phases, where it is not a requested format. See [`Draft::markdown`].
    pub(crate) text: Option<String>,
    /// Text of the page as questions are asked of it, if any are.
    pub(crate) asked: Option<Arc<PageText>>,
    /// Time that was spent on answers about the page.
    pub(crate) answering: Duration,
    /// Page as it is sent to the product service, if that is asked.
    pub(crate) product_request: Option<Result<Bytes, Failure>>,
    /// Link targets of the page; empty unless the target collects links.
    pub(crate) links: Vec<String>,
    /// Page that it was made of; the body has been taken where it was parsed.
    pub(crate) page: Page,
    pub(crate) warnings: Vec<String>,
    pub(crate) verdict: Verdict,
    /// Pages, and extras that leave no result in the document, such as redaction. The others are added at the end.
    pub(crate) delivered: Delivered,
    /// PDF that is the page's only content.
    pub(crate) embedded: Option<Url>,
    /// Values that were compared.
    pub(crate) values: Option<Values>,
    /// Whether it was compared, or is the version to compare with.
    pub(crate) is_tracked: bool,
}

impl Draft {
    /// Returns the markdown of the page, if it is a requested format or a later phase needs it ([`More::phases`]).
    pub(crate) fn markdown(&self) -> Option<&str> {
        self.document.markdown.as_deref().or(self.text.as_deref())
    }
}

/// Final callback, run once by the thread that completes the document. Clones share it.
pub(crate) struct Last<F>(Arc<Mutex<Option<F>>>);

impl<F> Last<F> {
    pub(crate) fn new(last: F) -> Self {
        Self(Arc::new(Mutex::new(Some(last))))
    }

    /// # Errors
    /// [`ScrapeError::Panicked`] when it was taken before, as the thread that took it must have panicked.
    pub(crate) fn take(&self) -> Result<F, ScrapeError> {
        self.0.lock().take().ok_or(ScrapeError::Panicked)
    }
}

impl<F> Clone for Last<F> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// Page to be made into a document.
pub(crate) struct Incoming {
    pub(crate) page: Page,
    /// What may follow a draft of it.
    pub(crate) more: More,
}

/// Makes a draft of a page, by the kind of its body. The body is parsed once; documents are read by a reader process first. The same thread
/// completes the draft and runs `last`, unless another step of the plan, an embedded PDF, or a later phase may bring more.
///
/// # Errors
/// [`ScrapeError::Selectors`], and the errors of [`detect::route`], [`document::read`] and [`on_thread`].
pub(crate) async fn derive<T, F>(
    tools: &Tools,
    ports: Ports<'_>,
    target: &Target,
    incoming: Incoming,
    last: &Last<F>,
) -> Result<Derived<T>, ScrapeError>
where
    T: Send + 'static,
    F: FnOnce(Scraped, &Stop) -> T + Send + 'static,
{
    let Incoming { page, more } = incoming;
    let body = match detect::route(tools, target, &page.fetched)? {
        Route::Document(kind) => Body::Read(Box::new(document::read(tools, ports, target, &page, kind).await?)),
        Route::Page => Body::Page,
        Route::Text => Body::Text,
        Route::Bytes => Body::Bytes,
        Route::Nothing => Body::Nothing,
    };
    let (origin, last) = (Told::of(target), last.clone());
    let asks_service = tools.products.is_some() && target.options.wants(FormatKind::Product);
    let reviewer = target.reviewer.clone();
    let wants = Wants {
        options: Arc::clone(&target.options),
        collect_links: target.collect_links,
        asks_service,
        more,
        reviewer,
    };
    let work = move |stop: &Stop| {
        fail::fail_point!("convert_panic");
        let draft = draft(body, page, &wants, stop)?;
        let may_improve = more.steps && draft.verdict != Verdict::Good;
        if draft.embedded.is_some() || draft.product_request.is_some() || more.phases || may_improve {
            return Ok(Derived::Draft(Box::new(draft)));
        }
        Ok(Derived::Done(last.take()?(draft.finish(origin), stop)))
    };
    on_thread(tools, target, work).await?
}

/// Runs work on a page when `tools.cpu` has a slot for the owner. At the deadline, and when the future is dropped, the
/// work is told to stop; it keeps its slot until it has.
///
/// # Errors
/// [`ScrapeError::Timeout`], and [`ScrapeError::Panicked`] when the work panicked.
pub(crate) async fn on_thread<T: Send + 'static>(
    tools: &Tools,
    target: &Target,
    work: impl FnOnce(&Stop) -> T + Send + 'static,
) -> Result<T, ScrapeError> {
    tools.cpu.run(&target.owner, target.deadline, work).await.map_err(|error| match error {
        CpuError::Timeout => ScrapeError::Timeout,
        CpuError::Panicked => {
            // The panic hook has logged the message; this adds the host, unless the scrape is private.
            let host = target.url.host_str().filter(|_| !target.private).unwrap_or("***");
            tracing::error!(url.host = host, "the scrape pipeline panicked on a page; the scrape failed");
            ScrapeError::Panicked
        }
    })
}

/// Requested results, and what may follow.
struct Wants {
    options: Arc<ScrapeOptions>,
    collect_links: bool,
    /// Whether a service is asked for the product of a page.
    asks_service: bool,
    more: More,
    /// What looks at the page.
    reviewer: Option<Arc<dyn Reviewer>>,
}

/// Further attempts that may follow a draft.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct More {
    /// Another step of the plan.
    pub(crate) steps: bool,
    /// A PDF that is the page's only content.
    pub(crate) embedded: bool,
    /// A phase that works on the draft, and on its markdown.
    pub(crate) phases: bool,
    /// Questions about the text of the page.
    pub(crate) asks: bool,
}

/// Body, by how it is processed.
enum Body {
    Page,
    Text,
    Bytes,
    Nothing,
    Read(Box<Read>),
}

fn draft(body: Body, mut page: Page, wants: &Wants, stop: &Stop) -> Result<Draft, ScrapeError> {
    let mut delivered = Delivered::pages(1);
    let Made { document, text, mut asked, product_request, links, warnings, verdict, embedded } = match body {
        Body::Page => of_page(&mut page.fetched, std::mem::take(&mut page.sheets), wants, stop)?,
        Body::Text => of_text(&mut page.fetched, wants, stop),
        Body::Bytes => Made::of(&Source::Bytes(&page.fetched.body), wants, stop),
        Body::Nothing => Made::of(&Source::Bytes(&[]), wants, stop),
        Body::Read(read) => {
            page.fetched.body = Bytes::new();
            delivered.pages = read.pages;
            if let Some(tracked) = &mut page.tracked {
                tracked.text = read.to_text();
            }
            of_document(*read, wants, stop)
        }
    };
    if let Some(asked) = &mut asked {
        page_text::add_url(asked, &page.fetched.url);
    }
    Ok(Draft {
        document,
        text,
        asked: asked.map(Arc::from),
        answering: Duration::ZERO,
        product_request,
        links,
        page,
        warnings,
        verdict,
        delivered,
        embedded,
        values: None,
        is_tracked: false,
    })
}

/// Version of a page whose markdown is made again.
pub(crate) enum Version {
    /// Page or text, as it was fetched.
    Page(Box<Fetched>),
    /// Text that a reader made of a document.
    Text(Bytes),
}

/// Makes the markdown of a version, with these options.
///
/// # Errors
/// [`ScrapeError::Selectors`], and [`ScrapeError::Panicked`] for a text that cannot be read.
pub(crate) fn markdown(
    version: Version,
    route: Route,
    options: &Arc<ScrapeOptions>,
    stop: &Stop,
) -> Result<String, ScrapeError> {
    let (fetched, body) = match (version, route) {
        (Version::Text(text), _) => {
            return document::markdown(&text, options).ok_or(ScrapeError::Panicked);
        }
        (Version::Page(fetched), Route::Page) => (fetched, Body::Page),
        (Version::Page(fetched), Route::Text) => (fetched, Body::Text),
        (Version::Page(fetched), Route::Bytes) => (fetched, Body::Bytes),
        (Version::Page(fetched), Route::Nothing | Route::Document(_)) => (fetched, Body::Nothing),
    };
    let (options, more) = (Arc::clone(options), More::default());
    let wants = Wants { options, collect_links: false, asks_service: false, more, reviewer: None };
    let draft = draft(body, Page::new(*fetched, None), &wants, stop)?;
    Ok(draft.document.markdown.unwrap_or_default())
}

/// Result of processing a body.
struct Made {
    document: Document,
    text: Option<String>,
    asked: Option<Box<PageText>>,
    product_request: Option<Result<Bytes, Failure>>,
    links: Vec<String>,
    warnings: Vec<String>,
    verdict: Verdict,
    embedded: Option<Url>,
}

impl Made {
    /// Makes every requested format, until the work is told to stop.
    fn of(source: &Source<'_>, wants: &Wants, stop: &Stop) -> Self {
        let (mut document, mut missing) = (Document::default(), Vec::new());
        let is_ours = |format: &&Format| !wants.asks_service || !source.is_page() || **format != Format::Product;
        for format in wants.options.formats.iter().filter(is_ours).take_while(|_| !stop.is_set()) {
            missing.extend(add(format, source, &mut document));
        }
        // Made once: where markdown is a format, later phases read that.
        let needs_text = wants.more.phases && document.markdown.is_none() && needs_whole_markdown(&wants.options);
        let text = needs_text.then(|| source.markdown());
        document.metadata.page = source.metadata();
        let asked = wants.more.asks.then(|| Box::new(page_text::page_text(source, text.as_deref(), &document)));
        let links = || document.links.clone().unwrap_or_else(|| source.links());
        let links = if wants.collect_links { links() } else { Vec::new() };
        let verdict = if wants.more.steps { source.verdict() } else { Verdict::Good };
        let warnings = source.warnings().into_iter().chain(missing).collect();
        Self { document, text, asked, product_request: None, links, warnings, verdict, embedded: None }
    }
}

/// Processes a page of HTML, or XML converted to HTML.
fn of_page(fetched: &mut Fetched, sheets: Vec<Sheet>, wants: &Wants, stop: &Stop) -> Result<Made, ScrapeError> {
    let origin = Origin::of(fetched);
    let besides = Besides::of(fetched, sheets);
    let text = match detect::is_mail(fetched).then(|| documents::mail_page(&fetched.body)).flatten() {
        Some(page) => {
            fetched.body = Bytes::new();
            Text::Decoded(page)
        }
        None => fetched.take_text(),
    };
    let xml = as_html(fetched, origin, &text.as_str(), stop);
    let mut made = {
        let sent = text.as_str();
        let html = xml.as_deref().unwrap_or(&sent);
        let page = formats::Page::parse_until(html, &fetched.url, stop);
        let mut made =
            Made::of(&Source::Page(Box::new(PageSource::new(&page, &wants.options, origin, besides))), wants, stop);
        made.product_request = wants.asks_service.then(|| product_service::request(html, &fetched.url));
        made.embedded = wants.more.embedded.then(|| embedded::pdf(&page)).flatten();
        if page.is_out_of_steps() {
            return Err(ScrapeError::Selectors);
        }
        if let Some(reviewer) = wants.reviewer.as_ref().filter(|_| fetched.is_loaded() && fetched.status != 304) {
            look_for(&**reviewer, &page);
        }
        made
    };
    // Set after the tree is dropped, so that a large page is not in memory twice.
    made.document.raw_html = wants.options.wants(FormatKind::RawHtml).then(|| text.into_string());
    Ok(made)
}

/// Tells a reviewer which of its selectors have met an element. With too many of them for the page, it is told nothing.
fn look_for(reviewer: &dyn Reviewer, page: &formats::Page) {
    let selectors = reviewer.selectors();
    if selectors.is_empty() {
        return;
    }
    let met = selectors.iter().map(|selector| !page.select(std::slice::from_ref(selector)).is_empty()).collect();
    if !page.is_out_of_steps() {
        reviewer.met(met);
    }
}

/// Converts XML, including XHTML sent as such, to equivalent HTML; `None` for HTML. Parsed as HTML, a feed would lose
/// its titles and links, other XML its separation of texts, and XHTML everything after `<script/>`.
fn as_html(fetched: &Fetched, origin: Origin, text: &str, stop: &Stop) -> Option<String> {
    let is_xml = fetched.kind == BodyKind::Xml;
    let feed = is_xml.then(|| formats::feed_page(text, &fetched.url, stop)).flatten();
    let is_sent = origin != Origin::Rendered && (is_xml || fetched.is_sent_as_xml());
    feed.or_else(|| is_sent.then(|| formats::xml_page(text, stop)).flatten())
}

/// Processes a document from a reader.
fn of_document(read: Read, wants: &Wants, stop: &Stop) -> Made {
    let mut made = Made::of(&Source::Document(&read), wants, stop);
    read.complete(&mut made.document);
    made
}

/// Processes a body that is already text: JSON, markdown, plain text.
fn of_text(fetched: &mut Fetched, wants: &Wants, stop: &Stop) -> Made {
    let text = fetched.take_text();
    let mut made = {
        let (kind, url, keeps_images) = (fetched.kind, &fetched.url, !wants.options.remove_base64_images);
        Made::of(&Source::Text(TextSource { text: &text.as_str(), kind, url, keeps_images, stop }), wants, stop)
    };
    made.document.raw_html = wants.options.wants(FormatKind::RawHtml).then(|| text.into_string());
    made
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Makes a draft of a page with a heading, with these options and a later phase if they need one.
    fn drafted(options: Value, body: Body) -> Draft {
        let url = Url::parse("https://a.test/").unwrap();
        let options = Arc::new(wire::decode_options(options).unwrap());
        let target = Target::new(url.clone(), Arc::clone(&options), tokio::time::Instant::now());
        let more = More { phases: target.needs_markdown(), asks: target.asks(), ..More::default() };
        let fetched = Fetched::new(url, 200, Some("text/html".to_owned()), "<h1>Granite</h1>".into());
        draft(
            body,
            Page::new(fetched, None),
            &Wants { options, collect_links: false, asks_service: false, more, reviewer: None },
            &Stop::default(),
        )
        .unwrap()
    }

    #[test]
    fn later_phases_get_the_markdown_requested_or_not() {
        let check = |options: Value, text: Option<&str>, document: Option<&str>| {
            let draft = drafted(options.clone(), Body::Page);
            assert_eq!((draft.markdown(), draft.document.markdown.as_deref()), (text, document), "{options}");
            assert!(draft.text.is_none() || draft.document.markdown.is_none(), "made twice: {options}");
        };
        let markdown = Some("# Granite");
        let question = json!({ "type": "question", "question": "?" });
        check(json!({ "formats": ["links"] }), None, None);
        check(json!({ "formats": ["markdown"] }), markdown, markdown);
        check(json!({ "formats": ["summary"] }), None, None);
        check(json!({ "formats": ["links", question] }), None, None);
        check(json!({ "formats": ["summary"], "redactPII": true }), markdown, None);
        check(json!({ "formats": ["markdown", { "type": "json", "prompt": "?" }] }), markdown, markdown);
        check(json!({ "formats": ["html"], "redactPII": true }), markdown, None);
        check(json!({ "formats": ["links"], "checkPromptInjection": true }), markdown, None);
        check(json!({ "formats": ["markdown", "changeTracking"] }), markdown, markdown);
        let text = drafted(json!({ "formats": ["summary"] }), Body::Text);
        assert_eq!(text.asked.unwrap().markdown, "<h1>Granite</h1>");
        let asked = |options: Value| drafted(options, Body::Page).asked.map(|asked| asked.markdown.clone());
        assert_eq!(asked(json!({ "formats": ["markdown", "changeTracking"] })), None);
        assert_eq!(asked(json!({ "formats": ["summary"] })).as_deref(), markdown);
        let tracked =
            json!({ "formats": ["markdown", { "type": "changeTracking", "modes": ["json"], "prompt": "?" }] });
        assert_eq!(asked(tracked).as_deref(), markdown);
    }
}
