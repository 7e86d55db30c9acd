//! A question that the page itself asks, and the answer that the page gives to it.

use std::ops::Range;

use crate::blocks::Kind;
use crate::evidence::{Survey, is_question};
use crate::page::Page;
use crate::query::{Query, letters};
use crate::words::{fold, words};

/// How alike two questions must be to be the same: the share of the asked one's worth that is in the page's, times the
/// share of the page's words that are asked for.
const ALIKE: f32 = 0.75;
/// Longest sentence that is compared as a question, in words.
const LONGEST_QUESTION: u16 = 60;
/// Most blocks of an answer that ends at a heading or another question.
const MOST_BLOCKS: usize = 14;

/// Returns the sentences that answer the question where the page asks it too.
pub(crate) fn answer_of_page(page: &Page, query: &Query, survey: &Survey, longest: usize) -> Option<Range<usize>> {
    let mut best: Option<(f32, Range<usize>)> = None;
    for (sentence, row) in survey.rows.iter().enumerate() {
        if row.words > LONGEST_QUESTION || survey.share(row.mask) < ALIKE {
            continue;
        }
        let alike = likeness(page.text_of(sentence), query, survey.share(row.mask));
        // The last of several wins: those before are often a table of contents.
        if alike < ALIKE || best.as_ref().is_some_and(|(before, _)| *before > alike) {
            continue;
        }
        let answer = answer(page, sentence, longest);
        if !answer.is_empty() {
            best = Some((alike, answer));
        }
    }
    best.map(|(_, answer)| answer)
}

fn likeness(text: &str, query: &Query, share: f32) -> f32 {
    if letters(text) == query.letters {
        return 1.0;
    }
    if !is_question(text) {
        return 0.0;
    }
    let (mut asked, mut all) = (0.0, 0.0);
    let mut buffer = String::new();
    words(text, |word| {
        let form = &text[word.start..word.end];
        let folded = fold(form);
        if query.language.is_empty(&folded) {
            return;
        }
        let weight = if query.language.vague.contains(&folded) { 0.4 } else { 1.0 };
        all += weight;
        if query.matches(form, word.pair, &mut buffer).is_some() {
            asked += weight;
        }
    });
    // Below 1, so that the same words win over alike ones.
    if all > 0.0 { (share * asked / all).min(0.99) } else { 0.0 }
}

/// Returns the sentences after a question, up to the next heading or question.
fn answer(page: &Page, question: usize, longest: usize) -> Range<usize> {
    let asking = page.sentences[question].block;
    let level = match page.blocks[asking].kind {
        Kind::Heading(level) => Some(level),
        _ => None,
    };
    let start = question + 1;
    let own_end = page.blocks[asking].sentences.end;
    if own_end > start {
        // The answer is the rest of the paragraph.
        return within(page, start..own_end, longest);
    }
    let mut end = own_end;
    let mut closed = false;
    for (count, block) in page.blocks[asking + 1..].iter().enumerate() {
        if count >= MOST_BLOCKS {
            break;
        }
        if block.sentences.is_empty() {
            continue;
        }
        let below = match (block.kind, level) {
            (Kind::Heading(own), Some(above)) => own > above,
            (Kind::Heading(_), None) => false,
            _ => true,
        };
        if !below || is_question(page.text_of(block.sentences.start)) {
            closed = true;
            break;
        }
        end = block.sentences.end;
    }
    if !closed && level.is_none() {
        // Nothing shows where the answer ends: it is the first block.
        end = page.blocks[asking + 1..]
            .iter()
            .take(MOST_BLOCKS)
            .find(|b| !b.sentences.is_empty())
            .map_or(start, |b| b.sentences.end);
    }
    within(page, start..end, longest)
}

/// Returns the first of some sentences, at most `longest` bytes of them.
fn within(page: &Page, sentences: Range<usize>, longest: usize) -> Range<usize> {
    let (start, mut length) = (sentences.start, 0);
    let fitting = sentences.take_while(|at| {
        length += page.sentences[*at].source.len();
        length <= longest
    });
    start..start + fitting.count()
}
