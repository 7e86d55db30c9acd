//! Embedded CMaps: `ToUnicode`, and the encodings of composite fonts.
//!
//! Ranges are stored as ranges, however large, so a small map cannot expand to a large table.

use std::collections::HashMap;

use crate::content::lexer::{Lexer, Operand};
use crate::font::text::Text;

/// Maximum number of entries of one map.
const MAX_ENTRIES: usize = 200_000;
/// Maximum number of code space ranges.
const MAX_SPACES: usize = 200;
/// Maximum length of the text of one entry, in bytes.
const MAX_TEXT: usize = 512;

/// Minimum number of characters that show that the bytes of a map are the wrong way round.
const MIN_SWAPPED: usize = 4;
/// High bytes of alphabets are below this one.
const MAX_HIGH_BYTE: u16 = 0x20;

/// Range of codes, `[first, last]`, that maps to successive numbers.
#[derive(Debug, Clone, Copy)]
struct Range {
    first: u32,
    last: u32,
    to: u32,
}

/// Character map.
#[derive(Debug, Default)]
pub(crate) struct CMap {
    /// Code spaces: length in bytes, first and last code.
    spaces: Vec<(usize, u32, u32)>,
    text: HashMap<u32, Text>,
    text_ranges: Vec<Range>,
    cid_ranges: Vec<Range>,
    /// Number of entries read, including replaced ones.
    read: usize,
    /// Name of the map that this one extends.
    pub(crate) base: Option<Vec<u8>>,
    pub(crate) vertical: bool,
}

impl CMap {
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let mut map = Self::default();
        let mut lexer = Lexer::new(bytes);
        while let Some(operator) = lexer.next() {
            if map.read > MAX_ENTRIES {
                break;
            }
            match operator {
                b"endcodespacerange" => map.add_spaces(&lexer),
                b"endbfchar" => map.add_chars(&lexer),
                b"endbfrange" => map.add_ranges(&lexer),
                b"endcidchar" => map.add_cids(&lexer, false),
                b"endcidrange" => map.add_cids(&lexer, true),
                b"usecmap" => map.base = lexer.name(0).map(<[u8]>::to_vec),
                b"def" => map.vertical |= lexer.name(0) == Some(b"WMode") && lexer.number(1) == Some(1.0),
                _ => {}
            }
        }
        map.unswap();
        map.text_ranges.sort_by_key(|range| range.first);
        map.cid_ranges.sort_by_key(|range| range.first);
        map
    }

    /// Corrects a map whose characters have their two bytes the wrong way round: all of them have the same low byte.
    fn unswap(&mut self) {
        let single = |text: &Text| match text {
            Text::One(letter) => u16::try_from(u32::from(*letter)).ok(),
            _ => None,
        };
        // The space in wrong order is a space of another width, which is known as a space.
        let units: Vec<u16> = self.text.values().filter(|text| **text != Text::One(' ')).filter_map(&single).collect();
        let Some(low) = units.first().map(|unit| unit & 0xff).filter(|low| *low < MAX_HIGH_BYTE) else { return };
        let known = self.text.values().filter(|text| text.is_known() && **text != Text::One(' ')).count();
        if units.len() < MIN_SWAPPED
            || units.len() < known
            || units.iter().any(|unit| unit & 0xff != low || *unit < 0x100)
        {
            return;
        }
        for text in self.text.values_mut().filter(|text| **text != Text::One(' ')) {
            if let Some(letter) = single(text).and_then(|unit| char::from_u32(u32::from(unit.swap_bytes()))) {
                *text = Text::of_char(letter);
            }
        }
    }

    /// Returns the text of a code.
    pub(crate) fn text(&self, code: u32) -> Text {
        if let Some(text) = self.text.get(&code) {
            return text.clone();
        }
        find(&self.text_ranges, code).and_then(char::from_u32).map_or(Text::Unknown, Text::of_char)
    }

    /// Returns the glyph of a code.
    pub(crate) fn cid(&self, code: u32) -> Option<u32> {
        find(&self.cid_ranges, code)
    }

    pub(crate) fn has_text(&self) -> bool {
        !self.text.is_empty() || !self.text_ranges.is_empty()
    }

    pub(crate) fn has_cids(&self) -> bool {
        !self.cid_ranges.is_empty()
    }

    /// Returns the length of the code that a string begins with, if the map defines it.
    pub(crate) fn length(&self, bytes: &[u8]) -> Option<usize> {
        let fits = |(length, first, last): &&(usize, u32, u32)| {
            // Code spaces are per byte: each byte of a code must be in the range at its position.
            bytes.len() >= *length
                && (0..*length).all(|place| {
                    let shift = 8 * (length - 1 - place);
                    let byte = u32::from(bytes[place]);
                    (first >> shift & 0xff..=last >> shift & 0xff).contains(&byte)
                })
        };
        self.spaces.iter().find(fits).map(|(length, ..)| *length)
    }

    fn add_spaces(&mut self, lexer: &Lexer<'_>) {
        for pair in lexer.operands.chunks_exact(2) {
            let (Some(first), Some(last)) = (code(lexer, pair[0]), code(lexer, pair[1])) else { continue };
            if (1..=4).contains(&first.1) && self.spaces.len() < MAX_SPACES {
                self.spaces.push((first.1, first.0, last.0));
            }
        }
        self.spaces.sort_unstable();
    }

    fn add_chars(&mut self, lexer: &Lexer<'_>) {
        for pair in lexer.operands.chunks_exact(2) {
            let (Some((code, _)), Operand::Text(start, end)) = (code(lexer, pair[0]), pair[1]) else { continue };
            self.put(code, utf16(lexer.slice(start, end)));
        }
    }

    fn put(&mut self, code: u32, text: Text) {
        self.read += 1;
        if self.read <= MAX_ENTRIES {
            self.text.insert(code, text);
        }
    }

    fn add_ranges(&mut self, lexer: &Lexer<'_>) {
        let mut rest = lexer.operands.as_slice();
        while let [first, last, to, after @ ..] = rest {
            rest = after;
            let (Some((first, _)), Some((last, _))) = (code(lexer, *first), code(lexer, *last)) else { continue };
            match *to {
                Operand::Text(start, end) => self.add_range(first, last, lexer.slice(start, end)),
                Operand::ArrayOpen => {
                    let length = rest.iter().position(|item| *item == Operand::ArrayClose).unwrap_or(rest.len());
                    for (place, item) in (0..).zip(&rest[..length]) {
                        if let Operand::Text(start, end) = *item {
                            self.put(first.saturating_add(place), utf16(lexer.slice(start, end)));
                        }
                    }
                    rest = rest.get(length + 1..).unwrap_or_default();
                }
                _ => {}
            }
        }
    }

    fn add_range(&mut self, first: u32, last: u32, to: &[u8]) {
        self.read += 1;
        if first > last || self.read > MAX_ENTRIES {
            return;
        }
        match utf16_string(to).chars().collect::<Vec<_>>()[..] {
            [only] => self.text_ranges.push(Range { first, last, to: u32::from(only) }),
            // In a longer text only the last byte is incremented, so a range covers at most 256 codes.
            [.., _] => {
                let mut text = to.to_vec();
                for code in first..=last.min(first.saturating_add(255)) {
                    self.put(code, utf16(&text));
                    if let Some(unit) = text.last_mut() {
                        *unit = unit.wrapping_add(1);
                    }
                }
            }
            [] => {}
        }
    }

    fn add_cids(&mut self, lexer: &Lexer<'_>, ranges: bool) {
        for item in lexer.operands.chunks_exact(if ranges { 3 } else { 2 }) {
            let first = code(lexer, item[0]).map(|(code, _)| code);
            let last = if ranges { code(lexer, item[1]).map(|(code, _)| code) } else { first };
            if let (Some(first), Some(last), Some(Operand::Number(to))) = (first, last, item.last()) {
                self.read += 1;
                self.cid_ranges.push(Range { first, last, to: *to as u32 });
            }
        }
    }
}

fn find(ranges: &[Range], code: u32) -> Option<u32> {
    let place = ranges.partition_point(|range| range.first <= code);
    let range = ranges.get(place.checked_sub(1)?)?;
    (code <= range.last).then(|| range.to.saturating_add(code - range.first))
}

/// Returns a code and its length in bytes.
fn code(lexer: &Lexer<'_>, operand: Operand) -> Option<(u32, usize)> {
    match operand {
        Operand::Text(start, end) => {
            let bytes = lexer.slice(start, end);
            let bytes = &bytes[..bytes.len().min(4)];
            Some((bytes.iter().fold(0, |code, byte| code << 8 | u32::from(*byte)), bytes.len()))
        }
        _ => None,
    }
}

fn utf16(bytes: &[u8]) -> Text {
    Text::of(&utf16_string(bytes))
}

fn utf16_string(bytes: &[u8]) -> String {
    if let [only] = bytes {
        return char::from(*only).to_string();
    }
    let bytes = &bytes[..bytes.len().min(MAX_TEXT)];
    let units = bytes.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
    char::decode_utf16(units).filter_map(Result::ok).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_gives_text_and_lengths() {
        let map = CMap::parse(
            b"1 begincodespacerange <00> <80> <8140> <9ffc> endcodespacerange\n\
              2 beginbfchar <01> <0041> <02> <00660066> endbfchar\n\
              2 beginbfrange <10> <12> <0061> <20> <21> [<0058> <0059>] endbfrange",
        );
        for (code, text) in [
            (1, Text::One('A')),
            (2, Text::Many("ff".into())),
            (0x12, Text::One('c')),
            (0x13, Text::Unknown),
            (0x21, Text::One('Y')),
        ] {
            assert_eq!(map.text(code), text, "{code}");
        }
        assert_eq!(map.length(b"\x41\x42"), Some(1));
        assert_eq!(map.length(b"\x81\x42"), Some(2));
        assert_eq!(map.length(b"\xff\x42"), None);
    }

    #[test]
    fn bytes_that_are_the_wrong_way_round_are_turned() {
        let map = CMap::parse(b"beginbfchar <20> <2000> <43> <4300> <61> <6100> <6e> <6e00> <79> <7900> endbfchar");
        let text: Vec<Text> = [0x43, 0x79, 0x61, 0x6e, 0x20].into_iter().map(|code| map.text(code)).collect();
        assert_eq!(text, ['C', 'y', 'a', 'n', ' '].map(Text::One));
        // Three such characters may be what they say.
        let map = CMap::parse(b"beginbfchar <43> <4300> <61> <6100> <6e> <6e00> endbfchar");
        assert_eq!(map.text(0x43), Text::One('\u{4300}'));
    }

    #[test]
    fn a_range_of_everything_stays_a_range() {
        let map = CMap::parse(b"1 beginbfrange <0000> <ffffffff> <0020> endbfrange");
        assert_eq!(map.text(33), Text::One('A'));
        assert_eq!((map.text.len(), map.text_ranges.len()), (0, 1));
    }

    #[test]
    fn cids_come_from_ranges() {
        let map =
            CMap::parse(b"/WMode 1 def 1 begincidrange <0100> <01ff> 7 endcidrange 1 begincidchar <05> 9 endcidchar");
        assert_eq!((map.cid(0x102), map.cid(5), map.cid(6)), (Some(9), Some(9), None));
        assert!(map.vertical);
    }
}
