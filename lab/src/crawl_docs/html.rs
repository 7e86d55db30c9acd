//! Link extraction with a tokeniser that is independent of the service's parser, for comparison with it.

use pulldown_cmark::{Event, Parser};

/// Links and addresses of a page, as written, with decoded character references.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Links {
    /// The first `<base href>`.
    pub(crate) base: Option<String>,
    /// The first `<link rel="canonical">`.
    pub(crate) canonical: Option<String>,
    /// All `<a href>` and `<area href>`, in order.
    pub(crate) hrefs: Vec<String>,
}

/// Elements with raw text content.
const RAW: [&str; 9] = ["script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "plaintext"];

/// Extracts the links in one pass, without building a tree.
pub(crate) fn links(html: &str) -> Links {
    let mut found = Links::default();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        rest = &rest[at..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = after(comment, "-->");
            continue;
        }
        if !rest[1..].starts_with(|c: char| c.is_ascii_alphabetic()) {
            // Closing tags, declarations and literal `<` characters.
            rest = &rest[1..];
            continue;
        }
        let (tag, tail) = Tag::read(&rest[1..]);
        rest = tail;
        found.take(&tag);
        if RAW.contains(&tag.name.as_str()) {
            rest = behind_raw(rest, &tag.name);
        }
    }
    found
}

impl Links {
    fn take(&mut self, tag: &Tag) {
        let Some(href) = tag.value("href") else { return };
        match tag.name.as_str() {
            "a" | "area" => self.hrefs.push(href.to_owned()),
            "base" => self.base = self.base.take().or(Some(href.to_owned())),
            "link" if is_canonical(tag) => self.canonical = self.canonical.take().or(Some(href.to_owned())),
            _ => {}
        }
    }
}

fn is_canonical(tag: &Tag) -> bool {
    let rel = tag.value("rel").unwrap_or_default();
    rel.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("canonical"))
}

/// A start tag with its attributes.
struct Tag {
    name: String,
    attributes: Vec<(String, String)>,
}

impl Tag {
    /// Reads the tag whose name `text` begins with, and returns the rest.
    fn read(text: &str) -> (Self, &str) {
        let end = text.find(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>')).unwrap_or(text.len());
        let mut tag = Self { name: text[..end].to_ascii_lowercase(), attributes: Vec::new() };
        let mut rest = &text[end..];
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace());
            if let Some(tail) = rest.strip_prefix('>') {
                return (tag, tail);
            }
            if rest.is_empty() {
                return (tag, rest);
            }
            if let Some(tail) = rest.strip_prefix('/') {
                rest = tail;
                continue;
            }
            let (name, tail) = attribute_name(rest);
            let (value, tail) = attribute_value(tail);
            tag.attributes.push((name.to_ascii_lowercase(), decoded(value)));
            rest = tail;
        }
    }

    /// Returns the value of the first attribute of this name.
    fn value(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

fn attribute_name(text: &str) -> (&str, &str) {
    let is_end = |(at, c): &(usize, char)| c.is_ascii_whitespace() || matches!(c, '/' | '>') || (*c == '=' && *at > 0);
    let end = text.char_indices().find(is_end).map_or(text.len(), |(at, _)| at);
    text.split_at(end)
}

fn attribute_value(text: &str) -> (&str, &str) {
    let is_blank = |c: char| c.is_ascii_whitespace();
    let Some(value) = text.trim_start_matches(is_blank).strip_prefix('=') else { return ("", text) };
    let value = value.trim_start_matches(is_blank);
    for quote in ['"', '\''] {
        if let Some(inner) = value.strip_prefix(quote) {
            return inner.split_once(quote).unwrap_or((inner, ""));
        }
    }
    value.split_at(value.find(|c: char| is_blank(c) || c == '>').unwrap_or(value.len()))
}

/// Returns the text after a mark; empty if the mark is missing.
fn after<'t>(text: &'t str, mark: &str) -> &'t str {
    text.split_once(mark).map_or("", |(_, tail)| tail)
}

/// Returns the text after the closing tag of a raw text element.
fn behind_raw<'t>(text: &'t str, name: &str) -> &'t str {
    let mut rest = text;
    while let Some(at) = rest.find("</") {
        rest = &rest[at + 2..];
        if rest.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name)) {
            return after(rest, ">");
        }
    }
    ""
}

/// Decodes character references. References without a semicolon stay, because URLs should not contain them.
fn decoded(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = rest.find('&') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let is_inside = |c: char| c.is_ascii_alphanumeric() || c == '#';
        let end = 1 + rest[1..].find(|c: char| !is_inside(c)).unwrap_or(rest.len() - 1);
        let end = if rest[end..].starts_with(';') { end + 1 } else { end };
        text.push_str(&character(&rest[..end]));
        rest = &rest[end..];
    }
    text.push_str(rest);
    text
}

/// Decodes a character reference with the markdown parser, which knows the same names as HTML.
fn character(reference: &str) -> String {
    let text = |event| match event {
        Event::Text(text) => Some(text.into_string()),
        _ => None,
    };
    Parser::new(reference).filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(html: &str, expect: &[&str]) {
        assert_eq!(links(html).hrefs, expect, "{html}");
    }

    #[test]
    fn hrefs_in_every_spelling() {
        check("<a href=x>1</a><A\nHREF = 'y z'>2<area shape=rect href=\"/w\"/><a>", &["x", "y z", "/w"]);
        check("<a class=\"a>b\" href=x>1</a><a href=p/q/>2</a><a/href=r>", &["x", "p/q/", "r"]);
        check("<a href=x href=y><abbr href=z><link href=l><a href>", &["x", ""]);
        check("<a href='?a=1&amp;b=2&#38;c=&#x33;&eacute;&d=4&copy'>", &["?a=1&b=2&c=3é&d=4&copy"]);
        check("1 < 2 <a href=x", &["x"]);
    }

    #[test]
    fn what_only_looks_like_a_link() {
        check("<!-- <a href=no> --><a href=x><!--", &["x"]);
        check("<script>'<a href=no>'</script><style><a href=no></STYLE ><a href=x>", &["x"]);
        check("<title>a <a href=no></title><script src=s /></script><a href=x><textarea><a href=no>", &["x"]);
    }

    #[test]
    fn base_and_canonical() {
        let found = links("<base target=_top><base href=/b/><base href=/c/><link rel='x Canonical' href=/d>");
        assert_eq!((found.base.as_deref(), found.canonical.as_deref()), (Some("/b/"), Some("/d")));
    }
}
