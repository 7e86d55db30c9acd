//! Conversion of lines to running text.

use super::line::Line;
use super::words::{Word, is_ideograph};
use crate::content::page::{LinkArea, Style};
use crate::model::{Inline, Script, Span};

/// Appends a line to a text: with a space, or without one after a hyphenated word part or between ideographs.
pub(crate) fn append(text: &mut String, line: &str) {
    let (Some(last), Some(first)) = (text.chars().next_back(), line.chars().next()) else {
        return text.push_str(line);
    };
    match join(text, last, first) {
        Join::Broken => {
            text.pop();
        }
        Join::Glued => {}
        Join::Spaced => text.push(' '),
    }
    text.push_str(line);
}

enum Join {
    /// Joined without the hyphen at the end of the line, which only breaks the word.
    Broken,
    Glued,
    Spaced,
}

fn join(text: &str, last: char, first: char) -> Join {
    if last == '\u{ad}' {
        return Join::Broken;
    }
    if is_ideograph(last) && is_ideograph(first) {
        return Join::Glued;
    }
    if !matches!(last, '-' | '‐') {
        return Join::Spaced;
    }
    let before = text.trim_end_matches(last);
    let word = before.rsplit(|letter: char| letter.is_whitespace()).next().unwrap_or_default();
    let letters = word.chars().rev().take_while(|letter| letter.is_alphabetic()).count();
    let lower = word.chars().next_back().is_some_and(char::is_lowercase);
    if letters == 0 {
        // A range of years or pages: `1914-` is followed by `1918`.
        let range = before.ends_with(|letter: char| letter.is_ascii_digit()) && first.is_ascii_digit();
        return if range { Join::Glued } else { Join::Spaced };
    }
    // A compound keeps the hyphen at the end of the line: `state-of-the-` is followed by `art`.
    let compound = word.contains('-') || word.contains('/');
    match first.is_lowercase() && lower && letters >= 2 && !compound {
        true => Join::Broken,
        false if first.is_alphanumeric() => Join::Glued,
        false => Join::Spaced,
    }
}

/// Returns the text of lines, with code and links marked.
pub(crate) fn inline(lines: &[&Line], styles: &[Style], links: &[LinkArea]) -> Inline {
    let mono = |style: u16| styles.get(usize::from(style)).is_some_and(|style| style.mono);
    let all = lines.iter().flat_map(|line| &line.words).all(|word| mono(word.style) && word.turns.is_empty());
    let mut pieces: Inline = Vec::new();
    for line in lines {
        let order = line.rtl.then(|| line.reading());
        for (place, word) in line.words.iter().enumerate() {
            let word = order.as_ref().and_then(|order| order.get(place).copied()).unwrap_or(word);
            let link = word.link.and_then(|link| links.get(usize::from(link))).map(|area| area.url.as_str());
            let mut mono = mono(word.style);
            let script = line.script(word);
            for (part, text) in parts(word).enumerate() {
                let code = mono && !all && text.chars().any(char::is_alphanumeric);
                let spaced = part == 0 && line.is_spaced(place);
                let markup = Markup { code: code && script == Script::Normal, link, script };
                add(&mut pieces, text, markup, place == 0 && part == 0, spaced);
                mono = !mono;
            }
        }
    }
    pieces
}

/// Splits a word where a monospaced font begins or ends.
fn parts(word: &Word) -> impl Iterator<Item = &str> {
    let starts = std::iter::once(0).chain(word.turns.iter().copied());
    let ends = word.turns.iter().copied().chain([word.text.len()]);
    starts.zip(ends).map(|(start, end)| word.text.get(start..end).unwrap_or_default())
}

/// Markup of a word.
#[derive(PartialEq)]
struct Markup<'a> {
    code: bool,
    link: Option<&'a str>,
    script: Script,
}

impl<'a> Markup<'a> {
    fn of(span: &'a Span) -> Self {
        Self { code: span.code, link: span.link.as_deref(), script: span.script }
    }

    fn span(self, text: String) -> Span {
        Span { text, code: self.code, link: self.link.map(str::to_owned), script: self.script, note: None }
    }

    fn is_plain(&self) -> bool {
        !self.code && self.link.is_none() && self.script == Script::Normal
    }
}

fn add(pieces: &mut Inline, word: &str, markup: Markup<'_>, first: bool, spaced: bool) {
    let Some(last) = pieces.last_mut() else {
        return pieces.push(markup.span(word.to_owned()));
    };
    let (is_same, is_plain) = (Markup::of(last) == markup, Markup::of(last).is_plain());
    if is_same {
        match first {
            true => append(&mut last.text, word),
            false => {
                if spaced {
                    last.text.push(' ');
                }
                last.text.push_str(word);
            }
        }
        return;
    }
    // The space between two spans goes to the plain one, never into code, a link or raised text.
    let mut text = last.text.clone();
    if first {
        append(&mut text, word)
    } else {
        text.extend(spaced.then_some(' '))
    };
    let broken = first && text.len() < last.text.len() + word.len();
    let gap = if first { text.len() > last.text.len() + word.len() } else { spaced };
    if broken {
        last.text.pop();
    }
    let before = gap && is_plain;
    if before {
        last.text.push(' ');
    }
    let after = if gap && !before { " " } else { "" };
    if after.is_empty() || markup.is_plain() {
        pieces.push(markup.span(format!("{after}{word}")));
    } else {
        pieces.push(Span { text: after.to_owned(), ..Span::default() });
        pieces.push(markup.span(word.to_owned()));
    }
}

/// Appends the text of a further line.
pub(crate) fn append_inline(pieces: &mut Inline, line: &Inline) {
    for (place, span) in line.iter().enumerate() {
        add(pieces, &span.text, Markup::of(span), place == 0, false);
    }
}

/// Returns the text of spans without their markup.
pub(crate) fn plain(inline: &Inline) -> String {
    inline.iter().map(|span| span.text.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_join_as_they_are_read() {
        for (text, line, joined) in [
            ("one", "two", "one two"),
            ("inbuilt func-", "tions", "inbuilt functions"),
            ("state-of-the-", "art", "state-of-the-art"),
            ("COVID-", "19", "COVID-19"),
            ("Mary-", "Jane", "Mary-Jane"),
            ("2010 -", "2012", "2010 - 2012"),
            ("for 1914-", "1918 and", "for 1914-1918 and"),
            ("soft\u{ad}", "ware", "software"),
            ("漢", "字", "漢字"),
        ] {
            let mut out = text.to_owned();
            append(&mut out, line);
            assert_eq!(out, joined);
        }
    }
}
