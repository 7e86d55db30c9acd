//! The characters at both edges of every mark in a paragraph, found in one pass. They decide how the mark can be
//! written.
//!
//! CommonMark reads `*` and `_` as emphasis only between certain characters ("left-flanking" and "right-flanking
//! delimiter runs"). Text before a mark is known when it is written; the first and last character inside and the
//! character after it are not. Delimiters of adjacent marks count as neighbours too.

use super::event::Event;

/// Characters at the edges of a mark. Unused for events that do not open one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edges {
    /// First character inside.
    pub(super) first: char,
    /// Last character inside.
    pub(super) last: char,
    /// Character after the end.
    pub(super) after: char,
    /// Whether another mark of the same kind covers the same text.
    pub(super) doubled: bool,
}

impl Default for Edges {
    fn default() -> Self {
        Self { first: ' ', last: ' ', after: ' ', doubled: false }
    }
}

/// Placeholder for a delimiter that is not chosen yet; counts as punctuation.
pub(super) const DELIMITER: char = '\u{1}';

/// Paragraph to be surveyed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paragraph<'p> {
    pub(super) text: &'p str,
    pub(super) events: &'p [Event],
    /// First event of the paragraph.
    pub(super) at: usize,
    /// Position in the text where that event begins.
    pub(super) start: usize,
    /// Whether two line breaks in a row end a paragraph.
    pub(super) parts: bool,
}

/// Computes the edges of every mark in one paragraph. `outer` are the marks open at its start, outermost first.
pub(super) fn survey(paragraph: Paragraph<'_>, outer: impl Iterator<Item = usize>, edges: &mut [Edges]) {
    let Paragraph { text, events, at, mut start, parts } = paragraph;
    let open: Vec<_> = outer.map(|mark| (mark, false)).collect();
    // A mark that began in an earlier paragraph is closed and reopened between them: its edges here are different.
    open.iter().for_each(|(mark, _)| edges[*mark] = Edges::default());
    // `inner` collects marks that end at one place, `breaks` counts line breaks since the last content. White space
    // before the first content is white space before its marks.
    let mut survey = Survey { events, edges, open, begun: 0, ended: Vec::new(), blank: true, last: ' ' };
    let mut inner: Vec<usize> = Vec::new();
    let mut breaks = 0;
    for (at, event) in events.iter().enumerate().skip(at) {
        // Two breaks end the paragraph, but only at the next content: marks that close in between belong to it.
        let is_next = parts && breaks > 1;
        match *event {
            Event::Text(end) => {
                // White space at the ends of a text counts as the neighbour of what follows; only the rest is content.
                let piece = &text[start..end];
                let core = piece.trim();
                survey.blank |= piece.starts_with(char::is_whitespace);
                // Text of white space only has changed `blank`, and nothing else.
                if let (Some(first), Some(last)) = (core.chars().next(), core.chars().next_back()) {
                    if is_next {
                        break;
                    }
                    survey.content(first, last);
                    inner.clear();
                    survey.blank = piece.ends_with(char::is_whitespace);
                    breaks = 0;
                }
                start = end;
            }
            // Code without content is not written; its line breaks leave a space.
            Event::Code(end) if text[start..end].trim_matches('\n').is_empty() => {
                survey.blank |= end > start;
                start = end;
            }
            Event::Code(_) | Event::Raw(_) if is_next => break,
            // Code and raw parts are written with delimiters of their own, which are what a neighbouring mark sees.
            Event::Code(end) | Event::Raw(end) => {
                survey.content(DELIMITER, DELIMITER);
                inner.clear();
                (start, breaks) = (end, 0);
            }
            Event::Break => {
                survey.blank = true;
                breaks += 1;
            }
            // Whether the mark begins with the one around it is known when its first content comes.
            Event::Open { .. } => survey.open.push((at, false)),
            Event::Close(from) => survey.close(from, &mut inner),
        }
    }
    // Marks that continue in the next paragraph are closed at the end of this one.
    while let Some(&(at, _)) = survey.open.last() {
        survey.close(at, &mut inner);
    }
}

/// State of the pass over the events of a paragraph.
struct Survey<'s> {
    events: &'s [Event],
    edges: &'s mut [Edges],
    /// Open marks, outermost first, each with whether it began at the same place as the mark around it.
    open: Vec<(usize, bool)>,
    /// Number of open marks that have text already; always the outermost ones.
    begun: usize,
    /// Ended marks whose next character is not known yet.
    ended: Vec<usize>,
    /// Whether white space follows the content so far.
    blank: bool,
    /// Last character of the content so far; [`DELIMITER`] after the end of a mark.
    last: char,
}

impl Survey<'_> {
    /// Takes content with these first and last characters: it follows the ended marks and begins the fresh ones.
    fn content(&mut self, first: char, last: char) {
        let fresh = self.open.len() > self.begun;
        // An ended mark is followed by white space, else by the delimiter of a mark that begins here, else by the text.
        let after = if self.blank {
            ' '
        } else if fresh {
            DELIMITER
        } else {
            first
        };
        self.ended.drain(..).for_each(|at| self.edges[at].after = after);
        for n in self.begun..self.open.len() {
            // Several fresh marks begin together: each but the innermost has the next one's delimiter as its first
            // character.
            self.open[n].1 = n > self.begun;
            self.edges[self.open[n].0].first = if n + 1 < self.open.len() { DELIMITER } else { first };
        }
        self.begun = self.open.len();
        self.last = last;
        self.blank = false;
    }

    /// Ends the mark opened by the event `at`. `inner` are marks that ended at the same place and began together with
    /// the mark around them: if this mark began there too, they cover the same text.
    fn close(&mut self, at: usize, inner: &mut Vec<usize>) {
        let Some((_, together)) = self.open.pop() else { return };
        // A mark without text is not written and has no edges.
        if self.begun <= self.open.len() {
            return;
        }
        // This mark had begun, so the ones around it have too.
        self.begun = self.open.len();
        self.edges[at].last = self.last;
        self.last = DELIMITER;
        self.ended.drain(..).for_each(|ended| self.edges[ended].after = DELIMITER);
        self.ended.push(at);
        // `**a**` inside `**`: of two marks of one kind over the same text, only one is written.
        let mark = self.events[at].opens();
        if let Some(&same) = inner.iter().find(|&&inner| self.events[inner].opens() == mark) {
            self.edges[same].doubled = !matches!(self.events[same], Event::Open { kept: true, .. });
        }
        // A mark that begins after the one around it does not cover the same text as that, nor do the marks inside it.
        if together {
            inner.push(at);
        } else {
            inner.clear();
        }
    }
}

/// Returns whether a delimiter between these two characters is left-flanking, and whether it is right-flanking
/// (CommonMark, "delimiter runs").
pub(super) fn flanks(before: char, after: char) -> (bool, bool) {
    let (blank_before, blank_after) = (before.is_whitespace(), after.is_whitespace());
    let (punctuation_before, punctuation_after) = (is_punctuation(before), is_punctuation(after));
    (
        !blank_after && (!punctuation_after || blank_before || punctuation_before),
        !blank_before && (!punctuation_before || blank_after || punctuation_after),
    )
}

/// Whether a character is Unicode punctuation or a symbol. An approximation without tables: neither a letter, a digit,
/// a space nor a combining mark.
pub(super) fn is_punctuation(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_punctuation() || c == DELIMITER;
    }
    !c.is_alphanumeric()
        && !c.is_whitespace()
        && !matches!(c, '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' | '\u{fe00}'..='\u{fe0f}')
}
