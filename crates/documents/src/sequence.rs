//! Order in which the blocks of all pages are written.

use crate::model::{Block, BlockKind, Content, Document, Page};

/// Returns page and block of each block in the order of the text: a sentence that goes on on the next page comes before
/// the footnotes between its parts, unless the pages are kept apart.
pub(crate) fn sequence(document: &Document, apart: bool) -> Vec<(usize, usize)> {
    let mut order = Vec::new();
    let mut notes: Vec<(usize, usize)> = Vec::new();
    for (number, page) in document.pages.iter().enumerate() {
        let next = document.pages.get(number + 1).filter(|_| !apart);
        let held = next.map_or(page.blocks.len(), |next| cut(page, next));
        let first = page.blocks.iter().position(is_text).unwrap_or(0);
        for block in 0..held {
            order.push((number, block));
            if block == first {
                order.append(&mut notes);
            }
        }
        order.append(&mut notes);
        notes.extend((held..page.blocks.len()).map(|block| (number, block)));
    }
    order.append(&mut notes);
    order
}

/// Returns the index of the first footnote at the end of a page, if the text before it goes on on the next page, else
/// the number of its blocks.
fn cut(page: &Page, next: &Page) -> usize {
    let count = page.blocks.len();
    let last = page.blocks.iter().rposition(is_text);
    let Some(last) = last.filter(|last| page.blocks[*last + 1..].iter().any(|block| block.note)) else { return count };
    let open = text_of(&page.blocks[last]).is_some_and(|text| !ends(&text));
    let goes_on = next.blocks.iter().find(|block| is_text(block)).and_then(text_of);
    let low = goes_on.is_some_and(|text| text.starts_with(char::is_lowercase));
    if open && low { last + 1 } else { count }
}

/// Whether the block is part of the running text of its page.
fn is_text(block: &Block) -> bool {
    let furniture = matches!(block.kind, BlockKind::PageHeader | BlockKind::PageFooter | BlockKind::PageNumber);
    !block.repeated && !block.note && !furniture
}

fn text_of(block: &Block) -> Option<String> {
    match &block.content {
        Content::Paragraph(inline) => Some(inline.iter().map(|span| span.text.as_str()).collect()),
        _ => None,
    }
}

/// Whether a text ends with the end of a sentence.
fn ends(text: &str) -> bool {
    text.trim_end().ends_with(['.', '!', '?', ':', ';', '”', '"', ')', '»', '。'])
}
