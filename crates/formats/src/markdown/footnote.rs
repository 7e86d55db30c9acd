//! Footnotes: a reference becomes `[^1]` and its note `[^1]: …`, if the markup identifies both.

use std::collections::{BTreeSet, HashMap, HashSet};

use page::{Index, LocalName, Page, local_name};

use super::blocks::Marker;
use super::{Open, Writer};
use crate::content::{Content, Visitor};
use crate::elements::{holds_footnotes, names_footnote};

/// Limit on the text of a reference, in characters: a number, a letter or a star, in brackets.
const MAX_TEXT: usize = 8;

/// The footnotes of a page.
#[derive(Debug, Default)]
pub(super) struct Footnotes {
    /// Positions of the notes by `id`.
    places: HashMap<String, Index>,
    /// Labels of the notes that have been referred to.
    labels: HashMap<Index, String>,
    used: HashSet<String>,
}

impl Writer<'_> {
    /// Writes the link at `index` as a reference, if it is one.
    pub(super) fn footnote_reference(&mut self, index: Index) -> bool {
        let Some(target) = reference(self.page, index) else { return false };
        let content = self.content;
        let notes = self.footnotes.get_or_insert_with(|| find(content));
        // A note before its reference was written without a label.
        let Some(&note) = notes.places.get(&target).filter(|note| **note > index) else { return false };
        let text = self.page.text_of(index);
        let label = notes.label(note, &text, &target);
        self.inline.raw(&format!("[^{label}]"));
        true
    }

    /// Whether a `<sup>` contains only a reference, which needs no superscript.
    pub(super) fn holds_reference(&mut self, index: Index) -> bool {
        let child = self.page.children(index).find(|&child| self.page.name(child).is_some());
        child.is_some_and(|child| {
            self.page.is(child, &local_name!("a"))
                && reference(self.page, child).is_some_and(|target| {
                    let content = self.content;
                    let notes = self.footnotes.get_or_insert_with(|| find(content));
                    notes.places.get(&target).is_some_and(|note| *note > child)
                })
        })
    }

    /// Whether a reference to the note at `index` has been read.
    pub(super) fn is_note(&self, index: Index) -> bool {
        self.footnotes.as_ref().is_some_and(|notes| notes.labels.contains_key(&index))
    }

    /// Starts the note at `index`, if a reference to it has been read.
    pub(super) fn start_note(&mut self, index: Index) -> Option<Open> {
        let label = self.footnotes.as_ref()?.labels.get(&index)?.clone();
        if self.is_flat() || self.inline.in_link() {
            return None;
        }
        self.flush();
        let opened = self.blocks.open_item(Marker::Footnote(label));
        self.notes += usize::from(opened);
        Some(if opened { Open::Note } else { Open::Flat })
    }

    /// Whether an element of a note contains its number or its back-links (docutils).
    pub(super) fn is_number_of_note(&self, index: Index, class: &str) -> bool {
        self.notes > 0
            && matches!(class, "label" | "backrefs")
            && self.page.parent(index).is_some_and(|above| self.is_note(above))
    }

    /// Whether a `<dt>` contains only the number of the note after it.
    pub(super) fn is_term_of_note(&self, index: Index) -> bool {
        self.footnotes.is_some()
            && definition(self.page, index).is_some_and(|note| self.is_note(note))
            && is_number(self.page, index)
    }

    /// Whether the link at `index`, in a note, is a back-link to its reference or repeats its number.
    pub(super) fn is_way_back(&self, index: Index) -> bool {
        if self.notes == 0 || !self.page.attr(index, "href").is_some_and(|href| href.contains('#')) {
            return false;
        }
        if self.page.attr(index, "role").is_some_and(|role| &*role == "doc-backlink") {
            return true;
        }
        let text = self.page.text_of(index);
        // The back-link to one of several references has its number after the arrow.
        let arrow = text.trim_end_matches(|c: char| c.is_ascii_digit() || c.is_whitespace());
        let text = if arrow.ends_with(['↩', '↑', '^', '\u{fe0e}']) { arrow } else { &text };
        let text = text.trim().trim_end_matches('\u{fe0e}');
        let number = || text.trim_matches(['[', ']', '.', ')', '(']).bytes().all(|b| b.is_ascii_digit());
        matches!(text, "↩" | "↑" | "^" | "⏎" | "⤴" | "↵" | "⬆" | "Back" | "back") || !self.blocks.started() && number()
    }
}

impl Footnotes {
    fn label(&mut self, note: Index, text: &str, target: &str) -> String {
        if let Some(label) = self.labels.get(&note) {
            return label.clone();
        }
        let is_plain = |label: &str| {
            (1..=20).contains(&label.len()) && label.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
        };
        let short = text.trim().trim_matches(['[', ']', '(', ')']).to_owned();
        let long: String = target.chars().filter(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).take(20).collect();
        let number = self.labels.len() + 1;
        let names = [short, long].into_iter().chain((number..).map(|n| format!("note{n}")));
        let fresh = names.filter(|label| is_plain(label)).find(|label| !self.used.contains(label));
        let label = fresh.unwrap_or_default();
        self.used.insert(label.clone());
        self.labels.insert(note, label.clone());
        label
    }
}

/// Returns the `id` that a link refers to, if the markup calls it a reference to a note.
fn reference(page: &Page, index: Index) -> Option<String> {
    let element = page.element(index)?;
    let href = element.attr("href")?;
    let target = href.trim().strip_prefix('#').filter(|target| !target.is_empty())?;
    let above = page.parent(index);
    let marked = element.attr("data-footnote-ref").is_some()
        || element.attr("role").is_some_and(|role| &*role == "doc-noteref")
        || element.attr("class").is_some_and(|class| names_footnote(&class))
        || above.is_some_and(|above| page.is(above, &local_name!("sup")));
    let short = || page.end(index) - index < 8 && (1..=MAX_TEXT).contains(&page.text_of(index).trim().chars().count());
    (marked && short()).then(|| target.to_owned())
}

/// Finds the notes in `content`: blocks with an `id` inside an element that is marked up as a list of notes.
fn find(content: &Content) -> Footnotes {
    let page = content.page();
    let mut search = Search { page, holders: Vec::new(), blocks: Vec::new(), found: Footnotes::default() };
    content.walk(&mut search);
    // A block that contains other notes is not a note itself.
    let places: BTreeSet<Index> = search.found.places.values().copied().collect();
    search.found.places.retain(|_, note| places.range(*note + 1..page.end(*note)).next().is_none());
    search.found
}

struct Search<'p> {
    page: &'p Page,
    /// Ends of the open elements that contain notes.
    holders: Vec<Index>,
    /// Open blocks inside those, with their ends, innermost last.
    blocks: Vec<(Index, Index)>,
    found: Footnotes,
}

impl Visitor for Search<'_> {
    fn enter(&mut self, index: Index, name: &LocalName) -> bool {
        while self.holders.pop_if(|end| *end <= index).is_some() {}
        while self.blocks.pop_if(|(_, end)| *end <= index).is_some() {}
        let Some(element) = self.page.element(index) else { return true };
        let block = matches!(
            *name,
            local_name!("div")
                | local_name!("section")
                | local_name!("aside")
                | local_name!("li")
                | local_name!("ol")
                | local_name!("p")
                | local_name!("dd")
        );
        if (block || *name == local_name!("dl")) && holds_footnotes(element) {
            self.holders.push(self.page.end(index));
        }
        if self.holders.is_empty() {
            return true;
        }
        if block {
            self.blocks.push((index, self.page.end(index)));
        }
        let note = self.blocks.last().map(|(note, _)| *note);
        // Docutils writes definition lists: the `<dt>` has the number and the `id`, the `<dd>` the note.
        let defined = if *name == local_name!("dt") { definition(self.page, index) } else { None };
        if let Some(note) = defined.or(note) {
            for id in ["id", "name"].iter().filter_map(|attribute| element.attr(attribute)) {
                self.found.places.entry(id.to_string()).or_insert(note);
            }
        }
        true
    }

    fn text(&mut self, _index: Index) {}

    fn leave(&mut self, _index: Index) {}
}

/// Returns the `<dd>` right after a `<dt>`.
fn definition(page: &Page, term: Index) -> Option<Index> {
    let end = page.parent(term).map(|above| page.end(above))?;
    let next = (page.end(term)..end).take(2).find(|&at| page.name(at).is_some())?;
    page.is(next, &local_name!("dd")).then_some(next)
}

/// Whether a term is a number or a sign, possibly followed by back-links or inside one.
fn is_number(page: &Page, term: Index) -> bool {
    let is_link = |at: Index| page.is(at, &local_name!("a")) && page.attr(at, "href").is_some();
    let link = page.subtree(term).find(|&at| is_link(at));
    let text_to = |end: Index| (term..end).filter_map(|at| page.text(at)).collect::<String>();
    let mut text = text_to(link.unwrap_or(page.end(term)));
    if text.trim().is_empty() {
        text = text_to(link.map_or(term, |link| page.end(link)));
    }
    text.trim().chars().count() <= MAX_TEXT || !text.contains(char::is_alphabetic)
}
