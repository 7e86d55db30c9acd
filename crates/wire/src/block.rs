//! `data.pages` and `data.blocks`: the physical pages of a document.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::words::words;

/// The markdown of one physical page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PageText {
    /// Page number, counted from 1.
    #[schema(minimum = 1)]
    pub page_number: u32,
    /// Markdown of the page.
    pub markdown: String,
}

/// Layout of one physical page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PageBlocks {
    /// Page number, counted from 1.
    #[schema(minimum = 1)]
    pub page_number: u32,
    /// Whether the page was read completely, partially or not at all.
    pub status: PageStatus,
    /// Width of the rendered page, in pixels.
    pub width: Option<f64>,
    /// Height of the rendered page, in pixels.
    pub height: Option<f64>,
    /// Layout blocks of the page, in reading order.
    pub items: Vec<Block>,
}

words! {
    /// Result of reading one page.
    pub enum PageStatus {
        /// The whole page was read.
        Ok = "ok",
        /// Part of the page was read.
        Partial = "partial",
        /// No text could be read.
        Failed = "failed",
    }
}

/// One layout block of a page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Block {
    /// Block id, `p<page>.b<index>`; unique within one response.
    pub id: String,
    /// Type of the block.
    #[serde(rename = "type")]
    pub kind: BlockKind,
    /// Label that the layout model gave the block.
    pub label: Option<String>,
    /// Markdown of the block.
    pub content: String,
    /// Bounding box as `[x0, y0, x1, y1]`, each a fraction of the page from 0 to 1.
    pub bbox: Option<[f64; 4]>,
    /// Position in the document's markdown as `[start, end)`, in characters; null if the markdown was rewritten
    /// afterwards.
    pub markdown_span: Option<[u64; 2]>,
    /// Position in reading order.
    pub reading_order: u32,
    /// Stage of the pipeline that produced the block.
    pub source: Option<String>,
    /// Confidence scores of the block; the object is always present.
    pub confidence: Confidence,
}

words! {
    /// Type of a layout block.
    pub enum BlockKind {
        /// Title of the document.
        Title = "title",
        /// Heading.
        SectionHeader = "section_header",
        /// Body text.
        Text = "text",
        /// Table.
        Table = "table",
        /// Formula.
        Formula = "formula",
        /// Image or figure.
        Figure = "figure",
        /// Caption of a figure or table.
        Caption = "caption",
        /// Page number.
        PageNumber = "page_number",
        /// Running header.
        PageHeader = "page_header",
        /// Running footer.
        PageFooter = "page_footer",
    }
}

/// Confidence scores, from 0 to 1; null if unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Confidence {
    /// Confidence in the layout.
    pub layout: Option<f64>,
    /// Confidence in the recognised characters.
    pub ocr: Option<f64>,
}
