//! Content of letters: parts that become HTML, in which every text is escaped.

use std::fmt::Write;

use url::Url;

/// Longest subject in characters.
const MAX_SUBJECT: usize = 150;

/// Longest text of a part in characters; the rest is cut.
const MAX_TEXT: usize = 4000;

/// Subject and parts of a letter. Texts may come from strangers: they cannot add markup, links or headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    subject: String,
    parts: Vec<Part>,
}

/// Part of a letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Heading.
    Heading(String),
    /// Paragraph.
    Text(String),
    /// Item of a list, with a link and details after it.
    Item {
        /// Text of the link.
        text: String,
        /// Target; shown as text when it is no web address.
        url: String,
        /// Text after the link.
        details: String,
    },
    /// Lines with their blanks, such as a diff.
    Lines(String),
    /// Link that asks for an action.
    Button {
        /// Text on it.
        text: String,
        /// Target.
        url: Url,
    },
    /// Small print at the end, with a link.
    Note {
        /// Text before the link.
        text: String,
        /// Text of the link.
        link: String,
        /// Target.
        url: Url,
    },
}

impl Content {
    /// Starts with the subject, of which control characters and what is too long are removed.
    #[must_use]
    pub fn new(subject: &str) -> Self {
        // `=?` begins a word that the reader's program decodes (RFC 2047), line breaks included.
        let subject = one_line(&subject.replace("=?", "= ?"), MAX_SUBJECT);
        Self { subject, parts: Vec::new() }
    }

    /// Adds a part.
    #[must_use]
    pub fn with(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// Returns the subject, one line.
    #[must_use]
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// Returns the HTML document.
    #[must_use]
    pub fn html(&self) -> String {
        let mut html = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{}</title></head>\n<body style=\"{BODY}\">\n",
            escape(&self.subject)
        );
        let mut in_list = false;
        for part in &self.parts {
            let is_item = matches!(part, Part::Item { .. });
            match (in_list, is_item) {
                (false, true) => html.push_str("<ul>\n"),
                (true, false) => html.push_str("</ul>\n"),
                _ => (),
            }
            in_list = is_item;
            write_part(&mut html, part);
        }
        html.push_str(if in_list { "</ul>\n</body>\n</html>\n" } else { "</body>\n</html>\n" });
        html
    }
}

const BODY: &str = "max-width:40em;margin:1em auto;padding:0 1em;font:16px/1.5 sans-serif;color:#222";
const LINES: &str =
    "padding:.75em;background:#f4f4f4;font:13px/1.4 monospace;white-space:pre-wrap;overflow-wrap:anywhere";
const BUTTON: &str =
    "display:inline-block;padding:.6em 1.2em;background:#1a56b0;color:#fff;text-decoration:none;border-radius:4px";
const SMALL: &str = "margin-top:2em;font-size:13px;color:#666";

fn write_part(html: &mut String, part: &Part) {
    let text = |text: &str| escape(&cut(text));
    // Writing to a string cannot fail.
    let _ = match part {
        Part::Heading(heading) => writeln!(html, "<h2>{}</h2>", text(heading)),
        Part::Text(paragraph) => writeln!(html, "<p>{}</p>", text(paragraph)),
        Part::Lines(lines) => writeln!(html, "<pre style=\"{LINES}\">{}</pre>", text(lines)),
        Part::Item { text: label, url, details } => match web_address(url) {
            Some(url) => {
                writeln!(html, "<li><a href=\"{}\">{}</a> {}</li>", escape(url.as_str()), text(label), text(details))
            }
            None => writeln!(html, "<li>{} {}</li>", text(label), text(details)),
        },
        Part::Button { text: label, url } => {
            writeln!(html, "<p><a style=\"{BUTTON}\" href=\"{}\">{}</a></p>", escape(url.as_str()), text(label))
        }
        Part::Note { text: note, link, url } => writeln!(
            html,
            "<p style=\"{SMALL}\">{} <a href=\"{}\">{}</a></p>",
            text(note),
            escape(url.as_str()),
            text(link)
        ),
    };
}

/// Returns an address that a link may have.
fn web_address(url: &str) -> Option<Url> {
    Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))
}

/// Returns the text as HTML: no part of it is markup. Characters that turn the direction of what follows are left out.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + text.len() / 8);
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(c),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => (),
            c if c.is_control() => (),
            c => escaped.push(c),
        }
    }
    escaped
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// Returns the text as one line: blanks for control characters and line separators, cut at `max` characters.
pub(crate) fn one_line(text: &str, max: usize) -> String {
    let is_break = |c: char| c.is_control() || c.is_whitespace() || matches!(c, '\u{2028}' | '\u{2029}');
    let words: Vec<&str> = text.split(is_break).filter(|word| !word.is_empty()).collect();
    words.join(" ").chars().take(max).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_strangers_are_no_markup() {
        let hostile = "</p><script>alert(1)</script><a href='x'>\u{202e}\u{0}";
        let content = Content::new(hostile)
            .with(Part::Heading(hostile.to_owned()))
            .with(Part::Item {
                text: hostile.to_owned(),
                url: "javascript:alert(1)".to_owned(),
                details: hostile.to_owned(),
            })
            .with(Part::Item {
                text: "b".to_owned(),
                url: "https://example.com/\"><script>".to_owned(),
                details: String::new(),
            })
            .with(Part::Lines(hostile.to_owned()));
        let html = content.html();
        for markup in ["<script", "javascript:", "href='", "\u{202e}", "\u{0}"] {
            assert!(!html.contains(markup), "{markup}: {html}");
        }
        assert_eq!(html.matches("<a ").count(), 1);
        assert_eq!(html.matches("<ul>").count(), html.matches("</ul>").count());
    }

    #[test]
    fn a_subject_is_one_line() {
        let subject = Content::new("Tea\r\nBcc: all@example.com\u{2028}\tnow").subject().to_owned();
        assert_eq!(subject, "Tea Bcc: all@example.com now");
        assert_eq!(Content::new("=?utf-8?q?=0D=0ACc:x?=").subject(), "= ?utf-8?q?=0D=0ACc:x?=");
        assert_eq!(Content::new(&"é".repeat(500)).subject().chars().count(), MAX_SUBJECT);
    }

    #[test]
    fn long_texts_are_cut() {
        let html = Content::new("a").with(Part::Lines("é".repeat(MAX_TEXT * 2))).html();
        assert!(html.matches('é').count() == MAX_TEXT && html.contains('…'));
    }
}
