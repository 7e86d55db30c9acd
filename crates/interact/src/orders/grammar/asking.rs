//! Instructions to wait and to read.

use super::doing::text_of;
use super::{Order, What, any};
use crate::orders::target::{Target, target};
use crate::orders::words::{Word, after, join};

pub(super) fn waiting(words: &[Word]) -> Option<Order> {
    let rest = after(words, &["wait"])?;
    let amount = any(rest, &[&["for"]]).unwrap_or(rest);
    if let [number, unit] = amount
        && let Some(count) = amount_of(&number.small)
    {
        let factor = match unit.small.as_str() {
            "s" | "sec" | "secs" | "second" | "seconds" => 1000.0,
            "ms" | "millisecond" | "milliseconds" => 1.0,
            "minute" | "minutes" | "min" => 60_000.0,
            _ => return None,
        };
        return Some(Order::Wait(count * factor));
    }
    if let [one] = amount
        && let Some(seconds) = one
            .small
            .strip_suffix("ms")
            .and_then(amount_of)
            .map(|ms| ms / 1000.0)
            .or_else(|| one.small.strip_suffix('s').and_then(amount_of))
    {
        return Some(Order::Wait(seconds * 1000.0));
    }
    let what = any(rest, &[&["for", "the", "text"], &["for"], &["until"]])?;
    let ends: &[&[&str]] =
        &[&["to", "appear"], &["appears"], &["is", "visible"], &["to", "be", "visible"], &["shows"], &["to", "show"]];
    let end = (0..what.len()).find(|at| any(&what[*at..], ends).is_some_and(<[Word]>::is_empty)).unwrap_or(what.len());
    text_of(&what[..end]).map(Order::WaitFor)
}

fn amount_of(text: &str) -> Option<f64> {
    const NUMBERS: &[&str] = &["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let named = NUMBERS.iter().position(|number| *number == text);
    let number = named.and_then(|number| u8::try_from(number).ok()).map(f64::from).or_else(|| text.parse().ok())?;
    (0.0..=300_000.0).contains(&number).then_some(number)
}

/// Requests for a screenshot.
const SHOTS: &[&[&str]] = &[
    &["take", "a", "screenshot"],
    &["take", "screenshot"],
    &["screenshot"],
    &["capture", "a", "screenshot"],
    &["capture", "the", "page"],
    &["make", "a", "screenshot"],
];
/// Beginnings of a question.
const QUESTIONS: &[&[&str]] = &[
    &["tell", "me", "what", "is"],
    &["tell", "me"],
    &["what", "is"],
    &["what", "are"],
    &["what's"],
    &["show", "me"],
    &["show"],
    &["give", "me"],
    &["read", "me"],
    &["read"],
    &["get"],
    &["extract"],
    &["list"],
    &["return"],
    &["print"],
];

pub(super) fn reading(words: &[Word]) -> Option<Order> {
    if let Some(rest) = any(words, SHOTS) {
        let of_page = any(rest, &[&["of", "the", "page"], &["of", "this", "page"]]).is_some_and(<[Word]>::is_empty);
        return (rest.is_empty() || of_page).then_some(Order::Screenshot);
    }
    if let Some(rest) = any(words, &[&["how", "many"], &["count", "the"], &["count"]]) {
        let ends: &[&[&str]] = &[&["are", "there"], &["are", "on"], &["does"], &["do"], &["on", "the", "page"]];
        let end = (0..rest.len()).find(|at| any(&rest[*at..], ends).is_some()).unwrap_or(rest.len());
        return kind_alone(&rest[..end]).map(|target| Order::Read(What::Count(target)));
    }
    let rest = any(words, QUESTIONS)?;
    let tail: &[&[&str]] = &[
        &["of", "the", "page"],
        &["of", "this", "page"],
        &["on", "the", "page"],
        &["on", "this", "page"],
        &["from", "the", "page"],
        &["from", "this", "page"],
    ];
    let end = (0..rest.len()).find(|at| any(&rest[*at..], tail).is_some_and(<[Word]>::is_empty)).unwrap_or(rest.len());
    let rest = &rest[..end];
    let rest = any(rest, &[&["all", "the"], &["all", "of", "the"], &["all"], &["the"], &["this"]]).unwrap_or(rest);
    what(rest).map(Order::Read)
}

fn what(words: &[Word]) -> Option<What> {
    let plain = words.iter().all(|word| !word.is_quoted).then(|| join(words).to_lowercase());
    match plain.as_deref() {
        Some("title" | "page title" | "page's title" | "current title") => return Some(What::Title),
        Some("url" | "address" | "current url" | "page url" | "current address") => return Some(What::Url),
        Some(
            "" | "page" | "text" | "content" | "contents" | "page content" | "page text" | "page's text"
            | "text content" | "visible text",
        ) => {
            return Some(What::Text);
        }
        _ => {}
    }
    if let Some(rest) = any(words, &[&["text", "of"], &["content", "of"], &["contents", "of"], &["value", "of"]]) {
        return target(rest).map(What::One);
    }
    let found = kind_alone(words)?;
    let many = words.last().is_some_and(|word| word.small.ends_with('s'));
    Some(if many && found.place.is_none() { What::All(found) } else { What::One(found) })
}

/// Plurals of kinds, besides those that a description knows.
const PLURALS: &[(&str, &str)] = &[
    ("fields", "field"),
    ("inputs", "input"),
    ("checkboxes", "checkbox"),
    ("options", "option"),
    ("tabs", "tab"),
    ("images", "image"),
    ("pictures", "picture"),
    ("dropdowns", "dropdown"),
];

/// Reads a description by kind and place only. Further words in a question need a language model.
fn kind_alone(words: &[Word]) -> Option<Target> {
    let singular = |word: &Word| match PLURALS.iter().find(|(plural, _)| *plural == word.small) {
        Some((_, one)) => Word { text: (*one).to_owned(), small: (*one).to_owned(), ..word.clone() },
        None => word.clone(),
    };
    let words: Vec<_> = words.iter().map(singular).collect();
    target(&words).filter(|target| target.kind.is_some() && target.name.is_none())
}
