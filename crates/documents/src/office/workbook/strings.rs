//! Texts of a workbook, which its cells share.

use memchr::{memchr_iter, memmem};

use super::super::marks::Script;
use super::super::tree::{self, Element, Node};

/// Part of the shared texts.
#[derive(Debug, Default)]
pub(super) struct Strings {
    source: String,
    /// Texts in order, once they are needed.
    texts: Option<Texts>,
}

/// All texts in one, and where each ends.
#[derive(Debug, Default)]
struct Texts {
    all: String,
    ends: Vec<usize>,
}

impl Strings {
    pub(super) fn new(source: String) -> Self {
        Self { source, texts: None }
    }

    /// Size of the part in bytes.
    pub(super) fn size(&self) -> u64 {
        self.source.len() as u64
    }

    pub(super) fn tags(&self) -> usize {
        memchr_iter(b'<', self.source.as_bytes()).count()
    }

    /// Whether the texts can be read one by one: their elements have no prefix.
    pub(super) fn is_plain(&self) -> bool {
        self.source.is_empty() || self.source.contains("<sst")
    }

    /// Reads the texts.
    pub(super) fn load(&mut self) {
        if self.texts.is_some() {
            return;
        }
        let mut texts = Texts::default();
        let mut rest = self.source.as_str();
        while let Some(at) = memmem::find(rest.as_bytes(), b"<si") {
            rest = &rest[at..];
            let Some(tag) = memchr::memchr(b'>', rest.as_bytes()) else { break };
            let end = if rest[..tag].ends_with('/') {
                tag + 1
            } else {
                let Some(end) = memmem::find(rest.as_bytes(), b"</si>") else { break };
                end + "</si>".len()
            };
            if let Some(item) = tree::parse(&rest[..end]) {
                texts.all.push_str(&rich_text(&item));
            }
            texts.ends.push(texts.all.len());
            rest = &rest[end..];
        }
        self.texts = Some(texts);
    }

    /// Returns a text by its number.
    pub(super) fn get(&self, number: usize) -> Option<&str> {
        let texts = self.texts.as_ref()?;
        let start = number.checked_sub(1).map_or(Some(0), |before| texts.ends.get(before).copied())?;
        texts.all.get(start..*texts.ends.get(number)?)
    }

    /// Returns the part with raised text and escapes replaced; `None` if there are none.
    pub(super) fn mended(&self) -> Option<Vec<u8>> {
        let has = |sign: &[u8]| memmem::find(self.source.as_bytes(), sign).is_some();
        if !(has(b"_x") || has(b"vertAlign")) {
            return None;
        }
        let mut root = tree::parse(&self.source)?;
        mend(&mut root);
        Some(root.into_part(self.source.len()))
    }
}

/// Replaces escapes and marks raised text in all texts below.
pub(super) fn mend(element: &mut Element<'_>) {
    let script = script(element);
    for node in &mut element.children {
        let Node::Element(child) = node else { continue };
        if child.local() == "t" {
            let text = child.text();
            let (name, shown) = (child.name.clone().into_owned(), script.marked(&unescaped(&text)));
            *child = Element::with_text(name, " xml:space=\"preserve\"", &shown);
        } else {
            mend(child);
        }
    }
}

/// Returns the text of an item, with marks around raised text. Readings of Japanese words are no text of it.
pub(super) fn rich_text(item: &Element<'_>) -> String {
    let mut out = String::new();
    for child in item.elements() {
        match child.local() {
            "t" => out.push_str(&unescaped(&child.text())),
            "r" => out
                .push_str(&script(child).marked(&unescaped(&child.child("t").map(Element::text).unwrap_or_default()))),
            _ => {}
        }
    }
    out
}

fn script(run: &Element<'_>) -> Script {
    let align = run.at(&["rPr", "vertAlign"]).and_then(|align| align.attribute("val"));
    match align.as_deref() {
        Some("superscript") => Script::Raised,
        Some("subscript") => Script::Lowered,
        _ => Script::Normal,
    }
}

/// Decodes `_x000D_` and its kind (ECMA-376 part 1, 22.9.2.19). Control characters other than white space go.
pub(super) fn unescaped(text: &str) -> String {
    if !text.contains("_x") {
        return text.to_owned();
    }
    let (mut out, mut rest, mut units) = (String::with_capacity(text.len()), text, Vec::new());
    while let Some(at) = rest.find("_x") {
        let code = rest.get(at + 2..at + 6).filter(|_| rest[at..].get(6..7) == Some("_"));
        let code = code.filter(|code| code.bytes().all(|digit| digit.is_ascii_hexdigit()));
        match code.and_then(|code| u16::from_str_radix(code, 16).ok()) {
            Some(unit) => {
                if at > 0 {
                    add_units(&mut units, &mut out);
                }
                out.push_str(&rest[..at]);
                units.push(unit);
                rest = &rest[at + 7..];
            }
            None => {
                add_units(&mut units, &mut out);
                out.push_str(&rest[..at + 2]);
                rest = &rest[at + 2..];
            }
        }
    }
    add_units(&mut units, &mut out);
    out.push_str(rest);
    out
}

fn add_units(units: &mut Vec<u16>, out: &mut String) {
    let letters = char::decode_utf16(units.drain(..)).map_while(Result::ok);
    out.extend(letters.filter(|letter| !letter.is_control() || matches!(letter, '\n' | '\r' | '\t')));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_letters() {
        for (text, expected) in [
            ("12 Main St_x000D_\nSpringfield", "12 Main St\r\nSpringfield"),
            ("_x005F_x000D_", "_x000D_"),
            ("_xD83D__xDE00_!", "😀!"),
            ("a_x0000_b _x12 _xZZZZ_ é_x", "ab _x12 _xZZZZ_ é_x"),
        ] {
            assert_eq!(unescaped(text), expected);
        }
    }

    #[test]
    fn texts_have_numbers() {
        let source = "<sst><si><t>a</t></si><si/><si><r><t>10</t></r><r><rPr><vertAlign val='superscript'/></rPr><t>3</t></r>\
            <rPh><t>x</t></rPh></si></sst>";
        let mut strings = Strings::new(source.to_owned());
        strings.load();
        assert_eq!([0, 1, 2].map(|number| strings.get(number)), [Some("a"), Some(""), Some("10\u{FDD0}3\u{FDD1}")]);
        assert_eq!(strings.get(3), None);
    }
}
