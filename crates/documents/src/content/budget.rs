//! Work limits of one page and of one document.
//!
//! A form may be drawn any number of times and may draw others, so a small file can demand an unlimited amount of work.
//! Every unit of work is charged to the budget of the page and to that of the document.

/// Maximum number of operators on one page.
const MAX_OPERATORS: u32 = 4_000_000;
/// Maximum number of form runs on one page.
const MAX_FORMS: u32 = 20_000;
/// Maximum number of glyphs on one page.
const MAX_GLYPHS: usize = 250_000;
/// Maximum number of each kind of shape (lines and boxes, images) on one page.
const MAX_SHAPES: usize = 60_000;
/// Maximum number of operators in one document.
const MAX_DOCUMENT_OPERATORS: u64 = 60_000_000;
/// Maximum size of all content streams of one document, in bytes.
const MAX_DOCUMENT_BYTES: usize = 512 << 20;

/// Remaining budget of a document.
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

/// Remaining budget of a page.
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

    /// Charges an operator; returns false if the budget is spent.
    pub(crate) fn operator(&mut self) -> bool {
        if self.operators == 0 || self.document.operators == 0 {
            return false;
        }
        self.operators -= 1;
        self.document.operators -= 1;
        true
    }

    /// Charges the run of a form; returns false if the budget is spent.
    pub(crate) fn form(&mut self) -> bool {
        self.forms = self.forms.saturating_sub(1);
        self.forms > 0
    }

    /// Returns the maximum size of the next content stream, in bytes.
    pub(crate) fn stream(&self, most: usize) -> usize {
        most.min(self.document.bytes)
    }

    /// Charges the bytes of a content stream.
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
