//! Outline of a page: blocks of text in reading order, and the groups of blocks that its elements form.

use std::ops::Range;

use base::Fnv;
use page::{Index, LocalName, Page, local_name};

use super::hints::{Hint, Hints, hints};
use super::measure::Text;
use crate::content::{Content, Visitor};
use crate::elements::{is_body_of_details, is_box, is_heading};

/// A run of text without block-level interruptions: a paragraph, a heading, a menu entry.
#[derive(Debug, Clone, Default)]
pub(crate) struct Block {
    /// Text nodes, as a range of [`Outline::texts`].
    pub(crate) texts: Range<usize>,
    pub(crate) group: usize,
    pub(crate) text: Text,
    /// Letters in links, buttons and other controls.
    pub(crate) linked: u32,
    pub(crate) links: u16,
    /// Level of a heading; 0 if the block is not a heading.
    pub(crate) heading: u8,
    pub(crate) kind: BlockKind,
    /// Nesting depth, in elements.
    pub(crate) depth: u16,
    pub(crate) hints: Hints,
    /// Hash of the signatures of the three innermost elements; equal for blocks in similar positions.
    pub(crate) path: u64,
    /// Images between the end of the previous block and the end of this one.
    pub(crate) images: u16,
}

/// Kind of the innermost block-level element of a block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum BlockKind {
    #[default]
    Other,
    Paragraph,
    Item,
    Cell,
    Code,
    Quote,
    Term,
    Caption,
    Control,
}

/// One or several nested elements that contain the same blocks.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    /// The outermost of the elements.
    pub(crate) element: Index,
    /// The innermost of the elements.
    pub(crate) innermost: Index,
    pub(crate) parent: usize,
    pub(crate) first: usize,
    pub(crate) end: usize,
    pub(crate) hints: Hints,
    pub(crate) level: u16,
    pub(crate) signature: u64,
}

/// The outline of a page. The first group is the whole content.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    /// The text nodes of all blocks, in document order.
    pub(crate) texts: Vec<Index>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) groups: Vec<Group>,
    /// The block after each text field for readers.
    pub(crate) fields: Vec<usize>,
}

impl Outline {
    pub(crate) fn of(content: &Content) -> Outline {
        let mut builder = Builder {
            page: content.page(),
            blocks: Vec::new(),
            texts: Vec::new(),
            spans: vec![Span { element: 0, first: 0, end: 0, hints: Hints::default(), signature: 0 }],
            open: Vec::new(),
            current: Block::default(),
            links: 0,
            controls: 0,
            fields: Vec::new(),
        };
        content.walk(&mut builder);
        builder.flush();
        builder.finish()
    }
}

/// A block-level element with its range of blocks.
struct Span {
    element: Index,
    first: usize,
    end: usize,
    hints: Hints,
    signature: u64,
}

struct Builder<'p> {
    page: &'p Page,
    blocks: Vec<Block>,
    texts: Vec<Index>,
    spans: Vec<Span>,
    open: Vec<OpenElement>,
    current: Block,
    links: usize,
    controls: usize,
    fields: Vec<usize>,
}

struct OpenElement {
    name: LocalName,
    /// Position in `spans`, for block-like elements.
    span: Option<usize>,
    inline: Hints,
    signature: u64,
}

impl Visitor for Builder<'_> {
    fn enter(&mut self, index: Index, name: &LocalName) -> bool {
        if matches!(*name, local_name!("svg") | local_name!("canvas") | local_name!("datalist")) {
            return false;
        }
        let mut found =
            self.page.element(index).map(|element| (hints(element), signature(element))).unwrap_or_default();
        if found.0.has(Hint::Hidden) && is_body_of_details(self.page, index) {
            found.0.remove(Hint::Hidden);
        }
        let span = is_block(name).then(|| {
            self.flush();
            let first = self.blocks.len();
            self.spans.push(Span { element: index, first, end: first, hints: found.0, signature: found.1 });
            self.spans.len() - 1
        });
        self.links += usize::from(*name == local_name!("a"));
        self.controls += usize::from(is_control(name));
        if *name == local_name!("textarea") {
            self.fields.push(self.blocks.len());
        }
        if *name == local_name!("a") {
            self.current.links = self.current.links.saturating_add(1);
        }
        self.current.images = self.current.images.saturating_add(u16::from(*name == local_name!("img")));
        let inline = if span.is_some() { Hints::default() } else { found.0 };
        self.open.push(OpenElement { name: name.clone(), span, inline, signature: found.1 });
        true
    }

    fn text(&mut self, index: Index) {
        let Some(text) = self.page.text(index) else { return };
        let before = self.current.text.letters;
        self.current.text.add(text);
        let letters = self.current.text.letters - before;
        if letters == 0 {
            return;
        }
        if before == 0 {
            self.current.texts.start = self.texts.len();
            // The rotation makes the hash depend on the order of the three signatures.
            let path = self.open.iter().rev().take(3).fold(0_u64, |path, open| path.rotate_left(21) ^ open.signature);
            self.current.path = path;
        }
        self.texts.push(index);
        self.current.texts.end = self.texts.len();
        if self.links > 0 || self.controls > 0 {
            self.current.linked += letters;
        }
        for open in self.open.iter().rev().take_while(|open| open.span.is_none()) {
            self.current.hints.union(open.inline);
        }
    }

    fn leave(&mut self, _index: Index) {
        let Some(span) = self.open.last().map(|open| open.span) else { return };
        if span.is_some() {
            self.flush();
        }
        let Some(open) = self.open.pop() else { return };
        self.links -= usize::from(open.name == local_name!("a"));
        self.controls -= usize::from(is_control(&open.name));
        if let Some(span) = span {
            self.spans[span].end = self.blocks.len();
        }
    }
}

impl Builder<'_> {
    /// Ends the current block.
    fn flush(&mut self) {
        if self.current.text.letters == 0 {
            // Images before the text of a block count for it.
            let images = self.current.images;
            self.current = Block { images, ..Block::default() };
            return;
        }
        let mut block = std::mem::take(&mut self.current);
        block.depth = self.open.len() as u16;
        for open in self.open.iter().rev() {
            if let Some(level) = heading_level(&open.name) {
                block.heading = level;
                break;
            }
            if open.span.is_some() {
                // The kind is that of the nearest element that has one; `div` and `section` have none and are skipped.
                if block.kind == BlockKind::Other {
                    block.kind = kind(&open.name);
                }
                if block.kind != BlockKind::Other || !matches!(open.name, local_name!("div") | local_name!("section")) {
                    break;
                }
            }
        }
        block.group = self.open.iter().rev().find_map(|open| open.span).unwrap_or(0);
        self.blocks.push(block);
    }

    /// Merges nested elements with the same blocks into groups.
    fn finish(mut self) -> Outline {
        self.spans[0].end = self.blocks.len();
        let mut groups: Vec<Group> = Vec::new();
        let mut group_of = vec![0_usize; self.spans.len()];
        let mut open: Vec<usize> = Vec::new();
        for (at, span) in self.spans.iter().enumerate() {
            while open.last().is_some_and(|&above: &usize| {
                at > 0 && !self.page.subtree(self.spans[above].element).contains(&span.element)
            }) {
                open.pop();
            }
            let parent = open.last().map_or(0, |&above| group_of[above]);
            open.push(at);
            if span.first == span.end && at > 0 {
                group_of[at] = parent;
                continue;
            }
            // Nested boxes with the same blocks are wrappers for styling: they form one group.
            if let Some(above) =
                groups.get_mut(parent).filter(|above| (above.first, above.end) == (span.first, span.end))
            {
                above.hints.union(span.hints);
                above.innermost = span.element;
                above.signature = above.signature.rotate_left(5) ^ span.signature;
                group_of[at] = parent;
                continue;
            }
            let level = groups.get(parent).map_or(0, |above| above.level + 1);
            group_of[at] = groups.len();
            groups.push(Group {
                element: span.element,
                innermost: span.element,
                parent,
                first: span.first,
                end: span.end,
                hints: span.hints,
                level,
                signature: span.signature,
            });
        }
        for block in &mut self.blocks {
            block.group = group_of[block.group];
        }
        Outline { texts: self.texts, blocks: self.blocks, groups, fields: self.fields }
    }
}

/// Returns a hash that is equal for elements with the same tag and the same first class, apart from digits.
fn signature(element: &page::Element) -> u64 {
    let class = element.attrs.iter().find(|attribute| attribute.name.local == local_name!("class"));
    let class = class.and_then(|class| class.value.split_ascii_whitespace().next()).unwrap_or_default();
    let name = Fnv::default().with(element.name.local.as_bytes()).with(&[0]);
    class.split(|c: char| c.is_ascii_digit()).fold(name, |hash, part| hash.with(part.as_bytes())).value()
}

fn heading_level(name: &LocalName) -> Option<u8> {
    Some(match *name {
        local_name!("h1") => 1,
        local_name!("h2") => 2,
        local_name!("h3") => 3,
        local_name!("h4") => 4,
        local_name!("h5") => 5,
        local_name!("h6") => 6,
        _ => return None,
    })
}

fn kind(name: &LocalName) -> BlockKind {
    match *name {
        local_name!("p") => BlockKind::Paragraph,
        local_name!("li") => BlockKind::Item,
        local_name!("td") | local_name!("th") => BlockKind::Cell,
        local_name!("pre") => BlockKind::Code,
        local_name!("blockquote") => BlockKind::Quote,
        local_name!("dt") | local_name!("dd") => BlockKind::Term,
        local_name!("figcaption") | local_name!("caption") | local_name!("legend") => BlockKind::Caption,
        local_name!("button") | local_name!("option") => BlockKind::Control,
        _ => BlockKind::Other,
    }
}

fn is_control(name: &LocalName) -> bool {
    matches!(*name, local_name!("button") | local_name!("option") | local_name!("select"))
}

/// Whether an element begins a block: block-level elements and controls. The model was trained on this division.
fn is_block(name: &LocalName) -> bool {
    is_box(name)
        || is_heading(name)
        || matches!(
            *name,
            local_name!("button")
                | local_name!("dt")
                | local_name!("li")
                | local_name!("menu")
                | local_name!("ol")
                | local_name!("pre")
                | local_name!("select")
                | local_name!("summary")
                | local_name!("td")
                | local_name!("th")
                | local_name!("tr")
                | local_name!("ul")
        )
}

impl Block {
    /// Whether the block consists of sentences, rather than links.
    pub(crate) fn is_prose(&self) -> bool {
        self.text.is_prose() && (self.linked as f32) < 0.35 * self.text.letters as f32
    }
}

impl Group {
    pub(crate) fn holds(&self, block: usize) -> bool {
        (self.first..self.end).contains(&block)
    }
}
