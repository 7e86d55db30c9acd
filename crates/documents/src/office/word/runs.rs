//! Runs: pieces of text with the same properties.

use std::borrow::Cow;

use super::super::marks::Script;
use super::super::symbols::SymbolFont;
use super::super::tree::{Element, Node};
use super::fields::Field;
use super::styles::Look;
use super::{Part, Place};

const KEEP_SPACE: &str = " xml:space=\"preserve\"";

impl Part<'_, '_> {
    /// Puts a run right; `None` if nothing of it is shown.
    pub(super) fn run<'e>(&mut self, mut run: Element<'e>, place: Place<'_>) -> Option<Element<'e>> {
        let properties = run.child("rPr");
        let look = self.styles.run(place.style, properties);
        let font = properties.and_then(symbol_font);
        let is_hidden = look.is_hidden == Some(true);
        let has_own_mark = run.elements().any(|child| child.attribute("customMarkFollows").is_some());
        let mut out = Vec::with_capacity(run.children.len());
        for node in std::mem::take(&mut run.children) {
            let Node::Element(child) = node else { continue };
            match self.word(&child) {
                "fldChar" => self.field(child, &mut out),
                "instrText" => {
                    if let Some(field) = self.fields.last_mut() {
                        field.add(&child.text());
                    }
                    out.push(Node::Element(child));
                }
                "rPr" => out.push(Node::Element(child)),
                _ if is_hidden => {}
                // The sign that the author chose for a note is shown as the number of the note.
                "t" | "sym" if has_own_mark => {}
                _ => self.part_of_run(child, Shown { look, font }, place, &mut out),
            }
        }
        run.children = out;
        let is_shown = run.elements().any(|child| child.local() != "rPr");
        is_shown.then_some(run)
    }

    fn part_of_run<'e>(&mut self, mut child: Element<'e>, shown: Shown, place: Place<'_>, out: &mut Vec<Node<'e>>) {
        let text = match self.word(&child) {
            "t" => {
                let is_plain = shown.script() == Script::Normal && shown.font.is_none();
                if is_plain {
                    out.push(Node::Element(child));
                    return;
                }
                let text = child.text();
                shown.font.map_or_else(|| text.clone(), |font| font.text(&text))
            }
            "noBreakHyphen" => "-".to_owned(),
            "sym" => symbol(&child).map(String::from).unwrap_or_default(),
            "ruby" => ruby(&child),
            _ => {
                self.children(&mut child, Place { in_table: false, ..place });
                out.push(Node::Element(child));
                return;
            }
        };
        out.push(Node::Element(self.text(&shown.script().marked(&text))));
    }

    /// Makes an element with text.
    fn text<'e>(&self, text: &str) -> Element<'e> {
        Element::with_text(self.named("t"), KEEP_SPACE, text)
    }

    /// Follows the marks of a field, and adds what it shows where that is not stored.
    fn field<'e>(&mut self, mark: Element<'e>, out: &mut Vec<Node<'e>>) {
        let kind = mark.attribute("fldCharType").map(Cow::into_owned);
        let mut shown = None;
        match kind.as_deref() {
            Some("begin") => self.fields.push(Field::begin(&mark)),
            Some("separate") => {
                if let Some(field) = self.fields.last_mut() {
                    field.separate();
                }
            }
            Some("end") => shown = self.fields.pop().and_then(Field::shown),
            _ => {}
        }
        out.push(Node::Element(mark));
        out.extend(shown.map(|shown| Node::Element(self.text(&shown))));
    }

    /// Returns a paragraph with text.
    pub(super) fn paragraph_of<'e>(&self, text: &str) -> Element<'e> {
        let mut run = Element::new(self.named("r"), "");
        run.children.push(Node::Element(self.text(text)));
        let mut paragraph = Element::new(self.named("p"), "");
        paragraph.children.push(Node::Element(run));
        paragraph
    }
}

/// Properties of a run that change its text.
#[derive(Debug, Clone, Copy)]
struct Shown {
    look: Look,
    font: Option<SymbolFont>,
}

impl Shown {
    fn script(self) -> Script {
        self.look.script.unwrap_or_default()
    }
}

/// Returns the font of a run, if its letters are symbols.
fn symbol_font(properties: &Element<'_>) -> Option<SymbolFont> {
    SymbolFont::of_name(&properties.child("rFonts")?.attribute("ascii")?)
}

/// Returns the character of a symbol with a font of its own.
fn symbol(symbol: &Element<'_>) -> Option<char> {
    let code = u32::from_str_radix(&symbol.attribute("char")?, 16).ok()?;
    let font = symbol.attribute("font").and_then(|font| SymbolFont::of_name(&font));
    match font {
        Some(font) => font.shown(code),
        // Codes of the private use area belong to a font for symbols, whatever its name.
        None if (0xF000..=0xF0FF).contains(&code) => SymbolFont::Symbol.shown(code),
        None => char::from_u32(code).filter(|shown| !shown.is_control()),
    }
}

/// Returns a word with its reading in brackets.
fn ruby(ruby: &Element<'_>) -> String {
    let text = |name: &str| ruby.child(name).map(Element::text).unwrap_or_default();
    let (word, reading) = (text("rubyBase"), text("rt"));
    if reading.trim().is_empty() { word } else { format!("{word}({})", reading.trim()) }
}
