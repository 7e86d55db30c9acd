//! Outline of a document: its headings as the author listed them.

use std::collections::{HashMap, HashSet};

use lopdf::{Dictionary, ObjectId};

use crate::objects::{Lookup, reference};
use crate::open::Pdf;

/// Maximum number of entries.
const MAX_ENTRIES: usize = 5000;
/// Maximum nesting of entries.
const MAX_DEPTH: u8 = 8;

/// Titles in normalized form, with their depth from 1.
#[derive(Debug, Default)]
pub(crate) struct Outline(HashMap<String, u8>);

impl Outline {
    pub(crate) fn depth(&self, text: &str) -> Option<u8> {
        self.0.get(&folded(text)).copied()
    }
}

/// Reads the outline.
pub(crate) fn outline(pdf: &Pdf) -> Outline {
    let doc = &pdf.doc;
    let root = doc.catalog().ok().and_then(|catalog| catalog.dict(doc, b"Outlines"));
    let mut reader = Reader { pdf, seen: HashSet::new(), titles: HashMap::new() };
    if let Some(first) = root.and_then(|root| reference(root, b"First")) {
        reader.read_entries(first, 1);
    }
    Outline(reader.titles)
}

struct Reader<'a> {
    pdf: &'a Pdf,
    seen: HashSet<ObjectId>,
    titles: HashMap<String, u8>,
}

impl Reader<'_> {
    /// Reads an entry, its children, and its next siblings.
    fn read_entries(&mut self, first: ObjectId, depth: u8) {
        let doc = &self.pdf.doc;
        let mut next = Some(first);
        while let Some(id) = next.filter(|id| self.seen.len() < MAX_ENTRIES && self.seen.insert(*id)) {
            let Ok(entry) = doc.get_object(id).and_then(lopdf::Object::as_dict) else { return };
            self.add(entry, depth);
            if let Some(inner) = reference(entry, b"First").filter(|_| depth < MAX_DEPTH) {
                self.read_entries(inner, depth + 1);
            }
            next = reference(entry, b"Next");
        }
    }

    fn add(&mut self, entry: &Dictionary, depth: u8) {
        let title = entry.text(&self.pdf.doc, b"Title").map(|title| folded(&title)).unwrap_or_default();
        if title.len() >= 3 {
            self.titles.entry(title).or_insert(depth);
        }
    }
}

/// Normalizes a text to its letters and digits, in lower case.
fn folded(text: &str) -> String {
    text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).take(200).collect()
}
