//! Documents: the request to a reader, and the use of its answer.

use std::time::Duration;

use bytes::Bytes;
use documents::{Kind, Metadata};
use reader::{Answer, Job, Options, Wants};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::time::Instant;
use wire::{Document, FormatKind, PageBlocks, Parser, PdfMode, PdfParser, ScrapeOptions};

use crate::fetch::Page;
use crate::{DocumentError, Ports, ScrapeError, Target, Tools, plain};

/// Maximum time that is reserved after reading; the reader stops early and returns the pages that it has.
const MAX_TIME_AFTER: Duration = Duration::from_secs(1);

/// Document that a reader has read.
pub(crate) struct Read {
    kind: Kind,
    /// Options that it was read with.
    options: Options,
    answer: Answer,
    /// Number of pages to be charged.
    pub(crate) pages: u32,
    keeps_images: bool,
}

/// Text of a document, as it is kept with its version for change tracking.
#[derive(Serialize, Deserialize)]
struct Text<A> {
    /// Version of the program that read it: a newer one may read more.
    program: String,
    options: Options,
    answer: A,
}

/// Version of this program.
const PROGRAM: &str = env!("CARGO_PKG_VERSION");

/// Reads a document when a reader is free. A PDF is paid for before its first page is read. A document whose text was
/// kept with the previous version is not read again.
///
/// # Errors
/// [`ScrapeError::Document`], errors of [`Funds::cover`](crate::Funds::cover), and [`ScrapeError::Timeout`].
pub(crate) async fn read(
    tools: &Tools,
    ports: Ports<'_>,
    target: &Target,
    page: &Page,
    kind: Kind,
) -> Result<Read, ScrapeError> {
    let none = || DocumentError::Unavailable("this server has none".to_owned());
    let pool = tools.documents.as_ref().ok_or_else(none)?;
    let options = asked(&target.options, kind);
    let job = Job { bytes: page.fetched.body.clone(), kind, owner: target.owner.clone(), options };
    let left = target.deadline.saturating_duration_since(Instant::now());
    let deadline = target.deadline - (left / 10).min(MAX_TIME_AFTER);
    // Images and office files have a fixed price.
    let funds = ports.funds.filter(|_| kind == Kind::Pdf);
    let mut covered = 1;
    let mut afford = async |pages: u32| {
        covered = pages.max(1);
        match funds {
            Some(funds) => funds.cover(covered).await,
            None => Ok(()),
        }
    };
    let answer = match page.tracked.as_ref().and_then(|tracked| kept(tracked.kept_text()?, options)) {
        Some(answer) => {
            afford(answer.pages_read).await?;
            answer
        }
        None => pool.read(job, deadline, afford).await?,
    };
    let pages = if kind == Kind::Pdf { answer.pages_read.clamp(1, covered) } else { 1 };
    Ok(Read { kind, options, answer, pages, keeps_images: !target.options.remove_base64_images })
}

/// Returns the answer of a reader from a kept text, if reading the document with these options gave the same again.
fn kept(text: &[u8], options: Options) -> Option<Answer> {
    let text: Text<Answer> = serde_json::from_slice(text).ok()?;
    let is_same = text.program == PROGRAM && text.options == options && !text.answer.is_partial;
    is_same.then_some(text.answer)
}

/// Returns the markdown of a kept text; `None` if it cannot be read.
pub(crate) fn markdown(text: &[u8], options: &ScrapeOptions) -> Option<String> {
    let text: Text<Answer> = serde_json::from_slice(text).ok()?;
    Some(match options.remove_base64_images {
        true => plain::without_embedded_images(&text.answer.markdown),
        false => text.answer.markdown,
    })
}

/// Translates the options for a reader. The PDF settings also apply to images, except the mode.
fn asked(options: &ScrapeOptions, kind: Kind) -> Options {
    let pdf = options.parsers.iter().flatten().find_map(|parser| match parser {
        Parser::Pdf(pdf) => Some(pdf.clone()),
        Parser::Image => None,
    });
    let PdfParser { mode, max_pages, blocks, pages, page_markers } = pdf.unwrap_or_default();
    let mode = if kind == Kind::Pdf { mode } else { PdfMode::Auto };
    let html = options.wants(FormatKind::Html) || options.wants(FormatKind::RawHtml);
    Options { mode, max_pages, page_markers, wants: Wants { html, pages, blocks } }
}

impl Read {
    /// Returns the text to be kept with a version.
    pub(crate) fn to_text(&self) -> Option<Bytes> {
        let text = Text { program: PROGRAM.to_owned(), options: self.options, answer: &self.answer };
        serde_json::to_vec(&text).ok().map(Bytes::from)
    }

    pub(crate) fn markdown(&self) -> String {
        self.without_images(&self.answer.markdown)
    }

    pub(crate) fn html(&self) -> String {
        self.answer.html.clone().unwrap_or_default()
    }

    pub(crate) fn links(&self) -> Vec<String> {
        self.answer.links.clone()
    }

    /// Returns the document's metadata under the names that pages use.
    pub(crate) fn metadata(&self) -> Map<String, Value> {
        let Metadata { title, author, subject, keywords, creator, producer, language, created, modified, .. } =
            &self.answer.metadata;
        let said = [
            ("title", title),
            ("author", author),
            ("description", subject),
            ("keywords", keywords),
            ("language", language),
            ("generator", if creator.is_some() { creator } else { producer }),
            ("dcDateCreated", created),
            ("modifiedTime", modified),
        ];
        let entry = |(key, value): (&str, &Option<String>)| Some((key.to_owned(), Value::from(value.clone()?)));
        said.into_iter().filter_map(entry).collect()
    }

    pub(crate) fn warnings(&self) -> Vec<String> {
        self.answer.warnings.clone()
    }

    /// Adds the data that only documents have: pages, blocks and page counts.
    pub(crate) fn complete(self, document: &mut Document) {
        let Metadata { num_pages, total_pages, .. } = self.answer.metadata;
        let metadata = &mut document.metadata;
        metadata.content_type = self.kind.mime_types().first().map(|&name| name.to_owned());
        (metadata.num_pages, metadata.total_pages) = (known(num_pages), known(total_pages));
        let is_rewritten = document.markdown.as_ref().is_some_and(|text| *text != self.answer.markdown);
        let mut pages = self.answer.pages.clone();
        pages.iter_mut().for_each(|page| page.markdown = self.without_images(&page.markdown));
        let mut blocks = self.answer.blocks;
        if is_rewritten {
            forget_spans(&mut blocks);
        }
        document.pages = (!pages.is_empty()).then_some(pages);
        document.blocks = (!blocks.is_empty()).then_some(blocks);
    }

    fn without_images(&self, text: &str) -> String {
        if self.keeps_images { text.to_owned() } else { plain::without_embedded_images(text) }
    }
}

/// Returns a count, or `None` for 0, which means unknown.
fn known(count: u32) -> Option<u32> {
    (count > 0).then_some(count)
}

/// Removes the positions of blocks: they refer to the original markdown, not to a rewritten one.
fn forget_spans(blocks: &mut [PageBlocks]) {
    blocks.iter_mut().flat_map(|page| &mut page.items).for_each(|block| block.markdown_span = None);
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use wire::{Block, BlockKind, Confidence, PageStatus, PageText};

    use super::*;

    fn options(body: Value) -> ScrapeOptions {
        wire::decode_options(body).unwrap()
    }

    #[test]
    fn readers_are_asked_for_what_the_caller_wants() {
        let check =
            |body: Value, kind, expect: Options| assert_eq!(asked(&options(body.clone()), kind), expect, "{body}");
        check(json!({}), Kind::Pdf, Options::default());
        check(json!({ "parsers": ["image"] }), Kind::Pdf, Options::default());
        let html = Options { wants: Wants { html: true, ..Wants::default() }, ..Options::default() };
        check(json!({ "formats": ["html"] }), Kind::Docx, html);
        check(json!({ "formats": ["rawHtml", "links"] }), Kind::Pdf, html);
        let all = json!({ "parsers": ["image", { "type": "pdf", "mode": "ocr", "maxPages": 3, "blocks": true, "pages": true, "pageMarkers": true }] });
        let wants = Wants { html: false, pages: true, blocks: true };
        let all_asked = Options { mode: PdfMode::Ocr, max_pages: Some(3), page_markers: true, wants };
        check(all.clone(), Kind::Pdf, all_asked);
        check(all, Kind::Image(documents::ImageKind::Tiff), Options { mode: PdfMode::Auto, ..all_asked });
    }

    fn read(keeps_images: bool) -> Read {
        let markdown = "# T\n\n![x](data:image/png;base64,AA) y".to_owned();
        let block = Block {
            id: "p1.b0".to_owned(),
            kind: BlockKind::Text,
            label: None,
            content: "y".to_owned(),
            bbox: None,
            markdown_span: Some([5, 9]),
            reading_order: 0,
            source: None,
            confidence: Confidence::default(),
        };
        let page = PageBlocks { page_number: 1, status: PageStatus::Ok, width: None, height: None, items: vec![block] };
        let metadata = Metadata {
            title: Some("T".to_owned()),
            created: Some("2024-01-31T09:30:05Z".to_owned()),
            producer: Some("press".to_owned()),
            num_pages: 1,
            total_pages: 4,
            ..Metadata::default()
        };
        let pages = vec![PageText { page_number: 1, markdown: markdown.clone() }];
        let answer = Answer { markdown, pages, blocks: vec![page], metadata, pages_read: 1, ..Answer::default() };
        Read { kind: Kind::Pdf, options: Options::default(), answer, pages: 1, keeps_images }
    }

    #[test]
    fn what_was_rewritten_has_no_places_any_more() {
        for (keeps_images, span) in [(true, Some([5, 9])), (false, None)] {
            let read = read(keeps_images);
            let mut document = Document { markdown: Some(read.markdown()), ..Document::default() };
            read.complete(&mut document);
            let markdown = document.markdown.unwrap();
            assert_eq!(markdown.contains("base64,"), keeps_images, "{markdown}");
            assert_eq!(document.pages.unwrap()[0].markdown, markdown);
            assert_eq!(document.blocks.unwrap()[0].items[0].markdown_span, span);
        }
    }

    #[test]
    fn a_document_says_what_it_is() {
        let read = read(true);
        let said = json!({ "title": "T", "dcDateCreated": "2024-01-31T09:30:05Z", "generator": "press" });
        assert_eq!(Value::Object(read.metadata()), said);
        let mut document = Document::default();
        read.complete(&mut document);
        let metadata = document.metadata;
        assert_eq!((metadata.num_pages, metadata.total_pages), (Some(1), Some(4)));
        assert_eq!(metadata.content_type.as_deref(), Some("application/pdf"));
    }
}
