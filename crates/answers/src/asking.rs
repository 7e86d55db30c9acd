//! Questions of one request to the model.

use std::fmt;
use std::sync::Arc;

use base::Stop;
use extractive::GaveUp;
use futures_util::StreamExt as _;
use llm::extract::{Job, Readable};
use llm::pages::{Links, drop_unknown_urls};
use llm::prompt::Prompt;
use llm::schema::{Schema, list};
use llm::{Ask, AskError, Budget, Content, Correction, Model, Role, Source, Want, page_text, tokens};
use serde_json::Value;

use crate::cache::{Asked, Cache, key_of};
use crate::clean::{self, Cleaned, Cleaning};
use crate::{Answered, CacheUse, Context, PageText, Refusal};

/// Number of parts of one page that are asked about at the same time, if the endpoint has slots for them.
const PARALLEL: usize = 8;
/// Tokens of a question besides the page and the texts of the caller: system text, schema and separators.
const FRAME_TOKENS: u64 = 700;
/// Tokens that a part of a page needs at least: with fewer a page would take hundreds of calls.
const SMALLEST_ROOM: u64 = 500;
/// Bytes of a wrong answer that the model is shown again.
const SHOWN_ANSWER: usize = 4 << 10;

/// Questions of one request, with one budget. Every format is a method, in the file of its name.
pub struct Asking<'a> {
    model: &'a Model,
    cache: &'a Cache,
    budget: Budget,
    context: Context<'a>,
}

/// Parts of a question of this crate.
#[derive(Clone, Copy)]
pub(crate) struct Question<'a> {
    pub(crate) prompt: &'static Prompt,
    pub(crate) instruction: &'a str,
    pub(crate) sources: &'a [Source<'a>],
}

impl<'a> Asking<'a> {
    pub(crate) fn new(model: &'a Model, cache: &'a Cache, context: Context<'a>) -> Self {
        Self { model, cache, budget: model.budget(&context.owner.team, context.limit), context }
    }

    pub(crate) fn model(&self) -> &'a Model {
        self.model
    }

    /// Returns the job of an extraction from a page.
    pub(crate) fn job<'b>(
        &'b self,
        page: &Arc<PageText>,
        schema: Option<&'b Arc<Schema>>,
        instruction: &'b str,
    ) -> Job<'b> {
        Job {
            schema,
            instruction,
            page: Arc::clone(page) as Arc<dyn Readable>,
            owner: self.context.owner,
            budget: &self.budget,
            deadline: self.context.deadline,
            cpu: self.context.cpu,
        }
    }

    /// Removes what is left of the page's frame from its markdown; see [`clean::by_model`].
    ///
    /// # Errors
    /// [`Refusal::Model`] when the model does not answer in the right form.
    pub async fn clean(&self, markdown: &str) -> Result<Cleaned, Refusal> {
        let Context { owner, deadline, .. } = self.context;
        Ok(clean::by_model(self.model, &Cleaning { markdown, owner, budget: &self.budget, deadline }).await?)
    }

    /// Returns the tokens that a part of a page may have beside this instruction and `beside`.
    ///
    /// # Errors
    /// [`AskError::TooLong`] when nearly nothing is left for the page.
    pub(crate) fn room(&self, instruction: &str, beside: &str) -> Result<u64, Refusal> {
        let window = self.model.window(Role::Extract);
        let used = window.output + FRAME_TOKENS + tokens::estimate(instruction) + tokens::estimate(beside);
        let room = window.context.saturating_sub(used);
        if room < SMALLEST_ROOM { Err(AskError::TooLong.into()) } else { Ok(room) }
    }

    /// Asks for plain text, which is returned without what people cannot see.
    pub(crate) async fn text(&self, question: Question<'_>) -> Result<Text, Refusal> {
        let answer = self.model.ask(&self.ask(question, Want::Text, None)).await?;
        let text = match answer.content {
            Content::Text(text) => text,
            Content::Json(value) => value.to_string(),
        };
        Ok(Text { text: page_text::clean(text.trim()).into_owned(), is_cut: answer.cut })
    }

    /// Asks for JSON by a schema of ours, and once more if the answer is not valid. An answer that is still none comes
    /// back as the text that it is.
    pub(crate) async fn value(
        &self,
        question: Question<'_>,
        schema: &Schema,
    ) -> Result<Result<Value, String>, Refusal> {
        let first = self.model.ask(&self.ask(question, Want::Json(schema), None)).await?;
        let (text, errors) = match first.content {
            // A model that does not do JSON will not do it when asked again.
            Content::Text(text) if !text.contains('{') => return Ok(Err(text)),
            Content::Text(text) => (text, "not JSON".to_owned()),
            Content::Json(value) => match schema.accept(value.clone()) {
                Ok(accepted) => return Ok(Ok(accepted.value)),
                Err(faults) => (value.to_string(), list(&faults)),
            },
        };
        let correction =
            Correction { answer: &text[..text.floor_char_boundary(SHOWN_ANSWER)], errors: errors.as_str() };
        let second = self.model.ask(&self.ask(question, Want::Json(schema), Some(correction))).await?;
        match second.content {
            Content::Json(value) => Ok(schema.accept(value).map(|accepted| accepted.value).map_err(|_| String::new())),
            Content::Text(text) => Ok(Err(text)),
        }
    }

    /// Returns a cached answer, else that of `answer`, which is stored.
    pub(crate) async fn cached<T: Cached>(
        &self,
        page: &PageText,
        asked: Asked<'_>,
        answer: impl Future<Output = Result<Answered<T>, Refusal>>,
    ) -> Result<Answered<T>, Refusal> {
        let CacheUse { max_age, stores } = self.context.cache;
        if self.context.private || (max_age.is_none() && !stores) {
            return answer.await;
        }
        let key = key_of(self.model, &self.context.owner.team, page, asked);
        if let Some(found) = max_age.and_then(|max_age| self.cache.get(&key, max_age))
            && let Some(value) = T::of_cache(found.value)
        {
            return Ok(Answered { value, warnings: found.warnings });
        }
        let answered = answer.await?;
        if stores {
            let Answered { value, warnings } = &answered;
            self.cache.put(key, &Answered { value: value.to_cache(), warnings: warnings.clone() });
        }
        Ok(answered)
    }

    /// Runs work on a page where CPU-bound work runs.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Stop) -> Result<T, GaveUp> + Send + 'static,
    ) -> Result<T, Refusal> {
        let Context { owner, deadline, cpu, .. } = self.context;
        Ok(cpu.run(owner, deadline, work).await??)
    }

    /// Asks about every part of a page, several at the same time, and returns the answers in page order.
    pub(crate) async fn each<T, F: Future<Output = T>>(&self, asking: Vec<F>) -> Vec<T> {
        let asking = asking.into_iter().enumerate().map(|(index, answer)| async move { (index, answer.await) });
        let asking: Vec<_> = asking.collect();
        // As they come: one that is repeated after a pause holds up no other.
        let mut answers: Vec<_> = futures_util::stream::iter(asking).buffer_unordered(PARALLEL).collect().await;
        answers.sort_by_key(|(index, _)| *index);
        answers.into_iter().map(|(_, answer)| answer).collect()
    }

    fn ask<'b>(&'b self, question: Question<'b>, want: Want<'b>, correction: Option<Correction<'b>>) -> Ask<'b> {
        let Question { prompt, instruction, sources } = question;
        Ask {
            role: Role::Extract,
            prompt,
            instruction,
            sources,
            want,
            correction,
            owner: self.context.owner,
            budget: &self.budget,
            deadline: self.context.deadline,
        }
    }
}

impl fmt::Debug for Asking<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asking").field("model", self.model).finish_non_exhaustive()
    }
}

/// Result that can be cached.
pub(crate) trait Cached: Sized {
    fn to_cache(&self) -> Value;
    fn of_cache(value: Value) -> Option<Self>;
}

impl Cached for Value {
    fn to_cache(&self) -> Value {
        self.clone()
    }

    fn of_cache(value: Value) -> Option<Self> {
        Some(value)
    }
}

impl Cached for String {
    fn to_cache(&self) -> Value {
        Value::String(self.clone())
    }

    fn of_cache(value: Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }
}

/// Text of a model.
pub(crate) struct Text {
    pub(crate) text: String,
    /// Whether the limit of tokens has cut it.
    pub(crate) is_cut: bool,
}

/// Removes the URLs of a text that are no links of the page. Returns the text, and how many these were.
pub(crate) fn without_foreign_urls(text: String, page: &PageText) -> (String, usize) {
    let mut value = Value::String(text);
    let links = Links::of(page.links.iter().map(String::as_str));
    let dropped = drop_unknown_urls(&mut value, &links, None);
    match value {
        Value::String(text) => (text.trim().to_owned(), dropped),
        _ => (String::new(), dropped),
    }
}
