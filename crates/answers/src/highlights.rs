//! The format `highlights`: passages of the page that answer a query, word for word.

use std::sync::Arc;

use extractive::HIGHLIGHTS;

use crate::{Answered, Asking, PageText, Refusal};

/// Name of the field that the passages go to.
pub(crate) const FIELD: &str = "highlights";

impl Asking<'_> {
    /// Returns the passages of a page that answer a query, as markdown in page order: empty, with a warning, where
    /// nothing does.
    ///
    /// # Errors
    /// [`Refusal`]; see its variants.
    pub async fn highlights(&self, page: &Arc<PageText>, query: &str) -> Result<Answered<String>, Refusal> {
        let picked = self.pick(page, query, HIGHLIGHTS).await?;
        Ok(picked.answered(FIELD, |found| found.highlights))
    }
}
