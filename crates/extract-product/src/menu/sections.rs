//! Sections of a menu that a page shows: headings with the items after them.

use super::items::{ItemDraft, found};
use super::legend::Legend;
use super::records::{Piece, Record};
use super::shown::{PageText, is_name};
use super::split::is_note;
use super::words::LISTS;

/// Limit on the letters of a section's heading.
const MAX_HEADING: usize = 120;
/// Limit on the letters of a section's description.
const MAX_DESCRIPTION: usize = 400;
/// Limit on the letters of a description that follows its item.
const MAX_TRAILING: usize = 300;
/// Limit on the items of a menu.
pub(super) const MAX_ITEMS: usize = 2000;

/// A section with its items.
#[derive(Debug, Default)]
pub(super) struct SectionDraft {
    /// Heading; empty for items before the first one.
    pub(super) name: String,
    pub(super) description: String,
    pub(super) items: Vec<ItemDraft>,
    /// The description after each item, if a text follows it.
    trailing: Vec<String>,
}

/// Collects the sections of the page.
pub(super) fn sections(shown: &PageText<'_>, pieces: &[Piece], legend: &Legend) -> Vec<SectionDraft> {
    let mut builder =
        Builder { shown, legend, parts: vec![SectionDraft::default()], pending: Vec::new(), last: None, count: 0 };
    for piece in pieces {
        match piece {
            Piece::Line(at) if !shown.line(*at).aside => builder.pending.push(*at),
            Piece::Line(_) => {}
            Piece::Item(record) if builder.count < MAX_ITEMS => builder.item(record),
            Piece::Item(_) => break,
        }
    }
    builder.trail(builder.pending.len());
    let mut parts = builder.parts;
    parts.iter_mut().for_each(settle);
    parts.retain(|part| !part.items.is_empty());
    parts
}

struct Builder<'a, 'p> {
    shown: &'a PageText<'p>,
    legend: &'a Legend,
    parts: Vec<SectionDraft>,
    /// Lines since the last item.
    pending: Vec<usize>,
    last: Option<Record>,
    count: usize,
}

impl Builder<'_, '_> {
    fn item(&mut self, record: &Record) {
        let mut item = found(self.shown, record, self.legend);
        if item.name.is_empty() && !self.name(&mut item) {
            self.further(item);
            return;
        }
        self.open(record);
        let is_kept = !is_sentence(&item.name) && !item.name.is_empty();
        if let Some(part) = self.parts.last_mut().filter(|_| is_kept) {
            part.items.push(item);
            part.trailing.push(String::new());
            self.count += 1;
        }
        self.last = Some(record.clone());
        self.pending.clear();
    }

    /// Adds prices without a name to the item before them.
    fn further(&mut self, item: ItemDraft) {
        let is_near = self.pending.is_empty() || self.pending.iter().all(|&at| !self.shown.names(at));
        let last = self.parts.last_mut().and_then(|part| part.items.last_mut());
        if let Some(last) = last.filter(|_| is_near) {
            last.choices.extend(item.choices);
            last.sold_out = last.sold_out.take().or(item.sold_out);
        }
        self.pending.clear();
    }

    /// Takes the name of an item from the lines before it: the last heading, or the last text.
    fn name(&mut self, item: &mut ItemDraft) -> bool {
        let place = {
            let mut lines = (0..self.pending.len()).rev();
            let named = |&place: &usize| self.shown.names(self.pending[place]);
            let heading = lines.clone().find(|&place| self.shown.line(self.pending[place]).heading > 0);
            heading.filter(named).or_else(|| lines.find(named))
        };
        let Some(place) = place else { return false };
        let lines = self.pending.split_off(place);
        let record = Record { lines: lines[0]..lines[lines.len() - 1] + 1, element: None };
        let named = found(self.shown, &record, self.legend);
        item.name = named.name;
        item.description.splice(0..0, named.description);
        item.diets.extend(named.diets);
        !item.name.is_empty()
    }

    /// Opens a new section if a heading comes before the item.
    fn open(&mut self, record: &Record) {
        let by_rank = |&place: &usize| self.is_named_heading(place);
        let found = (0..self.pending.len()).rev().find(by_rank);
        let place = found.or_else(|| (0..self.pending.len()).rev().find(|&place| self.is_heading(place, record)));
        let Some(place) = place else {
            self.trail(self.pending.len());
            return;
        };
        let heads = (0..place).find(|&before| self.shown.line(self.pending[before]).heading > 0).unwrap_or(place);
        self.trail(heads);
        let name = self.shown.line(self.pending[place]).text.trim_matches([':', ' ', '-', '–', '—', '*', '~', '•']);
        let description = self.text_of(&self.pending[place + 1..]);
        let name = name.char_indices().nth(MAX_HEADING).map_or(name, |(end, _)| &name[..end]).to_owned();
        self.parts.push(SectionDraft { name, description, ..SectionDraft::default() });
    }

    fn text_of(&self, lines: &[usize]) -> String {
        let is_column = |at: usize| self.shown.page.is(self.shown.line(at).block, &page::local_name!("th"));
        let texts = lines.iter().filter(|&&at| !is_column(at)).map(|&at| self.shown.line(at).text.as_str());
        let texts: Vec<&str> = texts.filter(|text| !is_note(text) && is_name(text)).collect();
        let text = texts.join(" ");
        if texts.len() <= 3 && text.chars().count() <= MAX_DESCRIPTION { text } else { String::new() }
    }

    /// Whether a line is a heading by its element, its looks or its words.
    fn is_named_heading(&self, place: usize) -> bool {
        let line = self.shown.line(self.pending[place]);
        let words = line.text.split_whitespace().count();
        let first: Vec<&str> = line.text.split_whitespace().take(2).collect();
        let is_said = || is_label(&line.text) && words <= 3 && LISTS.section.occur_in(&first.join(" "));
        let is_description = line.parts.iter().all(|part| part.looks.is_description);
        !is_description && (line.heading > 0 && is_name(&line.text) || is_said())
    }

    /// Whether a line is a heading by its place.
    fn is_heading(&self, place: usize, record: &Record) -> bool {
        let line = self.shown.line(self.pending[place]);
        let is_next = place + 1 == self.pending.len();
        let is_apart = record.element.is_some_and(|element| !self.is_sibling(line.block, element));
        is_label(&line.text) && (line.text.ends_with(':') || is_next && (line.gap || is_apart))
    }

    fn is_sibling(&self, block: page::Index, element: page::Index) -> bool {
        block == element || self.shown.page.parent(block) == self.shown.page.parent(element)
    }

    /// Notes the text after the last item, up to `place` in the pending lines, as its possible description.
    fn trail(&mut self, place: usize) {
        let Some(last) = self.last.take() else { return };
        let near = self.pending[..place].iter().take_while(|&&at| self.follows(&last, at));
        let texts: Vec<String> = near.map(|&at| self.shown.line(at).text.clone()).collect();
        let text = texts.join(" ");
        if let Some(trailing) = self.parts.last_mut().and_then(|part| part.trailing.last_mut())
            && text.chars().count() <= MAX_TRAILING
        {
            *trailing = text;
        }
    }

    /// Whether a line can describe the item before it: it stands in the same list, and is neither a note nor a heading.
    fn follows(&self, last: &Record, at: usize) -> bool {
        let page = self.shown.page;
        let line = self.shown.line(at);
        let is_row = |at: page::Index| {
            page.name(at).is_some_and(|name| matches!(&**name, "tr" | "p" | "div" | "h3" | "h4" | "h5"))
        };
        let is_flat =
            |at: page::Index| is_row(at) && page.children(at).all(|child| !page.is(child, &page::local_name!("ul")));
        let is_near = match last.element {
            Some(element) => is_flat(element) && self.stands_beside(line.block, element),
            None => true,
        };
        is_near && line.heading == 0 && !is_note(&line.text) && line.text.chars().any(char::is_alphabetic)
    }

    /// Whether a line is in a sibling of an element.
    fn stands_beside(&self, block: page::Index, element: page::Index) -> bool {
        let page = self.shown.page;
        let parent = page.parent(element);
        std::iter::once(block).chain(page.ancestors(block).take(3)).any(|up| page.parent(up) == parent && up != element)
    }
}

/// Whether a text is short enough for a heading, and neither a sentence nor a list.
fn is_label(text: &str) -> bool {
    let is_short = text.split_whitespace().count() <= 5 && text.chars().count() <= 40;
    let is_list = text.ends_with(['.', ',']) || text.contains(", ");
    is_short && !is_list && is_name(text) && !is_note(text) && !text.chars().next().is_some_and(char::is_lowercase)
}

/// Whether a name is a sentence rather than the name of a dish.
fn is_sentence(name: &str) -> bool {
    name.split_whitespace().count() > 16 && name.ends_with(['.', '!', '?'])
}

/// Decides whether the texts after the items describe them: most items have one. A text after the last item alone is about the whole section.
fn settle(part: &mut SectionDraft) {
    let count = part.items.len();
    let inner = part.trailing.iter().take(count.saturating_sub(1)).filter(|text| !text.is_empty()).count();
    if inner * 2 >= count.saturating_sub(1) && inner > 0 {
        for (item, text) in part.items.iter_mut().zip(part.trailing.drain(..)) {
            item.description.extend(Some(text).filter(|text| !text.is_empty()));
        }
    }
}
