//! Patterns that are plain text, anchored or not, such as lists of words and folders: matched all at once.

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex_syntax::hir::{Hir, HirKind, Look};

use crate::Steps;

/// A literal with its anchors.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Word {
    text: Vec<u8>,
    at_start: bool,
    at_end: bool,
}

/// A set of literals prepared for searching.
#[derive(Debug, Clone, Default)]
pub(super) struct Words {
    anywhere: Option<AhoCorasick>,
    starts: Vec<Vec<u8>>,
    ends: Vec<Vec<u8>>,
    wholes: Vec<Vec<u8>>,
}

impl Word {
    /// Returns the literal that a pattern is equivalent to, if any: `/blog`, `^/blog/.*`, `\.pdf$`.
    pub(super) fn of(hir: &Hir) -> Option<Self> {
        let mut parts = match hir.kind() {
            HirKind::Concat(parts) => parts.as_slice(),
            _ => std::slice::from_ref(hir),
        };
        let mut word = Self { text: Vec::new(), at_start: false, at_end: false };
        if let [first, rest @ ..] = parts {
            word.at_start = *first.kind() == HirKind::Look(Look::Start);
            // A part that can be empty at an unanchored end does not affect the match.
            parts = if word.at_start || may_be_left_out(first) { rest } else { parts };
        }
        if let [rest @ .., last] = parts {
            word.at_end = *last.kind() == HirKind::Look(Look::End);
            parts = if word.at_end || may_be_left_out(last) { rest } else { parts };
        }
        parts.iter().all(|part| push(part, &mut word.text)).then_some(word)
    }
}

fn may_be_left_out(hir: &Hir) -> bool {
    matches!(hir.kind(), HirKind::Repetition(repetition) if repetition.min == 0)
}

fn push(hir: &Hir, text: &mut Vec<u8>) -> bool {
    match hir.kind() {
        HirKind::Empty => true,
        HirKind::Literal(literal) => {
            text.extend_from_slice(&literal.0);
            true
        }
        HirKind::Capture(capture) => push(&capture.sub, text),
        HirKind::Concat(parts) => parts.iter().all(|part| push(part, text)),
        HirKind::Class(_) | HirKind::Look(_) | HirKind::Repetition(_) | HirKind::Alternation(_) => false,
    }
}

impl Words {
    /// Prepares the literals; `None` when there are too many, which the limits of a request prevent.
    pub(super) fn new(words: Vec<Word>) -> Option<Self> {
        let mut sorted = Self::default();
        let mut anywhere = Vec::new();
        for Word { text, at_start, at_end } in words {
            match (at_start, at_end) {
                (false, false) => anywhere.push(text),
                (true, false) => sorted.starts.push(text),
                (false, true) => sorted.ends.push(text),
                (true, true) => sorted.wholes.push(text),
            }
        }
        if !anywhere.is_empty() {
            let build = AhoCorasick::builder().kind(Some(AhoCorasickKind::ContiguousNFA)).build(anywhere);
            sorted.anywhere = Some(build.ok()?);
        }
        Some(sorted)
    }

    /// Returns the memory in bytes.
    pub(super) fn size(&self) -> usize {
        let lists = [&self.starts, &self.ends, &self.wholes].into_iter().flatten();
        let lists: usize = lists.map(|word| word.len() + size_of::<Vec<u8>>()).sum();
        lists + self.anywhere.as_ref().map_or(0, AhoCorasick::memory_usage)
    }

    /// Returns whether a text contains one of the literals; `None` when the steps are used up.
    pub(super) fn find(&self, text: &[u8], steps: &mut Steps) -> Option<bool> {
        let anchored = (self.starts.len() + self.ends.len() + self.wholes.len()) as u64;
        let open = if self.anywhere.is_some() { text.len() as u64 * 4 } else { 0 };
        if !steps.take(anchored * 4 + open) {
            return None;
        }
        let found = self.anywhere.as_ref().is_some_and(|words| words.is_match(text))
            || self.starts.iter().any(|word| text.starts_with(word))
            || self.ends.iter().any(|word| text.ends_with(word))
            || self.wholes.iter().any(|word| text == word.as_slice());
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, expect: Option<(&str, bool, bool)>) {
        let hir = super::super::parse::parse(pattern, &mut Steps::of_a_page()).unwrap();
        let word = Word::of(&hir).map(|word| (String::from_utf8(word.text).unwrap(), word.at_start, word.at_end));
        let word = word.as_ref().map(|(text, start, end)| (text.as_str(), *start, *end));
        assert_eq!(word, expect, "{pattern}");
    }

    #[test]
    fn what_is_a_word() {
        check("/blog", Some(("/blog", false, false)));
        check("/blog/*", Some(("/blog", false, false)));
        check(".*casino.*", Some(("casino", false, false)));
        check("^/blog/.*", Some(("/blog/", true, false)));
        check("^/(blog)/", Some(("/blog/", true, false)));
        check(r"\.pdf$", Some((".pdf", false, true)));
        check("^/a$", Some(("/a", true, true)));
        check(".*", Some(("", false, false)));
        check("/café", Some(("/café", false, false)));
        for pattern in ["^/blog/.*$", "^.*blog", "a|bc", "a+", "(?m)^a", "[ab]c", r"a\b", "a.b"] {
            check(pattern, None);
        }
    }
}
