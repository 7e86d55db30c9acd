//! Pages inside of other documents: they are made well-formed, and converted as a book of one chapter.

use std::borrow::Cow;

use anydoc::Format;

use super::marks::{self, Inserts};
use super::package::packed;
use super::{books, entities, rows};
use crate::mail;

/// Maximum size of a page, in bytes.
const MAX_PAGE: usize = 8 * 1024 * 1024;
/// Elements without an end.
const VOID: [&str; 14] =
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"];
/// Elements that are left out with everything in them.
const SKIPPED: [&str; 6] = ["head", "script", "style", "template", "noscript", "title"];
/// Maximum nesting.
const MAX_DEPTH: usize = 100;

/// Returns the markdown of a page, an archive of a page (MHTML), or plain text.
pub(super) fn markdown(bytes: &[u8]) -> Option<String> {
    if bytes.len() > MAX_PAGE {
        return None;
    }
    let archive = mail::page_of_archive(bytes);
    let text = match &archive {
        Some(html) => Cow::Borrowed(html.as_str()),
        None => Cow::Owned(String::from_utf8_lossy(&rows::utf8(bytes)).into_owned()),
    };
    let is_page = memchr::memchr(b'<', text.as_bytes()).is_some() && text.contains('>');
    let body = if is_page { tidied(&text) } else { paragraphs(&text) };
    let chapter = format!("<html xmlns=\"http://www.w3.org/1999/xhtml\"><body>{body}</body></html>");
    let container = "<container><rootfiles><rootfile full-path=\"book.opf\"/></rootfiles></container>";
    let book = "<package><metadata/><manifest><item id=\"a\" href=\"a.xhtml\" media-type=\"application/xhtml+xml\"/></manifest>\
        <spine><itemref idref=\"a\"/></spine></package>";
    let parts: [(&str, &[u8]); 4] = [
        ("mimetype", b"application/epub+zip"),
        ("META-INF/container.xml", container.as_bytes()),
        ("book.opf", book.as_bytes()),
        ("a.xhtml", chapter.as_bytes()),
    ];
    let file = packed(&parts)?;
    let mut inserts = Inserts::inner();
    let file = books::mended(&file, &mut inserts).unwrap_or(file);
    let markdown = super::convert(&file, Format::Epub).ok()?;
    Some(marks::replaced(markdown, inserts))
}

fn paragraphs(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| format!("<p>{}</p>", super::tree::escaped(line))).collect()
}

/// Returns a page as well-formed elements: all closed, attributes in quotation marks, characters without names.
fn tidied(page: &str) -> String {
    let mut tidy = Tidy { out: String::with_capacity(page.len()), open: Vec::new() };
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        tidy.text(&rest[..at]);
        rest = &rest[at..];
        rest = tidy.tag(rest);
    }
    tidy.text(rest);
    while let Some(name) = tidy.open.pop() {
        tidy.end(&name);
    }
    tidy.out
}

struct Tidy {
    out: String,
    open: Vec<String>,
}

impl Tidy {
    fn text(&mut self, text: &str) {
        let text = entities::without_names(text);
        let plain = quick_xml::escape::unescape(&text).unwrap_or(Cow::Borrowed(&text));
        self.out.push_str(&super::tree::escaped(&plain));
    }

    /// Reads what begins with `<`; returns the rest.
    fn tag<'p>(&mut self, rest: &'p str) -> &'p str {
        if let Some(comment) = rest.strip_prefix("<!--") {
            return comment.find("-->").map_or("", |end| &comment[end + 3..]);
        }
        let is_end = rest[1..].starts_with('/');
        let start = 1 + usize::from(is_end);
        let length = rest[start..].find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(rest.len() - start);
        let name = rest[start..start + length].to_ascii_lowercase();
        if !name.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
            if rest[1..].starts_with(['!', '?', '/']) {
                return rest.find('>').map_or("", |end| &rest[end + 1..]);
            }
            self.out.push_str("&lt;");
            return &rest[1..];
        }
        let Some(end) = end_of_tag(rest) else { return "" };
        let (inner, after) = (&rest[start + length..end], &rest[end + 1..]);
        if is_end {
            self.close(&name);
        } else if SKIPPED.contains(&name.as_str()) {
            return past_end(after, &name);
        } else if inner.starts_with(':') || matches!(name.as_str(), "html" | "body") || self.open.len() >= MAX_DEPTH {
            // Elements of programs, and those that are written around the page.
        } else {
            self.start(&name, inner);
        }
        after
    }

    fn start(&mut self, name: &str, inner: &str) {
        let ends: &[&str] = match name {
            "li" => &["li", "p"],
            "tr" => &["td", "th", "tr", "p"],
            "td" | "th" => &["td", "th", "p"],
            "dt" | "dd" => &["dt", "dd", "p"],
            "p" | "div" | "ul" | "ol" | "table" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "blockquote" | "pre"
            | "hr" => &["p"],
            _ => &[],
        };
        while self.open.last().is_some_and(|open| ends.contains(&open.as_str())) {
            let open = self.open.pop().unwrap_or_default();
            self.end(&open);
        }
        self.out.push('<');
        self.out.push_str(name);
        for (attribute, value) in super::tree::attributes(inner) {
            let attribute = attribute.rsplit(char::is_whitespace).next().unwrap_or_default();
            let is_kept = matches!(attribute, "href" | "src" | "alt" | "colspan" | "rowspan" | "start" | "style");
            if is_kept {
                let value =
                    super::tree::escaped(&super::tree::plain(&entities::without_names(value))).replace('"', "&quot;");
                self.out.push_str(&format!(" {attribute}=\"{value}\""));
            }
        }
        if VOID.contains(&name) {
            self.out.push_str("/>");
        } else {
            self.out.push('>');
            self.open.push(name.to_owned());
        }
    }

    /// Closes an element, and those in it that are still open.
    fn close(&mut self, name: &str) {
        if let Some(at) = self.open.iter().rposition(|open| open == name) {
            for open in self.open.split_off(at).into_iter().rev() {
                self.end(&open);
            }
        }
    }

    fn end(&mut self, name: &str) {
        self.out.push_str("</");
        self.out.push_str(name);
        self.out.push('>');
    }
}

/// Returns the position of the end of a tag, outside of its attributes.
fn end_of_tag(rest: &str) -> Option<usize> {
    let mut quote = None;
    let end = rest.bytes().position(|byte| match quote {
        None if byte == b'>' => true,
        None => {
            quote = matches!(byte, b'"' | b'\'').then_some(byte);
            false
        }
        Some(open) => {
            if byte == open {
                quote = None;
            }
            false
        }
    });
    end.or_else(|| rest.find('>'))
}

/// Returns the rest after the end of an element.
fn past_end<'p>(rest: &'p str, name: &str) -> &'p str {
    let end = rest
        .match_indices("</")
        .find(|(at, _)| rest[at + 2..].get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name)));
    end.and_then(|(at, _)| rest[at..].find('>').map(|end| &rest[at + end + 1..])).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_become_well_formed() {
        for (page, tidy) in [
            ("<p>a<br>b<p>c &eacute; & d", "<p>a<br/>b</p><p>c é &amp; d</p>"),
            ("<HTML><HEAD><TITLE>x</TITLE></HEAD><BODY class=a><B>y</B></BODY></HTML>", "<b>y</b>"),
            ("<ul><li>a<li><b>b</ul>", "<ul><li>a</li><li><b>b</b></li></ul>"),
            ("a < b <!-- <i> --> <a href='x?a=1&b=2' onclick=y>l</a>", "a &lt; b  <a href=\"x?a=1&amp;b=2\">l</a>"),
            ("<o:p>x</o:p></i>", "x"),
        ] {
            assert_eq!(tidied(page), tidy);
        }
    }

    #[test]
    fn pages_and_texts_are_markdown() {
        assert_eq!(markdown(b"<h1>A</h1><p>m<sup>2</sup>").unwrap(), "# A\n\nm<sup>2</sup>\n");
        assert_eq!(markdown(b"one\n\ntwo").unwrap(), "one\n\ntwo\n");
        assert_eq!(markdown(&[b'x'; MAX_PAGE + 1]), None);
    }
}
