//! Layout analysis: converts the content of a page to parts in reading order.
//!
//! Words ([`words`]) become lines ([`lines`]). Tables are taken out, from the most to the least certain kind. The rest
//! is grouped into blocks ([`blocks`]), which are ordered ([`order`]) and split into paragraphs ([`paragraphs`]). The
//! role of the parts, such as headings, is decided for the whole document in [`crate::structure`].

mod accents;
pub(crate) mod blocks;
mod code;
pub(crate) mod drawings;
pub(crate) mod figures;
mod justified;
pub(crate) mod leaders;
pub(crate) mod line;
pub(crate) mod lines;
mod margins;
mod noise;
pub(crate) mod order;
pub(crate) mod paragraphs;
pub(crate) mod recognised;
mod rtl;
mod seams;
pub(crate) mod stamped;
pub(crate) mod text;
mod turned;
pub(crate) mod words;

use crate::content::page::{Flags, LinkArea, PageContent};
use crate::geometry::{Point, Rect, Size};
use crate::layout::drawings::Drawings;
use crate::layout::line::Line;
use crate::layout::paragraphs::Paragraph;
use crate::layout::words::{Rotation, Word, directions, words};
use crate::model::{Quality, TextSource};
use crate::recognised::RecogniseError;
use crate::table::{PlacedTable, bands, columns};

/// Maximum number of words of a page for the layout analysis; beyond it they stay in drawing order.
const MAX_WORDS: usize = 15_000;

/// Part of a page.
#[derive(Debug)]
pub(crate) enum LayoutPart {
    Paragraph(Paragraph),
    Table(PlacedTable),
    /// Figure with the text inside it.
    Figure(Rect, Vec<Paragraph>),
}

/// Page as parts in reading order.
#[derive(Debug, Default)]
pub(crate) struct PageLayout {
    pub(crate) width: f32,
    pub(crate) height: f32,
    /// Parts, with boxes in page space.
    pub(crate) parts: Vec<LayoutPart>,
    pub(crate) links: Vec<String>,
    /// Areas of the links.
    pub(crate) areas: Vec<LinkArea>,
    pub(crate) quality: Quality,
    pub(crate) source: TextSource,
    /// Confidence of the characters, if they were recognised.
    pub(crate) recognition: Recognition,
    /// Reason why OCR of the page failed, if it was wanted.
    pub(crate) failure: Option<RecogniseError>,
}

/// Confidence of the words of a page, with their boxes in page space.
#[derive(Debug, Default)]
pub(crate) struct Recognition(Vec<(Rect, f32)>);

impl Recognition {
    /// Returns the mean confidence of the words inside a box.
    pub(crate) fn confidence(&self, rect: &Rect) -> Option<f32> {
        mean(self.0.iter().filter(|(word, _)| rect.holds(word.center())).map(|(_, sure)| *sure))
    }

    /// Returns the mean confidence of all words.
    pub(crate) fn mean(&self) -> Option<f32> {
        mean(self.0.iter().map(|(_, sure)| *sure))
    }
}

fn mean(values: impl Iterator<Item = f32>) -> Option<f32> {
    let (sum, count) = values.fold((0.0, 0_usize), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / count as f32)
}

/// Analyses the layout of a page.
pub(crate) fn page(content: PageContent) -> PageLayout {
    let mut content = content;
    noise::remove(&mut content);
    let mut layout = laid_out(&content);
    layout.areas = content.links;
    layout
}

fn laid_out(content: &PageContent) -> PageLayout {
    let mut layout = PageLayout {
        width: content.width,
        height: content.height,
        links: unique(content.links.iter().map(|area| area.url.clone())),
        quality: quality(content),
        ..PageLayout::default()
    };
    let directions = directions(content);
    let page = Size { width: content.width, height: content.height };
    let mut texts: Vec<DirectedText> = directions
        .iter()
        .map(|direction| {
            let turn = Rotation { direction: *direction, page };
            DirectedText { turn, words: words(content, &turn) }
        })
        .collect();
    for place in 0..texts.len() {
        let turn = texts[place].turn;
        let scene = Drawings::new(content, &turn, place == 0);
        let tables = if place == 0 { turned::tables(&scene, &mut texts) } else { Vec::new() };
        for mut part in parts(std::mem::take(&mut texts[place].words), tables, &scene) {
            part.turn_back(&turn);
            layout.parts.push(part);
        }
    }
    if directions.is_empty() {
        let turn = Rotation { direction: words::Direction::Right, page };
        let scene = Drawings::new(content, &turn, true);
        layout.parts.extend(scene.figures.iter().map(|rect| LayoutPart::Figure(*rect, Vec::new())));
    }
    layout
}

/// Words of one direction.
struct DirectedText {
    turn: Rotation,
    words: Vec<Word>,
}

/// Lays out words, from which the words of the given tables have been taken out.
fn parts(words: Vec<Word>, tables: Vec<PlacedTable>, scene: &Drawings<'_>) -> Vec<LayoutPart> {
    let (mut words, mut tables) = (words, tables);
    if words.len() > MAX_WORDS {
        let lines = vec![Line::new(words)];
        return paragraphs::split(&lines, scene, 0.0).into_iter().map(LayoutPart::Paragraph).collect();
    }
    margins::remove_line_numbers(&mut words, scene);
    let vertical = scene.turned && is_ideographic(&words);
    let mut lines = lines::lines(words);
    let body = body_size(&lines);
    tables.extend(bands::find(scene, &mut lines));
    leaders::join_contents(&mut lines);
    let prose = blocks::prose(&lines, scene);
    // Lines of vertical text are columns by nature.
    if !vertical {
        tables.extend(columns::find(&mut lines, &prose, scene));
    }
    tables.sort_by_key(|table| table.order);
    arrange(lines, tables, scene, body)
}

fn is_ideographic(words: &[Word]) -> bool {
    let letters = || words.iter().flat_map(|word| word.text.chars());
    2 * letters().filter(|letter| words::is_ideograph(*letter)).count() > letters().count()
}

/// Returns the size of most letters.
fn body_size(lines: &[Line]) -> f32 {
    let mut sizes: Vec<(f32, usize)> = Vec::new();
    for line in lines {
        match sizes.iter_mut().find(|(size, _)| (*size - line.size).abs() < 0.25) {
            Some((_, count)) => *count += line.letters(),
            None => sizes.push((line.size, line.letters())),
        }
    }
    sizes.into_iter().max_by_key(|(_, count)| *count).map_or(0.0, |(size, _)| size)
}

/// Item with a position in reading order.
enum Item {
    Lines(Vec<Line>),
    Table(PlacedTable),
    Figure(Rect, Vec<Line>),
}

fn arrange(lines: Vec<Line>, tables: Vec<PlacedTable>, scene: &Drawings<'_>, body: f32) -> Vec<LayoutPart> {
    let mut figures = scene.figures.clone();
    figures.extend(figures::charts(&scene.fills, &tables, &lines, scene.size));
    let (inside, lines) = figures::take(&figures::merged(figures), &tables, lines);
    let mut items: Vec<(order::Part, Item)> = Vec::new();
    for block in blocks::gather(lines, scene) {
        let rect = block.iter().fold(Rect::EMPTY, |rect, line| rect.union(&line.rect));
        let order = block.iter().map(|line| line.order).min().unwrap_or(u32::MAX);
        let words = block.iter().map(|line| line.words.len()).max().unwrap_or(0);
        let short = order::Part::is_short(block.len(), words);
        items.push((order::Part { rect, order, short }, Item::Lines(block)));
    }
    let part = |table: &PlacedTable| order::Part { rect: table.rect, order: table.order, short: false };
    items.extend(tables.into_iter().map(|table| (part(&table), Item::Table(table))));
    for (rect, lines) in inside {
        let order = lines.iter().map(|line| line.order).min().unwrap_or(u32::MAX);
        items.push((order::Part { rect, order, short: true }, Item::Figure(rect, lines)));
    }
    let places: Vec<order::Part> = items.iter().map(|(part, _)| *part).collect();
    let mut items: Vec<Option<Item>> = items.into_iter().map(|(_, item)| Some(item)).collect();
    let mut parts = Vec::new();
    for place in order::page_order(&places) {
        match items[place].take() {
            Some(Item::Lines(lines)) => {
                parts.extend(paragraphs::split(&lines, scene, body).into_iter().map(LayoutPart::Paragraph));
            }
            Some(Item::Table(table)) => parts.push(LayoutPart::Table(table)),
            Some(Item::Figure(rect, lines)) => {
                let text = blocks::gather(lines, scene).into_iter();
                let text = text.flat_map(|block| paragraphs::split(&block, scene, body)).collect();
                parts.push(LayoutPart::Figure(rect, text));
            }
            None => {}
        }
    }
    parts
}

impl LayoutPart {
    fn turn_back(&mut self, turn: &Rotation) {
        match self {
            Self::Paragraph(paragraph) => paragraph.rect = turn.rect_back(&paragraph.rect),
            Self::Table(found) => found.rect = turn.rect_back(&found.rect),
            Self::Figure(rect, text) => {
                *rect = turn.rect_back(rect);
                text.iter_mut().for_each(|paragraph| paragraph.rect = turn.rect_back(&paragraph.rect));
            }
        }
    }

    pub(crate) fn rect(&self) -> Rect {
        match self {
            Self::Paragraph(paragraph) => paragraph.rect,
            Self::Table(found) => found.rect,
            Self::Figure(rect, _) => *rect,
        }
    }
}

fn unique(urls: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    urls.filter(|url| seen.insert(url.clone())).collect()
}

/// Measures the quality of a page's text.
fn quality(content: &PageContent) -> Quality {
    let (mut characters, mut strange, mut text) = (0, 0, 0.0);
    for glyph in content.glyphs.iter().filter(|glyph| !glyph.flags.has(Flags::SPACE)) {
        characters += 1;
        strange += usize::from(glyph.flags.has(Flags::UNKNOWN) || is_strange(glyph.text));
        text += Point { x: glyph.end.x - glyph.start.x, y: glyph.end.y - glyph.start.y }.length() * glyph.size;
    }
    let sheet = Rect { x0: 0.0, y0: 0.0, x1: content.width, y1: content.height };
    let covered: f32 = content.images.iter().map(|image| image.shared(&sheet)).sum();
    let share = |part: usize| if characters == 0 { 0.0 } else { part as f32 / characters as f32 };
    Quality {
        characters,
        readable: share(characters - strange),
        pictures: (covered / sheet.area().max(1.0)).min(1.0),
        explained: text / covered.max(1.0),
        looked: false,
        hidden: characters > 0
            && content.glyphs.iter().all(|glyph| glyph.flags.has(Flags::HIDDEN) || glyph.flags.has(Flags::SPACE)),
        cut: content.cut,
    }
}

/// Whether text hardly ever contains the character: control characters, private use, replacement characters.
fn is_strange(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{fffd}' | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..)
}
