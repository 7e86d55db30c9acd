//! Notes of books: the marks that refer to them, and the notes themselves, wherever in the book they stand.
//!
//! Chapters are read one after the other, so what a mark or a note becomes is only known at the end: until then both
//! are inserts.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use memchr::{memchr, memmem};

use super::super::marks::Inserts;
use super::super::package::resolved;
use super::super::tree::{attributes, local, plain};

/// Types and roles of marks, of notes, and of links from a note back to its mark.
const MARKS: [&str; 2] = ["noteref", "doc-noteref"];
const NOTES: [&str; 5] = ["footnote", "endnote", "rearnote", "doc-footnote", "doc-endnote"];
const BACK: [&str; 3] = ["backlink", "doc-backlink", "referrer"];
/// Maximum length of a mark that is shown when its note is missing, in characters.
const MAX_SHOWN: usize = 8;
/// Maximum length of the source of a link, and of a tag that raises it, in bytes.
const MAX_LINK: usize = 4096;
const MAX_RAISING: usize = 256;

/// Marks and notes of a book.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// Numbers of notes by part and id.
    numbers: HashMap<String, usize>,
    marks: Vec<Mark>,
    /// Inserts at the beginning of notes, by number.
    notes: HashMap<usize, usize>,
}

#[derive(Debug)]
struct Mark {
    number: usize,
    insert: usize,
    shown: String,
}

impl Notes {
    /// Returns a chapter with inserts in place of marks and before notes; `None` if it has neither.
    pub(super) fn connected(&mut self, name: &str, text: &[u8], inserts: &mut Inserts) -> Option<Vec<u8>> {
        let has = |word: &str| memmem::find(text, word.as_bytes()).is_some();
        if self.numbers.is_empty() && !MARKS.iter().chain(&NOTES).any(|word| has(word)) {
            return None;
        }
        let mut chapter = Chapter { text, at: 0, out: Vec::with_capacity(text.len() + 256), begun: None };
        let (count, in_notes) = (self.marks.len(), self.notes.len());
        while let Some(tag) = chapter.next(inserts, &mut self.notes) {
            let tag = Tag::of(tag);
            if tag.is_any(&MARKS)
                && let Some(target) = tag.target(name)
            {
                let shown = chapter.skip_link();
                let number = self.number(target);
                let insert = inserts.later();
                chapter.out.extend_from_slice(insert.mark.as_bytes());
                self.marks.push(Mark { number, insert: insert.place, shown });
                continue;
            }
            if chapter.begun.is_some() && tag.is_any(&BACK) {
                chapter.skip_link();
                continue;
            }
            chapter.out.extend_from_slice(tag.source);
            let Some(id) = tag.value("id").map(|id| format!("{name}#{id}")) else { continue };
            if tag.is_any(&NOTES) || self.numbers.contains_key(&id) {
                chapter.begun = Some(self.number(id));
            }
        }
        let out = chapter.rest();
        (self.marks.len() > count || self.notes.len() > in_notes).then_some(out)
    }

    fn number(&mut self, target: String) -> usize {
        let next = self.numbers.len() + 1;
        *self.numbers.entry(target).or_insert(next)
    }

    /// Decides what marks and notes become: footnotes, where both are there.
    pub(super) fn finish(self, inserts: &mut Inserts) {
        for mark in &self.marks {
            let reference = format!("[^{}]", mark.number);
            let raised = if mark.shown.is_empty() { String::new() } else { format!("<sup>{}</sup>", mark.shown) };
            inserts.set(mark.insert, if self.notes.contains_key(&mark.number) { reference } else { raised });
        }
        let marked: HashSet<usize> = self.marks.iter().map(|mark| mark.number).collect();
        for (number, insert) in &self.notes {
            if marked.contains(number) {
                inserts.set(*insert, format!("[^{number}]: "));
            }
        }
    }
}

/// Chapter that is copied tag by tag.
struct Chapter<'a> {
    text: &'a [u8],
    /// Place after the last tag.
    at: usize,
    out: Vec<u8>,
    /// Number of the note that begins with the next letter.
    begun: Option<usize>,
}

impl<'a> Chapter<'a> {
    /// Copies the text before the next tag, and returns the tag.
    fn next(&mut self, inserts: &mut Inserts, notes: &mut HashMap<usize, usize>) -> Option<&'a [u8]> {
        let rest = self.text.get(self.at..)?;
        let start = memchr(b'<', rest)?;
        let end = start + memchr(b'>', &rest[start..])? + 1;
        let mut before = &rest[..start];
        if let Some(number) = self.begun.filter(|_| !before.trim_ascii().is_empty()) {
            self.begun = None;
            if let Entry::Vacant(note) = notes.entry(number) {
                let insert = inserts.later();
                self.out.extend_from_slice(insert.mark.as_bytes());
                note.insert(insert.place);
                before = before.trim_ascii_start();
            }
        }
        self.out.extend_from_slice(before);
        self.at += end;
        Some(&rest[start..end])
    }

    /// Leaves out the rest of a link, and raising around it; returns its letters.
    fn skip_link(&mut self) -> String {
        let rest = &self.text[self.at..];
        let end = memmem::find(&rest[..rest.len().min(MAX_LINK)], b"</a>").unwrap_or(0);
        let (source, mut is_text) = (String::from_utf8_lossy(&rest[..end]), true);
        let shown = source.chars().filter(|letter| {
            is_text = if is_text { *letter != '<' } else { *letter == '>' };
            is_text && (letter.is_alphanumeric() || matches!(letter, '*' | '†' | '‡' | '§'))
        });
        let shown = shown.take(MAX_SHOWN).collect();
        self.at += if end > 0 { end + "</a>".len() } else { 0 };
        let last = self.out.len().saturating_sub(MAX_RAISING);
        let raised = self.out[last..].iter().rposition(|byte| *byte == b'<').map(|at| last + at).filter(|at| {
            let tag = &self.out[*at..];
            (tag.starts_with(b"<sup>") || tag.starts_with(b"<sup ")) && tag.ends_with(b">")
        });
        let after = &self.text[self.at..];
        if let Some(raised) = raised.filter(|_| after.starts_with(b"</sup>")) {
            self.out.truncate(raised);
            self.at += "</sup>".len();
        }
        shown
    }

    fn rest(mut self) -> Vec<u8> {
        self.out.extend_from_slice(self.text.get(self.at..).unwrap_or_default());
        self.out
    }
}

/// Tag with its attributes.
struct Tag<'a> {
    source: &'a [u8],
    attributes: &'a str,
}

impl<'a> Tag<'a> {
    fn of(source: &'a [u8]) -> Self {
        let text = std::str::from_utf8(source).unwrap_or_default();
        let text = text.trim_start_matches('<').trim_end_matches('>').trim_end_matches('/');
        let attributes = text.find(|letter: char| letter.is_ascii_whitespace()).map_or("", |end| &text[end..]);
        Self { source, attributes }
    }

    fn value(&self, name: &str) -> Option<String> {
        attributes(self.attributes).find(|(known, _)| *known == name).map(|(_, value)| plain(value).into_owned())
    }

    /// Whether its type or role is one of these words.
    fn is_any(&self, words: &[&str]) -> bool {
        let mut said = attributes(self.attributes).filter(|(name, _)| matches!(local(name), "type" | "role"));
        said.any(|(_, value)| value.split_ascii_whitespace().any(|word| words.contains(&word)))
    }

    /// Returns part and id to which it leads.
    fn target(&self, part: &str) -> Option<String> {
        let address = self.value("href")?;
        let (file, id) = address.split_once('#').filter(|(_, id)| !id.is_empty())?;
        let file = if file.is_empty() { part.to_owned() } else { resolved(part, file) };
        Some(format!("{file}#{id}"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::marks::replaced;
    use super::*;

    fn connected(chapters: &[(&str, &str)]) -> Vec<String> {
        let (mut notes, mut inserts) = (Notes::default(), Inserts::default());
        let chapter = |(name, text): &(&str, &str)| {
            let out = notes.connected(name, text.as_bytes(), &mut inserts);
            out.map_or_else(|| (*text).to_owned(), |out| String::from_utf8(out).unwrap())
        };
        let texts: Vec<String> = chapters.iter().map(chapter).collect();
        notes.finish(&mut inserts);
        replaced(texts.join("\n"), inserts).lines().map(str::to_owned).collect()
    }

    #[test]
    fn marks_and_notes_are_connected_across_chapters() {
        let text = "<p>Word<sup><a epub:type=\"noteref\" href=\"#n1\">1</a></sup> on<a role='doc-noteref' href='notes.xhtml#n2'><sup>2</sup></a>.</p>\
            <aside epub:type='footnote' id='n1'><p><a role='doc-backlink' href='#x'>1</a> One.</p></aside>";
        let notes = "<p id='n2'>Two.</p><p id='n3'>No mark.</p>";
        assert_eq!(
            connected(&[("t/a.xhtml", text), ("t/notes.xhtml", notes)]),
            [
                "<p>Word[^1] on[^2].</p><aside epub:type='footnote' id='n1'><p>[^1]: One.</p></aside>",
                "<p id='n2'>[^2]: Two.</p><p id='n3'>No mark.</p>"
            ]
        );
    }

    #[test]
    fn marks_without_a_note_and_notes_without_a_mark_stay_text() {
        let text = "<p>a<a epub:type='noteref' href='#n1'>*</a> b</p><aside epub:type='footnote' id='n9'>Nine</aside>";
        assert_eq!(
            connected(&[("a.xhtml", text)]),
            ["<p>a<sup>*</sup> b</p><aside epub:type='footnote' id='n9'>Nine</aside>"]
        );
        let plain = "<p>a<a href='#n1'>1</a></p>";
        assert_eq!(connected(&[("a.xhtml", plain)]), [plain]);
    }
}
