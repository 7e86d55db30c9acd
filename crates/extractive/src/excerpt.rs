//! The parts of a long page that may answer a question, found by its words before anything is read.

use std::borrow::Cow;
use std::ops::Range;

use aho_corasick::AhoCorasick;

use crate::language::Language;
use crate::page::upto;
use crate::words::{fold, words};

/// Shortest part in bytes. Parts end where a line ends.
const SHORTEST_PART: usize = 512;
/// Longest part in bytes. A longer line is cut between words.
const LONGEST_PART: usize = 2048;
/// Most words of a question that are looked for.
const MOST_WORDS: usize = 32;
/// Bytes of a page that tell its language.
const LANGUAGE_SAMPLE: usize = 1024;
/// Letters of a word that all its forms share; words that have no more are looked for whole.
const SHORT_WORD: usize = 4;
/// Letters of a longer word, of more than six, that all its forms share.
const LONG_WORD: usize = 5;

/// Returns the parts of a page that hold words of a question, rare words before frequent ones, in page order and at most
/// `bytes` long; all of a page that is no longer than that. Reading the excerpt of a long page costs a fraction of
/// reading the page.
///
/// ```
/// let page = format!("{}\n\nGranite is a hard stone.\n\n{}", "Nothing here.\n".repeat(500), "Nor there.\n".repeat(500));
/// let excerpt = extractive::excerpt(&page, "Is granite hard?", 1024);
/// assert!(excerpt.len() <= 1024 && excerpt.contains("Granite is a hard stone."));
/// ```
#[must_use]
pub fn excerpt<'a>(markdown: &'a str, question: &str, bytes: usize) -> Cow<'a, str> {
    if markdown.len() <= bytes {
        return Cow::Borrowed(markdown);
    }
    let chosen = Terms::read(question, markdown).and_then(|terms| chosen(markdown, &terms, bytes));
    match chosen {
        Some(parts) => Cow::Owned(joined(markdown, &parts)),
        None => Cow::Borrowed(upto(markdown, bytes)),
    }
}

/// Words of a question as they are looked for: by their beginnings, folded.
struct Terms {
    search: AhoCorasick,
    /// Whether a word has to stand alone: a short one is a part of many others.
    alone: Vec<bool>,
}

impl Terms {
    /// Reads a question; `None` if it has no words.
    fn read(question: &str, markdown: &str) -> Option<Self> {
        let language = Language::of_page("", upto(markdown, LANGUAGE_SAMPLE));
        let asked = Language::of_question(question, language);
        let (mut said, mut all): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        words(question, |word| {
            let form = question[word.start..word.end].to_lowercase();
            if !asked.is_empty(&fold(&form)) && !said.contains(&form) {
                said.push(form.clone());
            }
            all.push(form);
        });
        let mut words = if said.is_empty() { all } else { said };
        words.retain(|form| !fold(beginning(form)).is_empty());
        words.truncate(MOST_WORDS);
        let patterns: Vec<String> = words.iter().map(|form| fold(beginning(form))).collect();
        let alone = words.iter().map(|form| form.is_ascii() && form.len() < SHORT_WORD).collect();
        let search = AhoCorasick::builder().ascii_case_insensitive(true).build(&patterns).ok()?;
        (!patterns.is_empty()).then_some(Self { search, alone })
    }

    /// Returns which words a part has, as bits.
    fn within(&self, part: &str) -> u32 {
        // Letters of ASCII are compared without case by the search itself.
        let part = if part.is_ascii() { Cow::Borrowed(part) } else { Cow::Owned(fold(part)) };
        let mut found = 0;
        for hit in self.search.find_overlapping_iter(&*part) {
            let word = hit.pattern().as_usize();
            if !self.alone[word] || stands_alone(part.as_bytes(), hit.start()..hit.end()) {
                found |= 1 << word;
            }
        }
        found
    }
}

/// Returns the letters that all forms of a word begin with.
fn beginning(form: &str) -> &str {
    let kept = match form.chars().count() {
        length @ 0..=SHORT_WORD => length,
        5..=6 => SHORT_WORD,
        _ => LONG_WORD,
    };
    form.char_indices().nth(kept).map_or(form, |(end, _)| &form[..end])
}

fn stands_alone(text: &[u8], place: Range<usize>) -> bool {
    let is_letter = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80);
    !is_letter(place.start.checked_sub(1).and_then(|before| text.get(before))) && !is_letter(text.get(place.end))
}

/// Returns the best parts that fit, in page order; `None` if no part has a word of the question.
fn chosen(markdown: &str, terms: &Terms, bytes: usize) -> Option<Vec<Range<usize>>> {
    let parts: Vec<(Range<usize>, u32)> = parts(markdown, LONGEST_PART.min(bytes / 2))
        .into_iter()
        .map(|part| (part.clone(), terms.within(&markdown[part])))
        .collect();
    let mut counts = [0_u64; MOST_WORDS];
    for (_, found) in &parts {
        for (word, count) in counts.iter_mut().enumerate() {
            *count += u64::from(found >> word & 1);
        }
    }
    // A word counts by its rarity, as one over the number of its parts.
    let worth = |found: u32| -> u64 {
        let has = |(word, _): &(usize, &u64)| found >> word & 1 == 1;
        counts.iter().enumerate().filter(has).map(|(_, count)| (1 << 32) / count.max(&1)).sum()
    };
    let mut best: Vec<(u64, &Range<usize>)> = parts.iter().map(|(part, found)| (worth(*found), part)).collect();
    best.retain(|(worth, _)| *worth > 0);
    best.sort_by_key(|(worth, part)| (std::cmp::Reverse(*worth), part.start));
    let mut left = bytes;
    let mut chosen: Vec<Range<usize>> = Vec::new();
    for (_, part) in best {
        // The blank line between two parts is counted for each.
        if let Some(rest) = left.checked_sub(part.len() + GAP.len()) {
            left = rest;
            chosen.push(part.clone());
        }
    }
    chosen.sort_by_key(|part| part.start);
    (!chosen.is_empty()).then_some(chosen)
}

/// What stands between parts that do not follow each other.
const GAP: &str = "\n\n";

fn joined(markdown: &str, parts: &[Range<usize>]) -> String {
    let mut out = String::with_capacity(parts.iter().map(|part| part.len() + GAP.len()).sum());
    let mut end = 0;
    for part in parts {
        if part.start != end && !out.is_empty() {
            out.push_str(GAP);
        }
        out.push_str(&markdown[part.clone()]);
        end = part.end;
    }
    out
}

/// Cuts a page into parts: at blank lines, else at ends of lines, and between words of longer lines. A block of code stays
/// together if it is not too long. Parts have at most `longest` bytes, or four where that is less.
fn parts(markdown: &str, longest: usize) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let (mut start, mut at, mut is_code) = (0, 0, false);
    for line in markdown.split_inclusive('\n') {
        if at - start + line.len() > longest && at > start {
            parts.push(start..at);
            start = at;
        }
        at += line.len();
        let text = line.trim_start();
        is_code ^= text.starts_with("```") || text.starts_with("~~~");
        if at - start >= SHORTEST_PART && !is_code && text.is_empty() {
            parts.push(start..at);
            start = at;
        }
    }
    if start < at {
        parts.push(start..at);
    }
    parts.into_iter().flat_map(|part| cut(markdown, part, longest)).collect()
}

/// Cuts a part that is a long line into shorter ones, between words where possible.
fn cut(markdown: &str, part: Range<usize>, longest: usize) -> Vec<Range<usize>> {
    let mut cuts = Vec::new();
    let Range { mut start, end } = part;
    while end - start > longest.max(4) {
        let piece = upto(&markdown[start..end], longest.max(4));
        let length = piece.rfind(char::is_whitespace).filter(|blank| *blank > 0).unwrap_or(piece.len());
        cuts.push(start..start + length);
        start += length;
    }
    cuts.push(start..end);
    cuts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn filler(lines: usize) -> String {
        (0..lines).map(|line| format!("Line {line} of a page about the weather.\n\n")).collect()
    }

    #[test]
    fn rare_words_decide() {
        let page =
            format!("{}A quarry yields granite.\n\n{}Slate splits.\n\n{}", filler(200), filler(200), filler(200));
        let of = |question: &str| excerpt(&page, question, 2048).into_owned();
        assert!(of("weather at the quarries").contains("A quarry yields granite."));
        let both = of("granite or slate");
        assert!(both.contains("granite") && both.contains("Slate") && both.len() <= 2048);
        assert!(both.find("granite") < both.find("Slate"), "page order");
        assert!(page.starts_with(&of("zeppelins")), "without any word: the beginning");
        assert!(page.starts_with(&of("?")));
    }

    #[test]
    fn words_are_found_in_their_forms() {
        let found = |line: &str, question: &str| {
            let page = format!("{}{line}\n\n{}", filler(100), filler(100));
            excerpt(&page, question, 1024).contains(line)
        };
        assert!(found("Das Café öffnet um acht.", "cafe"));
        assert!(found("Москва стоит на реке.", "где москве"));
        assert!(found("花崗岩は硬い石です。", "花崗岩"));
        assert!(found("Öfen werden geliefert.", "öfen"));
        assert!(found("Go is a language.", "go"));
        assert!(!found("Gold is a metal.", "go"), "a short word stands alone");
    }

    #[test]
    fn code_stays_together() {
        let code = format!("```\n{}```\n", "a line\n\n".repeat(100));
        let page = format!("{}{code}{}", filler(10), filler(10));
        assert!(parts(&page, LONGEST_PART).iter().any(|part| page[part.clone()].contains(&code)));
    }

    proptest! {
        #[test]
        fn parts_are_the_page(page in "([a-zäß .]{0,40}\\n{0,2}|```\\n|花崗岩){0,200}", question in "[a-zäß花 ]{0,20}", bytes in 1_usize..5000) {
            let mut at = 0;
            for part in parts(&page, LONGEST_PART) {
                prop_assert_eq!(part.start, at);
                prop_assert!(part.len() <= LONGEST_PART && !part.is_empty());
                at = part.end;
            }
            prop_assert_eq!(at, page.len());
            let excerpt = excerpt(&page, &question, bytes);
            prop_assert!(excerpt.len() <= bytes);
            prop_assert!(excerpt.lines().all(|line| page.contains(line)));
        }
    }
}
