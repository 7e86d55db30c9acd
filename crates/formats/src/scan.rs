//! Where the next tag or comment of HTML source ends, told the way the tokenizer of the HTML standard tells it.
//!
//! The tokenizer compares every attribute of a tag with all before it. A tag with a million attributes would keep it
//! busy for an hour, so the attributes past [`MAX_ATTRIBUTES`] are found here and never reach it.

use std::ops::Range;

/// Attributes of one tag that are kept.
pub(crate) const MAX_ATTRIBUTES: usize = 256;

/// One `<…>` of the source.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Markup {
    /// Offset behind the last byte; never inside a character.
    pub(crate) end: usize,
    /// The attributes past the limit.
    pub(crate) surplus: Option<Range<usize>>,
    /// Whether text that is not markup may follow (`<script>`, `<title>` …); only the tree builder can tell.
    pub(crate) may_open_raw_text: bool,
}

const RAW_TEXT: [&[u8]; 9] =
    [b"script", b"style", b"title", b"textarea", b"xmp", b"iframe", b"noembed", b"noframes", b"plaintext"];

/// The markup that starts with the `<` at `start`. A lone `<` is markup of one byte.
pub(crate) fn markup_at(html: &str, start: usize) -> Markup {
    let bytes = html.as_bytes();
    let plain = |end| Markup { end, surplus: None, may_open_raw_text: false };
    match (bytes.get(start + 1), bytes.get(start + 2)) {
        (Some(letter), _) if letter.is_ascii_alphabetic() => tag_at(bytes, start + 1),
        (Some(b'/'), Some(letter)) if letter.is_ascii_alphabetic() => tag_at(bytes, start + 2),
        (Some(b'!'), _) if html[start..].starts_with("<!--") => plain(comment_end(html, start + 4)),
        (Some(b'!' | b'?' | b'/'), _) => plain(html[start..].find('>').map_or(html.len(), |i| start + i + 1)),
        _ => plain(start + 1),
    }
}

fn comment_end(html: &str, start: usize) -> usize {
    let rest = &html[start..];
    if rest.starts_with('>') {
        return start + 1;
    }
    if rest.starts_with("->") {
        return start + 2;
    }
    let mut at = start;
    while let Some(i) = html[at..].find("--") {
        let tail = &html[at + i + 2..];
        if tail.starts_with('>') {
            return at + i + 3;
        }
        if tail.starts_with("!>") {
            return at + i + 4;
        }
        at += i + 1;
    }
    html.len()
}

fn tag_at(bytes: &[u8], name: usize) -> Markup {
    let mut at = skip(bytes, name, |b| !ends_name(b));
    let may_open_raw_text = RAW_TEXT.iter().any(|raw| bytes[name..at].eq_ignore_ascii_case(raw));
    let mut seen = 0;
    let mut cut = None;
    loop {
        at = skip(bytes, at, |b| b.is_ascii_whitespace() || b == b'/');
        match bytes.get(at) {
            None | Some(b'>') => break,
            Some(_) => {
                if seen == MAX_ATTRIBUTES {
                    cut = Some(at);
                }
                seen += 1;
                at = attribute_end(bytes, at);
            }
        }
    }
    let surplus = cut.map(|start| start..at);
    Markup { end: (at + 1).min(bytes.len()), surplus, may_open_raw_text }
}

fn attribute_end(bytes: &[u8], start: usize) -> usize {
    // The first byte belongs to the name even when it is `=`.
    let name = skip(bytes, start + 1, |b| !ends_name(b) && b != b'=');
    let equals = skip(bytes, name, |b| b.is_ascii_whitespace());
    if bytes.get(equals) != Some(&b'=') {
        return name;
    }
    let value = skip(bytes, equals + 1, |b| b.is_ascii_whitespace());
    match bytes.get(value) {
        Some(&quote @ (b'"' | b'\'')) => (skip(bytes, value + 1, |b| b != quote) + 1).min(bytes.len()),
        _ => skip(bytes, value, |b| !b.is_ascii_whitespace() && b != b'>'),
    }
}

fn ends_name(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b'/' || byte == b'>'
}

fn skip(bytes: &[u8], from: usize, keep: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    from.min(bytes.len()) + rest.iter().position(|&b| !keep(b)).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(html: &str, markup: &str) {
        let found = markup_at(html, 0);
        assert_eq!(&html[..found.end], markup, "{html}");
        assert_eq!(found.surplus, None, "{html}");
    }

    #[test]
    fn markup_ends_where_the_tokenizer_says() {
        check("<p>x", "<p>");
        check("<p a='>' b=\">\" c=d>x", "<p a='>' b=\">\" c=d>");
        check("<p a=\"x\"b='y'>x", "<p a=\"x\"b='y'>");
        check("<p = =>x", "<p = =>");
        check("</p a='>'>x", "</p a='>'>");
        check("<!-- > -- --!>x", "<!-- > -- --!>");
        check("<!-->x", "<!-->");
        check("<!--->x-->", "<!--->");
        check("<!--a--->x", "<!--a--->");
        check("<!doctype html>x", "<!doctype html>");
        check("< b", "<");
        check("<", "<");
        check("<p a='é", "<p a='é");
        check("<p a=", "<p a=");
    }

    #[test]
    fn surplus_attributes_are_found() {
        let kept: String = (0..MAX_ATTRIBUTES).map(|i| format!(" a{i}=1")).collect();
        let html = format!("<p{kept} over='>' more>text");
        let found = markup_at(&html, 0);
        assert_eq!(found.surplus.map(|r| html[r].to_owned()).as_deref(), Some("over='>' more"));
        assert_eq!(&html[found.end..], "text");
    }

    #[test]
    fn raw_text_elements_are_marked() {
        assert!(markup_at("<SCRIPT async>", 0).may_open_raw_text);
        assert!(!markup_at("<scripts>", 0).may_open_raw_text);
    }
}
