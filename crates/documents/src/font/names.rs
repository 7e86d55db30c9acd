//! Text of glyphs by name, from the Adobe Glyph List and its rules.

use std::collections::HashMap;

use lopdf::{Dictionary, Document, Encoding, Object};

use crate::font::text::Text;

/// Maximum number of cached names; others are looked up each time.
const MAX_KNOWN: usize = 20_000;
/// Maximum length of a name.
const MAX_NAME: usize = 64;

/// Suffixes of glyph names in the mathematical fonts of TeX that say the size of the glyph.
const SIZES: [&str; 9] = ["Bigg", "bigg", "Big", "big", "display", "text", "widest", "wider", "wide"];
/// Names in these fonts that the Adobe Glyph List does not have.
const TEX_SIGNS: [(&str, char); 16] = [
    ("angbracketleft", '⟨'),
    ("angbracketright", '⟩'),
    ("arrowdblvertex", '‖'),
    ("arrowvertex", '|'),
    ("ceilingleft", '⌈'),
    ("ceilingright", '⌉'),
    ("contintegral", '∮'),
    ("coproduct", '∐'),
    ("floorleft", '⌊'),
    ("floorright", '⌋'),
    ("hat", 'ˆ'),
    ("latticetop", '⊤'),
    ("unionmulti", '⊎'),
    ("unionsq", '⊔'),
    ("vextenddouble", '‖'),
    ("vextendsingle", '|'),
];

/// Lookup of glyph names and named encodings.
///
/// The list is part of lopdf, which exposes it only through the encoding of a font. So a font with the name is built.
pub(crate) struct Names {
    known: HashMap<Vec<u8>, Text>,
    blank: Document,
}

impl Default for Names {
    fn default() -> Self {
        Self { known: HashMap::new(), blank: Document::new() }
    }
}

impl Names {
    /// Returns the text of a glyph.
    pub(crate) fn text(&mut self, name: &[u8]) -> Text {
        if let Some(known) = self.known.get(name) {
            return known.clone();
        }
        let text = self.look_up(name);
        if self.known.len() < MAX_KNOWN {
            self.known.insert(name.to_vec(), text.clone());
        }
        text
    }

    fn look_up(&self, name: &[u8]) -> Text {
        let Ok(name) = std::str::from_utf8(name) else { return Text::Unknown };
        if name.len() > MAX_NAME || name.starts_with('.') {
            return Text::Unknown;
        }
        // A suffix after a dot names a variant of the glyph, and underscores join the parts of a ligature.
        let base = name.split('.').next().unwrap_or(name);
        let mut text = String::new();
        for part in base.split('_') {
            match self.part(part) {
                Some(found) => text.push_str(&found),
                None => return Text::Unknown,
            }
        }
        Text::of(&text)
    }

    fn part(&self, name: &str) -> Option<String> {
        if name.len() == 1 && name.as_bytes()[0].is_ascii_alphabetic() {
            return Some(name.to_owned());
        }
        self.listed(name).map(String::from).or_else(|| numbered(name)).or_else(|| self.sized(name).map(String::from))
    }

    /// Returns the character of a sign that the mathematical fonts of TeX have in several sizes, such as `parenleftBig`.
    fn sized(&self, name: &str) -> Option<char> {
        let base = SIZES.iter().find_map(|size| name.strip_suffix(size)).unwrap_or(name);
        let own = TEX_SIGNS.iter().find(|(known, _)| *known == base).map(|(_, sign)| *sign);
        own.or_else(|| self.listed(base).filter(|_| base != name))
    }

    fn listed(&self, name: &str) -> Option<char> {
        let differences = vec![Object::Integer(0), Object::Name(name.as_bytes().to_vec())];
        let encoding = Dictionary::from_iter([("Differences", Object::Array(differences))]);
        match font(Object::Dictionary(encoding)).get_font_encoding(&self.blank) {
            Ok(Encoding::Differences(found)) => unit(found.map.get(&0)?.utf16_code_unit()),
            _ => None,
        }
    }

    /// Returns the characters of a named encoding, if it exists.
    pub(crate) fn encoding(&self, name: &[u8]) -> Option<Vec<Text>> {
        let font = font(Object::Name(name.to_vec()));
        let Ok(Encoding::OneByteEncoding(table)) = font.get_font_encoding(&self.blank) else { return None };
        let text = |code: usize| table[code].and_then(|glyph| unit(glyph.utf16_code_unit()));
        Some((0..256).map(|code| text(code).map_or(Text::Unknown, Text::of_char)).collect())
    }
}

fn font(encoding: Object) -> Dictionary {
    Dictionary::from_iter([("Type", Object::Name(b"Font".to_vec())), ("Encoding", encoding)])
}

fn unit(code: u16) -> Option<char> {
    char::from_u32(u32::from(code)).filter(|text| *text != '\0')
}

/// Decodes names that contain a code point: `uni0041`, `uni00410042`, `u1F600`.
fn numbered(name: &str) -> Option<String> {
    let hex = |digits: &str| u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
    if let Some(digits) = name.strip_prefix("uni").filter(|digits| digits.len() >= 4 && digits.is_ascii()) {
        return digits.as_bytes().chunks_exact(4).map(|unit| hex(std::str::from_utf8(unit).ok()?)).collect();
    }
    let digits = name.strip_prefix('u').filter(|digits| (4..=6).contains(&digits.len()))?;
    hex(digits).map(String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_text() {
        let mut names = Names::default();
        for (name, text) in [
            ("A", Text::One('A')),
            ("eacute", Text::One('é')),
            ("ffi", Text::Many("ffi".into())),
            ("f_f_i", Text::Many("ffi".into())),
            ("A.swash", Text::One('A')),
            ("uni00410042", Text::Many("AB".into())),
            ("u1F600", Text::One('😀')),
            (".notdef", Text::Unknown),
            ("g123", Text::Unknown),
            ("parenleftbt", Text::One('⎝')),
            ("threeoldstyle", Text::One('3')),
            ("Asmall", Text::One('a')),
            ("uni", Text::Unknown),
            ("parenleftBig", Text::One('(')),
            ("summationdisplay", Text::One('∑')),
            ("vextenddouble", Text::One('‖')),
            ("bigg", Text::Unknown),
        ] {
            assert_eq!(names.text(name.as_bytes()), text, "{name}");
        }
    }

    #[test]
    fn encodings_have_their_characters() {
        let names = Names::default();
        let windows = names.encoding(b"WinAnsiEncoding").expect("an encoding");
        assert_eq!(windows[0x80], Text::One('€'));
        assert_eq!(windows[0x41], Text::One('A'));
        assert!(names.encoding(b"Nothing").is_none());
    }
}
