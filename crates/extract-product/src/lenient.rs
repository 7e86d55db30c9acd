//! A tolerant reader of JSON and of JavaScript literals. Nothing is run: what is not a literal is read as null.

mod strings;

use std::borrow::Cow;

use base::Stop;

use crate::value::{Member, Value};
use strings::QuotedString;

/// Limit on the bytes that are read for one page, in all scripts together.
const MAX_BYTES: usize = 48 << 20;
/// Limit on the values of one page, in all scripts together: about 60 MB of memory.
const MAX_NODES: usize = 1_000_000;
/// Nesting that is kept; deeper values are skipped and read as null.
const MAX_DEPTH: usize = 96;
/// Steps between two looks at the stop signal.
const STEPS: usize = 4096;

/// Remaining parsing budget of a page, shared by all of its scripts.
#[derive(Debug)]
pub(crate) struct Budget<'s> {
    bytes: usize,
    nodes: usize,
    stop: &'s Stop,
}

impl<'s> Budget<'s> {
    pub(crate) fn new(stop: &'s Stop) -> Self {
        Budget { bytes: MAX_BYTES, nodes: MAX_NODES, stop }
    }

    /// A budget for a string that is read as JSON once more.
    pub(crate) fn small() -> Budget<'static> {
        static NEVER: std::sync::LazyLock<Stop> = std::sync::LazyLock::new(Stop::new);
        Budget { bytes: 1 << 20, nodes: 20_000, stop: &NEVER }
    }

    /// Whether nothing more is read of this page.
    pub(crate) fn is_spent(&self) -> bool {
        self.bytes == 0 || self.nodes == 0 || self.stop.is_set()
    }

    /// Takes one value from the budget.
    pub(crate) fn take_node(&mut self) -> Option<()> {
        self.nodes = self.nodes.saturating_sub(1);
        let look = self.nodes.is_multiple_of(STEPS);
        (self.nodes > 0 && !(look && self.stop.is_set())).then_some(())
    }

    pub(crate) fn take_bytes(&mut self, bytes: usize) -> Option<()> {
        self.bytes = self.bytes.saturating_sub(bytes);
        (self.bytes > 0).then_some(())
    }
}

/// The syntax of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// JSON with the faults that are common in pages: comments, trailing commas, raw line breaks, bare quotes inside of
    /// a string, a missing end.
    Json,
    /// A JavaScript expression of literals.
    Script,
}

/// A value, and where it ends in the text.
#[derive(Debug)]
pub(crate) struct ParsedValue<'a> {
    pub(crate) value: Value<'a>,
    pub(crate) end: usize,
}

/// Reads the value at the start of `text`. `None` if there is none or the budget is spent.
pub(crate) fn parse_value<'a>(text: &'a str, syntax: Syntax, budget: &mut Budget<'_>) -> Option<ParsedValue<'a>> {
    let mut reader = Reader { text, bytes: text.as_bytes(), at: 0, syntax, depth: 0, budget };
    reader.space();
    let found = reader.value();
    let end = reader.at;
    budget.take_bytes(end.max(1))?;
    Some(ParsedValue { value: found?, end })
}

/// Reads a text that is one value, such as the content of a script of type `application/json`.
pub(crate) fn read_json<'a>(text: &'a str, budget: &mut Budget<'_>) -> Option<Value<'a>> {
    parse_value(text, Syntax::Json, budget).map(|found| found.value)
}

struct Reader<'a, 'b, 's> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    syntax: Syntax,
    depth: usize,
    budget: &'b mut Budget<'s>,
}

impl<'a> Reader<'a, '_, '_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_over(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    /// Moves past the next occurrence of `end`, or to the end of the text.
    fn skip_past(&mut self, end: &str) {
        let found = memchr::memmem::find(&self.bytes[self.at..], end.as_bytes());
        self.at = found.map_or(self.bytes.len(), |place| self.at + place + end.len());
    }

    /// Moves past blanks, comments, and the marks that hide a script from old browsers and from XML.
    fn space(&mut self) {
        const MARKS: [&str; 6] = ["<!--", "-->", "<![CDATA[", "]]>", "\u{feff}", "\u{a0}"];
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c) => self.at += 1,
                Some(b'/') if self.bytes.get(self.at + 1) == Some(&b'*') => self.skip_past("*/"),
                Some(b'/') if self.bytes[self.at..].starts_with(b"//<![CDATA[") => self.at += 11,
                Some(b'/') if self.bytes.get(self.at + 1) == Some(&b'/') => self.skip_past("\n"),
                Some(b'<' | b'-' | b']' | 0xef | 0xc2) => {
                    let rest = &self.bytes[self.at..];
                    let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(mark.as_bytes())) else { return };
                    self.at += mark.len();
                }
                _ => return,
            }
        }
    }

    fn value(&mut self) -> Option<Value<'a>> {
        self.budget.take_node()?;
        match self.peek()? {
            b'{' | b'[' if self.depth == MAX_DEPTH => {
                self.skip_expression();
                Some(Value::Null)
            }
            b'{' => self.nested(Self::object),
            b'[' => self.nested(Self::list),
            b'"' | b'\'' | b'`' => self.string_value(),
            _ => Some(self.word()),
        }
    }

    fn nested(&mut self, read: impl Fn(&mut Self) -> Option<Value<'a>>) -> Option<Value<'a>> {
        self.at += 1;
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn object(&mut self) -> Option<Value<'a>> {
        let mut members = Vec::new();
        loop {
            self.separators();
            match self.peek() {
                // JSON that was cut off counts as far as it goes; a script that never closes does not.
                None => return (self.syntax == Syntax::Json).then_some(Value::Object(members)),
                Some(b'}') => {
                    self.at += 1;
                    return Some(Value::Object(members));
                }
                Some(_) => {}
            }
            // No name: a stray bracket or a computed key. It is skipped up to the next comma; a bracket too many would
            // stop every further step.
            let Some(name) = self.name() else {
                self.skip_expression();
                self.at += usize::from(self.peek() == Some(b']'));
                continue;
            };
            self.space();
            if !self.skip_over(b':') {
                // `{short, method() {…}, ...rest}`
                self.skip_expression();
                continue;
            }
            self.space();
            members.push(Member { name, value: self.operand()? });
        }
    }

    fn list(&mut self) -> Option<Value<'a>> {
        let mut items = Vec::new();
        loop {
            self.separators();
            match self.peek() {
                None => return (self.syntax == Syntax::Json).then_some(Value::List(items)),
                Some(b']') => {
                    self.at += 1;
                    return Some(Value::List(items));
                }
                // A brace too many.
                Some(b'}') => self.at += 1,
                Some(_) => items.push(self.operand()?),
            }
        }
    }

    /// Moves past blanks and commas, of which there may be too many.
    fn separators(&mut self) {
        self.space();
        while self.skip_over(b',') {
            self.space();
        }
    }

    /// Reads a value inside of another one, up to the next separator: an expression around a literal is not a literal.
    fn operand(&mut self) -> Option<Value<'a>> {
        // `{"price": , "sku": …}`
        if matches!(self.peek(), Some(b',' | b'}' | b']')) {
            return Some(Value::Null);
        }
        let value = self.value()?;
        self.space();
        match self.peek() {
            None | Some(b',' | b'}' | b']') => Some(value),
            // A missing comma: `"a": 1 "b": 2`.
            Some(b'"') if self.syntax == Syntax::Json => Some(value),
            Some(_) => {
                self.skip_expression();
                Some(Value::Null)
            }
        }
    }

    fn name(&mut self) -> Option<Cow<'a, str>> {
        match self.peek()? {
            b'"' | b'\'' => match self.string(true)? {
                QuotedString::Whole(text) => Some(text),
                QuotedString::Cut => None,
            },
            _ => {
                let word = self.bare_word();
                (!word.is_empty()).then_some(Cow::Borrowed(word))
            }
        }
    }

    fn bare_word(&mut self) -> &'a str {
        let is_part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.' | b'-' | b'+') || *b >= 0x80;
        let length = self.bytes[self.at..].iter().take_while(|b| is_part(b)).count();
        let word = &self.text[self.at..self.at + length];
        self.at += length;
        word
    }

    /// Reads a number, a word such as `true` or `!0`, or a call; what is none of these is null.
    fn word(&mut self) -> Value<'a> {
        if self.skip_over(b'!') {
            return match self.bare_word() {
                "0" => Value::Bool(true),
                "1" => Value::Bool(false),
                _ => self.not_literal(),
            };
        }
        let start = self.at;
        let word = self.bare_word();
        match word {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" | "undefined" | "NaN" => Value::Null,
            "JSON.parse" => self.call(start),
            _ if is_number(word) => Value::Number(Cow::Borrowed(word.trim_start_matches('+'))),
            _ => self.not_literal(),
        }
    }

    /// Reads `JSON.parse("…")`.
    fn call(&mut self, start: usize) -> Value<'a> {
        self.space();
        if !self.skip_over(b'(') {
            self.at = start;
            return self.not_literal();
        }
        self.space();
        let inner = match self.peek() {
            Some(b'"' | b'\'' | b'`') => self.string(false),
            _ => None,
        };
        let Some(QuotedString::Whole(inner)) = inner else { return self.not_literal() };
        self.space();
        let closed = self.skip_over(b')');
        let depth = self.depth;
        let value = match inner {
            Cow::Borrowed(text) => inner_json(text, depth, self.budget),
            Cow::Owned(text) => inner_json(&text, depth, self.budget).map(Value::into_owned),
        };
        value.filter(|_| closed).unwrap_or_default()
    }

    fn not_literal(&mut self) -> Value<'a> {
        self.skip_expression();
        Value::Null
    }
}

/// Reads the JSON in a string. It counts as nested, so that strings inside of strings end.
fn inner_json<'a>(text: &'a str, depth: usize, budget: &mut Budget<'_>) -> Option<Value<'a>> {
    budget.take_bytes(text.len())?;
    let mut reader =
        Reader { text, bytes: text.as_bytes(), at: 0, syntax: Syntax::Json, depth: (depth + 1).min(MAX_DEPTH), budget };
    reader.space();
    reader.value()
}

fn is_number(word: &str) -> bool {
    let digits = word.trim_start_matches(['+', '-']);
    digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits.bytes().any(|b| b.is_ascii_digit())
        && digits.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'))
}

#[cfg(test)]
mod tests;
