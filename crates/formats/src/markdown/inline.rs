//! The current paragraph: its text and its events in order.
//!
//! The paragraph is collected first and written at its end by [`super::paragraph`], because the character after a mark
//! decides how the mark is written.

use super::edges::Edges;
use super::event::{Event, Link, Mark};
use super::paragraph::{InlineText, ParagraphKind, write};
use super::spaces::{fold_code, fold_spaces};

/// Nesting limit of marks.
const MAX_MARKS: usize = 16;
/// Nesting limit of marks of one kind.
const MAX_SAME: usize = 3;
/// Number of events above which a paragraph is split. Real paragraphs have fewer; the split bounds memory.
const MAX_EVENTS: usize = 20_000;

/// The paragraph read so far.
#[derive(Debug, Default)]
pub(super) struct Inline {
    text: String,
    events: Vec<Event>,
    links: Vec<Link>,
    /// Numbers of the events that opened the open marks, outermost first.
    open: Vec<usize>,
    /// Nesting depth of `<code>` elements.
    code: usize,
    visible: bool,
    edges: Vec<Edges>,
    out: String,
}

impl Inline {
    /// Starts a mark. Returns false inside code and if the nesting is too deep; the caller must not end the mark then.
    pub(super) fn open(&mut self, mark: Mark, kept: bool) -> bool {
        if self.code > 0 && !matches!(mark, Mark::Link(_)) || self.open.len() >= MAX_MARKS {
            return false;
        }
        if self.open.iter().filter(|&&at| self.events[at].opens() == Some(mark)).count() >= MAX_SAME {
            return false;
        }
        // `<b>a</b><b>b</b>` is one bold text: reopen the mark.
        match self.events.last() {
            Some(&Event::Close(at)) if self.events[at].opens() == Some(mark) => {
                self.events.pop();
                self.open.push(at);
            }
            _ => {
                self.open.push(self.events.len());
                self.events.push(Event::Open { mark, kept });
            }
        }
        true
    }

    /// Ends the innermost mark.
    pub(super) fn close(&mut self) {
        if let Some(at) = self.open.pop() {
            self.events.push(Event::Close(at));
        }
    }

    /// Starts a link. Returns false inside another link and wherever [`Inline::open`] does.
    pub(super) fn open_link(&mut self, target: String, title: Option<String>) -> bool {
        let opened = !self.in_link() && self.open(Mark::Link(self.links.len()), false);
        if opened {
            self.links.push(Link { target, title });
        }
        opened
    }

    pub(super) fn in_link(&self) -> bool {
        self.open.iter().any(|&at| matches!(self.events[at].opens(), Some(Mark::Link(_))))
    }

    /// Whether `mark` is open.
    pub(super) fn holds(&self, mark: Mark) -> bool {
        self.open.iter().any(|&at| self.events[at].opens() == Some(mark))
    }

    pub(super) fn open_code(&mut self) {
        self.code += 1;
    }

    pub(super) fn close_code(&mut self) {
        self.code -= 1;
    }

    /// Adds text as written in the page, with its white space folded.
    pub(super) fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let before = self.text.len();
        let start = match (self.events.last(), self.code > 0) {
            (Some(Event::Text(_)), false) | (Some(Event::Code(_)), true) => {
                self.events.pop();
                0
            }
            _ => before,
        };
        if self.code > 0 {
            fold_code(&mut self.text, text);
            self.visible = true;
            self.events.push(Event::Code(self.text.len()));
            return;
        }
        fold_spaces(&mut self.text, start, text);
        self.visible = self.visible || !self.text[before..].trim_start().is_empty();
        if self.text.len() > start {
            self.events.push(Event::Text(self.text.len()));
        }
    }

    /// Adds finished markdown.
    pub(super) fn raw(&mut self, markdown: &str) {
        self.text.push_str(markdown);
        self.events.push(Event::Raw(self.text.len()));
        self.visible = true;
    }

    /// Adds a space before the next text, outside of code.
    pub(super) fn blank(&mut self) {
        let code = std::mem::take(&mut self.code);
        self.text(" ");
        self.code = code;
    }

    /// Adds a space before the next text, unless the paragraph is empty.
    pub(super) fn part(&mut self) {
        if self.visible {
            self.blank();
        }
    }

    /// Adds a sign before the next text, unless the paragraph is empty or ends with the sign.
    pub(super) fn part_by(&mut self, sign: &str) {
        self.part();
        if self.visible && !self.text.trim_end().ends_with(sign) {
            self.text(sign);
            self.blank();
        }
    }

    pub(super) fn in_code(&self) -> bool {
        self.code > 0
    }

    /// Whether the next letter would join a word.
    pub(super) fn joins(&self) -> bool {
        self.text.ends_with(char::is_alphanumeric)
    }

    pub(super) fn line_break(&mut self) {
        self.events.push(Event::Break);
    }

    /// Whether nothing visible has been added.
    pub(super) fn is_empty(&self) -> bool {
        !self.visible
    }

    /// Whether the paragraph is too long and can be split here: outside all marks, after a word.
    pub(super) fn is_too_long(&self) -> bool {
        self.events.len() > MAX_EVENTS && self.open.is_empty() && self.code == 0 && self.text.ends_with(' ')
    }

    /// Passes the paragraphs read so far to `done`; two line breaks in a row separate paragraphs. Open marks stay open.
    pub(super) fn take(&mut self, place: ParagraphKind, mut done: impl FnMut(&str)) {
        if self.visible {
            let Inline { text, events, links, edges, out, .. } = self;
            write(InlineText { text, events, links }, place, edges, out, &mut done);
        } else if self.events.len() == self.open.len() {
            // Nothing but the starts of open marks.
            return;
        }
        self.text.clear();
        self.visible = false;
        let marks: Vec<Event> = self.open.iter().map(|&at| self.events[at]).collect();
        self.events.clear();
        self.open = (0..marks.len()).collect();
        self.events.extend(marks);
        if self.open.is_empty() {
            self.links.clear();
        }
    }
}
