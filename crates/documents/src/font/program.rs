//! Characters from an embedded font program, for PDFs that do not declare them.

use std::collections::HashMap;

use crate::content::lexer::{Lexer, Operand};

/// Maximum number of characters of one font.
const MAX_CHARACTERS: usize = 70_000;
/// Maximum number of segments or groups of one table.
const MAX_SEGMENTS: usize = 20_000;

/// Characters of a TrueType or OpenType font.
#[derive(Debug, Default)]
pub(crate) struct Program {
    /// Character of each glyph, from its Unicode table.
    pub(crate) characters: HashMap<u32, char>,
    /// Glyph of each code, from its symbol and Macintosh tables.
    pub(crate) codes: HashMap<u32, u32>,
    /// Name of each glyph.
    pub(crate) names: Vec<Vec<u8>>,
}

impl Program {
    /// Reads the tables `cmap` and `post`; damaged parts are skipped.
    pub(crate) fn of_true_type(bytes: &[u8]) -> Self {
        let mut program = Self::default();
        let start = if bytes.starts_with(b"ttcf") { u32_at(bytes, 12).unwrap_or(0) as usize } else { 0 };
        let count = usize::from(u16_at(bytes, start + 4).unwrap_or(0));
        for place in 0..count {
            let record = start + 12 + 16 * place;
            let Some(table) = table(bytes, record) else { continue };
            match bytes.get(record..record + 4) {
                Some(b"cmap") => program.read_cmap(table),
                Some(b"post") => program.read_post(table),
                _ => {}
            }
        }
        program
    }

    fn read_cmap(&mut self, table: &[u8]) {
        for place in 0..usize::from(u16_at(table, 2).unwrap_or(0)).min(64) {
            let record = 4 + 8 * place;
            let (Some(platform), Some(encoding), Some(offset)) =
                (u16_at(table, record), u16_at(table, record + 2), u32_at(table, record + 4))
            else {
                return;
            };
            let Some(map) = table.get(offset as usize..) else { continue };
            match (platform, encoding) {
                (0, _) | (3, 1 | 10) => {
                    each_pair(map, &mut |code, glyph| {
                        if let Some(text) = char::from_u32(code).filter(|_| self.characters.len() < MAX_CHARACTERS) {
                            self.characters.entry(glyph).or_insert(text);
                        }
                    });
                }
                // Symbol codes are in the private use area.
                (3, 0) => each_pair(map, &mut |code, glyph| {
                    self.codes.insert(code & 0xff, glyph);
                }),
                (1, 0) => each_pair(map, &mut |code, glyph| {
                    self.codes.entry(code).or_insert(glyph);
                }),
                _ => {}
            }
        }
    }

    fn read_post(&mut self, table: &[u8]) {
        if u32_at(table, 0) != Some(0x0002_0000) {
            return;
        }
        let count = usize::from(u16_at(table, 32).unwrap_or(0));
        let Some(mut rest) = table.get(34 + 2 * count..) else { return };
        let mut own = Vec::new();
        while let Some((length, after)) = rest.split_first() {
            let Some(name) = after.get(..usize::from(*length)) else { break };
            own.push(name);
            rest = &after[name.len()..];
        }
        let name = |glyph: usize| {
            // The first 258 are the standard Macintosh names, which subsets rarely use.
            let index = usize::from(u16_at(table, 34 + 2 * glyph)?).checked_sub(258)?;
            own.get(index).map(|name| name.to_vec())
        };
        self.names = (0..count).map(|glyph| name(glyph).unwrap_or_default()).collect();
    }
}

/// Calls `found` with each code and its glyph of a `cmap` subtable of format 0, 4, 6 or 12.
fn each_pair(map: &[u8], found: &mut dyn FnMut(u32, u32)) {
    match u16_at(map, 0) {
        Some(0) => {
            for (code, glyph) in (0..256).zip(map.iter().skip(6)) {
                found(code, u32::from(*glyph));
            }
        }
        Some(4) => each_of_segments(map, found),
        Some(6) => {
            let first = u32::from(u16_at(map, 6).unwrap_or(0));
            for place in 0..u32::from(u16_at(map, 8).unwrap_or(0)) {
                let Some(glyph) = u16_at(map, 10 + 2 * place as usize) else { return };
                found(first + place, u32::from(glyph));
            }
        }
        Some(12) => each_of_groups(map, found),
        _ => {}
    }
}

fn each_of_groups(map: &[u8], found: &mut dyn FnMut(u32, u32)) {
    let mut left = MAX_CHARACTERS;
    for group in 0..(u32_at(map, 12).unwrap_or(0) as usize).min(MAX_SEGMENTS) {
        let at = 16 + 12 * group;
        let (Some(first), Some(last), Some(glyph)) = (u32_at(map, at), u32_at(map, at + 4), u32_at(map, at + 8)) else {
            return;
        };
        for code in (first..=last).take(left) {
            left -= 1;
            found(code, glyph.saturating_add(code - first));
        }
    }
}

fn each_of_segments(map: &[u8], found: &mut dyn FnMut(u32, u32)) {
    let count = usize::from(u16_at(map, 6).unwrap_or(0)) / 2;
    let mut left = MAX_CHARACTERS;
    for segment in 0..count.min(MAX_SEGMENTS) {
        // Four parallel arrays: end codes, then a padding word, start codes, deltas and offsets. Hence the `+ 2`.
        let at = |part: usize| 14 + 2 * segment + part * 2 * count;
        let (Some(last), Some(first)) = (u16_at(map, at(0)), u16_at(map, at(1) + 2)) else { return };
        let (Some(delta), Some(offset)) = (u16_at(map, at(2) + 2), u16_at(map, at(3) + 2)) else { return };
        for code in (first..=last).take(left) {
            left -= 1;
            let glyph = if offset == 0 {
                code.wrapping_add(delta)
            } else {
                // An offset is relative to its own position in the table.
                let place = at(3) + 2 + usize::from(offset) + 2 * usize::from(code - first);
                match u16_at(map, place) {
                    Some(0) | None => continue,
                    Some(glyph) => glyph.wrapping_add(delta),
                }
            };
            if code != 0xffff {
                found(u32::from(code), u32::from(glyph));
            }
        }
    }
}

/// Returns the glyph names of a Type 1 font's codes, from the encoding in its clear text.
pub(crate) fn type1_encoding(bytes: &[u8]) -> HashMap<u8, Vec<u8>> {
    let mut names = HashMap::new();
    let end = memchr::memmem::find(bytes, b"eexec").unwrap_or(bytes.len());
    let clear = &bytes[..end];
    let Some(start) = memchr::memmem::find(clear, b"/Encoding") else { return names };
    let mut lexer = Lexer::new(&clear[start..]);
    while let Some(operator) = lexer.next() {
        match operator {
            // In `dup 65 /A put` the lexer returns `put` with the operands after `dup`.
            b"put" => {
                if let [.., Operand::Number(code), Operand::Name(from, to)] = lexer.operands[..] {
                    names.insert(code as u8, lexer.slice(from, to).to_vec());
                }
            }
            b"readonly" | b"def" if !names.is_empty() => break,
            _ => {}
        }
    }
    names
}

fn table(bytes: &[u8], record: usize) -> Option<&[u8]> {
    let (offset, length) = (u32_at(bytes, record + 8)? as usize, u32_at(bytes, record + 12)? as usize);
    bytes.get(offset..offset.saturating_add(length).min(bytes.len()))
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_encoding_of_a_type_1_font() {
        let source = b"%!PS\n/Encoding 256 array\n0 1 255 {1 index exch /.notdef put} for\n\
            dup 65 /A put\ndup 102 /ff put\nreadonly def\ncurrentfile eexec\x80\x01";
        let names = type1_encoding(source);
        assert_eq!(names.get(&65).map(Vec::as_slice), Some(&b"A"[..]));
        assert_eq!(names.get(&102).map(Vec::as_slice), Some(&b"ff"[..]));
    }

    #[test]
    fn reads_a_segment_map() {
        let mut map = vec![0, 4, 0, 32, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0];
        for value in [0x42_u16, 0xffff, 0, 0x41, 0xffff, 0xffc4, 1, 0, 0] {
            map.extend(value.to_be_bytes());
        }
        let mut pairs = Vec::new();
        each_pair(&map, &mut |code, glyph| pairs.push((code, glyph)));
        assert_eq!(pairs, [(0x41, 5), (0x42, 6)]);
    }

    #[test]
    fn damage_gives_nothing() {
        for length in 0..40 {
            let program = Program::of_true_type(&vec![0xff; length]);
            assert!(program.characters.is_empty());
        }
    }
}
