//! Grammar of plain instructions.

mod asking;
mod doing;
mod going;
#[cfg(test)]
mod tests;

use super::target::Target;
use super::words::{Word, after, join, words};

/// One instruction.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Order {
    Click(Target),
    DoubleClick(Target),
    Hover(Target),
    Check(Target, bool),
    /// Types a text into a field, or into the focused element.
    Fill(String, Option<Target>),
    /// Types a text into the search box and presses Enter.
    Search(String),
    /// Selects an option, in a list or in any that has it.
    Select(String, Option<Target>),
    Press(String),
    Scroll(Way),
    GoTo(String),
    Back,
    Forward,
    Reload,
    /// Waits a number of milliseconds.
    Wait(f64),
    WaitFor(String),
    Read(What),
    Screenshot,
}

/// Direction or target of scrolling.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Way {
    Up,
    Down,
    Top,
    Bottom,
    To(Target),
}

/// Object of reading.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum What {
    Title,
    Url,
    Text,
    /// All elements of a kind.
    All(Target),
    /// Number of elements of a kind.
    Count(Target),
    /// Text of one element.
    One(Target),
}

/// Words that begin an instruction.
const VERBS: &[&str] = &[
    "click",
    "tap",
    "press",
    "push",
    "hit",
    "double-click",
    "doubleclick",
    "type",
    "enter",
    "write",
    "fill",
    "input",
    "put",
    "insert",
    "select",
    "choose",
    "pick",
    "check",
    "tick",
    "uncheck",
    "untick",
    "hover",
    "scroll",
    "go",
    "goto",
    "open",
    "visit",
    "navigate",
    "load",
    "browse",
    "back",
    "forward",
    "reload",
    "refresh",
    "wait",
    "read",
    "get",
    "extract",
    "tell",
    "what",
    "what's",
    "show",
    "list",
    "give",
    "return",
    "print",
    "count",
    "how",
    "take",
    "screenshot",
    "capture",
    "search",
    "submit",
    "set",
];
/// Polite or connecting words before an instruction.
const POLITE: &[&[&str]] = &[
    &["please"],
    &["now"],
    &["kindly"],
    &["can", "you"],
    &["could", "you"],
    &["just"],
    &["next"],
    &["finally"],
    &["also"],
];

/// Parses a prompt into instructions.
///
/// # Errors
/// The part that is not an instruction.
pub(super) fn parse(text: &str) -> Result<Vec<Order>, String> {
    let all = words(text);
    let parts = parts(&all);
    if parts.is_empty() {
        return Err(text.trim().to_owned());
    }
    parts.into_iter().map(|part| order(part).ok_or_else(|| join(part))).collect()
}

/// Splits a prompt into instructions: at `then`, and at `and` or a comma before a verb.
fn parts(all: &[Word]) -> Vec<&[Word]> {
    let mut parts = Vec::new();
    let mut start = 0;
    for at in 0..all.len() {
        let before_verb = all.get(at + 1).is_some_and(begins_order);
        let word = &all[at];
        let is = |text: &str| !word.is_quoted && word.small == text;
        if is("then") || is("and") && before_verb {
            parts.push(&all[start..at]);
            start = at + 1;
        } else if word.ends && all.get(at + 1).is_some_and(|next| begins_order(next) || next.small == "then") {
            parts.push(&all[start..=at]);
            start = at + 1;
        }
    }
    parts.push(&all[start..]);
    let and = |part: &&[Word]| !part.is_empty() && after(part, &["and"]).is_none_or(|rest| !rest.is_empty());
    let bare = parts.into_iter().filter(and).map(|part| {
        let part = after(part, &["and"]).unwrap_or(part);
        match part.split_last() {
            Some((last, rest)) if !last.is_quoted && last.small == "and" => rest,
            _ => part,
        }
    });
    bare.filter(|part| !part.is_empty()).collect()
}

fn begins_order(word: &Word) -> bool {
    !word.is_quoted && (VERBS.contains(&word.small.as_str()) || word.small == "please")
}

fn order(words: &[Word]) -> Option<Order> {
    let mut words = words;
    while let Some(rest) = POLITE.iter().find_map(|polite| after(words, polite)) {
        words = rest;
    }
    // `First, click …`
    if let Some(rest) = after(words, &["first"]).filter(|rest| rest.first().is_some_and(begins_order)) {
        words = rest;
    }
    going::order(words)
        .or_else(|| doing::pointing(words))
        .or_else(|| doing::typing(words))
        .or_else(|| asking::waiting(words))
        .or_else(|| asking::reading(words))
}

/// Returns the words after one of several beginnings.
fn any<'a>(words: &'a [Word], starts: &[&[&str]]) -> Option<&'a [Word]> {
    starts.iter().find_map(|start| after(words, start))
}
