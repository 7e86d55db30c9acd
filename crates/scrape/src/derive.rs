//! Phase 3: from the body to a draft of the document, in a thread, and where nothing more is wanted to the end.

use std::sync::Arc;

use base::Stop;
use branding::Sample;
use fetch::{Fetched, Verdict};
use parking_lot::Mutex;
use serde::Deserialize as _;
use wire::{Document, FormatKind, ScrapeOptions};

use crate::detect::Route;
use crate::fetch::Page;
use crate::source::{Origin, PageSource, Source, TextSource, add};
use crate::{CpuError, ScrapeError, Scraped, Target, Tools};

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

/// Makes a draft of a page. The body is parsed once. The same thread completes it and does `last`, unless `wants_draft` and
/// another step of the plan may bring more.
///
/// # Errors
/// [`ScrapeError::Selectors`], and those of [`on_thread`].
pub(crate) async fn derive<T, F>(
    tools: &Tools,
    target: &Target,
    (page, route): (Page, Route),
    wants_draft: bool,
    last: &Last<F>,
) -> Result<Derived<T>, ScrapeError>
where
    T: Send + 'static,
    F: FnOnce(Scraped, &Stop) -> T + Send + 'static,
{
    let (source_url, last) = (target.source.clone(), last.clone());
    let wants = Wants { options: Arc::clone(&target.options), collect_links: target.collect_links, judge: wants_draft };
    let work = move |stop: &Stop| {
        fail::fail_point!("convert_panic");
        let draft = draft(route, page, &wants, stop)?;
        if wants_draft && draft.verdict != Verdict::Good {
            return Ok(Derived::Draft(Box::new(draft)));
        }
        Ok(Derived::Done(last.take()?(draft.finish(source_url), stop)))
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
    /// Whether it matters that another way to the page may bring more.
    judge: bool,
}

fn draft(route: Route, mut page: Page, wants: &Wants, stop: &Stop) -> Result<Draft, ScrapeError> {
    let Made { document, links, warnings, verdict } = match route {
        Route::Page => of_page(&mut page.fetched, wants, stop)?,
        Route::Text => of_text(&mut page.fetched, wants, stop),
        Route::Bytes => Made::of(&Source::Bytes(&page.fetched.body), wants, stop),
        Route::Nothing => Made::of(&Source::Bytes(&[]), wants, stop),
    };
    Ok(Draft { document, links, page, warnings, verdict })
}

/// What a body became.
struct Made {
    document: Document,
    links: Vec<String>,
    warnings: Vec<String>,
    verdict: Verdict,
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
        let verdict = if wants.judge { source.verdict() } else { Verdict::Good };
        Self { document, links, warnings: source.warnings(), verdict }
    }
}

/// A page of HTML.
fn of_page(fetched: &mut Fetched, wants: &Wants, stop: &Stop) -> Result<Made, ScrapeError> {
    let origin = Origin::of(fetched);
    let styles = fetched.rendered.as_mut().and_then(|rendered| rendered.styles.take());
    // One that cannot be read says no more than none.
    let styles = styles.and_then(|styles| Sample::deserialize(styles).ok());
    let text = fetched.take_text();
    let mut made = {
        let page = formats::Page::parse_until(&text.as_str(), &fetched.url, stop);
        let made =
            Made::of(&Source::Page(Box::new(PageSource::new(&page, &wants.options, origin, styles))), wants, stop);
        if page.is_out_of_steps() {
            return Err(ScrapeError::Selectors);
        }
        made
    };
    // When the tree is gone, so that a large page is not in memory once more.
    made.document.raw_html = wants.options.wants(FormatKind::RawHtml).then(|| text.into_string());
    Ok(made)
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
