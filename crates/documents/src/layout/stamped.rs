//! A recognised page with text of its own, such as a stamp on a scan: both texts, each once.

use super::recognised::recognised;
use super::{LayoutPart, PageLayout, order};
use crate::geometry::{Rect, Size};
use crate::layout::paragraphs::Paragraph;
use crate::layout::words::Rotation;
use crate::recognised::RecognisedPage;

/// Lays out a recognised page together with the embedded text that is drawn on it.
pub(crate) fn with_own_text(page: &RecognisedPage, embedded: PageLayout) -> PageLayout {
    let mut embedded = embedded;
    let own: Vec<LayoutPart> = std::mem::take(&mut embedded.parts).into_iter().filter(has_text).collect();
    let areas: Vec<Rect> = own.iter().flat_map(text_areas).collect();
    let mut page = page.clone();
    let Size { width, height } = upright(&page);
    let turn = Rotation { direction: super::recognised::direction(&page), page: Size { width, height } };
    // What is recognised of the embedded text is the same text again.
    page.words.retain(|word| {
        let middle = turn.rect_back(&word.rect).center();
        !areas.iter().any(|area| area.holds(middle))
    });
    let mut layout = recognised(&page, embedded);
    layout.parts.extend(own);
    let boxes: Vec<(Rect, u32)> = layout.parts.iter().map(|part| (part.rect(), u32::MAX)).collect();
    let mut parts: Vec<Option<LayoutPart>> = layout.parts.drain(..).map(Some).collect();
    layout.parts = order::reading_order(&boxes).into_iter().filter_map(|place| parts[place].take()).collect();
    layout
}

/// Returns the size of the visible page.
fn upright(page: &RecognisedPage) -> Size {
    let size = Size { width: page.width, height: page.height };
    if page.turned % 2 == 1 { size.turned() } else { size }
}

fn has_text(part: &LayoutPart) -> bool {
    match part {
        LayoutPart::Figure(_, text) => !text.is_empty(),
        _ => true,
    }
}

/// Returns the boxes of the text of a part. Text at an angle has a box that is much larger than the text, and covers
/// nothing.
fn text_areas(part: &LayoutPart) -> Vec<Rect> {
    let area = |paragraph: &Paragraph| {
        let lines = paragraph.lines as f32 * 2.0 * paragraph.size;
        let tight = paragraph.rect.height() <= lines || paragraph.rect.width() <= lines;
        tight.then(|| paragraph.rect.grown(0.2 * paragraph.size))
    };
    match part {
        LayoutPart::Paragraph(paragraph) => area(paragraph).into_iter().collect(),
        LayoutPart::Table(table) => vec![table.rect],
        LayoutPart::Figure(_, text) => text.iter().filter_map(area).collect(),
    }
}
