//! Documents of Word: what the converter drops or joins is put right in the parts before it reads them.
//!
//! Hidden text and deleted rows go; raised text, symbols, hyphens, ruby, boxes of forms, rows in content controls and
//! embedded documents become what the converter understands.

mod chunks;
mod fields;
mod runs;
mod styles;

use std::borrow::Cow;
use std::collections::HashMap;

use memchr::memmem;

use super::charts;
use super::marks::Inserts;
use super::package::{Package, Relation, resolved};
use super::tree::{self, Element, Node};
use fields::Field;
use styles::{Styles, on};

/// Namespaces of the elements of Word, transitional and strict.
const NAMESPACES: [&str; 2] = [
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "http://purl.oclc.org/ooxml/wordprocessingml/main",
];
/// Words of a part that needs a change.
const SIGNS: [&str; 15] = [
    "vertAlign",
    "vanish",
    "noBreakHyphen",
    ":sym ",
    "ruby",
    "altChunk",
    "ffData",
    "SYMBOL",
    "BUTTON",
    "sdtContent",
    ":customXml",
    ":position ",
    "Symbol\"",
    "dings",
    ":trPr",
];

/// Returns the document with its parts put right, and the markdown that goes in the places of its marks; `None` if
/// nothing has to be changed.
pub(super) fn mended(file: &[u8], inserts: &mut Inserts) -> Option<Vec<u8>> {
    let mut package = Package::open(file)?;
    let main = package.main_part("word/document.xml");
    let relations = package.relations(&main);
    let of_kind = |kind: &str| relations.iter().find(|relation| relation.kind == kind && !relation.is_external);
    let style_part = of_kind("styles").and_then(|relation| package.text(&resolved(&main, &relation.target)));
    let style_root = style_part.as_deref().and_then(tree::parse);
    let styles = style_root.as_ref().map(Styles::read).unwrap_or_default();
    let notes = ["footnotes", "endnotes"].into_iter().filter_map(of_kind);
    let parts: Vec<String> =
        std::iter::once(main.clone()).chain(notes.map(|relation| resolved(&main, &relation.target))).collect();
    for part in parts {
        let relations = package.relations(&part);
        let Some(text) = package.text(&part) else { continue };
        let has_anchors = text.contains(":anchor=") && relations.iter().any(|relation| relation.kind == "hyperlink");
        if !styles.matters()
            && !has_anchors
            && !SIGNS.iter().any(|sign| memmem::find(text.as_bytes(), sign.as_bytes()).is_some())
        {
            continue;
        }
        let Some(mut root) = tree::parse(&text) else { continue };
        let Some(prefix) = prefix(&root) else { continue };
        let relations = relations.into_iter().map(|relation| (relation.id.clone(), relation)).collect();
        let mut part_of = Part {
            name: &part,
            prefix,
            styles: &styles,
            relations,
            package: &mut package,
            inserts,
            fields: Vec::new(),
        };
        part_of.children(&mut root, Place::default());
        let bytes = root.into_part(text.len());
        package.replace(&part, bytes);
    }
    charts::mend(&mut package, "word/charts/");
    package.rewritten()
}

/// Returns the prefix of the elements of Word, with its colon.
fn prefix(root: &Element<'_>) -> Option<String> {
    let (name, _) = root.attributes().find(|(_, value)| NAMESPACES.contains(value))?;
    let prefix = name.strip_prefix("xmlns")?.trim_start_matches(':');
    Some(if prefix.is_empty() { String::new() } else { format!("{prefix}:") })
}

/// Part that is put right.
struct Part<'p, 'a> {
    name: &'p str,
    prefix: String,
    styles: &'p Styles,
    relations: HashMap<String, Relation>,
    package: &'p mut Package<'a>,
    inserts: &'p mut Inserts,
    fields: Vec<Field>,
}

/// Place of an element in the part.
#[derive(Debug, Clone, Copy, Default)]
struct Place<'s> {
    /// Style of the paragraph.
    style: Option<&'s str>,
    /// Whether rows belong here.
    in_table: bool,
}

impl Part<'_, '_> {
    /// Returns the name of an element, if it is one of Word.
    fn word<'e>(&self, element: &'e Element<'_>) -> &'e str {
        element.name.strip_prefix(self.prefix.as_str()).filter(|name| !name.contains(':')).unwrap_or_default()
    }

    fn named(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// Puts the children of an element right.
    fn children(&mut self, element: &mut Element<'_>, place: Place<'_>) {
        let mut out = Vec::with_capacity(element.children.len());
        for node in std::mem::take(&mut element.children) {
            match node {
                Node::Element(child) => self.child(child, place, &mut out),
                text @ Node::Text(_) => out.push(text),
            }
        }
        element.children = out;
    }

    fn child<'e>(&mut self, mut child: Element<'e>, place: Place<'_>, out: &mut Vec<Node<'e>>) {
        match self.word(&child) {
            "p" => {
                if self.paragraph(&mut child) {
                    out.push(Node::Element(child));
                }
            }
            "r" => out.extend(self.run(child, place).map(Node::Element)),
            "tbl" => {
                self.children(&mut child, Place { in_table: true, ..place });
                out.push(Node::Element(child));
            }
            "tr" if is_gone(&child) => {}
            "tr" => {
                self.children(&mut child, Place { in_table: false, ..place });
                out.push(Node::Element(child));
            }
            "sdt" if place.in_table => {
                let content = child
                    .children
                    .into_iter()
                    .filter(|node| node.element().is_some_and(|element| element.local() == "sdtContent"));
                for node in content {
                    let Node::Element(mut content) = node else { continue };
                    self.children(&mut content, place);
                    out.append(&mut content.children);
                }
            }
            "customXml" | "ins" | "moveTo" if place.in_table => {
                self.children(&mut child, place);
                out.append(&mut child.children);
            }
            "hyperlink" => {
                self.children(&mut child, place);
                self.hyperlink(&mut child);
                out.push(Node::Element(child));
            }
            "altChunk" => out.extend(self.chunk(&child).map(Node::Element)),
            "del" | "moveFrom" | "rPr" | "pPr" | "sectPr" => out.push(Node::Element(child)),
            _ => {
                self.children(&mut child, place);
                out.push(Node::Element(child));
            }
        }
    }

    /// Puts a paragraph right. Returns false for one that is hidden as a whole.
    fn paragraph(&mut self, paragraph: &mut Element<'_>) -> bool {
        let style = paragraph.child("pPr").and_then(|properties| properties.child("pStyle"));
        let style = style.and_then(|style| style.attribute("val")).map(Cow::into_owned);
        let is_hidden = self.is_hidden(paragraph, style.as_deref());
        let open = self.fields.len();
        self.children(paragraph, Place { style: style.as_deref(), in_table: false });
        !is_hidden || self.fields.len() != open || has_content(paragraph)
    }

    /// Whether the mark at the end of a paragraph is hidden.
    fn is_hidden(&self, paragraph: &Element<'_>, style: Option<&str>) -> bool {
        let mark = paragraph.child("pPr").and_then(|properties| properties.child("rPr"));
        self.styles.run(style, mark).is_hidden == Some(true)
    }

    /// A link to a place in a page becomes a field, as the converter takes the place of those only.
    fn hyperlink(&self, link: &mut Element<'_>) {
        let Some(anchor) = link.attribute("anchor").filter(|anchor| !anchor.is_empty()) else { return };
        let Some(relation) = link.attribute("id").and_then(|id| self.relations.get(id.as_ref())) else { return };
        if !relation.is_external || relation.target.contains(['#', '"']) || anchor.contains('"') {
            return;
        }
        let instruction = format!("HYPERLINK \"{}\" \\l \"{anchor}\"", relation.target.replace('\\', "\\\\"));
        let value = tree::escaped(&instruction).replace('"', "&quot;");
        let (name, attributes) = (self.named("fldSimple"), format!(" {}=\"{value}\"", self.named("instr")));
        (link.name, link.attributes) = (Cow::Owned(name), Cow::Owned(attributes));
    }
}

/// Whether a row was deleted, or is hidden.
fn is_gone(row: &Element<'_>) -> bool {
    let properties = row.child("trPr");
    properties.is_some_and(|row| row.child("del").is_some() || on(row, "hidden") == Some(true))
}

/// Whether an element shows something.
fn has_content(element: &Element<'_>) -> bool {
    element.elements().any(|child| match child.local() {
        "pPr" | "rPr" | "del" | "moveFrom" => false,
        "t" | "drawing" | "pict" | "object" | "oMath" | "footnoteReference" | "endnoteReference" | "br" => true,
        _ => has_content(child),
    })
}
