//! Strings, and the skipping of what is not a literal.

use std::borrow::Cow;

use memchr::{memchr2, memchr3};

use super::{Reader, Syntax};
use crate::value::Value;

/// A string that was read.
pub(super) enum QuotedString<'a> {
    Whole(Cow<'a, str>),
    /// The text ended inside of it.
    Cut,
}

impl<'a> Reader<'a, '_, '_> {
    pub(super) fn string_value(&mut self) -> Option<Value<'a>> {
        match self.string(false)? {
            QuotedString::Whole(text) => Some(Value::Text(text)),
            QuotedString::Cut => Some(Value::Null),
        }
    }

    /// Reads a string in quotes; `is_name` says that a colon follows.
    pub(super) fn string(&mut self, is_name: bool) -> Option<QuotedString<'a>> {
        let quote = self.peek()?;
        self.at += 1;
        let start = self.at;
        let mut decoded: Option<String> = None;
        let mut copied = start;
        loop {
            let Some(place) = memchr2(quote, b'\\', &self.bytes[self.at..]) else {
                self.at = self.bytes.len();
                return Some(QuotedString::Cut);
            };
            let place = self.at + place;
            self.at = place + 1;
            if self.bytes[place] == quote {
                if self.syntax == Syntax::Json && !self.closes(is_name) {
                    continue;
                }
                let Some(mut text) = decoded else {
                    return Some(QuotedString::Whole(Cow::Borrowed(&self.text[start..place])));
                };
                text.push_str(&self.text[copied..place]);
                return Some(QuotedString::Whole(Cow::Owned(text)));
            }
            let text = decoded.get_or_insert_default();
            text.push_str(&self.text[copied..place]);
            self.escape(text);
            copied = self.at;
        }
    }

    /// Whether the quote before the current place ends a string of JSON: a separator follows. A quote that is not
    /// escaped is a part of the text (`"name": "a 12" screen"`).
    fn closes(&self, is_name: bool) -> bool {
        let rest = &self.bytes[self.at..];
        let next = rest.iter().position(|b| !b.is_ascii_whitespace());
        match next.map(|place| rest[place]) {
            None | Some(b'/') => true,
            Some(b':') => is_name,
            Some(b',' | b'}' | b']') => !is_name,
            // A missing comma before the next name, which stands on a line of its own.
            Some(b'"') => rest[..next.unwrap_or(0)].contains(&b'\n'),
            Some(_) => false,
        }
    }

    /// Decodes the escape after a backslash.
    fn escape(&mut self, out: &mut String) {
        let Some(byte) = self.peek() else { return };
        self.at += 1;
        match byte {
            b'n' => out.push('\n'),
            b't' => out.push('\t'),
            b'r' => out.push('\r'),
            b'b' | b'f' | b'v' => out.push(' '),
            b'0' => {}
            b'\n' => {}
            b'x' => self.hex(2, out),
            b'u' if self.skip_over(b'{') => {
                let length = self.bytes[self.at..].iter().take(7).take_while(|b| **b != b'}').count();
                self.hex(length, out);
                self.skip_over(b'}');
            }
            b'u' => self.hex(4, out),
            _ => {
                let character = self.text[self.at - 1..].chars().next().unwrap_or_default();
                self.at += character.len_utf8() - 1;
                out.push(character);
            }
        }
    }

    fn hex(&mut self, digits: usize, out: &mut String) {
        let Some(mut code) = self.hex_digits(digits) else { return };
        // The two halves of a character outside of the basic plane.
        if (0xd800..0xdc00).contains(&code) && self.bytes[self.at..].starts_with(b"\\u") {
            self.at += 2;
            let low = self.hex_digits(4).unwrap_or(0);
            code = 0x10000 + ((code - 0xd800) << 10) + (low.wrapping_sub(0xdc00) & 0x3ff);
        }
        out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
    }

    fn hex_digits(&mut self, digits: usize) -> Option<u32> {
        let code = self.text.get(self.at..self.at + digits).and_then(|hex| u32::from_str_radix(hex, 16).ok())?;
        self.at += digits;
        Some(code)
    }

    /// Moves to the separator after an expression: the next comma or closing bracket outside of its own brackets and
    /// strings.
    pub(super) fn skip_expression(&mut self) {
        let mut depth = 0usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'{' | b'[' | b'(' => depth += 1,
                // A round bracket that nothing opened ends no literal.
                b')' if depth == 0 => {}
                b'}' | b']' if depth == 0 => return,
                b'}' | b']' | b')' => depth -= 1,
                b',' if depth == 0 => return,
                b'"' | b'\'' | b'`' => {
                    self.skip_string(byte);
                    continue;
                }
                b'/' if matches!(self.bytes.get(self.at + 1), Some(b'/' | b'*')) => {
                    self.space();
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    fn skip_string(&mut self, quote: u8) {
        self.at += 1;
        loop {
            // A line break ends a string that is none, such as the quote in a regular expression.
            let line_end = if quote == b'`' { quote } else { b'\n' };
            let Some(place) = memchr3(quote, b'\\', line_end, &self.bytes[self.at..]) else {
                self.at = self.bytes.len();
                return;
            };
            let found = self.bytes[self.at + place];
            self.at += place + 1;
            if found != b'\\' {
                return;
            }
            self.at = (self.at + 1).min(self.bytes.len());
        }
    }
}
