//! A paragraph written: marks become delimiters, links and code spans.
//!
//! Marks nest here whatever the tree did, blanks never stand inside a mark where markdown would not accept them, and a
//! mark without text leaves nothing behind.

use super::escape::{Spot, destination, push_code_span, push_text};
use super::inline::{Link, Mark, Piece, Run, fold_blanks};

/// Where the paragraph goes, which decides about line breaks and pipes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Paragraph,
    Heading,
    Cell,
}

/// Pieces are compared this far ahead when marks are ordered.
const LOOK_AHEAD: usize = 64;

/// The paragraphs of `runs`; two line breaks in a row part paragraphs.
pub(super) fn write(runs: &[Run], links: &[Link], place: Place) -> Vec<String> {
    let (done, out, open) = (Vec::new(), String::new(), Vec::new());
    let mut writer = Writer { runs, links, place, done, out, open, blank: false, breaks: 0 };
    for at in 0..runs.len() {
        writer.run(at);
    }
    writer.end_paragraph();
    writer.done
}

struct Writer<'r> {
    runs: &'r [Run],
    links: &'r [Link],
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
            let first = if i + 1 < opening.len() || code || raw { '*' } else { content.chars().next().unwrap_or('*') };
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
            push_text(&mut self.out, content, Spot { line_start, later_line, in_link, in_cell, next });
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
            Mark::Strong | Mark::Emphasis | Mark::Strike => self.delimiter(at, mark, first),
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

    /// What starts and ends bold, italic or struck text: one delimiter between words, another inside words, tags where
    /// neither would be read as a delimiter (CommonMark, "left-flanking delimiter run").
    fn delimiter(&self, at: usize, mark: Mark, first: char) -> (&'static str, String) {
        let (outer, inner, start, end) = match mark {
            Mark::Strong => ("**", "**", "<strong>", "</strong>"),
            Mark::Emphasis => ("_", "*", "<em>", "</em>"),
            _ => ("~~", "~~", "<del>", "</del>"),
        };
        let stop = at + self.extent(at, mark);
        let before = self.out.chars().next_back().unwrap_or(' ');
        let last = self.runs[at..stop].iter().rev().find_map(Run::last).unwrap_or(first);
        let after = self.after(stop);
        let loose = |c: char| c.is_whitespace() || is_punctuation(c);
        let flanks = (!is_punctuation(first) || loose(before)) && (!is_punctuation(last) || loose(after));
        let in_word = before.is_alphanumeric() || after.is_alphanumeric();
        let delimiter = if in_word { inner } else { outer };
        let clashes = delimiter.starts_with(before) || delimiter.starts_with(after);
        if flanks && !clashes { (delimiter, delimiter.into()) } else { (start, end.into()) }
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
    use super::super::inline::Inline;
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
