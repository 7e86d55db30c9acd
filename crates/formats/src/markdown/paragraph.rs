//! Writing of a paragraph: marks become delimiters, links and code spans.
//!
//! Spaces at the edges of a mark are moved out of it, where markdown would not accept them, and a mark without text is
//! dropped. The characters on both sides of a mark decide its delimiters; [`super::edges`] computes them first.

use super::edges::{self, DELIMITER, Edges, flanks, is_punctuation, survey};
use super::escape::{TextContext, destination, push_code_span, push_text};
use super::event::{Event, Link, Mark};
use super::spaces::fold_spaces;

/// Place of the paragraph, which decides how line breaks and pipes are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParagraphKind {
    Paragraph,
    /// The first paragraph of a list item, where `[ ]` would be read as a check box.
    Item,
    Heading,
    Cell,
}

impl ParagraphKind {
    /// Whether two line breaks in a row separate paragraphs here.
    fn parts(self) -> bool {
        matches!(self, Self::Paragraph | Self::Item)
    }
}

/// Text to be written, with its events and the links that they name.
#[derive(Debug, Clone, Copy)]
pub(super) struct InlineText<'r> {
    pub(super) text: &'r str,
    pub(super) events: &'r [Event],
    pub(super) links: &'r [Link],
}

/// Passes the paragraphs of `source` to `done`; two line breaks in a row separate paragraphs. `edges` and `out` are
/// buffers, which are cleared.
pub(super) fn write(
    source: InlineText<'_>,
    place: ParagraphKind,
    edges: &mut Vec<Edges>,
    out: &mut String,
    done: &mut dyn FnMut(&str),
) {
    let InlineText { text, events, links } = source;
    // Most paragraphs have no marks and skip the survey of edges.
    let marked = events.iter().any(|event| event.opens().is_some());
    edges.clear();
    edges.resize(if marked { events.len() } else { 0 }, Edges::default());
    out.clear();
    let struck = events.iter().any(|event| event.opens() == Some(Mark::Strike));
    let spot = TextContext {
        in_cell: place == ParagraphKind::Cell,
        item_start: place == ParagraphKind::Item,
        lone_star: !marked && single(text, '*'),
        lone_underscore: !marked && single(text, '_'),
        lone_tilde: !struck && single(text, '~'),
        struck,
        lone_tick: single(text, '`') && !events.iter().any(|event| matches!(event, Event::Code(_))),
        brackets: text.contains('['),
        tags: text.contains('>'),
        ..TextContext::default()
    };
    let (open, written, blank, breaks) = (Vec::new(), 0, false, 0);
    let mut writer = Writer { text, links, events, edges, place, spot, out, done, open, written, blank, breaks };
    let mut start = 0;
    for (at, event) in events.iter().enumerate() {
        writer.event(at, *event, &mut start);
    }
    writer.end_paragraph();
}

/// Whether `wanted` occurs exactly once in `text`, so that nothing can pair with it.
fn single(text: &str, wanted: char) -> bool {
    text.split_once(wanted).is_some_and(|(_, rest)| !rest.contains(wanted))
}

/// The text that ends an open mark.
enum MarkEnd {
    Text(&'static str),
    Link(usize),
}

/// Texts before and after what is marked.
struct Tags {
    start: &'static str,
    end: &'static str,
}

struct Writer<'r> {
    text: &'r str,
    links: &'r [Link],
    events: &'r [Event],
    /// One entry per event, valid for the marks of the current paragraph; empty if there are no marks.
    edges: &'r mut [Edges],
    place: ParagraphKind,
    spot: TextContext,
    out: &'r mut String,
    done: &'r mut dyn FnMut(&str),
    /// Open marks, outermost first.
    open: Vec<(usize, MarkEnd)>,
    /// Number of open marks whose start is written; always the outermost ones.
    written: usize,
    blank: bool,
    breaks: usize,
}

impl Writer<'_> {
    fn event(&mut self, at: usize, event: Event, start: &mut usize) {
        let (text, began) = (self.text, *start);
        let mut piece = |end| &text[std::mem::replace(start, end)..end];
        match event {
            Event::Break => self.breaks += 1,
            Event::Text(end) => {
                let piece = piece(end);
                self.blank |= piece.starts_with(char::is_whitespace);
                let core = piece.trim();
                if !core.is_empty() {
                    let plain = self.begin(at, began);
                    let ends_blank = piece.len() > piece.trim_end().len();
                    let next = if ends_blank || self.breaks_after(at) { ' ' } else { DELIMITER };
                    let spot = TextContext { in_link: self.in_link(), next, ..self.spot };
                    let line_start = plain && matches!(self.place, ParagraphKind::Paragraph | ParagraphKind::Item);
                    push_text(self.out, core, TextContext { line_start, ..spot });
                    self.blank = ends_blank;
                }
            }
            Event::Code(end) => {
                let piece = piece(end);
                self.blank |= piece.starts_with('\n');
                if !piece.trim_matches('\n').is_empty() {
                    self.begin(at, began);
                    push_code_span(self.out, piece.trim_matches('\n'), self.spot.in_cell);
                    self.blank = false;
                }
                self.blank |= piece.ends_with('\n');
            }
            Event::Raw(end) => {
                let piece = piece(end);
                self.begin(at, began);
                self.out.push_str(piece);
                self.blank = false;
            }
            Event::Open { .. } => self.open.push((at, MarkEnd::Text(""))),
            Event::Close(_) => {
                let closed = self.open.pop();
                if self.written > self.open.len() {
                    self.written = self.open.len();
                    closed.into_iter().for_each(|(_, end)| self.end(&end));
                }
            }
        }
    }

    fn in_link(&self) -> bool {
        self.open.iter().any(|(at, _)| matches!(self.events[*at].opens(), Some(Mark::Link(_))))
    }

    fn breaks_after(&self, at: usize) -> bool {
        matches!(self.events.get(at + 1), None | Some(Event::Break))
    }

    /// Writes the separator before the next piece, that of the event `at`, and the starts of the marks that begin with
    /// it. Returns whether the piece starts a line without any mark. `start` is its position in the text.
    fn begin(&mut self, at: usize, start: usize) -> bool {
        self.separate();
        if self.out.is_empty() && !self.edges.is_empty() {
            let open = self.open.iter().map(|(mark, _)| *mark);
            let (text, events, parts) = (self.text, self.events, self.place.parts());
            survey(edges::Paragraph { text, events, at, start, parts }, open, self.edges);
        }
        let line_start = self.out.is_empty() || self.out.ends_with('\n');
        self.spot.later_line = line_start && !self.out.is_empty();
        let plain = self.written == self.open.len();
        while self.written < self.open.len() {
            let end = self.start_mark(self.open[self.written].0);
            self.open[self.written].1 = end;
            self.written += 1;
        }
        line_start && plain
    }

    /// Writes the pending space or line break.
    fn separate(&mut self) {
        let breaks = std::mem::take(&mut self.breaks);
        let blank = std::mem::take(&mut self.blank);
        if self.out.is_empty() {
            return;
        }
        match (breaks, self.place) {
            (0, _) | (_, ParagraphKind::Heading) => {
                if (blank || breaks > 0) && !self.out.ends_with([' ', '\n']) {
                    self.out.push(' ');
                }
            }
            (_, ParagraphKind::Cell) => self.out.push_str("<br>"),
            (1, _) => self.out.push_str("  \n"),
            _ => self.end_paragraph(),
        }
    }

    fn end_paragraph(&mut self) {
        while self.written > 0 {
            self.written -= 1;
            let end = std::mem::replace(&mut self.open[self.written].1, MarkEnd::Text(""));
            self.end(&end);
        }
        if self.place == ParagraphKind::Heading && self.out.ends_with('#') {
            self.out.insert(self.out.len() - 1, '\\');
        }
        if !self.out.is_empty() {
            (self.done)(self.out);
            self.spot.item_start = false;
        }
        self.out.clear();
    }

    fn start_mark(&mut self, at: usize) -> MarkEnd {
        let Some(mark) = self.events[at].opens() else { return MarkEnd::Text("") };
        let edges = self.edges[at];
        if edges.doubled {
            return MarkEnd::Text("");
        }
        let Tags { start, end } = match mark {
            Mark::Link(number) => {
                if self.out.ends_with('!') {
                    // `![` would be read as an image.
                    self.out.insert(self.out.len() - 1, '\\');
                }
                self.out.push('[');
                return MarkEnd::Link(number);
            }
            Mark::Strong => self.delimiter(edges, &["**", "__"], Tags { start: "<strong>", end: "</strong>" }),
            Mark::Emphasis => self.delimiter(edges, &["_", "*"], Tags { start: "<em>", end: "</em>" }),
            Mark::Strike => self.delimiter(edges, &["~~"], Tags { start: "<del>", end: "</del>" }),
            Mark::Subscript => Tags { start: "<sub>", end: "</sub>" },
            Mark::Superscript => Tags { start: "<sup>", end: "</sup>" },
        };
        self.out.push_str(start);
        MarkEnd::Text(end)
    }

    /// Returns the start and end of bold, italic or struck-through text: the first of `choices` that is valid as a
    /// delimiter here (CommonMark, "left-flanking delimiter run"), or HTML tags if none is.
    fn delimiter(&self, edges: Edges, choices: &[&'static str], tags: Tags) -> Tags {
        let before = self.out.chars().next_back().unwrap_or(' ');
        let flanks = flanks(before, edges.first).0 && flanks(edges.last, edges.after).1;
        let loose = |c: char| c.is_whitespace() || is_punctuation(c);
        let between_words = loose(before) && loose(edges.after);
        let written = || self.open[..self.written].iter().map(|(_, end)| end);
        for choice in choices {
            // Nested marks must not share a delimiter, and adjacent ones must not share its character: `**` and `*`
            // would merge into one run. An underscore is valid only between words.
            let taken = written().any(|end| matches!(end, MarkEnd::Text(other) if other == choice));
            let last = written().next_back();
            let clash = choice.starts_with(before)
                || edges.after == DELIMITER
                    && matches!(last, Some(MarkEnd::Text(other)) if other.bytes().next() == choice.bytes().next());
            if flanks && !taken && !clash && (between_words || !choice.starts_with('_')) {
                return Tags { start: choice, end: choice };
            }
        }
        tags
    }

    fn end(&mut self, end: &MarkEnd) {
        match end {
            MarkEnd::Text(end) => {
                if let Some(delimiter) = end.chars().next().filter(|c| matches!(c, '*' | '_' | '~')) {
                    self.escape_last(delimiter);
                }
                self.out.push_str(end);
            }
            MarkEnd::Link(number) => {
                self.out.push(']');
                if let Some(link) = self.links.get(*number) {
                    push_target(self.out, link, self.spot.in_cell);
                }
            }
        }
    }

    /// Escapes characters at the end of the text that the next delimiter would join: the space between them was moved
    /// out.
    fn escape_last(&mut self, delimiter: char) {
        let text = self.out.trim_end_matches(delimiter).len();
        let escaped = usize::from(self.out[..text].ends_with('\\'));
        let bare = (self.out.len() - text).saturating_sub(escaped);
        self.out.truncate(self.out.len() - bare);
        (0..bare).for_each(|_| self.out.extend(['\\', delimiter]));
    }
}

/// Appends the target of a link with its title, in parentheses.
pub(super) fn push_target(out: &mut String, link: &Link, in_cell: bool) {
    out.push('(');
    destination(out, &link.target, in_cell);
    if let Some(title) = &link.title {
        out.push_str(" \"");
        let start = out.len();
        let mut folded = String::new();
        fold_spaces(&mut folded, 0, title);
        push_title(out, folded.trim(), in_cell);
        if out.len() > start {
            out.push('"');
        } else {
            out.truncate(start - 2);
        }
    }
    out.push(')');
}

fn push_title(out: &mut String, title: &str, in_cell: bool) {
    for (i, c) in title.char_indices() {
        let ends_escape = |n: char| n.is_ascii_punctuation();
        match c {
            '"' => out.push_str("\\\""),
            '|' if in_cell => out.push_str("\\|"),
            '\\' if title[i + 1..].is_empty() || title[i + 1..].starts_with(ends_escape) => out.push_str("\\\\"),
            '&' if super::escape::starts_entity(&title[i + 1..]) => out.push_str("&amp;"),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::inline::Inline;
    use super::*;

    /// Returns a paragraph by a script: `*` toggles bold, `/` italics, `` ` `` code; `{` and `}` enclose a link; `|` is
    /// a line break.
    fn paragraph(script: &str, place: ParagraphKind) -> String {
        let mut inline = Inline::default();
        let mut open: Vec<char> = Vec::new();
        for c in script.chars() {
            let mark = match c {
                '*' => Mark::Strong,
                '/' => Mark::Emphasis,
                '`' => Mark::Subscript,
                '{' => {
                    inline.open_link("u".into(), None);
                    continue;
                }
                '}' => {
                    inline.close();
                    continue;
                }
                '|' => {
                    inline.line_break();
                    continue;
                }
                c => {
                    inline.text(&c.to_string());
                    continue;
                }
            };
            if open.last() == Some(&c) {
                open.pop();
                if c == '`' { inline.close_code() } else { inline.close() }
            } else {
                open.push(c);
                if c == '`' {
                    inline.open_code()
                } else {
                    inline.open(mark, false);
                }
            }
        }
        let mut done = Vec::new();
        inline.take(place, |paragraph| done.push(paragraph.to_owned()));
        done.join("¶")
    }

    fn check(script: &str, expect: &str) {
        assert_eq!(paragraph(script, ParagraphKind::Paragraph), expect, "{script}");
    }

    #[test]
    fn marks_nest_and_blanks_move_out() {
        check("a *b* c", "a **b** c");
        check("a* b *c", "a **b** c");
        check("*a**b*", "**ab**");
        check("* *a", "a");
        check("*a /b/* c", "**a _b_** c");
        check("/*a*/", "_**a**_");
        check("a/b/c", "a*b*c");
        check("`a`*`b`*", "`a`**`b`**");
        check("{a}", "[a](u)");
        check("{*a*}", "[**a**](u)");
        check("*{a} b*", "**[a](u) b**");
        check("{ }a", "a");
        check("!{a}", "\\![a](u)");
        check("a*\"b\"*c", "a<strong>\"b\"</strong>c");
    }

    #[test]
    fn breaks() {
        check("a|b", "a  \nb");
        check("a||b", "a¶b");
        check("||a| |", "a");
        check("*a|b*", "**a  \nb**");
        // Marks are closed and reopened between paragraphs.
        check("*a /b||c/* d", "**a _b_**¶**_c_** d");
        check("*/a||b/*", "**_a_**¶**_b_**");
        check("a|# b", "a  \n\\# b");
        assert_eq!(paragraph("a|b||c", ParagraphKind::Cell), "a<br>b<br>c");
        assert_eq!(paragraph("a|b #", ParagraphKind::Heading), "a b \\#");
    }

    #[test]
    fn white_space_folds() {
        check("  a \n\t b  ", "a b");
        check("a\u{1b}b\u{7f}", "ab");
        check("a\u{a0}b", "a\u{a0}b");
    }
}
