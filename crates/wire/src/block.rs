//! `data.pages` and `data.blocks`: the physical pages of a document.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::words::words;

/// The markdown of one physical page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PageText {
    /// Counted from 1.
    #[schema(minimum = 1)]
    pub page_number: u32,
    /// Its text.
    pub markdown: String,
}

/// The layout of one physical page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PageBlocks {
    /// Counted from 1.
    #[schema(minimum = 1)]
    pub page_number: u32,
    /// Whether the page could be read.
    pub status: PageStatus,
    /// Rendered width in pixels.
    pub width: Option<f64>,
    /// Rendered height in pixels.
    pub height: Option<f64>,
    /// Its blocks in reading order.
    pub items: Vec<Block>,
}

words! {
    /// Whether a page could be read.
    pub enum PageStatus {
        /// All of it.
        Ok = "ok",
        /// Some of it.
        Partial = "partial",
        /// Nothing.
        Failed = "failed",
    }
}

/// One block of a page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Block {
    /// `p<page>.b<index>`, stable within one answer.
    pub id: String,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: BlockKind,
    /// What the layout model calls it.
    pub label: Option<String>,
    /// Its markdown.
    pub content: String,
    /// x0, y0, x1, y1, each 0 to 1.
    pub bbox: Option<[f64; 4]>,
    /// Where it stands in the markdown, `[start, end)` in characters; null when it was rewritten.
    pub markdown_span: Option<[u64; 2]>,
    /// Its place in reading order.
    pub reading_order: u32,
    /// The path through the pipeline.
    pub source: Option<String>,
    /// How sure we are. The object is always there.
    pub confidence: Confidence,
}

words! {
    /// What a block is.
    pub enum BlockKind {
        /// The title of the document.
        Title = "title",
        /// A heading.
        SectionHeader = "section_header",
        /// Running text.
        Text = "text",
        /// A table.
        Table = "table",
        /// A formula.
        Formula = "formula",
        /// A picture.
        Figure = "figure",
        /// Text to a picture or table.
        Caption = "caption",
        /// The number of the page.
        PageNumber = "page_number",
        /// What stands above every page.
        PageHeader = "page_header",
        /// What stands below every page.
        PageFooter = "page_footer",
    }
}

/// How sure we are, 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Confidence {
    /// Of the layout.
    pub layout: Option<f64>,
    /// Of the characters.
    pub ocr: Option<f64>,
}
