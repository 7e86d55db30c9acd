//! Simple fonts with one byte per code: Type 1, TrueType, Type 3.

use std::collections::HashMap;

use lopdf::{Dictionary, Document, Object};

use crate::font::cmap::CMap;
use crate::font::names::Names;
use crate::font::program::{Program, type1_encoding};
use crate::font::text::{Text, dingbat, symbol};
use crate::font::{DecodedCode, program_bytes, widths};
use crate::objects::{Lookup, as_dict, resolve};

/// Minimum number of codes for which `ToUnicode` and the encoding differ if one of them is wrong.
const MIN_DIFFERENT: usize = 4;
/// Flag of fonts whose characters are not Latin letters.
const SYMBOLIC: i64 = 1 << 2;

/// Source of a simple font.
pub(super) struct FontSource<'a> {
    pub(super) doc: &'a Document,
    pub(super) font: &'a Dictionary,
    pub(super) name: &'a str,
    /// Width of one unit as a share of the em.
    pub(super) scale: f32,
}

/// Font with one byte per code.
pub(super) struct Simple {
    text: Vec<Text>,
    /// Text by the encoding, where `ToUnicode` says something else for several codes.
    encoded: Option<Vec<Text>>,
    widths: [f32; 256],
}

impl Simple {
    pub(super) fn next(&self, bytes: &[u8]) -> Option<DecodedCode> {
        let code = usize::from(*bytes.first()?);
        Some(DecodedCode {
            text: self.text.get(code).cloned().unwrap_or_default(),
            width: self.widths[code],
            is_space: code == 32,
            length: 1,
        })
    }

    /// Returns the character by the encoding for each character of `ToUnicode`; the first code counts.
    pub(super) fn by_encoding(&self) -> Option<HashMap<char, char>> {
        let mut map = HashMap::new();
        for pair in self.text.iter().zip(self.encoded.as_ref()?) {
            if let (Text::One(from), Text::One(to)) = pair {
                map.entry(*from).or_insert(*to);
            }
        }
        Some(map)
    }

    pub(super) fn load(source: &FontSource<'_>, unicode: Option<CMap>, names: &mut Names) -> Self {
        let mut text = encoded(source, names);
        let mut own = None;
        if let Some(unicode) = unicode {
            let before = text.clone();
            for (code, slot) in (0..).zip(&mut text) {
                let mapped = unicode.text(code);
                if mapped.is_known() && !is_misnamed(slot, &mapped) {
                    *slot = mapped;
                }
            }
            let differ = before.iter().zip(&text).filter(|(one, other)| one.is_known() && one != other).count();
            own = (differ >= MIN_DIFFERENT).then_some(before);
        }
        Self { text, encoded: own, widths: widths::simple(source.doc, source.font, source.name, source.scale) }
    }
}

/// Whether `ToUnicode` gives a letter of Latin-1 for what the encoding names a Greek letter or a mathematical sign, as some
/// programs write it for the fonts of TeX.
fn is_misnamed(named: &Text, mapped: &Text) -> bool {
    let is_sign =
        |named: char| matches!(named, '\u{391}'..='\u{3f6}' | '\u{2190}'..='\u{22ff}' | '\u{27c0}'..='\u{2aff}');
    let is_latin = |mapped: char| matches!(mapped, '\u{a1}'..='\u{ff}') && !"¬°±²³µ·¹×÷".contains(mapped);
    matches!((named, mapped), (Text::One(named), Text::One(mapped)) if is_sign(*named) && is_latin(*mapped))
}

/// Returns the text of each code by the font's encoding.
fn encoded(source: &FontSource<'_>, names: &mut Names) -> Vec<Text> {
    let FontSource { doc, font, .. } = *source;
    let encoding = font.object(doc, b"Encoding");
    let named = match encoding {
        Some(Object::Name(name)) => names.encoding(name),
        Some(other) => {
            as_dict(other).and_then(|dict| dict.name(doc, b"BaseEncoding")).and_then(|name| names.encoding(name))
        }
        None => None,
    };
    let mut text = named.unwrap_or_else(|| built_in(source, names));
    let differences = encoding.and_then(as_dict).and_then(|dict| dict.array(doc, b"Differences"));
    let mut code = 0_usize;
    for item in differences.unwrap_or_default() {
        match resolve(doc, item) {
            Some(Object::Integer(next)) => code = usize::try_from(*next).unwrap_or(256),
            Some(Object::Name(name)) => {
                if let Some(slot) = text.get_mut(code) {
                    *slot = named_glyph(name, code, names);
                }
                code = code.saturating_add(1);
            }
            _ => {}
        }
    }
    text
}

/// Returns the text of a glyph by its name. A name that only repeats the code, such as `a65`, means the character of
/// the code.
fn named_glyph(name: &[u8], code: usize, names: &mut Names) -> Text {
    let text = names.text(name);
    if text.is_known() {
        return text;
    }
    let digits = name.iter().position(u8::is_ascii_digit).map_or(&[][..], |start| &name[start..]);
    let repeats = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()) == Some(code);
    if repeats { tex(code) } else { Text::Unknown }
}

/// Returns the character of a code in the TeX encodings OT1 and T1, which bitmap fonts use for their glyph names.
fn tex(code: usize) -> Text {
    const LOW: [&str; 21] = [
        "ff", "fi", "fl", "ffi", "ffl", "“", "”", "„", "«", "»", "–", "—", "", "", "ı", "", "ff", "fi", "fl", "ffi",
        "ffl",
    ];
    const HIGH: &str = "ĂĄĆČĎĚĘĞ•ĽŁŃŇŊŐŔŘŚŠŞŤŢŰŮŸŹŽŻĲİđ§ăąćčďěęğĺľłńňŋőŕřśšşťţűůÿźžżĳ¡¿£";
    match code {
        11..=31 => Text::of(LOW[code - 11]),
        39 => Text::One('’'),
        96 => Text::One('‘'),
        33..=126 => Text::One(char::from(code as u8)),
        127 => Text::One('-'),
        128..=191 => HIGH.chars().nth(code - 128).map_or(Text::Unknown, Text::One),
        255 => Text::One('ß'),
        192..=254 => Text::One(char::from(code as u8)),
        _ => Text::Unknown,
    }
}

/// Returns the built-in encoding of a font.
fn built_in(source: &FontSource<'_>, names: &mut Names) -> Vec<Text> {
    let FontSource { doc, font, name, .. } = *source;
    let by = |table: fn(u8) -> Option<char>| {
        (0..=255).map(|code| table(code).map_or(Text::Unknown, Text::of_char)).collect()
    };
    if name.starts_with("Symbol") {
        return by(symbol);
    }
    if name.contains("Dingbats") {
        return by(dingbat);
    }
    let standard = |names: &Names| names.encoding(b"StandardEncoding").unwrap_or_else(|| vec![Text::Unknown; 256]);
    if let Some(program) = program_bytes(doc, font, b"FontFile") {
        let mut text = standard(names);
        for (code, name) in type1_encoding(&program) {
            text[usize::from(code)] = names.text(&name);
        }
        return text;
    }
    let descriptor = font.dict(doc, b"FontDescriptor");
    let flags = descriptor.and_then(|descriptor| descriptor.integer(doc, b"Flags")).unwrap_or(0);
    let true_type = font.name(doc, b"Subtype") == Some(b"TrueType");
    match program_bytes(doc, font, b"FontFile2").filter(|_| flags & SYMBOLIC != 0) {
        Some(program) => by_glyphs(&Program::of_true_type(&program), names),
        None if true_type => names.encoding(b"WinAnsiEncoding").unwrap_or_else(|| standard(names)),
        None => standard(names),
    }
}

/// Returns the text of each code by the glyph in the font program.
fn by_glyphs(program: &Program, names: &mut Names) -> Vec<Text> {
    let fallback = names.encoding(b"WinAnsiEncoding").unwrap_or_default();
    let mut text = |code: u32| {
        let glyph = program.codes.get(&code)?;
        let name = program.names.get(*glyph as usize).map(Vec::as_slice).unwrap_or_default();
        let character = program.characters.get(glyph).map(|found| Text::of_char(*found)).filter(Text::is_known);
        character.or_else(|| Some(names.text(name)).filter(Text::is_known))
    };
    (0..256).map(|code| text(code).or_else(|| fallback.get(code as usize).cloned()).unwrap_or_default()).collect()
}
