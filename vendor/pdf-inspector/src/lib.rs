//! What anydoc asks of a reader of PDFs, and the answer that there is none.
//!
//! anydoc depends on pdf-inspector without a way to leave it out. It is given no PDF here: `documents` reads those itself. So the
//! root manifest puts this in its place, which saves half of the time that the office feature takes to build, a second copy of
//! lopdf, and code that nobody calls.

/// Why a PDF could not be read.
#[derive(Debug)]
pub enum PdfError {
    /// The file could not be read.
    Io(std::io::Error),
    /// It could not be understood.
    Parse(String),
    /// It is encrypted.
    Encrypted,
    /// Its parts do not fit together.
    InvalidStructure,
    /// It is something else.
    NotAPdf(String),
}

/// What a PDF is read into.
#[derive(Debug)]
pub struct PdfProcessResult {
    /// What kind of PDF it is.
    pub pdf_type: &'static str,
    /// Number of pages.
    pub page_count: u32,
    /// Pages without text.
    pub pages_needing_ocr: Vec<u32>,
    /// Its text.
    pub markdown: Option<String>,
    /// Whether characters are wrong.
    pub has_encoding_issues: bool,
}

/// What single pages are read into.
#[derive(Debug)]
pub struct PagesExtractionResult {
    /// Pages without text.
    pub pages_needing_ocr: Vec<u32>,
}

/// Refuses the file.
///
/// # Errors
///
/// Always.
pub fn process_pdf_mem(_buffer: &[u8]) -> Result<PdfProcessResult, PdfError> {
    Err(refusal())
}

/// Refuses the file.
///
/// # Errors
///
/// Always.
pub fn extract_pages_markdown_mem(_buffer: &[u8], _pages: Option<&[u32]>) -> Result<PagesExtractionResult, PdfError> {
    Err(refusal())
}

fn refusal() -> PdfError {
    PdfError::Parse("PDFs are not read here".to_owned())
}
