//! Answers without a model: from the page's own sentences.

use base::Stop;
use extractive::{Found, GaveUp, Page};

use crate::pick::{self, not_on_page};
use crate::summary::nothing_to_say;
use crate::{Answered, PageText, highlights, question, summary};

/// The sentences of a page, read once for many questions. CPU-bound work: for a thread, not for an async task.
#[derive(Debug)]
pub struct Sentences<'a> {
    page: Page<'a>,
    stop: &'a Stop,
}

impl<'a> Sentences<'a> {
    /// Reads a page.
    ///
    /// # Errors
    /// [`GaveUp`] when `stop` is set.
    pub fn read(page: &'a PageText, stop: &'a Stop) -> Result<Self, GaveUp> {
        Ok(Self { page: pick::read(page, stop)?, stop })
    }

    /// Returns at most three sentences that answer a question; a summary where it names nothing to look for.
    ///
    /// # Errors
    /// [`GaveUp`] when the work was stopped.
    pub fn question(&self, question: &str) -> Result<Answered<String>, GaveUp> {
        if !self.page.is_general(question) {
            return self.find(question::FIELD, question, |found| found.answer);
        }
        let answered = Answered::new(self.page.summary(self.stop)?).with(own_sentences(question::FIELD));
        Ok(if answered.value.is_empty() { answered.with(not_on_page(question::FIELD)) } else { answered.with(GENERAL) })
    }

    /// Returns the sentences that answer a question, one a line.
    ///
    /// # Errors
    /// [`GaveUp`] when the work was stopped.
    pub fn quote(&self, question: &str) -> Result<Answered<String>, GaveUp> {
        self.find(question::FIELD, question, |found| found.quote)
    }

    /// Returns the passages that answer a query, as markdown.
    ///
    /// # Errors
    /// [`GaveUp`] when the work was stopped.
    pub fn highlights(&self, query: &str) -> Result<Answered<String>, GaveUp> {
        self.find(highlights::FIELD, query, |found| found.highlights)
    }

    /// Returns three to six sentences that say what the page is about.
    ///
    /// # Errors
    /// [`GaveUp`] when the work was stopped.
    pub fn summary(&self) -> Result<Answered<String>, GaveUp> {
        let answered = Answered::new(self.page.summary(self.stop)?).with(own_sentences(summary::FIELD));
        Ok(if answered.value.is_empty() { answered.with(nothing_to_say()) } else { answered })
    }

    fn find(&self, field: &str, question: &str, part: impl Fn(Found) -> String) -> Result<Answered<String>, GaveUp> {
        let found = self.page.find(question, None, self.stop)?;
        let answered = Answered::new(found.map(part).unwrap_or_default()).with(own_sentences(field));
        Ok(if answered.value.is_empty() { answered.with(not_on_page(field)) } else { answered })
    }
}

const GENERAL: &str = "`answer` is a summary, as the question names nothing to look for";

/// Returns the warning of a result without a model.
fn own_sentences(field: &str) -> String {
    format!("`{field}` is made of the page's own sentences, without a language model")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_and_general_questions_are_answered() {
        let markdown = "# Page\n\nMARKER-ABOUT\n\nPlain filler sentence for the main content of this page.".to_owned();
        let page = PageText { markdown, language: "en".to_owned(), ..PageText::default() };
        let stop = Stop::new();
        let sentences = Sentences::read(&page, &stop).unwrap();
        assert_eq!(sentences.highlights("marker").unwrap().value, "MARKER-ABOUT");
        let none = sentences.highlights("giraffe").unwrap();
        assert!(none.value.is_empty() && none.warnings.len() == 2, "{none:?}");
        let general = sentences.question("What?").unwrap();
        assert!(general.value.contains("Plain filler") && general.warnings[1] == GENERAL, "{general:?}");
    }
}
