//! JSON of untrusted origin. Its values are counted before parsing, because a few megabytes of `[[],[],…` take a hundred
//! times as much memory when parsed.

use std::fmt;

use memchr::memchr2;
use serde::Deserialize;

/// Default limit of values in one text: enough for the largest batch of URLs and for the results of ordinary scripts.
pub const MAX_VALUES: usize = 120_000;
/// Limit of nested arrays and objects.
pub const MAX_DEPTH: usize = 127;

/// Error of [`read`].
#[derive(Debug)]
pub enum JsonError {
    /// The text has more values than this limit.
    Values(usize),
    /// Arrays and objects are nested deeper than [`MAX_DEPTH`].
    Depth,
    /// The text is not JSON, or not of the expected type.
    Malformed(serde_json::Error),
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Values(limit) => write!(f, "more than {limit} JSON values"),
            Self::Depth => write!(f, "more than {MAX_DEPTH} levels of JSON"),
            Self::Malformed(error) => write!(f, "malformed JSON: {error}"),
        }
    }
}

impl std::error::Error for JsonError {}

/// Parses a text with at most `most` values. Larger texts are refused before parsing.
///
/// # Errors
/// [`JsonError`]; see its variants.
pub fn read<'a, T: Deserialize<'a>>(text: &'a [u8], most: usize) -> Result<T, JsonError> {
    let size = size(text);
    if size.values > most {
        return Err(JsonError::Values(most));
    }
    if size.depth > MAX_DEPTH {
        return Err(JsonError::Depth);
    }
    serde_json::from_slice(text).map_err(JsonError::Malformed)
}

/// Size of a JSON text in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Upper bound of the number of values: one, plus one for each comma and opening bracket outside strings.
    pub values: usize,
    /// Nesting depth of arrays and objects.
    pub depth: usize,
}

/// Measures a text without parsing it; the text need not be valid JSON.
#[must_use]
pub fn size(text: &[u8]) -> Size {
    let (mut values, mut open, mut depth, mut at) = (1, 0_usize, 0, 0);
    while let Some(byte) = text.get(at) {
        at += 1;
        match byte {
            b'"' => at = after_string(text, at),
            b',' => values += 1,
            b'[' | b'{' => {
                (values, open) = (values + 1, open + 1);
                depth = depth.max(open);
            }
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
    }
    Size { values, depth }
}

/// Returns the offset after a string whose content starts at `at`.
fn after_string(text: &[u8], mut at: usize) -> usize {
    while let Some(found) = text.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += found + 1;
        if text[at - 1] == b'"' {
            return at;
        }
        at += 1;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn brackets_in_strings_are_not_values() {
        for (text, values, depth) in [
            ("1", 1, 0),
            ("", 1, 0),
            ("[1,2]", 3, 1),
            (r#"{"a":{"b":1},"c":"[,{"}"#, 4, 2),
            (r#""\",[""#, 1, 0),
            (r#""\\",1"#, 2, 0),
            (r#"["\\\"]",{}]"#, 4, 2),
            ("[\"open", 2, 1),
            ("[\"\\", 2, 1),
            ("[[],[[]]]]]", 6, 3),
        ] {
            assert_eq!(size(text.as_bytes()), Size { values, depth }, "{text}");
        }
    }

    #[test]
    fn what_is_too_much_is_refused_before_it_is_read() {
        let why = |text: &str| read::<Value>(text.as_bytes(), 5).unwrap_err().to_string();
        assert_eq!(why("[1,2,3,4,5]"), "more than 5 JSON values");
        assert_eq!(why("[[[[[,,"), "more than 5 JSON values");
        assert!(why("[1,").starts_with("malformed JSON: "));
        assert_eq!(read::<Value>(b"[1,2,3,4]", 5).unwrap(), serde_json::json!([1, 2, 3, 4]));
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        let read = |depth| read::<Value>(nested(depth).as_bytes(), MAX_VALUES);
        assert!(read(MAX_DEPTH).is_ok());
        assert_eq!(read(MAX_DEPTH + 1).unwrap_err().to_string(), "more than 127 levels of JSON");
    }
}
