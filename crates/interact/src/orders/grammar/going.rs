//! Instructions to navigate and to scroll.

use super::{Order, Way, any};
use crate::orders::target::target;
use crate::orders::words::Word;

pub(super) fn order(words: &[Word]) -> Option<Order> {
    let is = |texts: &[&[&str]]| any(words, texts).is_some_and(<[Word]>::is_empty);
    if is(&[
        &["back"],
        &["go", "back"],
        &["navigate", "back"],
        &["go", "back", "one", "page"],
        &["go", "to", "the", "previous", "page"],
    ]) {
        return Some(Order::Back);
    }
    if is(&[&["forward"], &["go", "forward"]]) {
        return Some(Order::Forward);
    }
    if is(&[
        &["reload"],
        &["refresh"],
        &["reload", "the", "page"],
        &["refresh", "the", "page"],
        &["reload", "page"],
        &["refresh", "page"],
    ]) {
        return Some(Order::Reload);
    }
    if let Some(rest) = any(words, &[&["scroll"]]) {
        return scrolling(rest);
    }
    let starts: &[&[&str]] =
        &[&["go", "to"], &["goto"], &["navigate", "to"], &["browse", "to"], &["visit"], &["open"], &["load"], &["go"]];
    let rest = any(words, starts)?;
    let rest =
        any(rest, &[&["the", "url"], &["the", "page"], &["the", "site"], &["the", "website"], &["url"], &["page"]])
            .unwrap_or(rest);
    if let [address] = rest
        && is_address(address)
    {
        return Some(Order::GoTo(address.text.clone()));
    }
    // Such as `open the menu`, `go to "About us"`.
    target(rest).map(Order::Click)
}

/// Whether a word is an address rather than a name.
fn is_address(word: &Word) -> bool {
    let text = word.small.as_str();
    let host = text.split(['/', '?', '#']).next().unwrap_or_default();
    let has_ending = host
        .rsplit_once('.')
        .is_some_and(|(name, ending)| !name.is_empty() && ending.len() >= 2 && ending.chars().all(char::is_alphabetic));
    text.contains("://")
        || text.starts_with('/')
        || host.starts_with("localhost")
        || has_ending
        || text.starts_with("about:")
        || text.starts_with("file:")
        || host.chars().all(|c| c.is_ascii_digit() || c == '.' || c == ':') && host.contains('.')
}

fn scrolling(words: &[Word]) -> Option<Order> {
    let words = any(words, &[&["all", "the", "way"]]).unwrap_or(words);
    let words = any(words, &[&["down", "to"], &["up", "to"], &["to"]]).unwrap_or(words);
    let words = any(words, &[&["the"]]).unwrap_or(words);
    let way = match words.first().filter(|word| !word.is_quoted).map(|word| word.small.as_str()) {
        None | Some("down") => Way::Down,
        Some("up") => Way::Up,
        Some("bottom" | "end") => Way::Bottom,
        Some("top" | "beginning" | "start") => Way::Top,
        Some(_) => Way::To(target(words)?),
    };
    Some(Order::Scroll(way))
}
