//! The format `summary`: three to six sentences about a page, in its language.

use std::sync::Arc;

use llm::prompt::SUMMARY;
use llm::{Source, pages};

use crate::asking::{Question, Text, without_foreign_urls};
use crate::pick;
use crate::question::fits;
use crate::{Answered, Asking, PageText, Refusal};

/// Name of the field that the summary goes to.
pub(crate) const FIELD: &str = "summary";
/// Most sentences of a summary.
const LONGEST: usize = 6;
const TASK: &str = "Summarise this page in 3 to 6 sentences.";
const TASK_OF_PART: &str = "Summarise this part of a page in 3 to 6 sentences.";
const TASK_OF_WHOLE: &str =
    "These are summaries of the parts of one page, in page order. Summarise the page in 3 to 6 sentences.";

impl Asking<'_> {
    /// Summarises a page. One that does not fit into one question is summarised in parts, and these once more.
    ///
    /// # Errors
    /// [`Refusal`]; see its variants.
    pub async fn summary(&self, page: &Arc<PageText>) -> Result<Answered<String>, Refusal> {
        if page.markdown.trim().is_empty() {
            return Ok(Answered::new(String::new()).with(nothing_to_say()));
        }
        let room = self.room(TASK_OF_WHOLE, &page.title)?;
        let (said, mut warnings) = if fits(&page.markdown, room) {
            (self.summed(page, Part { task: TASK, text: &page.markdown }).await?, Vec::new())
        } else {
            let parts = self.summed_in_parts(page, room).await?;
            (self.summed(page, Part { task: TASK_OF_WHOLE, text: &parts.text }).await?, parts.warnings)
        };
        if said.is_cut {
            warnings.push(format!("`{FIELD}`: the answer of the model was cut, so that its end may be missing"));
        }
        let (text, dropped) = without_foreign_urls(said.text, page);
        if dropped > 0 {
            warnings.push(format!("`{FIELD}`: removed {dropped} URLs that are no links of the page"));
        }
        let value = self.shortened(text).await?;
        if value.is_empty() { Err(Refusal::Unusable) } else { Ok(Answered { value, warnings }) }
    }

    /// Returns the summaries of the parts of a page.
    async fn summed_in_parts(&self, page: &Arc<PageText>, room: u64) -> Result<Parts, Refusal> {
        let read = Arc::clone(page);
        let chunks = self.work(move |_| Ok(pages::cut(&read.markdown, room))).await?;
        let parts = chunks.iter().map(|chunk| Part { task: TASK_OF_PART, text: &chunk.text });
        let asked: Vec<_> = parts.map(|part| self.summed(page, part)).collect();
        let mut answers = self.each(asked).await;
        let failed = answers.iter().filter(|answer| answer.is_err()).count();
        if failed == answers.len() {
            return Err(answers.pop().and_then(Result::err).unwrap_or(Refusal::Unusable));
        }
        let said: Vec<String> = answers.into_iter().flatten().map(|said| said.text).collect();
        let warning = format!("`{FIELD}`: {failed} of {} parts of the page could not be read", chunks.len());
        let mut text = said.join("\n\n");
        // Summaries of hundreds of parts: the beginning of the page says what it is about.
        while !fits(&text, room) {
            text.truncate(text.floor_char_boundary(text.len() / 2));
        }
        Ok(Parts { text, warnings: if failed > 0 { vec![warning] } else { Vec::new() } })
    }

    async fn summed(&self, page: &PageText, part: Part<'_>) -> Result<Text, Refusal> {
        let sources =
            [Source { label: "title of the page", text: &page.title }, Source { label: "page text", text: part.text }];
        let sources = if page.title.is_empty() { &sources[1..] } else { &sources[..] };
        self.text(Question { prompt: &SUMMARY, instruction: part.task, sources }).await
    }

    /// Returns a summary without what exceeds its length.
    async fn shortened(&self, text: String) -> Result<String, Refusal> {
        self.work(move |stop| {
            let said = PageText { markdown: text, ..PageText::default() };
            let read = pick::read(&said, stop)?;
            if read.sentences().count() <= LONGEST {
                drop(read);
                return Ok(said.markdown);
            }
            Ok(read.sentences().take(LONGEST).collect::<Vec<_>>().join(" "))
        })
        .await
    }
}

/// Returns the warning of a page without text.
pub(crate) fn nothing_to_say() -> String {
    format!("`{FIELD}` is empty: the page has no text")
}

/// Text, and what to do with it.
struct Part<'a> {
    task: &'static str,
    text: &'a str,
}

/// Summaries of the parts of a page.
struct Parts {
    text: String,
    warnings: Vec<String>,
}
