//! Highlights: the sentences of our own copy of a page that answer a query, word for word.

use base::Stop;
use extractive::{Page, Source, excerpt};

use crate::found::Found;

/// Maximum length of a highlight, in characters.
pub(crate) const MAX_CHARS: usize = 300;
/// Part of a copy that is looked through, in bytes.
const MAX_TEXT: usize = 64 * 1024;
/// Part of it that is read closely, in bytes: reading is what highlights cost.
const MAX_EXCERPT: usize = 8 * 1024;
/// Mark between sentences that do not follow each other on the page.
const GAP: &str = " … ";

/// Our copy of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OwnCopy {
    /// Main text, as markdown or plain.
    pub(crate) text: String,
    /// Title, or an empty string.
    pub(crate) title: String,
}

impl OwnCopy {
    /// Takes the copy of a result, if it has one.
    pub(crate) fn of(found: &mut Found) -> Option<Self> {
        let text = found.result.copy.take()?;
        Some(Self { text, title: found.result.title.clone() })
    }

    /// Returns the part of a copy that highlights are taken from.
    pub(crate) fn new(text: &str, title: &str) -> Self {
        Self { text: beginning(text, MAX_TEXT).to_owned(), title: title.to_owned() }
    }
}

/// Returns the sentences of a copy that answer the query, at most 300 characters; `None` if it has none, or when
/// stopped.
pub(crate) fn of(copy: &OwnCopy, query: &str, stop: &Stop) -> Option<String> {
    let text = excerpt(beginning(&copy.text, MAX_TEXT), query, MAX_EXCERPT);
    let page = Page::read(&Source { markdown: &text, title: &copy.title, language: "" }, stop).ok()?;
    let found = page.find(query, None, stop).ok()??;
    fitting(&found.answer)
}

/// Joins the parts that fit; only the first one may be cut, between words.
fn fitting(answer: &str) -> Option<String> {
    let mut parts = answer.lines().map(str::trim).filter(|part| !part.is_empty());
    let mut out = cut(parts.next()?, MAX_CHARS).to_owned();
    let mut chars = out.chars().count();
    for part in parts {
        chars += GAP.chars().count() + part.chars().count();
        if chars > MAX_CHARS {
            break;
        }
        out.push_str(GAP);
        out.push_str(part);
    }
    (!out.is_empty()).then_some(out)
}

/// Returns the beginning of a text, at most `chars` characters. The end is between words where there are some.
fn cut(text: &str, chars: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(chars) else { return text };
    let (whole, rest) = text.split_at(end);
    if rest.starts_with(char::is_whitespace) {
        return whole;
    }
    whole.rfind(char::is_whitespace).map_or(whole, |space| whole[..space].trim_end())
}

/// Returns the beginning of a text, at most `bytes` long.
fn beginning(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(text: &str) -> OwnCopy {
        OwnCopy { text: text.to_owned(), title: "Quarries".to_owned() }
    }

    #[test]
    fn sentences_that_answer_are_taken_word_for_word() {
        let text = "The office is closed on Sundays and on holidays.\n\n\
                    Granite from the quarry is sawn into slabs of two centimetres. \
                    Visitors may park in front of the main gate.";
        let found = of(&copy(text), "granite slabs quarry", &Stop::new()).unwrap();
        assert_eq!(found, "Granite from the quarry is sawn into slabs of two centimetres.");
        assert_eq!(of(&copy(text), "zeppelin airships", &Stop::new()), None);
        let stop = Stop::new();
        stop.set();
        assert_eq!(of(&copy(text), "granite slabs quarry", &stop), None);
    }

    #[test]
    fn highlights_have_a_greatest_length() {
        let long = format!("Granite {}", "wörd ".repeat(200));
        let found = of(&copy(&long), "granite", &Stop::new()).unwrap();
        assert!(found.chars().count() <= MAX_CHARS && long.contains(&found), "{found}");
        assert!(found.ends_with("wörd"), "{found}");
        assert_eq!(fitting("one\n\ntwo").as_deref(), Some("one … two"));
        let most = "x".repeat(299);
        assert_eq!(fitting(&format!("{most}\ntwo")).as_deref(), Some(most.as_str()));
        assert_eq!(fitting(&"x".repeat(400)).unwrap().len(), 300, "one word");
        assert_eq!(fitting("\n"), None);
    }
}
