//! The paragraph that is being read: pieces of text with the marks (bold, link …) that apply to them.
//!
//! Pieces are collected first and written at the end of the paragraph, see [`super::paragraph`].

use std::rc::Rc;

use super::paragraph::{Place, write};

/// What a piece of text is, apart from text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// Number of the link in the list of the paragraph.
    Link(usize),
    Strong,
    Emphasis,
    Strike,
    Subscript,
    Superscript,
    Code,
}

/// A piece with its marks, outermost first.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) piece: Piece,
    pub(super) marks: Rc<[Mark]>,
}

#[derive(Debug)]
pub(super) enum Piece {
    /// Not escaped; at most one blank between words.
    Text(String),
    /// Markdown already.
    Raw(String),
    Break,
}

/// Target and title.
pub(super) type Link = (String, Option<String>);

/// The pieces read so far.
#[derive(Debug)]
pub(super) struct Inline {
    runs: Vec<Run>,
    marks: Rc<[Mark]>,
    links: Vec<Link>,
}

impl Default for Inline {
    fn default() -> Self {
        Inline { runs: Vec::new(), marks: Rc::from([]), links: Vec::new() }
    }
}

impl Inline {
    /// Starts a mark. False when it applies already, or cannot apply inside code; then it must not be ended either.
    pub(super) fn open(&mut self, mark: Mark) -> bool {
        let same = |m: &Mark| *m == mark || matches!((m, mark), (Mark::Link(_), Mark::Link(_)));
        if self.marks.iter().any(same) {
            return false;
        }
        self.marks = self.marks.iter().copied().chain([mark]).collect();
        true
    }

    /// Ends the mark that was started last.
    pub(super) fn close(&mut self) {
        self.marks = self.marks[..self.marks.len().saturating_sub(1)].into();
    }

    /// Starts a link. False inside another link.
    pub(super) fn open_link(&mut self, target: String, title: Option<String>) -> bool {
        if self.marks.is_empty() && self.runs.is_empty() {
            self.links.clear();
        }
        let opened = self.open(Mark::Link(self.links.len()));
        if opened {
            self.links.push((target, title));
        }
        opened
    }

    pub(super) fn in_link(&self) -> bool {
        self.marks.iter().any(|mark| matches!(mark, Mark::Link(_)))
    }

    /// Adds text as it stands in the page; white space is folded here.
    pub(super) fn text(&mut self, text: &str) {
        if !matches!(self.runs.last(), Some(Run { piece: Piece::Text(_), marks }) if *marks == self.marks) {
            if text.is_empty() {
                return;
            }
            self.runs.push(Run { piece: Piece::Text(String::new()), marks: Rc::clone(&self.marks) });
        }
        if let Some(Run { piece: Piece::Text(all), .. }) = self.runs.last_mut() {
            fold_blanks(all, text);
        }
    }

    /// Adds markdown.
    pub(super) fn raw(&mut self, markdown: String) {
        self.runs.push(Run { piece: Piece::Raw(markdown), marks: Rc::clone(&self.marks) });
    }

    /// A blank between this and what follows.
    pub(super) fn blank(&mut self) {
        self.text(" ");
    }

    pub(super) fn line_break(&mut self) {
        self.runs.push(Run { piece: Piece::Break, marks: Rc::clone(&self.marks) });
    }

    /// Whether nothing visible was added yet.
    pub(super) fn is_empty(&self) -> bool {
        self.runs.iter().all(|run| match &run.piece {
            Piece::Text(text) => text.trim().is_empty(),
            Piece::Raw(_) => false,
            Piece::Break => true,
        })
    }

    /// The paragraphs read so far as markdown; two line breaks in a row part paragraphs. Open marks stay open.
    pub(super) fn take(&mut self, place: Place) -> Vec<String> {
        write(&std::mem::take(&mut self.runs), &self.links, place)
    }
}

/// Appends `text` with every run of white space as one blank and without control characters.
pub(super) fn fold_blanks(out: &mut String, text: &str) {
    let mut plain = 0;
    for (i, byte) in text.bytes().enumerate() {
        // Bytes below 0x20 and DEL are never part of a longer character.
        if byte > b' ' && byte != 0x7f {
            continue;
        }
        out.push_str(&text[plain..i]);
        plain = i + 1;
        if byte.is_ascii_whitespace() && !out.ends_with(' ') {
            out.push(' ');
        }
    }
    out.push_str(&text[plain..]);
}
