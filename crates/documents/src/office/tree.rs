//! A part of a package as a tree that can be changed and written again.
//!
//! Names, attributes and text stay as they are in the source, so a tree needs little more memory than its tags, and
//! writing it is copying.

use std::borrow::Cow;

use memchr::{memchr, memmem};
use quick_xml::escape;

/// Maximum nesting; the converter has one too, which is higher.
const MAX_DEPTH: usize = 200;
/// Maximum number of elements.
const MAX_ELEMENTS: usize = 1_000_000;

/// Element, with its name and attributes as in the source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Element<'a> {
    /// Name with its prefix.
    pub name: Cow<'a, str>,
    /// Everything between the name and the end of the tag.
    pub attributes: Cow<'a, str>,
    pub children: Vec<Node<'a>>,
}

/// Child of an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node<'a> {
    Element(Element<'a>),
    /// Text as in the source, escaped.
    Text(Cow<'a, str>),
}

/// Returns the root element; `None` if the text is not well-formed, or too large or deep.
pub(super) fn parse(text: &str) -> Option<Element<'_>> {
    let mut open = vec![Element::default()];
    let (mut rest, mut elements) = (text, 0);
    while let Some(at) = memchr(b'<', rest.as_bytes()) {
        add_text(&mut open, &rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix("</") {
            let end = memchr(b'>', after.as_bytes())?;
            let done = open.pop()?;
            if open.is_empty() || done.name != after[..end].trim_end() {
                return None;
            }
            open.last_mut()?.children.push(Node::Element(done));
            rest = &after[end + 1..];
        } else if let Some(after) = rest.strip_prefix("<![CDATA[") {
            let end = memmem::find(after.as_bytes(), b"]]>")?;
            open.last_mut()?.children.push(Node::Text(Cow::Owned(escaped(&after[..end]))));
            rest = &after[end + 3..];
        } else if let Some(after) = skipped(rest) {
            rest = after?;
        } else {
            elements += 1;
            let (element, is_empty, after) = tag(rest)?;
            rest = after;
            if elements > MAX_ELEMENTS || open.len() > MAX_DEPTH {
                return None;
            }
            if is_empty { open.last_mut()?.children.push(Node::Element(element)) } else { open.push(element) }
        }
    }
    let document = open.pop().filter(|_| open.is_empty())?;
    document.children.into_iter().find_map(|node| match node {
        Node::Element(element) => Some(element),
        Node::Text(_) => None,
    })
}

fn add_text<'a>(open: &mut [Element<'a>], text: &'a str) {
    if let Some(parent) = open.last_mut().filter(|_| !text.is_empty()) {
        parent.children.push(Node::Text(Cow::Borrowed(text)));
    }
}

/// Skips a comment, instruction or declaration. The inner `None` means that it has no end.
fn skipped(rest: &str) -> Option<Option<&str>> {
    let end = match rest.as_bytes() {
        [b'<', b'!', b'-', b'-', ..] => "-->",
        [b'<', b'?', ..] => "?>",
        [b'<', b'!', ..] => {
            let bracket = memchr(b'[', rest.as_bytes());
            let is_long = bracket.is_some_and(|at| memchr(b'>', rest.as_bytes()).is_none_or(|end| at < end));
            if is_long { "]>" } else { ">" }
        }
        _ => return None,
    };
    Some(memmem::find(rest.as_bytes(), end.as_bytes()).map(|at| &rest[at + end.len()..]))
}

/// Reads an opening tag; returns its element, whether it is empty, and the rest.
fn tag(rest: &str) -> Option<(Element<'_>, bool, &str)> {
    let mut quote = None;
    let end = rest.bytes().position(|byte| match (quote, byte) {
        (None, b'"' | b'\'') => {
            quote = Some(byte);
            false
        }
        (None, b'>') => true,
        (Some(open), close) if open == close => {
            quote = None;
            false
        }
        _ => false,
    })?;
    let inner = &rest[1..end];
    let is_empty = inner.ends_with('/');
    let inner = inner.strip_suffix('/').unwrap_or(inner);
    let name = inner.find(|letter: char| letter.is_ascii_whitespace()).unwrap_or(inner.len());
    let element = Element {
        name: Cow::Borrowed(&inner[..name]),
        attributes: Cow::Borrowed(&inner[name..]),
        children: Vec::new(),
    };
    (name > 0).then_some((element, is_empty, &rest[end + 1..]))
}

impl<'a> Element<'a> {
    /// Makes an element.
    pub(super) fn new(name: String, attributes: &'static str) -> Self {
        Element { name: Cow::Owned(name), attributes: Cow::Borrowed(attributes), children: Vec::new() }
    }

    /// Makes an element with text in it.
    pub(super) fn with_text(name: String, attributes: &'static str, text: &str) -> Self {
        let children = vec![Node::Text(Cow::Owned(escaped(text)))];
        Element { children, ..Self::new(name, attributes) }
    }

    /// Name without its prefix.
    pub(super) fn local(&self) -> &str {
        local(&self.name)
    }

    /// Returns the value of an attribute by its name without prefix.
    pub(super) fn attribute(&self, name: &str) -> Option<Cow<'_, str>> {
        self.attributes().find(|(known, _)| local(known) == name).map(|(_, value)| plain(value))
    }

    /// Returns the names and values of the attributes, as in the source.
    pub(super) fn attributes(&self) -> impl Iterator<Item = (&str, &str)> {
        attributes(&self.attributes)
    }

    /// Returns the children that are elements.
    pub(super) fn elements(&self) -> impl DoubleEndedIterator<Item = &Element<'a>> {
        self.children.iter().filter_map(Node::element)
    }

    /// Returns the first child with a local name.
    pub(super) fn child(&self, name: &str) -> Option<&Element<'a>> {
        self.elements().find(|child| child.local() == name)
    }

    /// Returns the element below by the local names on the way to it.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Element<'a>> {
        path.iter().try_fold(self, |element, name| element.child(name))
    }

    /// Calls a function with all elements below with a local name, outer ones first.
    pub(super) fn each<'s>(&'s self, name: &str, found: &mut impl FnMut(&'s Element<'a>)) {
        for child in self.elements() {
            if child.local() == name {
                found(child);
            }
            child.each(name, found);
        }
    }

    /// Returns the first element below with a local name.
    pub(super) fn below(&self, name: &str) -> Option<&Element<'a>> {
        self.elements().find_map(|child| if child.local() == name { Some(child) } else { child.below(name) })
    }

    /// Returns all text below, unescaped.
    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        self.add_text(&mut out);
        out
    }

    fn add_text(&self, out: &mut String) {
        for node in &self.children {
            match node {
                Node::Text(text) => out.push_str(&plain(text)),
                Node::Element(element) => element.add_text(out),
            }
        }
    }

    /// Writes the element and everything in it.
    pub(super) fn write(&self, out: &mut String) {
        out.push('<');
        out.push_str(&self.name);
        out.push_str(&self.attributes);
        if self.children.is_empty() {
            out.push_str("/>");
            return;
        }
        out.push('>');
        for node in &self.children {
            match node {
                Node::Text(text) => out.push_str(text),
                Node::Element(element) => element.write(out),
            }
        }
        out.push_str("</");
        out.push_str(&self.name);
        out.push('>');
    }

    /// Returns the element as a part of a package.
    pub(super) fn into_part(self, size: usize) -> Vec<u8> {
        let mut out = String::with_capacity(size + size / 8);
        out.push_str("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        self.write(&mut out);
        out.into_bytes()
    }
}

impl<'a> Node<'a> {
    /// Returns the element, if it is one.
    pub(super) fn element(&self) -> Option<&Element<'a>> {
        match self {
            Node::Element(element) => Some(element),
            Node::Text(_) => None,
        }
    }
}

/// Returns the names and values of the attributes of a tag.
pub(super) fn attributes(source: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = source;
    std::iter::from_fn(move || {
        let (name, after) = rest.split_once('=')?;
        let after = after.trim_start();
        let quote = after.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        let (value, after) = after[1..].split_once(quote)?;
        rest = after;
        Some((name.trim(), value))
    })
}

/// Name without its prefix.
pub(super) fn local(name: &str) -> &str {
    name.split_once(':').map_or(name, |(_, local)| local)
}

/// Returns text without escapes.
pub(super) fn plain(source: &str) -> Cow<'_, str> {
    escape::unescape(source).unwrap_or(Cow::Borrowed(source))
}

/// Escapes text.
pub(super) fn escaped(text: &str) -> String {
    escape::partial_escape(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_written_as_it_was_read() {
        for text in ["<a b='1>2' c=\"&lt;\"><d/>x &amp; y<e>z</e></a>", "<w:p w:x=\"1\"><w:r/></w:p>"] {
            let mut out = String::new();
            parse(text).unwrap().write(&mut out);
            assert_eq!(out, text);
        }
        let text = "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY x 'y'>]><!-- <b> --><a><![CDATA[<c>]]></a>";
        assert_eq!(parse(text).unwrap().text(), "<c>");
    }

    #[test]
    fn attributes_are_found_without_their_prefix() {
        let element = parse("<a w:val=\"1 &amp; 2\" r:id='x'/>").unwrap();
        assert_eq!(element.attribute("val").as_deref(), Some("1 & 2"));
        assert_eq!(element.attribute("id").as_deref(), Some("x"));
        assert_eq!(element.attribute("none"), None);
    }

    #[test]
    fn damaged_and_endless_texts_have_no_tree() {
        for text in ["", "a", "<a>", "<a></b>", "</a>", "<a", "<a b='>", "<!-- <a/>", "<![CDATA[<a/>", "< a/>"] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse(&format!("{}x{}", "<a>".repeat(300), "</a>".repeat(300))), None);
    }
}
