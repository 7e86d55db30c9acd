//! One paragraph: pieces of text with the marks (bold, link …) that apply to them, and how they become markdown.
//!
//! Pieces are collected first and written at the end of the paragraph. So marks nest whatever the tree did, blanks never
//! stand inside a mark where markdown would not accept them, and a mark without text leaves nothing behind.

use std::rc::Rc;

use super::escape::{Spot, destination, push_code_span, push_text};

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

/// Where the paragraph goes, which decides about line breaks and pipes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Paragraph,
    Heading,
    Cell,
}

/// Pieces are compared this far ahead when marks are ordered.
const LOOK_AHEAD: usize = 64;

#[derive(Debug)]
struct Run {
    piece: Piece,
    marks: Rc<[Mark]>,
}

#[derive(Debug)]
enum Piece {
    /// Not escaped; at most one blank between words.
    Text(String),
    /// Markdown already.
    Raw(String),
    Break,
}

/// The paragraph that is being read.
#[derive(Debug)]
pub(super) struct Inline {
    runs: Vec<Run>,
    marks: Rc<[Mark]>,
    /// Target and title.
    links: Vec<(String, Option<String>)>,
}

impl Default for Inline {
    fn default() -> Self {
        Inline {
            runs: Vec::new(),
            marks: Rc::from([]),
            links: Vec::new(),
        }
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
            self.runs.push(Run {
                piece: Piece::Text(String::new()),
                marks: Rc::clone(&self.marks),
            });
        }
        if let Some(Run {
            piece: Piece::Text(all),
            ..
        }) = self.runs.last_mut()
        {
            fold_blanks(all, text);
        }
    }

    /// Adds markdown.
    pub(super) fn raw(&mut self, markdown: String) {
        self.runs.push(Run {
            piece: Piece::Raw(markdown),
            marks: Rc::clone(&self.marks),
        });
    }

    /// A blank between this and what follows.
    pub(super) fn blank(&mut self) {
        self.text(" ");
    }

    pub(super) fn line_break(&mut self) {
        self.runs.push(Run {
            piece: Piece::Break,
            marks: Rc::clone(&self.marks),
        });
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
        let runs = std::mem::take(&mut self.runs);
        let mut writer = Writer {
            runs: &runs,
            links: &self.links,
            place,
            done: Vec::new(),
            out: String::new(),
            open: Vec::new(),
            blank: false,
            breaks: 0,
        };
        for at in 0..runs.len() {
            writer.run(at);
        }
        writer.end_paragraph();
        writer.done
    }
}

/// Appends `text` with every run of white space as one blank and without control characters.
fn fold_blanks(out: &mut String, text: &str) {
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

struct Writer<'r> {
    runs: &'r [Run],
    links: &'r [(String, Option<String>)],
    place: Place,
    done: Vec<String>,
    out: String,
    /// Open marks with the text that ends them, outermost first.
    open: Vec<(Mark, String)>,
    blank: bool,
    breaks: usize,
}

impl Writer<'_> {
    fn run(&mut self, at: usize) {
        match &self.runs[at].piece {
            Piece::Break => self.breaks += 1,
            Piece::Text(text) => {
                self.blank |= text.starts_with(char::is_whitespace);
                let core = text.trim();
                if !core.is_empty() {
                    self.content(at, core, false);
                    self.blank = text.ends_with(char::is_whitespace);
                }
            }
            Piece::Raw(markdown) => {
                self.content(at, markdown, true);
                self.blank = false;
            }
        }
    }

    fn content(&mut self, at: usize, content: &str, raw: bool) {
        let marks = &self.runs[at].marks;
        if let Some(first) = self.open.iter().position(|(mark, _)| !marks.contains(mark)) {
            self.close_from(first);
        }
        self.separate();
        let (line_start, later_line) = (self.out.is_empty() || self.out.ends_with('\n'), !self.out.is_empty());
        let code = marks.contains(&Mark::Code) && !raw;
        let mut opening: Vec<Mark> = marks
            .iter()
            .copied()
            .filter(|mark| *mark != Mark::Code && !self.open.iter().any(|(open, _)| open == mark))
            .collect();
        // What lasts longest goes outside, so that it need not be interrupted.
        opening.sort_by_key(|mark| std::cmp::Reverse(self.extent(at, *mark)));
        let bare = opening.is_empty();
        for (i, mark) in opening.iter().enumerate() {
            let first = if i + 1 < opening.len() || code || raw {
                '*'
            } else {
                content.chars().next().unwrap_or('*')
            };
            self.open_mark(at, *mark, first);
        }
        let in_cell = self.place == Place::Cell;
        if raw {
            self.out.push_str(content);
        } else if code {
            push_code_span(&mut self.out, content, in_cell);
        } else {
            let in_link = self.open.iter().any(|(mark, _)| matches!(mark, Mark::Link(_)));
            let line_start = line_start && bare && self.place == Place::Paragraph;
            let next = Some(self.after(at + 1));
            push_text(
                &mut self.out,
                content,
                Spot {
                    line_start,
                    later_line,
                    in_link,
                    in_cell,
                    next,
                },
            );
        }
    }

    /// Writes the blank or break that stands between what was written and what comes.
    fn separate(&mut self) {
        let breaks = std::mem::take(&mut self.breaks);
        let blank = std::mem::take(&mut self.blank);
        if self.out.is_empty() {
            return;
        }
        match (breaks, self.place) {
            (0, _) | (_, Place::Heading) => {
                if blank || breaks > 0 {
                    self.out.push(' ');
                }
            }
            (_, Place::Cell) => self.out.push_str("<br>"),
            (1, Place::Paragraph) => self.out.push_str("  \n"),
            (_, Place::Paragraph) => self.end_paragraph(),
        }
    }

    fn end_paragraph(&mut self) {
        self.close_from(0);
        if self.place == Place::Heading && self.out.ends_with('#') {
            self.out.insert(self.out.len() - 1, '\\');
        }
        if !self.out.trim().is_empty() {
            self.done.push(std::mem::take(&mut self.out));
        }
        self.out.clear();
    }

    fn close_from(&mut self, first: usize) {
        while self.open.len() > first {
            if let Some((_, end)) = self.open.pop() {
                self.out.push_str(&end);
            }
        }
    }

    /// How many runs from `at` on carry `mark`.
    fn extent(&self, at: usize, mark: Mark) -> usize {
        self.runs[at..]
            .iter()
            .take(LOOK_AHEAD)
            .take_while(|run| matches!(run.piece, Piece::Break) || run.marks.contains(&mark))
            .count()
    }

    fn open_mark(&mut self, at: usize, mark: Mark, first: char) {
        let (start, end) = match mark {
            Mark::Link(number) => {
                if self.out.ends_with('!') {
                    // Else the link would read as an image.
                    self.out.insert(self.out.len() - 1, '\\');
                }
                ("[", self.link_end(number))
            }
            Mark::Strong => self.delimiter(at, mark, first, ["**", "**"], ["<strong>", "</strong>"]),
            Mark::Emphasis => self.delimiter(at, mark, first, ["_", "*"], ["<em>", "</em>"]),
            Mark::Strike => self.delimiter(at, mark, first, ["~~", "~~"], ["<del>", "</del>"]),
            Mark::Subscript => ("<sub>", "</sub>".into()),
            Mark::Superscript => ("<sup>", "</sup>".into()),
            Mark::Code => return,
        };
        self.out.push_str(start);
        self.open.push((mark, end));
    }

    fn link_end(&self, number: usize) -> String {
        let in_cell = self.place == Place::Cell;
        let Some((target, title)) = self.links.get(number) else {
            return "]".into();
        };
        let target = destination(target, in_cell);
        match title {
            Some(title) => {
                let mut safe = String::new();
                fold_blanks(&mut safe, &title.replace('\\', "\\\\").replace('"', "\\\""));
                let safe = if in_cell { safe.replace('|', "\\|") } else { safe };
                format!("]({target} \"{}\")", safe.trim())
            }
            None => format!("]({target})"),
        }
    }

    /// The first delimiter where words end at both sides, the second inside words, tags where neither would be read as
    /// a delimiter (CommonMark, "left-flanking delimiter run").
    fn delimiter(
        &self,
        at: usize,
        mark: Mark,
        first: char,
        [outer, inner]: [&'static str; 2],
        tags: [&'static str; 2],
    ) -> (&'static str, String) {
        let end = at + self.extent(at, mark);
        let before = self.out.chars().next_back().unwrap_or(' ');
        let last = self.runs[at..end].iter().rev().find_map(Run::last).unwrap_or(first);
        let after = self.after(end);
        let loose = |c: char| c.is_whitespace() || is_punctuation(c);
        let flanks = (!is_punctuation(first) || loose(before)) && (!is_punctuation(last) || loose(after));
        let clash = |delimiter: &str| delimiter.starts_with(before) || delimiter.starts_with(after);
        if flanks && !before.is_alphanumeric() && !after.is_alphanumeric() && !clash(outer) {
            (outer, outer.into())
        } else if flanks && !clash(inner) && !inner.starts_with('_') {
            (inner, inner.into())
        } else {
            (tags[0], tags[1].into())
        }
    }

    /// The character that will stand behind the run before `end`.
    fn after(&self, end: usize) -> char {
        let blank_inside =
            matches!(&self.runs[end - 1].piece, Piece::Text(text) if text.ends_with(char::is_whitespace));
        match self.runs.get(end) {
            _ if blank_inside => ' ',
            None => ' ',
            Some(run) => match &run.piece {
                Piece::Break => ' ',
                Piece::Raw(_) => '!',
                Piece::Text(_) if run.marks.len() > self.runs[end - 1].marks.len() => '[',
                Piece::Text(text) => text.chars().next().unwrap_or(' '),
            },
        }
    }
}

impl Run {
    /// The last visible character.
    fn last(&self) -> Option<char> {
        match &self.piece {
            Piece::Text(_) if self.marks.contains(&Mark::Code) => Some('`'),
            Piece::Text(text) => text.trim_end().chars().next_back(),
            Piece::Raw(_) => Some(')'),
            Piece::Break => None,
        }
    }
}

/// Unicode punctuation and symbols, told without tables: neither a letter, a digit, a blank nor a combining mark.
fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation()
        || !c.is_ascii()
            && !c.is_alphanumeric()
            && !c.is_whitespace()
            && !matches!(c, '\u{300}'..='\u{36f}' | '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `*` toggles bold, `/` italics, `` ` `` code, `{` and `}` a link, `|` a line break.
    fn paragraph(script: &str, place: Place) -> String {
        let mut inline = Inline::default();
        let mut open: Vec<char> = Vec::new();
        for c in script.chars() {
            let mark = match c {
                '*' => Mark::Strong,
                '/' => Mark::Emphasis,
                '`' => Mark::Code,
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
                inline.close();
            } else {
                open.push(c);
                inline.open(mark);
            }
        }
        inline.take(place).join("¶")
    }

    fn check(script: &str, expect: &str) {
        assert_eq!(paragraph(script, Place::Paragraph), expect, "{script}");
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
        check("a|# b", "a  \n\\# b");
        assert_eq!(paragraph("a|b||c", Place::Cell), "a<br>b<br>c");
        assert_eq!(paragraph("a|b #", Place::Heading), "a b \\#");
    }

    #[test]
    fn white_space_folds() {
        check("  a \n\t b  ", "a b");
        check("a\u{1b}b\u{7f}", "ab");
        check("a\u{a0}b", "a\u{a0}b");
    }
}
