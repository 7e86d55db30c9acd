//! Sentences of a page that a model picks by their numbers. The text is cut from the page, so that no quote is altered.

use std::sync::Arc;

use base::Stop;
use extractive::{Found, GaveUp, Page, Source as Text};
use llm::prompt::PICK;
use llm::schema::Schema;
use llm::{Source, tokens};
use serde_json::{Value, json};

use crate::asking::Question;
use crate::{Answered, Asking, PageText, Refusal};

/// Most numbers of one answer that are used.
const MOST: usize = 24;

/// Sentences of a page with their numbers, as many as fit into one question.
struct Part {
    text: String,
    tokens: u64,
}

/// Passages picked by a model.
pub(crate) struct Picked {
    pub(crate) found: Found,
    pub(crate) warnings: Vec<String>,
}

impl Asking<'_> {
    /// Asks which sentences answer a question. `longest` is the maximum length of the passages, in characters.
    ///
    /// # Errors
    /// [`Refusal`] when no part of the page could be asked about. A part that fails among others is a warning.
    pub(crate) async fn pick(&self, page: &Arc<PageText>, question: &str, longest: usize) -> Result<Picked, Refusal> {
        let (room, read) = (self.room(question, &page.title)?, Arc::clone(page));
        let parts = self.work(move |stop| Ok(numbered(&self::read(&read, stop)?, room))).await?;
        let schema = schema()?;
        let asked = parts.iter().map(|part| Asked { part, schema: &schema });
        let asked: Vec<_> = asked.map(|asked| self.numbers(page, question, asked)).collect();
        let mut answers = self.each(asked).await;
        if !answers.is_empty() && answers.iter().all(Result::is_err) {
            return Err(answers.pop().and_then(Result::err).unwrap_or(Refusal::Unusable));
        }
        let failed = answers.iter().filter(|answer| answer.is_err()).count();
        let warning = format!("{failed} of {} parts of the page could not be asked about", parts.len());
        let warnings = if failed > 0 { vec![warning] } else { Vec::new() };
        let (numbers, read) = (by_rank(&answers.into_iter().flatten().collect::<Vec<_>>()), Arc::clone(page));
        let found = self.work(move |stop| Ok(self::read(&read, stop)?.picked(&numbers, longest))).await?;
        Ok(Picked { found, warnings })
    }

    /// Returns the numbers that the model gives for one part, counted from 0, the most relevant first.
    async fn numbers(&self, page: &PageText, question: &str, asked: Asked<'_>) -> Result<Vec<usize>, Refusal> {
        let sources = [
            Source { label: "title of the page", text: &page.title },
            Source { label: "page text, one numbered sentence a line", text: &asked.part.text },
        ];
        let sources = if page.title.is_empty() { &sources[1..] } else { &sources[..] };
        let answer = self.value(Question { prompt: &PICK, instruction: question, sources }, asked.schema).await?;
        let numbers: Vec<u64> = match answer {
            Ok(value) => value["sentences"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect(),
            Err(text) => in_text(&text).ok_or(Refusal::Unusable)?,
        };
        let from_zero = |number: u64| usize::try_from(number).ok()?.checked_sub(1);
        Ok(numbers.into_iter().filter_map(from_zero).take(MOST).collect())
    }
}

struct Asked<'a> {
    part: &'a Part,
    schema: &'a Schema,
}

impl Picked {
    /// Returns a part of what was found, with a warning where it is empty.
    pub(crate) fn answered(self, field: &str, part: impl Fn(Found) -> String) -> Answered<String> {
        let Self { found, warnings } = self;
        let answered = Answered { value: part(found), warnings };
        if answered.value.is_empty() { answered.with(not_on_page(field)) } else { answered }
    }
}

/// Returns the warning of an empty result.
pub(crate) fn not_on_page(field: &str) -> String {
    format!("`{field}` is empty: the page has nothing that answers it")
}

/// Reads a page as sentences.
pub(crate) fn read<'a>(page: &'a PageText, stop: &Stop) -> Result<Page<'a>, GaveUp> {
    Page::read(&Text { markdown: &page.markdown, title: &page.title, language: &page.language }, stop)
}

/// Returns the sentences of a page, each on a line with its number from 1, in parts of at most `room` tokens. One that
/// is longer is cut: what stands there is not shown to the model.
fn numbered(page: &Page<'_>, room: u64) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for (index, sentence) in page.sentences().enumerate() {
        let mut line = format!("{}: {sentence}\n", index + 1);
        let mut tokens = tokens::estimate(&line);
        if tokens > room {
            // No character counts as less than a twelfth of a token, and most as a quarter.
            line.truncate(line.floor_char_boundary(usize::try_from(room).unwrap_or(usize::MAX)));
            line.push('\n');
            tokens = room;
        }
        match parts.last_mut() {
            Some(part) if part.tokens + tokens <= room => {
                part.text.push_str(&line);
                part.tokens += tokens;
            }
            _ => parts.push(Part { text: line, tokens }),
        }
    }
    parts
}

fn schema() -> Result<Schema, Refusal> {
    Ok(Schema::read(json!({
        "type": "object",
        "properties": { "sentences": {
            "type": "array", "items": { "type": "integer" },
            "description": "Numbers of the sentences, the most relevant first; empty if none answers the task.",
        } },
        "required": ["sentences"],
        "additionalProperties": false,
    }))?)
}

/// Returns the numbers of a text that holds nothing else, such as `3, 7`.
fn in_text(text: &str) -> Option<Vec<u64>> {
    let is_plain = |c: char| c.is_ascii_digit() || c.is_whitespace() || ",;[]().".contains(c);
    let numbers: Vec<u64> =
        text.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect();
    (!numbers.is_empty() && text.chars().all(is_plain)).then_some(numbers)
}

/// Merges lists by rank: the first ones of all lists, then the second ones.
fn by_rank(lists: &[Vec<usize>]) -> Vec<usize> {
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    (0..longest).flat_map(|rank| lists.iter().filter_map(move |list| list.get(rank).copied())).collect()
}
