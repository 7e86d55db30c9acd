//! Layout of a document in its wire format: typed blocks per page.

use serde::{Deserialize, Serialize};

use crate::markdown::{Markdown, block_markdown};
use crate::model::{Block, BlockKind, Content, Document, Page, TextSource};

/// Pixels per point: boxes refer to a page rendered at 200 dots per inch.
const PIXELS: f32 = 200.0 / 72.0;

/// Layout of one page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PageBlocks {
    /// Page number, counted from 1.
    pub page_number: u32,
    /// `ok`, `partial` or `failed`.
    pub status: String,
    /// Width in pixels at 200 dots per inch.
    pub width: Option<f64>,
    /// Height in pixels at 200 dots per inch.
    pub height: Option<f64>,
    /// Blocks in reading order.
    pub items: Vec<BlockItem>,
}

/// One block of a page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BlockItem {
    /// Id, `p<page>.b<index>`.
    pub id: String,
    /// One of the ten block types.
    #[serde(rename = "type")]
    pub kind: String,
    /// More specific type.
    pub label: Option<String>,
    /// Content as markdown.
    pub content: String,
    /// Bounding box x0, y0, x1, y1 as shares of the page, each 0 to 1.
    pub bbox: Option<[f64; 4]>,
    /// Position in the markdown, `[start, end)` in characters.
    pub markdown_span: Option<[u64; 2]>,
    /// Index in reading order.
    pub reading_order: u32,
    /// Source of the text: `native_text` or `layout_ocr`.
    pub source: Option<String>,
    /// Confidence of the layout and of recognised characters.
    pub confidence: Confidence,
}

/// Confidence, 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Confidence {
    /// Confidence of the layout.
    pub layout: Option<f64>,
    /// Confidence of recognised characters.
    pub ocr: Option<f64>,
}

/// Returns the blocks of a document, with their positions in its markdown.
#[must_use]
pub fn blocks(document: &Document, markdown: &Markdown) -> Vec<PageBlocks> {
    let spans = markdown.spans.iter().map(Vec::as_slice).chain(std::iter::repeat(&[][..]));
    document.pages.iter().zip(spans).map(|(page, spans)| page_blocks(page, spans)).collect()
}

fn page_blocks(page: &Page, spans: &[Option<[u64; 2]>]) -> PageBlocks {
    let spans = spans.iter().copied().chain(std::iter::repeat(None));
    let items = (0..).zip(page.blocks.iter().zip(spans)).map(|(place, (block, span))| item(page, place, block, span));
    let pixels = |points: f32| Some(f64::from((points * PIXELS).round()));
    let status = match (page.quality.cut, page.needs_ocr()) {
        (false, false) => "ok",
        (true, _) => "partial",
        (false, true) if page.quality.characters > 0 => "partial",
        (false, true) => "failed",
    };
    PageBlocks {
        page_number: page.number,
        status: status.to_owned(),
        width: pixels(page.width),
        height: pixels(page.height),
        items: items.collect(),
    }
}

fn item(page: &Page, place: u32, block: &Block, span: Option<[u64; 2]>) -> BlockItem {
    BlockItem {
        id: format!("p{}.b{place}", page.number),
        kind: kind(block.kind).to_owned(),
        label: Some(label(block).to_owned()),
        content: block_markdown(block),
        bbox: block.rect.share_of(page.width, page.height),
        markdown_span: span,
        reading_order: place,
        source: Some(source(page.source).to_owned()),
        confidence: Confidence { layout: Some(rounded(block.confidence)), ocr: block.recognition.map(rounded) },
    }
}

fn rounded(share: f32) -> f64 {
    (f64::from(share) * 100.0).round() / 100.0
}

fn source(source: TextSource) -> &'static str {
    match source {
        TextSource::Embedded => "native_text",
        TextSource::Recognised => "layout_ocr",
    }
}

fn kind(kind: BlockKind) -> &'static str {
    match kind {
        BlockKind::Title => "title",
        BlockKind::Heading => "section_header",
        BlockKind::Text => "text",
        BlockKind::Table => "table",
        BlockKind::Formula => "formula",
        BlockKind::Figure => "figure",
        BlockKind::Caption => "caption",
        BlockKind::PageNumber => "page_number",
        BlockKind::PageHeader => "page_header",
        BlockKind::PageFooter => "page_footer",
    }
}

fn label(block: &Block) -> &'static str {
    match (&block.content, block.kind) {
        (Content::List(_), _) => "list",
        (Content::Code(_), _) => "code",
        (_, BlockKind::Title) => "doc_title",
        (_, BlockKind::Heading) => "paragraph_title",
        (_, other) => kind(other),
    }
}
