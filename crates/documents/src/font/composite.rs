//! Composite fonts (Type 0): multi-byte codes, glyphs by number.

use std::collections::HashMap;

use hayro_cmap::{BfString, CMap as Predefined, CMapName, load_embedded};
use lopdf::{Dictionary, Document, Object};

use crate::font::cmap::CMap;
use crate::font::program::Program;
use crate::font::text::Text;
use crate::font::widths::CidWidths;
use crate::font::{DecodedCode, MAX_CMAP, program_bytes};
use crate::objects::{Lookup, as_dict, bytes};

/// Composite font.
pub(super) struct Composite {
    pub(super) vertical: bool,
    encoding: Encoding,
    unicode: Option<CMap>,
    /// Text of glyphs, if there is no map to Unicode.
    glyphs: Glyphs,
    widths: CidWidths,
}

/// Map from codes to glyph numbers.
enum Encoding {
    /// Two bytes, which are the glyph number.
    Identity,
    Embedded(Box<CMap>),
    Predefined(Box<Predefined>),
}

/// Map from glyph numbers to text.
enum Glyphs {
    Unknown,
    /// Characters of the embedded font.
    Program(HashMap<u32, char>),
    /// Map of a character collection to Unicode.
    Collection(Box<Predefined>),
}

impl Composite {
    pub(super) fn load(doc: &Document, font: &Dictionary, descendant: &Dictionary, unicode: Option<CMap>) -> Self {
        let (encoding, vertical) = encoding(doc, font);
        let widths = CidWidths::of(doc, descendant);
        let complete = unicode.is_some();
        let glyphs = if complete { Glyphs::Unknown } else { glyphs(doc, descendant) };
        Self { vertical, encoding, unicode, glyphs, widths }
    }

    pub(super) fn next(&self, bytes: &[u8]) -> Option<DecodedCode> {
        let first = *bytes.first()?;
        let length = self.length(bytes).clamp(1, 4).min(bytes.len());
        let code = bytes[..length].iter().fold(0, |code, byte| code << 8 | u32::from(*byte));
        let cid = match &self.encoding {
            Encoding::Identity => code,
            Encoding::Embedded(map) => map.cid(code).unwrap_or(if map.has_cids() { 0 } else { code }),
            Encoding::Predefined(map) => map.lookup_cid_code(code, length as u8).unwrap_or(0),
        };
        Some(DecodedCode {
            text: self.text(code, cid),
            width: self.widths.get(cid),
            is_space: length == 1 && first == 32,
            length,
        })
    }

    fn length(&self, bytes: &[u8]) -> usize {
        match &self.encoding {
            Encoding::Identity => 2,
            Encoding::Embedded(map) => map.length(bytes).unwrap_or(2),
            Encoding::Predefined(map) => {
                let fits = |length: &usize| {
                    let code = bytes.get(..*length)?.iter().fold(0, |code, byte| code << 8 | u32::from(*byte));
                    map.lookup_cid_code(code, *length as u8)
                };
                (1..=4).find(|length| fits(length).is_some()).unwrap_or(1)
            }
        }
    }

    fn text(&self, code: u32, cid: u32) -> Text {
        if let Some(unicode) = &self.unicode {
            return unicode.text(code);
        }
        match &self.glyphs {
            Glyphs::Unknown => Text::Unknown,
            Glyphs::Program(characters) => characters.get(&cid).map_or(Text::Unknown, |text| Text::of_char(*text)),
            Glyphs::Collection(map) => match map.lookup_bf_string(cid) {
                Some(BfString::Char(text)) => Text::of_char(text),
                Some(BfString::String(text)) => Text::of(&text),
                None => Text::Unknown,
            },
        }
    }
}

/// Returns the encoding of a font, and whether it writes vertically.
fn encoding(doc: &Document, font: &Dictionary) -> (Encoding, bool) {
    match font.object(doc, b"Encoding") {
        Some(Object::Name(name)) => {
            let vertical = name.ends_with(b"-V") || name == b"V";
            if name.starts_with(b"Identity") {
                return (Encoding::Identity, vertical);
            }
            (predefined(name).map_or(Encoding::Identity, |map| Encoding::Predefined(Box::new(map))), vertical)
        }
        Some(Object::Stream(stream)) => {
            let map = CMap::parse(&bytes(stream, MAX_CMAP).unwrap_or_default());
            let vertical = map.vertical;
            match map.base.as_deref().filter(|_| !map.has_cids()).and_then(predefined) {
                Some(base) => (Encoding::Predefined(Box::new(base)), vertical),
                None => (Encoding::Embedded(Box::new(map)), vertical),
            }
        }
        _ => (Encoding::Identity, false),
    }
}

fn predefined(name: &[u8]) -> Option<Predefined> {
    Predefined::parse(load_embedded(CMapName::from_bytes(name))?, load_embedded)
}

/// Returns the text of glyphs from their character collection, or else from the embedded font.
fn glyphs(doc: &Document, descendant: &Dictionary) -> Glyphs {
    let collection = descendant.dict(doc, b"CIDSystemInfo");
    let ordering = collection.and_then(|info| info.text(doc, b"Ordering")).unwrap_or_default();
    let map: Option<&[u8]> = match ordering.as_str() {
        "Japan1" => Some(b"Adobe-Japan1-UCS2"),
        "GB1" => Some(b"Adobe-GB1-UCS2"),
        "CNS1" => Some(b"Adobe-CNS1-UCS2"),
        "Korea1" => Some(b"Adobe-Korea1-UCS2"),
        _ => None,
    };
    if let Some(map) = map.and_then(predefined) {
        return Glyphs::Collection(Box::new(map));
    }
    let program = program_bytes(doc, descendant, b"FontFile2").or_else(|| program_bytes(doc, descendant, b"FontFile3"));
    let Some(program) = program else { return Glyphs::Unknown };
    let characters = Program::of_true_type(&program).characters;
    match descendant.object(doc, b"CIDToGIDMap") {
        Some(object) if as_dict(object).is_some() => {
            let map = object.as_stream().ok().and_then(|stream| bytes(stream, 1 << 18)).unwrap_or_default();
            let glyph = |pair: &[u8]| u32::from(pair[0]) << 8 | u32::from(pair[1]);
            let text = |pair: &[u8]| characters.get(&glyph(pair)).copied();
            Glyphs::Program((0..).zip(map.chunks_exact(2)).filter_map(|(cid, pair)| Some((cid, text(pair)?))).collect())
        }
        _ => Glyphs::Program(characters),
    }
}
