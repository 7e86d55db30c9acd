//! Lexer for content streams.
//!
//! Operands are kept in two reused buffers, one for operands, one for the bytes of names and strings, so nothing is
//! allocated per operator. A damaged stream gives fewer tokens, never an error.

/// Maximum number of operands of one operator; more are dropped.
const MAX_OPERANDS: usize = 1 << 16;
/// Maximum bytes of strings and names of one operator; longer ones are cut.
const MAX_TEXT: usize = 1 << 20;
/// Maximum nesting of brackets in a string.
const MAX_BRACKETS: usize = 256;

/// Operand in a flat list: an array is the operands between its two marks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Operand {
    Number(f32),
    /// Bytes `[start, end)` of the text buffer.
    Name(usize, usize),
    /// Bytes `[start, end)` of the text buffer.
    Text(usize, usize),
    ArrayOpen,
    ArrayClose,
    DictOpen,
    DictClose,
    /// `true`, `false` or `null`.
    Word,
}

/// Lexer of a content stream.
pub(crate) struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
    pub(crate) operands: Vec<Operand>,
    text: Vec<u8>,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, operands: Vec::with_capacity(16), text: Vec::with_capacity(256) }
    }

    /// Returns the bytes of a name or string.
    pub(crate) fn slice(&self, start: usize, end: usize) -> &[u8] {
        self.text.get(start..end).unwrap_or_default()
    }

    /// Returns the operand at an index, if it is a number.
    pub(crate) fn number(&self, place: usize) -> Option<f32> {
        match self.operands.get(place) {
            Some(Operand::Number(value)) => Some(*value),
            _ => None,
        }
    }

    /// Returns the last `N` operands, if all of them are numbers.
    pub(crate) fn numbers<const N: usize>(&self) -> Option<[f32; N]> {
        // Surplus operands come before those that count.
        let first = self.operands.len().checked_sub(N)?;
        let mut out = [0.0; N];
        for (place, value) in out.iter_mut().enumerate() {
            *value = self.number(first + place)?;
        }
        Some(out)
    }

    /// Returns the bytes of the operand at an index, if it is a name.
    pub(crate) fn name(&self, place: usize) -> Option<&[u8]> {
        match self.operands.get(place) {
            Some(Operand::Name(start, end)) => Some(self.slice(*start, *end)),
            _ => None,
        }
    }

    /// Returns the next operator; its operands are in `operands` until the next call.
    pub(crate) fn next(&mut self) -> Option<&'a [u8]> {
        self.operands.clear();
        self.text.clear();
        loop {
            self.skip_space();
            let byte = *self.bytes.get(self.at)?;
            match byte {
                b'0'..=b'9' | b'+' | b'-' | b'.' => self.read_number(),
                b'/' => self.read_name(),
                b'(' => self.read_string(),
                b'<' if self.peek(1) == Some(b'<') => self.mark(Operand::DictOpen, 2),
                b'<' => self.read_hex(),
                b'>' if self.peek(1) == Some(b'>') => self.mark(Operand::DictClose, 2),
                b'[' => self.mark(Operand::ArrayOpen, 1),
                b']' => self.mark(Operand::ArrayClose, 1),
                b'{' | b'}' | b')' | b'>' => self.at += 1,
                _ => {
                    let word = self.read_word();
                    match word {
                        b"true" | b"false" | b"null" => self.push(Operand::Word),
                        _ => return Some(word),
                    }
                }
            }
        }
    }

    /// Skips the data of an inline image, after its `ID`.
    pub(crate) fn skip_image_data(&mut self) {
        self.at += 1;
        let mut from = self.at;
        while let Some(found) = self.bytes.get(from..).and_then(|rest| memchr::memmem::find(rest, b"EI")) {
            let place = from + found;
            let before = place == self.at || self.bytes.get(place - 1).is_some_and(|byte| is_space(*byte));
            let after = self.bytes.get(place + 2).is_none_or(|byte| is_space(*byte));
            // `EI` may occur in the image data, so it must be followed by printable text, as operators are.
            let next = self.bytes.get(place + 2..).unwrap_or_default();
            let reads = next.iter().take(12).all(|byte| is_space(*byte) || (0x20..0x7f).contains(byte));
            if before && after && reads {
                self.at = place + 2;
                return;
            }
            from = place + 2;
        }
        self.at = self.bytes.len();
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn push(&mut self, operand: Operand) {
        if self.operands.len() < MAX_OPERANDS {
            self.operands.push(operand);
        }
    }

    fn mark(&mut self, operand: Operand, length: usize) {
        self.push(operand);
        self.at += length;
    }

    fn skip_space(&mut self) {
        while let Some(byte) = self.bytes.get(self.at) {
            if is_space(*byte) {
                self.at += 1;
            } else if *byte == b'%' {
                let rest = &self.bytes[self.at..];
                self.at += memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
            } else {
                return;
            }
        }
    }

    fn read_number(&mut self) {
        let (value, length) = parse_number(&self.bytes[self.at..]);
        self.at += length;
        self.push(Operand::Number(value));
    }

    fn read_word(&mut self) -> &'a [u8] {
        let start = self.at;
        self.at += 1;
        while self.bytes.get(self.at).is_some_and(|byte| is_regular(*byte)) {
            self.at += 1;
        }
        &self.bytes[start..self.at]
    }

    fn read_name(&mut self) {
        let start = self.text.len();
        self.at += 1;
        while let Some(byte) = self.bytes.get(self.at).copied().filter(|byte| is_regular(*byte)) {
            self.at += 1;
            let pair = (self.peek(0).and_then(hex), self.peek(1).and_then(hex));
            let byte = match (byte, pair) {
                (b'#', (Some(high), Some(low))) => {
                    self.at += 2;
                    high << 4 | low
                }
                _ => byte,
            };
            self.keep(byte);
        }
        self.push(Operand::Name(start, self.text.len()));
    }

    fn keep(&mut self, byte: u8) {
        if self.text.len() < MAX_TEXT {
            self.text.push(byte);
        }
    }

    fn read_hex(&mut self) {
        let start = self.text.len();
        self.at += 1;
        let mut high = None;
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            if byte == b'>' {
                break;
            }
            let Some(digit) = hex(byte) else { continue };
            match high.take() {
                Some(first) => self.keep(first << 4 | digit),
                None => high = Some(digit),
            }
        }
        if let Some(first) = high {
            self.keep(first << 4);
        }
        self.push(Operand::Text(start, self.text.len()));
    }

    fn read_string(&mut self) {
        let start = self.text.len();
        self.at += 1;
        let mut depth = 1;
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            match byte {
                b'(' if depth < MAX_BRACKETS => depth += 1,
                b')' => depth -= 1,
                b'\\' => {
                    self.read_escape();
                    continue;
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
            self.keep(byte);
        }
        self.push(Operand::Text(start, self.text.len()));
    }

    fn read_escape(&mut self) {
        let Some(byte) = self.peek(0) else { return };
        self.at += 1;
        match byte {
            b'n' => self.keep(b'\n'),
            b'r' => self.keep(b'\r'),
            b't' => self.keep(b'\t'),
            b'b' => self.keep(8),
            b'f' => self.keep(12),
            b'\r' => self.at += usize::from(self.peek(0) == Some(b'\n')),
            b'\n' => {}
            b'0'..=b'7' => {
                let mut code = u32::from(byte - b'0');
                for _ in 0..2 {
                    let Some(digit @ b'0'..=b'7') = self.peek(0) else { break };
                    code = code * 8 + u32::from(digit - b'0');
                    self.at += 1;
                }
                self.keep(code as u8);
            }
            other => self.keep(other),
        }
    }
}

/// Parses a number; returns it with its length in bytes, at least one. Wrong signs and points are tolerated as in other
/// readers: `--5` is -5.
pub(crate) fn parse_number(bytes: &[u8]) -> (f32, usize) {
    let (mut at, mut negative) = (0, false);
    while let Some(sign @ (b'+' | b'-')) = bytes.get(at) {
        negative |= *sign == b'-';
        at += 1;
    }
    let (mut whole, mut scale, mut point) = (0.0_f64, 1.0_f64, false);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'0'..=b'9' => {
                whole = whole * 10.0 + f64::from(byte - b'0');
                if point {
                    scale *= 10.0;
                }
            }
            b'.' if !point => point = true,
            // Some producers write a minus inside of small numbers.
            b'-' => {}
            _ => break,
        }
        at += 1;
    }
    let value = (whole / scale) as f32;
    let value = if value.is_finite() { value } else { 0.0 };
    (if negative { -value } else { value }, at.max(1))
}

fn hex(byte: u8) -> Option<u8> {
    (byte as char).to_digit(16).map(|digit| digit as u8)
}

pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, 0 | 9 | 10 | 12 | 13 | 32)
}

fn is_regular(byte: u8) -> bool {
    !is_space(byte) && !matches!(byte, b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(source: &[u8]) -> (Vec<u8>, Vec<Operand>, Vec<u8>) {
        let mut lexer = Lexer::new(source);
        let operator = lexer.next().unwrap_or_default().to_vec();
        (operator, lexer.operands.clone(), lexer.text.clone())
    }

    #[test]
    fn reads_numbers_as_other_readers_do() {
        for (source, value, length) in [
            ("12", 12.0, 2),
            ("-.5 ", -0.5, 3),
            ("--5", -5.0, 3),
            ("+7.25]", 7.25, 5),
            ("4.", 4.0, 2),
            ("1.2.3", 1.2, 3),
            (".", 0.0, 1),
            ("0.00-7", 0.007, 6),
        ] {
            let (read, used) = parse_number(source.as_bytes());
            assert!((read - value).abs() < 1e-5, "{source}: {read}");
            assert_eq!(used, length, "{source}");
        }
    }

    #[test]
    fn reads_strings_and_names() {
        let (operator, operands, text) = first(
            br"/A#42c (a\(b\)\101(c)\
d) <4 1 5> Tj",
        );
        assert_eq!(operator, b"Tj");
        assert_eq!(text, b"ABca(b)A(c)dAP");
        assert_eq!(operands, [Operand::Name(0, 3), Operand::Text(3, 12), Operand::Text(12, 14)]);
    }

    #[test]
    fn an_inline_image_ends_at_its_own_mark() {
        let mut lexer = Lexer::new(b"BI /W 2 ID \x01EI\x02 EI\xff EI Q");
        assert_eq!(lexer.next(), Some(&b"BI"[..]));
        assert_eq!(lexer.next(), Some(&b"ID"[..]));
        lexer.skip_image_data();
        assert_eq!(lexer.next(), Some(&b"Q"[..]));
        assert_eq!(lexer.next(), None);
    }

    #[test]
    fn damage_ends_the_stream() {
        for source in [&b"(never closed"[..], b"<41", b"/", b"[[[[", b"%", b">>", b")"] {
            assert_eq!(Lexer::new(source).next(), None);
        }
    }
}
