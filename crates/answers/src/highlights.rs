//! The format `highlights`: passages of the page that answer a query, word for word.

use std::sync::Arc;

use extractive::HIGHLIGHTS;
use llm::prompt::PICK;

use crate::cache::Asked;
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
        let asked = Asked { prompt: &PICK, field: FIELD, instruction: query, schema: None };
        let answer = async { Ok(self.pick(page, query, HIGHLIGHTS).await?.answered(FIELD, |found| found.highlights)) };
        self.cached(page, asked, answer).await
    }
}
