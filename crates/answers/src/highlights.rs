//! The format `highlights`: passages of the page that answer a query, word for word.

use std::sync::Arc;

use extractive::HIGHLIGHTS;
use llm::prompt::PICK;

use crate::cache::Asked;
use crate::{Answered, Asking, PageText, Refusal, pick};

/// Name of the field that the passages go to.
pub(crate) const FIELD: &str = "highlights";

impl Asking<'_> {
    /// Returns the passages of a page that answer a query, as markdown in page order. Where the model picks none, these
    /// are sentences that have every word of the query, with a warning; without such, it is empty.
    ///
    /// # Errors
    /// [`Refusal`]; see its variants.
    pub async fn highlights(&self, page: &Arc<PageText>, query: &str) -> Result<Answered<String>, Refusal> {
        let asked = Asked { prompt: &PICK, field: FIELD, instruction: query, schema: None };
        self.cached(page, asked, self.new_highlights(page, query)).await
    }

    async fn new_highlights(&self, page: &Arc<PageText>, query: &str) -> Result<Answered<String>, Refusal> {
        let picked = self.pick(page, query, HIGHLIGHTS).await?;
        if picked.found.highlights.is_empty() {
            let (read, words) = (Arc::clone(page), query.to_owned());
            let found = self.work(move |stop| pick::read(&read, stop)?.find_words(&words, stop)).await?;
            if let Some(found) = found {
                return Ok(Answered { value: found.highlights, warnings: picked.warnings }.with(by_words()));
            }
        }
        Ok(picked.answered(FIELD, |found| found.highlights))
    }
}

/// Returns the warning of passages that the model has not picked.
fn by_words() -> String {
    format!("`{FIELD}`: the model picked no passage; these have every word of the query")
}
