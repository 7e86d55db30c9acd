//! Structure: the role of the parts of all pages.
//!
//! Headings are recognised by contrast with the running text of the whole document, and furniture by its repetition
//! from page to page. So nothing is decided before every page is laid out.

mod furniture;
mod headings;
mod lists;
mod notes;
mod outline;
pub(crate) mod signs;

use std::collections::BTreeMap;

use crate::layout::paragraphs::Paragraph;
use crate::layout::{LayoutPart, PageLayout};
use crate::model::{Block, BlockKind, Content, Page, Span};
use crate::structure::furniture::Furniture;
use crate::structure::headings::Headings;
pub(crate) use crate::structure::outline::{Outline, outline};

/// Maximum ratio of a footnote's size to that of running text.
const SMALLER: f32 = 0.93;

/// Look of the running text.
#[derive(Debug, Clone)]
pub(crate) struct Body {
    pub(crate) size: f32,
    /// Whether most of it is monospaced, so that this does not indicate code.
    pub(crate) mono: bool,
    /// Whether most of it is bold, so that this does not indicate headings.
    pub(crate) bold: bool,
    /// Fonts of running text.
    pub(crate) faces: Vec<u64>,
}

/// Returns the pages of a document, numbered from 1.
pub(crate) fn pages(layouts: Vec<PageLayout>, outline: &Outline) -> Vec<Page> {
    let body = body(&layouts);
    let furniture = Furniture::of(&layouts, &body);
    let headings = Headings::of(&layouts, &furniture, &body, outline);
    let marks = layouts.iter().enumerate().map(|(page, layout)| {
        layout.parts.iter().enumerate().map(|(part, _)| (furniture.get(page, part), headings.get(page, part))).collect()
    });
    let marks: Vec<Vec<_>> = marks.collect();
    let pages = layouts.into_iter().zip(marks).enumerate();
    let mut pages: Vec<Page> = pages.map(|(index, (layout, marks))| page(index, layout, &marks, &body)).collect();
    notes::connect(&mut pages);
    pages
}

type Mark = (Option<(BlockKind, bool)>, Option<(BlockKind, u8)>);

fn page(index: usize, layout: PageLayout, marks: &[Mark], body: &Body) -> Page {
    let mut blocks: Vec<Block> = Vec::new();
    let mut list = lists::List::default();
    let mut code = Code::default();
    for (part, mark) in layout.parts.into_iter().zip(marks) {
        let plain = mark.0.is_none() && mark.1.is_none();
        if let LayoutPart::Paragraph(paragraph) = &part {
            if plain && paragraph.mono && !body.mono && paragraph.mark.is_none() {
                list.flush(&mut blocks);
                // Code in the next column has an indentation of its own.
                if code.rect.is_some_and(|rect| rect.overlap_x(&paragraph.rect) <= 0.0) {
                    code.flush(&mut blocks);
                }
                code.add(paragraph);
                continue;
            }
            code.flush(&mut blocks);
            if plain && list.takes(paragraph) {
                list.add(paragraph);
                continue;
            }
        }
        code.flush(&mut blocks);
        list.flush(&mut blocks);
        let note = is_note(&part, body, layout.height);
        blocks.push(Block { note, ..block(part, mark, body) });
    }
    code.flush(&mut blocks);
    list.flush(&mut blocks);
    blocks.retain(|block| !is_blank(block));
    for block in &mut blocks {
        block.recognition = layout.recognition.confidence(&block.rect);
    }
    Page {
        number: u32::try_from(index + 1).unwrap_or(u32::MAX),
        width: layout.width,
        height: layout.height,
        blocks,
        quality: layout.quality,
        source: layout.source,
        confidence: layout.recognition.mean(),
        failure: layout.failure,
        links: layout.links,
    }
}

/// Whether a part is a footnote: small text in the lower half of the page that begins with a mark.
fn is_note(part: &LayoutPart, body: &Body, height: f32) -> bool {
    let LayoutPart::Paragraph(paragraph) = part else { return false };
    if paragraph.size >= SMALLER * body.size || paragraph.rect.y0 <= 0.5 * height {
        return false;
    }
    let text = crate::layout::text::plain(&paragraph.inline);
    let marked = text.starts_with(|letter: char| letter.is_ascii_digit() || matches!(letter, '*' | '†' | '‡' | '§'));
    marked && text.contains(char::is_alphabetic)
}

fn is_blank(block: &Block) -> bool {
    match &block.content {
        Content::Heading(_, inline) | Content::Paragraph(inline) => {
            inline.iter().all(|span| span.text.trim().is_empty())
        }
        _ => false,
    }
}

fn block(part: LayoutPart, mark: &Mark, body: &Body) -> Block {
    let rect = part.rect();
    let make = |kind, content, confidence| Block {
        kind,
        rect,
        content,
        repeated: false,
        confidence,
        recognition: None,
        note: false,
    };
    match part {
        LayoutPart::Table(found) => make(BlockKind::Table, Content::Table(found.table), found.confidence),
        LayoutPart::Figure(_, text) if text.is_empty() => make(BlockKind::Figure, Content::Picture, 0.7),
        LayoutPart::Figure(_, text) => {
            let lines: Vec<String> = text.iter().map(|line| crate::layout::text::plain(&line.inline)).collect();
            let text = Span { text: lines.join("\n"), ..Span::default() };
            make(BlockKind::Figure, Content::Paragraph(vec![text]), 0.7)
        }
        LayoutPart::Paragraph(paragraph) => match *mark {
            (Some((kind, repeated)), _) => Block { repeated, ..make(kind, Content::Paragraph(paragraph.inline), 0.8) },
            (None, Some((kind, level))) => {
                let mut inline = paragraph.inline;
                // A monospaced heading is marked as code only if the running text is not monospaced.
                inline.iter_mut().for_each(|span| span.code |= paragraph.mono && !body.mono);
                make(kind, Content::Heading(level, inline), 0.8)
            }
            (None, None) => {
                let kind = kind_of(&paragraph, body);
                make(kind, Content::Paragraph(paragraph.inline), 0.75)
            }
        },
    }
}

fn kind_of(paragraph: &Paragraph, body: &Body) -> BlockKind {
    let text = crate::layout::text::plain(&paragraph.inline);
    if signs::is_caption(&text) && paragraph.lines <= 8 && paragraph.size < 1.3 * body.size {
        return BlockKind::Caption;
    }
    if paragraph.lines <= 3 && signs::is_formula(&text) {
        return BlockKind::Formula;
    }
    BlockKind::Text
}

/// Code block under construction.
#[derive(Default)]
struct Code {
    lines: Vec<String>,
    rect: Option<crate::geometry::Rect>,
    left: f32,
}

impl Code {
    fn add(&mut self, paragraph: &Paragraph) {
        let rect = self.rect.get_or_insert_with(|| {
            self.left = paragraph.rect.x0;
            paragraph.rect
        });
        // A gap between two pieces of code is an empty line; a piece further to the right is indented.
        if !self.lines.is_empty() && paragraph.rect.y0 - rect.y1 > 0.9 * paragraph.size {
            self.lines.push(String::new());
        }
        let shift = ((paragraph.rect.x0 - self.left) / (0.6 * paragraph.size)).round().clamp(0.0, 60.0) as usize;
        self.lines.extend(paragraph.code.iter().map(|line| format!("{}{line}", " ".repeat(shift))));
        *rect = rect.union(&paragraph.rect);
    }

    fn flush(&mut self, blocks: &mut Vec<Block>) {
        if let Some(rect) = self.rect.take() {
            let lines = std::mem::take(&mut self.lines);
            let content = Content::Code(lines);
            blocks.push(Block {
                kind: BlockKind::Text,
                rect,
                content,
                repeated: false,
                confidence: 0.7,
                recognition: None,
                note: false,
            });
        }
    }
}

/// Returns the look of most letters. Code does not count as running text unless there is hardly anything else.
fn body(layouts: &[PageLayout]) -> Body {
    let all = || {
        layouts.iter().flat_map(|layout| &layout.parts).filter_map(|part| match part {
            LayoutPart::Paragraph(paragraph) => Some(paragraph),
            _ => None,
        })
    };
    let letters = |of: &dyn Fn(&Paragraph) -> bool| -> usize {
        all().filter(|paragraph| of(paragraph)).map(|paragraph| paragraph.letters).sum()
    };
    let mono = 4 * letters(&|paragraph| paragraph.mono) > 3 * letters(&|_| true);
    let running = || all().filter(|paragraph| mono || !paragraph.mono);
    let mut sizes: BTreeMap<i32, usize> = BTreeMap::new();
    let mut faces: BTreeMap<u64, usize> = BTreeMap::new();
    let (mut count, mut bold) = (0, 0);
    for paragraph in running() {
        *sizes.entry((paragraph.size * 4.0).round() as i32).or_default() += paragraph.letters;
        *faces.entry(paragraph.face).or_default() += paragraph.letters;
        count += paragraph.letters;
        bold += if paragraph.bold { paragraph.letters } else { 0 };
    }
    let size = sizes.into_iter().max_by_key(|(_, letters)| *letters).map_or(10.0, |(size, _)| size as f32 / 4.0);
    let faces = faces.into_iter().filter(|(_, letters)| 6 * letters > count).map(|(face, _)| face).collect();
    Body { size, mono, bold: 2 * bold > count, faces }
}
