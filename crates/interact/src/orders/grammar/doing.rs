//! Instructions about an element.

use super::{Order, any};
use crate::orders::target::target;
use crate::orders::words::{Word, after, join};

pub(super) fn pointing(words: &[Word]) -> Option<Order> {
    if let Some(rest) = any(words, &[&["double-click"], &["doubleclick"], &["double", "click"]]) {
        return target(rest).map(Order::DoubleClick);
    }
    if let Some(rest) = any(words, &[&["press"], &["hit"], &["push"], &["type"]])
        .or_else(|| Some(words).filter(|words| words.len() == 1))
    {
        let rest = any(rest, &[&["the"]]).unwrap_or(rest);
        let (key, rest) = rest.split_last().map(|(last, before)| {
            if last.small == "key" && !before.is_empty() { (before, true) } else { (rest, false) }
        })?;
        let name = join(key);
        let quoted = key.iter().any(|word| word.is_quoted);
        if !quoted && (is_key(&name) || rest && name.chars().count() == 1) {
            return Some(Order::Press(name));
        }
    }
    if let Some(rest) = any(words, &[&["click"], &["tap"], &["press"], &["push"], &["hit"]]) {
        return target(rest).map(Order::Click);
    }
    if after(words, &["submit"]).is_some_and(|rest| rest.is_empty() || join(rest).eq_ignore_ascii_case("the form")) {
        return Some(Order::Press("Enter".to_owned()));
    }
    if let Some(rest) = any(words, &[&["hover"], &["move", "the", "mouse"]]) {
        return target(rest).map(Order::Hover);
    }
    if let Some(rest) = any(words, &[&["uncheck"], &["untick"]]) {
        return target(rest).map(|target| Order::Check(target, false));
    }
    any(words, &[&["check"], &["tick"]]).and_then(target).map(|target| Order::Check(target, true))
}

/// Whether the name is a key, and so is never taken for the name of a button.
fn is_key(name: &str) -> bool {
    const KEYS: &[&str] = &[
        "enter",
        "return",
        "tab",
        "escape",
        "esc",
        "space",
        "spacebar",
        "backspace",
        "delete",
        "home",
        "end",
        "page up",
        "page down",
        "pageup",
        "pagedown",
        "arrow up",
        "arrow down",
        "arrow left",
        "arrow right",
        "arrowup",
        "arrowdown",
        "arrowleft",
        "arrowright",
    ];
    let small = name.to_lowercase();
    let parts: Vec<_> = small.split('+').collect();
    let is_chord = parts.len() > 1
        && parts[..parts.len() - 1]
            .iter()
            .all(|part| matches!(*part, "control" | "ctrl" | "shift" | "alt" | "meta" | "cmd"));
    KEYS.contains(&small.as_str()) || is_chord
}

pub(super) fn typing(words: &[Word]) -> Option<Order> {
    if let Some(rest) = any(words, &[&["search", "for"], &["search"]]) {
        return (!rest.is_empty()).then(|| Order::Search(join(rest)));
    }
    if let Some(rest) = any(words, &[&["select"], &["choose"], &["pick"]]) {
        let Some((what, place)) = cut(rest, &[&["in"], &["from"], &["of"]]) else {
            return option(rest).map(|name| Order::Select(name, None));
        };
        return Some(Order::Select(option(what)?, Some(target(place)?)));
    }
    if let Some(rest) = any(words, &[&["fill", "in"], &["fill", "out"], &["fill"], &["set"]]) {
        if let Some((field, text)) = cut(rest, &[&["with"], &["to"], &["as"]]) {
            return Some(Order::Fill(text_of(text)?, Some(target(field)?)));
        }
        return into(rest);
    }
    let rest = any(words, &[&["type"], &["enter"], &["write"], &["input"], &["put"], &["insert"]])?;
    into(rest).or_else(|| text_of(rest).map(|text| Order::Fill(text, None)))
}

/// Reads `"ada" into the name field` and similar phrases.
fn into(words: &[Word]) -> Option<Order> {
    let (text, field) = cut(words, &[&["into"], &["in"], &["to"], &["on"]])?;
    Some(Order::Fill(text_of(text)?, Some(target(field)?)))
}

/// Splits words at the last of some others, which must not be the first or the last.
fn cut<'a>(words: &'a [Word], at: &[&[&str]]) -> Option<(&'a [Word], &'a [Word])> {
    let cuts = (1..words.len().saturating_sub(1)).rev();
    cuts.into_iter().find_map(|place| {
        let rest = any(&words[place..], at).filter(|rest| !rest.is_empty())?;
        Some((&words[..place], rest))
    })
}

/// Returns the text to type: the quotation if there is exactly one, else all words.
pub(super) fn text_of(words: &[Word]) -> Option<String> {
    let mut quoted = words.iter().filter(|word| word.is_quoted);
    if let (Some(only), None) = (quoted.next(), quoted.next()) {
        return Some(only.text.clone());
    }
    let words = any(words, &[&["the", "text"], &["the", "word"], &["the", "value"]]).unwrap_or(words);
    (!words.is_empty()).then(|| join(words))
}

fn option(words: &[Word]) -> Option<String> {
    let words =
        any(words, &[&["the", "option"], &["option"], &["the"]]).filter(|rest| !rest.is_empty()).unwrap_or(words);
    let words = words
        .split_last()
        .filter(|(last, rest)| last.small == "option" && !rest.is_empty())
        .map_or(words, |(_, rest)| rest);
    text_of(words)
}
