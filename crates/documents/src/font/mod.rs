//! Fonts: conversion of shown bytes to text and widths.
//!
//! The text of a code comes from, in this order: `ToUnicode`; the encoding with its differences, whose glyph names are
//! looked up in the Adobe Glyph List; the embedded font program; for composite fonts the character collection.
//! Otherwise it is unknown.

pub(crate) mod cmap;
mod composite;
pub(crate) mod likelihood;
mod names;
mod program;
mod simple;
pub(crate) mod text;
mod widths;

use std::collections::HashMap;
use std::rc::Rc;

use lopdf::{Dictionary, Document, Object};

use crate::content::page::Style;
use crate::font::cmap::CMap;
use crate::font::composite::Composite;
use crate::font::names::Names;
use crate::font::simple::Simple;
use crate::font::text::Text;
use crate::geometry::Matrix;
use crate::objects::{Lookup, as_dict, bytes, number, resolve};

/// Maximum size of an embedded font program, in bytes.
const MAX_PROGRAM: usize = 16 << 20;
/// Maximum size of a CMap, in bytes.
const MAX_CMAP: usize = 8 << 20;
/// Maximum number of fonts; further ones are replaced by the default.
const MAX_FONTS: usize = 2000;

/// Parts of the names of fonts whose glyphs are pictures.
const PICTURES: [&str; 3] = ["Webdings", "Wingdings", "Dingbats"];

/// Decoded code.
pub(crate) struct DecodedCode {
    pub(crate) text: Text,
    /// Width as a share of the em.
    pub(crate) width: f32,
    /// Whether it is the one-byte code 32, to which word spacing applies.
    pub(crate) is_space: bool,
    /// Length of the code in bytes, at least one.
    pub(crate) length: usize,
}

/// Font, ready to decode text.
pub(crate) struct Font {
    pub(crate) style: Style,
    pub(crate) vertical: bool,
    /// Ems of page space per unit of the font size; 1 except in Type 3 fonts.
    pub(crate) em: f32,
    /// Whether its glyphs are pictures, such as those of Webdings. A glyph without a known character is read as a bullet.
    pictures: bool,
    codes: Codes,
}

enum Codes {
    Simple(Box<Simple>),
    Composite(Box<Composite>),
}

impl Font {
    /// Decodes the first code of a string; `None` at its end.
    pub(crate) fn next(&self, bytes: &[u8]) -> Option<DecodedCode> {
        let code = match &self.codes {
            Codes::Simple(simple) => simple.next(bytes),
            Codes::Composite(composite) => composite.next(bytes),
        }?;
        let is_bullet = self.pictures && !code.is_space && !code.text.is_known();
        Some(if is_bullet { DecodedCode { text: Text::One('•'), ..code } } else { code })
    }

    /// Returns what the encoding of the font says in place of each character of its `ToUnicode`, if the two differ.
    pub(crate) fn by_encoding(&self) -> Option<HashMap<char, char>> {
        match &self.codes {
            Codes::Simple(simple) => simple.by_encoding(),
            Codes::Composite(_) => None,
        }
    }

    fn load(doc: &Document, font: &Dictionary, names: &mut Names) -> Self {
        let composite = font.name(doc, b"Subtype") == Some(b"Type0");
        let descendant = font.array(doc, b"DescendantFonts").and_then(<[Object]>::first);
        let descendant = descendant.and_then(|object| resolve(doc, object)).and_then(as_dict);
        let described = descendant.filter(|_| composite).unwrap_or(font);
        let style = style(doc, font, described);
        let pictures = PICTURES.iter().any(|name| style.font.contains(name));
        let unicode = font.stream(doc, b"ToUnicode").and_then(|stream| bytes(stream, MAX_CMAP));
        let unicode = unicode.map(|source| CMap::parse(&source)).filter(CMap::has_text);
        match descendant.filter(|_| composite) {
            Some(descendant) => {
                let composite = Composite::load(doc, font, descendant, unicode);
                let vertical = composite.vertical;
                Self { style, vertical, em: 1.0, pictures, codes: Codes::Composite(Box::new(composite)) }
            }
            None => {
                let (scale, em) = type3_scale(doc, font);
                let simple = Simple::load(&simple::FontSource { doc, font, name: &style.font, scale }, unicode, names);
                Self { style, vertical: false, em, pictures, codes: Codes::Simple(Box::new(simple)) }
            }
        }
    }
}

/// Fonts of a document, each loaded once.
#[derive(Default)]
pub(crate) struct Fonts {
    names: Names,
    by_place: HashMap<usize, Rc<Font>>,
    unknown: Option<Rc<Font>>,
}

impl Fonts {
    /// Returns the font of a resource entry.
    pub(crate) fn get(&mut self, doc: &Document, entry: &Object) -> Rc<Font> {
        let Some(dict) = resolve(doc, entry).and_then(as_dict) else { return self.unknown() };
        // Inline font dictionaries have no object number, so the address identifies them; the document does not move.
        let place = std::ptr::from_ref(dict) as usize;
        if let Some(known) = self.by_place.get(&place) {
            return Rc::clone(known);
        }
        if self.by_place.len() >= MAX_FONTS {
            return self.unknown();
        }
        let font = Rc::new(Font::load(doc, dict, &mut self.names));
        self.by_place.insert(place, Rc::clone(&font));
        font
    }

    /// Returns the default for a missing font: codes in the ASCII range are mostly right.
    pub(crate) fn unknown(&mut self) -> Rc<Font> {
        let names = &mut self.names;
        let make = || Rc::new(Font::load(&Document::new(), &Dictionary::new(), names));
        Rc::clone(self.unknown.get_or_insert_with(make))
    }
}

/// Returns the width of one unit of a Type 3 font, and its em in units of the font size; for other fonts a thousandth
/// and 1.
///
/// The glyphs of a Type 3 font are drawn in its own space, often of pixels, without a declared em. It is derived from
/// the height of the font.
fn type3_scale(doc: &Document, font: &Dictionary) -> (f32, f32) {
    if font.name(doc, b"Subtype") != Some(b"Type3") {
        return (0.001, 1.0);
    }
    let Matrix([a, b, c, d, ..]) =
        font.matrix(doc, b"FontMatrix").unwrap_or(Matrix([0.001, 0.0, 0.0, 0.001, 0.0, 0.0]));
    let (scale_x, scale_y) = (a.hypot(b), c.hypot(d));
    let height = font.rect(doc, b"FontBBox").map_or(0.0, |bbox| bbox.height()) * scale_y;
    // Without a useful bounding box, letters are assumed to be half an em wide.
    let em = if height > 0.2 { height / 1.2 } else { 2.0 * scale_x * mean_width(doc, font) };
    // A height close to the font size is taken as exact.
    let em = if (0.6..1.7).contains(&em) { 1.0 } else { em };
    (scale_x, if em.is_finite() && em > 0.0 { em } else { 1.0 })
}

/// Returns the mean of the non-zero widths.
fn mean_width(doc: &Document, font: &Dictionary) -> f32 {
    let listed = font.array(doc, b"Widths").unwrap_or_default().iter().filter_map(|width| resolve(doc, width));
    let widths: Vec<f32> = listed.filter_map(number).filter(|width| *width > 0.0).collect();
    widths.iter().sum::<f32>() / widths.len().max(1) as f32
}

fn style(doc: &Document, font: &Dictionary, described: &Dictionary) -> Style {
    let descriptor = described.dict(doc, b"FontDescriptor");
    let base = font.name(doc, b"BaseFont").or_else(|| descriptor?.name(doc, b"FontName")).unwrap_or_default();
    // Type 3 fonts have no name but that of the resource, which is enough to tell two fonts apart.
    let base = if base.is_empty() { font.name(doc, b"Name").unwrap_or_default() } else { base };
    let name = String::from_utf8_lossy(base).into_owned();
    let name = match name.split_once('+') {
        Some((tag, rest)) if tag.len() == 6 => rest.to_owned(),
        _ => name,
    };
    let flags = descriptor.and_then(|descriptor| descriptor.integer(doc, b"Flags")).unwrap_or(0);
    let weight = descriptor.and_then(|descriptor| descriptor.number(doc, b"FontWeight")).unwrap_or(0.0);
    let lower = name.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let bold = says(&["bold", "black", "heavy", "demi", "cmbx", "sfbx", "-bd", "cmssbx", "medi", "ptmb", "phvb"]);
    Style {
        bold: bold || weight >= 600.0 || flags & 1 << 18 != 0,
        italic: says(&["italic", "oblique", "cmti", "sfti", "-it", "slanted"]) || flags & 1 << 6 != 0,
        mono: says(&["mono", "courier", "consol", "cmtt", "sftt", "typewriter", "menlo", "lettergothic"])
            || flags & 1 != 0,
        bitmap: font.name(doc, b"Subtype") == Some(b"Type3"),
        font: name,
    }
}

/// Returns the embedded program of a font.
fn program_bytes(doc: &Document, font: &Dictionary, key: &[u8]) -> Option<Vec<u8>> {
    bytes(font.dict(doc, b"FontDescriptor")?.stream(doc, key)?, MAX_PROGRAM)
}
