//! Cleaning by a model: it sees numbered blocks and answers with numbers, so that it cannot change a text.

use std::fmt::Write as _;

use base::Owner;
use llm::{Ask, AskError, Budget, Content, Model, Role, Source, Want, prompt, tokens};
use serde_json::Value;
use tokio::time::Instant;

use super::blocks::{self, Block, Kind};
use super::{Cleaned, IMPLAUSIBLE, TOO_LONG, form, rules, without};

/// Maximum length of a block that the model is shown, in bytes: its beginning tells what it is.
const MAX_SHOWN: usize = 600;
/// Tokens of the question besides the blocks.
const FRAME_TOKENS: u64 = 700;

/// Markdown to be cleaned by a model.
pub struct Cleaning<'a> {
    /// Markdown of a page. It is untrusted.
    pub markdown: &'a str,
    /// Owner of the call, for the fair queue.
    pub owner: &'a Owner,
    /// Budget of the request.
    pub budget: &'a Budget,
    /// Time at which the answer is of no more use.
    pub deadline: Instant,
}

/// Asks a model which blocks are leftovers, and removes them.
///
/// Code, tables and headings with content below them stay, whatever the model says. Markdown that is longer than the output
/// limit of the model stays as it is, with a warning; so does a page of which the model would remove most.
///
/// # Errors
/// [`AskError`]; [`AskError::Empty`] also for an answer in the wrong form.
pub async fn by_model(model: &Model, cleaning: &Cleaning<'_>) -> Result<Cleaned, AskError> {
    let markdown = cleaning.markdown;
    let unchanged = |warning: Option<&str>| Cleaned {
        markdown: markdown.to_owned(),
        removed: 0,
        warning: warning.map(str::to_owned),
    };
    let window = model.window(Role::Clean);
    if tokens::estimate(markdown) > window.output {
        return Ok(unchanged(Some(TOO_LONG)));
    }
    let blocks = blocks::of(markdown);
    let shown = numbered(markdown, &blocks);
    if tokens::estimate(&shown) + window.output + FRAME_TOKENS > window.context {
        return Ok(unchanged(Some(TOO_LONG)));
    }
    let numbers = match blocks.is_empty() {
        true => Vec::new(),
        false => numbers(model, cleaning, &shown).await?,
    };
    let is_left = chosen(&blocks, &numbers);
    if is_most(&blocks, &is_left) {
        return Ok(unchanged(Some(IMPLAUSIBLE)));
    }
    let (markdown, removed) = without(markdown, &blocks, &is_left);
    Ok(Cleaned { markdown, removed, warning: None })
}

async fn numbers(model: &Model, cleaning: &Cleaning<'_>, shown: &str) -> Result<Vec<usize>, AskError> {
    let schema = form().ok_or(AskError::Empty)?;
    let ask = Ask {
        role: Role::Clean,
        prompt: &prompt::CLEAN,
        instruction: "Find the leftovers.",
        sources: &[Source { label: "blocks of the page", text: shown }],
        want: Want::Json(schema),
        correction: None,
        owner: cleaning.owner,
        budget: cleaning.budget,
        deadline: cleaning.deadline,
    };
    let Content::Json(answer) = model.ask(&ask).await?.content else { return Err(AskError::Empty) };
    let answer = schema.accept(answer).map_err(|_| AskError::Empty)?.value;
    let numbers = answer["leftovers"].as_array().into_iter().flatten().filter_map(Value::as_u64);
    Ok(numbers.filter_map(|number| usize::try_from(number).ok()).collect())
}

/// Returns the blocks with their numbers, counted from 1.
fn numbered(markdown: &str, blocks: &[Block]) -> String {
    let mut shown = String::new();
    for (index, block) in blocks.iter().enumerate() {
        let text = markdown[block.place.clone()].trim();
        let cut = &text[..text.floor_char_boundary(MAX_SHOWN)];
        let more = if cut.len() < text.len() { " …" } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(shown, "[{}]\n{cut}{more}\n\n", index + 1);
    }
    shown
}

/// Returns which blocks go: those with a chosen number that may go, and chosen headings with nothing left below them.
fn chosen(blocks: &[Block], numbers: &[usize]) -> Vec<bool> {
    let mut is_chosen = vec![false; blocks.len()];
    for number in numbers {
        if let Some(place) = number.checked_sub(1).and_then(|index| is_chosen.get_mut(index)) {
            *place = true;
        }
    }
    let goes = |(block, is_chosen): (&Block, &bool)| *is_chosen && rules::may_go(block.kind);
    let mut is_left: Vec<bool> = blocks.iter().zip(&is_chosen).map(goes).collect();
    for index in (0..blocks.len()).rev() {
        if matches!(blocks[index].kind, Kind::Heading(_)) && is_chosen[index] {
            is_left[index] = rules::is_empty_below(blocks, &is_left, index);
        }
    }
    is_left
}

/// Whether more than half of the text that is no link would go.
fn is_most(blocks: &[Block], is_left: &[bool]) -> bool {
    let plain = |only_left: bool| -> usize {
        let counted = blocks.iter().zip(is_left).filter(|(_, is_left)| !only_left || **is_left);
        counted.map(|(block, _)| block.plain).sum()
    };
    plain(true) * 2 > plain(false)
}
