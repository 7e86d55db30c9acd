//! Lists: paragraphs that begin with bullets or numbers.

use crate::geometry::Rect;
use crate::layout::line::{is_bullet, is_state};
use crate::layout::paragraphs::Paragraph;
use crate::model::{Block, BlockKind, Content, Item, Span};

/// Minimum indentation of the next level, in ems.
const STEP: f32 = 0.9;
/// Maximum nesting of a list.
const MAX_DEPTH: usize = 6;

/// List under construction.
#[derive(Default)]
pub(crate) struct List {
    items: Vec<Item>,
    rect: Option<Rect>,
    /// Left edge of the items of each level.
    levels: Vec<f32>,
}

impl List {
    /// Whether a paragraph is a list item.
    pub(crate) fn takes(&self, paragraph: &Paragraph) -> bool {
        paragraph.mark.is_some()
    }

    pub(crate) fn add(&mut self, paragraph: &Paragraph) {
        let Some(mark) = paragraph.mark.clone() else { return };
        let x = paragraph.rect.x0;
        let step = STEP * paragraph.size;
        // In another column the indentation starts again.
        if self.rect.is_some_and(|rect| rect.overlap_x(&paragraph.rect) <= 0.0) {
            self.levels.clear();
        }
        while self.levels.len() > 1 && self.levels.last().is_some_and(|last| x < last - step) {
            self.levels.pop();
        }
        if self.levels.last().is_none_or(|last| x > last + step) && self.levels.len() < MAX_DEPTH {
            self.levels.push(x);
        }
        let mut text = paragraph.inline.clone();
        // A tick or an empty box is part of what the item says.
        if let Some(first) = text.first_mut().filter(|_| !is_state(&mark)) {
            let rest = first.text.strip_prefix(mark.as_str()).unwrap_or(&first.text);
            first.text = rest.trim_start().to_owned();
        }
        text.retain(|span: &Span| !span.text.is_empty());
        let depth = u8::try_from(self.levels.len().saturating_sub(1)).unwrap_or(0);
        self.items.push(Item { depth, mark: (!is_bullet(&mark)).then_some(mark), text });
        self.rect = Some(self.rect.map_or(paragraph.rect, |rect| rect.union(&paragraph.rect)));
    }

    pub(crate) fn flush(&mut self, blocks: &mut Vec<Block>) {
        self.levels.clear();
        if let Some(rect) = self.rect.take() {
            let content = Content::List(std::mem::take(&mut self.items));
            blocks.push(Block {
                kind: BlockKind::Text,
                rect,
                content,
                repeated: false,
                confidence: 0.8,
                recognition: None,
                note: false,
            });
        }
    }
}
