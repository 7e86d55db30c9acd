//! Footnotes: a note whose mark is raised in the text of its page is a footnote, and the mark refers to it.

use std::collections::HashMap;

use crate::layout::text::plain;
use crate::model::{Content, Inline, Note, Page, Script, Span};

/// Maximum number of digits of a mark.
const MAX_DIGITS: usize = 3;
/// Minimum number of letters of a word before a mark; shorter ones are units, whose raised number is a power.
const MIN_WORD: usize = 3;

/// Connects the footnotes of all pages with their marks.
pub(super) fn connect(pages: &mut [Page]) {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for mark in pages.iter().flat_map(marks) {
        *counts.entry(mark).or_default() += 1;
    }
    for page in pages {
        for mark in marks(page) {
            // Many documents number the notes of each page from 1.
            let is_only = counts.get(&mark).is_some_and(|count| *count == 1);
            let label = if is_only { mark.clone() } else { format!("{mark}-{}", page.number) };
            if refer(page, &mark, &label) {
                set_note(page, &mark, &label);
            }
        }
    }
}

/// Returns the marks of the notes of a page, each once.
fn marks(page: &Page) -> Vec<String> {
    let mut marks: Vec<String> = Vec::new();
    for block in page.blocks.iter().filter(|block| block.note) {
        if let Content::Paragraph(inline) = &block.content
            && let Some(mark) = mark_of(&plain(inline)).filter(|mark| !marks.iter().any(|known| known == mark))
        {
            marks.push(mark.to_owned());
        }
    }
    marks
}

/// Returns the number that a note begins with.
fn mark_of(text: &str) -> Option<&str> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (mark, rest) = text.split_at(end);
    let named = rest.trim_start_matches(['.', ')', ' ']).starts_with(|letter: char| !letter.is_ascii_digit());
    ((1..=MAX_DIGITS).contains(&end) && named).then_some(mark)
}

/// Makes the raised marks in the text of a page refer to a note; returns whether there are any.
fn refer(page: &mut Page, mark: &str, label: &str) -> bool {
    let mut found = false;
    for block in page.blocks.iter_mut().filter(|block| !block.note) {
        match &mut block.content {
            Content::Paragraph(inline) | Content::Heading(_, inline) => found |= refer_in(inline, mark, label),
            Content::List(items) => {
                items.iter_mut().for_each(|item| found |= refer_in(&mut item.text, mark, label));
            }
            _ => {}
        }
    }
    found
}

fn refer_in(inline: &mut Inline, mark: &str, label: &str) -> bool {
    let (mut before, mut found) = (String::new(), false);
    for span in inline {
        if span.script == Script::Raised && span.text.trim() == mark && is_after_text(&before) {
            span.note = Some(label.to_owned());
            found = true;
        }
        before.push_str(&span.text);
    }
    found
}

/// Whether a raised number after this text is the mark of a note, rather than a power.
fn is_after_text(text: &str) -> bool {
    let text = text.trim_end();
    let word = text.chars().rev().take_while(|letter| letter.is_alphabetic()).count();
    word >= MIN_WORD || text.ends_with(['.', ',', ';', ':', '!', '?', ')', ']', '"', '”', '“', '’', '»', '。', '、'])
}

/// Turns the paragraph that begins with a mark into a footnote.
fn set_note(page: &mut Page, mark: &str, label: &str) {
    let note = page.blocks.iter_mut().filter(|block| block.note).find_map(|block| match &mut block.content {
        Content::Paragraph(inline) if mark_of(&plain(inline)) == Some(mark) => {
            let text = without_mark(std::mem::take(inline), mark);
            Some((&mut block.content, text))
        }
        _ => None,
    });
    if let Some((content, text)) = note {
        *content = Content::Note(Note { label: label.to_owned(), mark: mark.to_owned(), text });
    }
}

fn without_mark(inline: Inline, mark: &str) -> Inline {
    let mut left = mark.len();
    let mut out: Inline = Vec::with_capacity(inline.len());
    for mut span in inline {
        let cut = left.min(span.text.len());
        span.text.drain(..cut);
        left -= cut;
        if left == 0 && out.is_empty() {
            span.text = span.text.trim_start_matches(['.', ')', ' ']).to_owned();
        }
        if !span.text.is_empty() {
            out.push(Span { script: if out.is_empty() { Script::Normal } else { span.script }, ..span });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Block, BlockKind};

    fn paragraph(note: bool, spans: &[(&str, Script)]) -> Block {
        let span =
            |(text, script): &(&str, Script)| Span { text: (*text).to_owned(), script: *script, ..Span::default() };
        Block {
            kind: BlockKind::Text,
            rect: crate::geometry::Rect::EMPTY,
            content: Content::Paragraph(spans.iter().map(span).collect()),
            repeated: false,
            confidence: 1.0,
            recognition: None,
            note,
        }
    }

    fn markdown(pages: &[Page]) -> Vec<String> {
        pages.iter().flat_map(|page| &page.blocks).map(crate::markdown::block_markdown).collect()
    }

    #[test]
    fn marks_refer_to_the_notes_of_their_page() {
        use Script::{Normal, Raised};
        let mut page = Page { number: 1, ..Page::default() };
        page.blocks = vec![
            paragraph(
                false,
                &[("The claim is new.", Normal), ("7", Raised), (" It covers 25 km", Normal), ("7", Raised)],
            ),
            paragraph(true, &[("7", Raised), (" See the appendix.", Normal)]),
            paragraph(true, &[("8 No mark is in the text.", Normal)]),
        ];
        let mut pages = [page];
        connect(&mut pages);
        assert_eq!(
            markdown(&pages),
            [
                "The claim is new.[^7] It covers 25 km<sup>7</sup>",
                "[^7]: See the appendix.",
                "8 No mark is in the text."
            ]
        );
    }

    #[test]
    fn notes_of_several_pages_have_labels_of_their_own() {
        let page = |number| Page {
            number,
            blocks: vec![
                paragraph(false, &[("Wine and cheese", Script::Normal), ("1", Script::Raised)]),
                paragraph(true, &[("1. Both.", Script::Normal)]),
            ],
            ..Page::default()
        };
        let mut pages = [page(3), page(4)];
        connect(&mut pages);
        assert_eq!(
            markdown(&pages),
            ["Wine and cheese[^1-3]", "[^1-3]: Both.", "Wine and cheese[^1-4]", "[^1-4]: Both."]
        );
    }
}
