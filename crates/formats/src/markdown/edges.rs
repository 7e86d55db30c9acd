//! What stands at both edges of every mark of a paragraph, found in one pass: it decides how the mark can be written.

use super::event::Event;

/// What stands at the edges of a mark; for events that do not open one it means nothing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edges {
    pub(super) first: char,
    pub(super) last: char,
    pub(super) after: char,
    /// Another mark of the same kind applies to the same text.
    pub(super) doubled: bool,
}

impl Default for Edges {
    fn default() -> Self {
        Self { first: ' ', last: ' ', after: ' ', doubled: false }
    }
}

/// Stands for a delimiter that is not known yet; it counts as punctuation.
pub(super) const DELIMITER: char = '\u{1}';

/// Finds out what stands at the edges of every mark of one paragraph: the one that begins with the event `at`, whose piece
/// of the text begins at `start`. `outer` are the marks that are open there, outermost first; `parts` says whether two line
/// breaks in a row end a paragraph.
pub(super) fn survey(
    (text, events): (&str, &[Event]),
    (at, mut start): (usize, usize),
    parts: bool,
    outer: impl Iterator<Item = usize>,
    edges: &mut [Edges],
) {
    let open: Vec<_> = outer.map(|mark| (mark, false)).collect();
    // A mark that began in an earlier paragraph has other edges in this one.
    open.iter().for_each(|(mark, _)| edges[*mark] = Edges::default());
    let mut survey = Survey { events, edges, open, begun: 0, ended: Vec::new(), blank: true, last: ' ' };
    let mut inner: Vec<usize> = Vec::new();
    let mut breaks = 0;
    for (at, event) in events.iter().enumerate().skip(at) {
        let is_next = parts && breaks > 1;
        match *event {
            Event::Text(end) => {
                let piece = &text[start..end];
                let core = piece.trim();
                survey.blank |= piece.starts_with(char::is_whitespace);
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
            Event::Code(end) if text[start..end].trim_matches('\n').is_empty() => {
                survey.blank |= end > start;
                start = end;
            }
            Event::Code(_) | Event::Raw(_) if is_next => break,
            Event::Code(end) | Event::Raw(end) => {
                survey.content(DELIMITER, DELIMITER);
                inner.clear();
                (start, breaks) = (end, 0);
            }
            Event::Break => {
                survey.blank = true;
                breaks += 1;
            }
            Event::Open { .. } => survey.open.push((at, false)),
            Event::Close(from) => survey.close(from, &mut inner),
        }
    }
    // Marks that go on after the paragraph.
    while let Some(&(at, _)) = survey.open.last() {
        survey.close(at, &mut inner);
    }
}

struct Survey<'s> {
    events: &'s [Event],
    edges: &'s mut [Edges],
    /// Open marks, and whether they began together with the mark outside them.
    open: Vec<(usize, bool)>,
    /// How many of them hold text.
    begun: usize,
    /// Marks that have ended, with nothing after them yet.
    ended: Vec<usize>,
    blank: bool,
    last: char,
}

impl Survey<'_> {
    fn content(&mut self, first: char, last: char) {
        let fresh = self.open.len() > self.begun;
        let after = if self.blank {
            ' '
        } else if fresh {
            DELIMITER
        } else {
            first
        };
        self.ended.drain(..).for_each(|at| self.edges[at].after = after);
        for n in self.begun..self.open.len() {
            self.open[n].1 = n > self.begun;
            self.edges[self.open[n].0].first = if n + 1 < self.open.len() { DELIMITER } else { first };
        }
        self.begun = self.open.len();
        self.last = last;
        self.blank = false;
    }

    /// `inner` are marks that ended where the text so far ends, and that began together with the mark outside them.
    fn close(&mut self, at: usize, inner: &mut Vec<usize>) {
        let Some((_, together)) = self.open.pop() else { return };
        if self.begun <= self.open.len() {
            return;
        }
        self.begun = self.open.len();
        self.edges[at].last = self.last;
        self.last = DELIMITER;
        self.ended.drain(..).for_each(|ended| self.edges[ended].after = DELIMITER);
        self.ended.push(at);
        let mark = self.events[at].opens();
        if let Some(&same) = inner.iter().find(|&&inner| self.events[inner].opens() == mark) {
            self.edges[same].doubled = !matches!(self.events[same], Event::Open { kept: true, .. });
        }
        if together {
            inner.push(at);
        } else {
            inner.clear();
        }
    }
}

/// Whether a delimiter between these two characters is left-flanking, and whether it is right-flanking.
pub(super) fn flanks(before: char, after: char) -> (bool, bool) {
    let (blank_before, blank_after) = (before.is_whitespace(), after.is_whitespace());
    let (punctuation_before, punctuation_after) = (is_punctuation(before), is_punctuation(after));
    (
        !blank_after && (!punctuation_after || blank_before || punctuation_before),
        !blank_before && (!punctuation_before || blank_after || punctuation_after),
    )
}

/// Unicode punctuation and symbols, told without tables: neither a letter, a digit, a space nor a combining mark.
pub(super) fn is_punctuation(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_punctuation() || c == DELIMITER;
    }
    !c.is_alphanumeric()
        && !c.is_whitespace()
        && !matches!(c, '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' | '\u{fe00}'..='\u{fe0f}')
}
