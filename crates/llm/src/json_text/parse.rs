//! A forgiving parser of one JSON value at the beginning of a text.

use serde_json::{Map, Number, Value};

/// Limits of values from models.
const MAX_VALUES: usize = base::json::MAX_VALUES;
const MAX_DEPTH: usize = 100;

/// Result of [`parse`].
pub(super) enum Parsed {
    /// A whole value, with its length in bytes.
    Whole { value: Value, length: usize },
    /// The text ends inside the value.
    Cut(Value),
    /// No JSON. Parsing stopped at this byte.
    Bad { at: usize },
}

/// Reason for stopping inside a value.
enum Stop {
    Bad,
    /// The text has ended. Containers keep what is whole in them; the rest of a scalar is lost.
    End(Option<Value>),
}

pub(super) fn parse(text: &str) -> Parsed {
    let mut parser = Parser { text, bytes: text.as_bytes(), at: 0, values: 0 };
    match parser.value(0) {
        Ok(value) => Parsed::Whole { value, length: parser.at },
        Err(Stop::End(Some(value))) => Parsed::Cut(value),
        Err(_) => Parsed::Bad { at: parser.at },
    }
}

struct Parser<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    values: usize,
}

impl Parser<'_> {
    fn value(&mut self, depth: usize) -> Result<Value, Stop> {
        self.values += 1;
        if depth > MAX_DEPTH || self.values > MAX_VALUES {
            return Err(Stop::Bad);
        }
        match self.next_token()? {
            b'{' => self.object(depth),
            b'[' => self.array(depth),
            quote @ (b'"' | b'\'') => self.string(quote).map(Value::String),
            b'-' | b'0'..=b'9' => self.number(),
            b'a'..=b'z' | b'A'..=b'Z' => self.word(),
            _ => Err(Stop::Bad),
        }
    }

    /// Skips white space and returns the next byte, without consuming it.
    fn next_token(&mut self) -> Result<u8, Stop> {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.bytes.get(self.at).copied().ok_or(Stop::End(None))
    }

    fn object(&mut self, depth: usize) -> Result<Value, Stop> {
        self.at += 1;
        let mut members = Map::new();
        loop {
            match self.member(&mut members, depth) {
                Ok(true) => {}
                Ok(false) => return Ok(Value::Object(members)),
                Err(Stop::End(_)) => return Err(Stop::End(Some(Value::Object(members)))),
                Err(Stop::Bad) => return Err(Stop::Bad),
            }
        }
    }

    /// Reads one member. Returns `false` at the end of the object.
    fn member(&mut self, members: &mut Map<String, Value>, depth: usize) -> Result<bool, Stop> {
        let quote = match self.next_token()? {
            b'}' => {
                self.at += 1;
                return Ok(false);
            }
            quote @ (b'"' | b'\'') => quote,
            _ => return Err(Stop::Bad),
        };
        let name = self.string(quote)?;
        if self.next_token()? != b':' {
            return Err(Stop::Bad);
        }
        self.at += 1;
        match self.value(depth + 1) {
            Ok(value) => members.insert(name, value),
            Err(Stop::End(Some(part))) => {
                members.insert(name, part);
                return Err(Stop::End(None));
            }
            Err(stop) => return Err(stop),
        };
        self.comma(b'}')
    }

    fn array(&mut self, depth: usize) -> Result<Value, Stop> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            match self.item(&mut items, depth) {
                Ok(true) => {}
                Ok(false) => return Ok(Value::Array(items)),
                Err(Stop::End(_)) => return Err(Stop::End(Some(Value::Array(items)))),
                Err(Stop::Bad) => return Err(Stop::Bad),
            }
        }
    }

    /// Reads one item. Returns `false` at the end of the array.
    fn item(&mut self, items: &mut Vec<Value>, depth: usize) -> Result<bool, Stop> {
        if self.next_token()? == b']' {
            self.at += 1;
            return Ok(false);
        }
        items.push(self.value(depth + 1)?);
        self.comma(b']')
    }

    /// Reads the comma after an item, or leaves the closing bracket for the next call.
    fn comma(&mut self, close: u8) -> Result<bool, Stop> {
        match self.next_token()? {
            b',' => self.at += 1,
            byte if byte == close => {}
            _ => return Err(Stop::Bad),
        }
        Ok(true)
    }

    fn string(&mut self, quote: u8) -> Result<String, Stop> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let start = self.at;
            while self.bytes.get(self.at).is_some_and(|byte| *byte != quote && *byte != b'\\') {
                self.at += 1;
            }
            // Both ends are next to ASCII characters, so the slice is on character boundaries.
            text.push_str(self.text.get(start..self.at).ok_or(Stop::Bad)?);
            match self.bytes.get(self.at) {
                None => return Err(Stop::End(None)),
                Some(byte) if *byte == quote => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(_) => self.escape(&mut text)?,
            }
        }
    }

    fn escape(&mut self, text: &mut String) -> Result<(), Stop> {
        self.at += 1;
        let rest = self.text.get(self.at..).ok_or(Stop::Bad)?;
        let escaped = rest.chars().next().ok_or(Stop::End(None))?;
        self.at += escaped.len_utf8();
        text.push(match escaped {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => self.unicode()?,
            // Quotes and slashes; models also escape what needs no escape, such as `\_` of markdown.
            other => other,
        });
        Ok(())
    }

    fn unicode(&mut self) -> Result<char, Stop> {
        let high = self.hex()?;
        if !(0xd800..0xdc00).contains(&high) {
            return Ok(char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        if !self.bytes[self.at..].starts_with(b"\\u") {
            return Ok(char::REPLACEMENT_CHARACTER);
        }
        self.at += 2;
        let low = self.hex()?;
        let pair = 0x10000 + ((high - 0xd800) << 10) + (low.wrapping_sub(0xdc00) & 0x3ff);
        Ok(char::from_u32(pair).filter(|_| (0xdc00..0xe000).contains(&low)).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex(&mut self) -> Result<u32, Stop> {
        let digits = self.bytes.get(self.at..self.at + 4).ok_or(Stop::End(None))?;
        let digits = std::str::from_utf8(digits).map_err(|_| Stop::Bad)?;
        let value = u32::from_str_radix(digits, 16).map_err(|_| Stop::Bad)?;
        self.at += 4;
        Ok(value)
    }

    fn number(&mut self) -> Result<Value, Stop> {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'))
        {
            self.at += 1;
        }
        if self.at == self.bytes.len() {
            // More digits may have followed.
            return Err(Stop::End(None));
        }
        let number: Number = self.text[start..self.at].parse().map_err(|_| Stop::Bad)?;
        Ok(Value::Number(number))
    }

    fn word(&mut self) -> Result<Value, Stop> {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_alphabetic) {
            self.at += 1;
        }
        if self.at == self.bytes.len() {
            return Err(Stop::End(None));
        }
        match &self.text[start..self.at] {
            "true" | "True" => Ok(Value::Bool(true)),
            "false" | "False" => Ok(Value::Bool(false)),
            "null" | "None" | "NaN" | "undefined" => Ok(Value::Null),
            _ => Err(Stop::Bad),
        }
    }
}
