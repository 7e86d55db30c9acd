//! The formats `question` and `query`: an answer to a question, in the model's own words or in quotes of the page.

use std::sync::Arc;

use extractive::HIGHLIGHTS;
use llm::Source;
use llm::prompt::{ANSWER, PICK};
use llm::schema::Schema;
use serde_json::json;

use crate::asking::{Question, without_foreign_urls};
use crate::cache::Asked;
use crate::pick::not_on_page;
use crate::{Answered, Asking, PageText, Refusal};

/// Name of the field that the answer goes to.
pub(crate) const FIELD: &str = "answer";

impl Asking<'_> {
    /// Answers a question about a page in the model's own words: empty, with a warning, where the page does not answer
    /// it. A page that does not fit into one question is answered from the passages that the model picks from it.
    ///
    /// # Errors
    /// [`Refusal`]; see its variants.
    pub async fn question(&self, page: &Arc<PageText>, question: &str) -> Result<Answered<String>, Refusal> {
        let asked = Asked { prompt: &ANSWER, field: FIELD, instruction: question, schema: None };
        self.cached(page, asked, self.new_answer(page, question)).await
    }

    async fn new_answer(&self, page: &Arc<PageText>, question: &str) -> Result<Answered<String>, Refusal> {
        let room = self.room(question, &page.title)?;
        // Structured data is often longer than the page, and says less.
        let structured = Some(page.structured.as_str()).filter(|text| fits(text, room / 8)).unwrap_or_default();
        let facts = Some(page.facts.as_str()).filter(|text| fits(text, room / 8)).unwrap_or(&page.title);
        if fits(&page.markdown, room - room / 4) {
            return self.answer(page, question, Material { text: &page.markdown, facts, structured }).await;
        }
        // Fewer characters than the room has, whatever their script.
        let longest = usize::try_from(room / 2).unwrap_or(usize::MAX);
        let picked = self.pick(page, question, longest).await?;
        if picked.found.highlights.is_empty() {
            return Ok(picked.answered(FIELD, |_| String::new()));
        }
        let material = Material { text: &picked.found.highlights, facts, structured };
        let mut answered = self.answer(page, question, material).await?;
        answered.warnings.extend(picked.warnings);
        Ok(answered)
    }

    /// Answers a question with sentences of the page, word for word.
    ///
    /// # Errors
    /// [`Refusal`]; see its variants.
    pub async fn quote(&self, page: &Arc<PageText>, question: &str) -> Result<Answered<String>, Refusal> {
        let asked = Asked { prompt: &PICK, field: FIELD, instruction: question, schema: None };
        let answer = async { Ok(self.pick(page, question, HIGHLIGHTS).await?.answered(FIELD, |found| found.quote)) };
        self.cached(page, asked, answer).await
    }

    async fn answer(
        &self,
        page: &PageText,
        question: &str,
        material: Material<'_>,
    ) -> Result<Answered<String>, Refusal> {
        let Material { text, facts, structured } = material;
        let all = [
            Source { label: "page text", text },
            Source { label: "title, URL and metadata of the page", text: facts },
            Source { label: "structured data of the page, a second source", text: structured },
        ];
        let sources: Vec<Source<'_>> = all.into_iter().filter(|source| !source.text.trim().is_empty()).collect();
        let asked = Question { prompt: &ANSWER, instruction: question, sources: &sources };
        let said = match self.value(asked, &schema()?).await? {
            Ok(value) => value["answer"].as_str().unwrap_or_default().to_owned(),
            // Small models answer in plain text, whatever they were asked for.
            Err(text) if !text.trim().is_empty() => text,
            Err(_) => return Err(Refusal::Unusable),
        };
        let said = llm::page_text::clean(said.trim()).into_owned();
        let (value, dropped) = without_foreign_urls(said, page);
        let mut answered = Answered::new(value);
        if dropped > 0 {
            answered = answered.with(format!("`{FIELD}`: removed {dropped} URLs that are no links of the page"));
        }
        Ok(if answered.value.is_empty() { answered.with(not_on_page(FIELD)) } else { answered })
    }
}

/// Texts that an answer is made of.
struct Material<'a> {
    text: &'a str,
    facts: &'a str,
    structured: &'a str,
}

/// Whether a text has at most this many tokens.
pub(crate) fn fits(text: &str, room: u64) -> bool {
    // No character counts as less than a twelfth of a token.
    text.len() as u64 <= room.saturating_mul(48) && llm::tokens::estimate(text) <= room
}

fn schema() -> Result<Schema, Refusal> {
    Ok(Schema::read(json!({
        "type": "object",
        "properties": { "answer": {
            "type": "string",
            "description": "The answer to the question; empty if the data does not answer it.",
        } },
        "required": ["answer"],
        "additionalProperties": false,
    }))?)
}
