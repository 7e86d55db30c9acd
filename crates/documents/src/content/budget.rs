//! What one page, and what one document, may cost.
//!
//! A form may be drawn any number of times and draw others, so a small file can ask for more work than there is time in the
//! world. Every unit of work is paid for from the page's budget and from what is left for the document.

/// Operators of one page.
const MAX_OPERATORS: u32 = 4_000_000;
/// Runs of forms on one page.
const MAX_FORMS: u32 = 20_000;
/// Glyphs of one page.
const MAX_GLYPHS: usize = 250_000;
/// Lines, boxes, pictures and drawings of one page.
const MAX_SHAPES: usize = 60_000;
/// Operators of one document.
const MAX_DOCUMENT_OPERATORS: u64 = 60_000_000;
/// Bytes that the content streams of one document may have together.
const MAX_DOCUMENT_BYTES: usize = 512 << 20;

/// What is left for a document.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    operators: u64,
    bytes: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { operators: MAX_DOCUMENT_OPERATORS, bytes: MAX_DOCUMENT_BYTES }
    }
}

/// What is left for a page.
#[derive(Debug)]
pub(crate) struct PageBudget<'a> {
    document: &'a mut Budget,
    operators: u32,
    forms: u32,
}

impl<'a> PageBudget<'a> {
    pub(crate) fn new(document: &'a mut Budget) -> Self {
        Self { document, operators: MAX_OPERATORS, forms: MAX_FORMS }
    }

    /// Pays for an operator.
    pub(crate) fn operator(&mut self) -> bool {
        if self.operators == 0 || self.document.operators == 0 {
            return false;
        }
        self.operators -= 1;
        self.document.operators -= 1;
        true
    }

    /// Pays for the run of a form.
    pub(crate) fn form(&mut self) -> bool {
        self.forms = self.forms.saturating_sub(1);
        self.forms > 0
    }

    /// Bytes that a content stream may have.
    pub(crate) fn stream(&self, most: usize) -> usize {
        most.min(self.document.bytes)
    }

    /// Pays for the bytes of a content stream.
    pub(crate) fn bytes(&mut self, count: usize) {
        self.document.bytes = self.document.bytes.saturating_sub(count);
    }

    pub(crate) fn glyphs(&self, so_far: usize) -> bool {
        so_far < MAX_GLYPHS
    }

    pub(crate) fn shapes(&self, so_far: usize) -> bool {
        so_far < MAX_SHAPES
    }
}
