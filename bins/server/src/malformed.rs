//! Error messages for malformed JSON: line, column and the preceding key. Values are left out, because they may be secret.

/// Maximum length of a key quoted in an error.
const MAX_KEY_CHARS: usize = 64;

/// Returns the error message for malformed JSON. Clients match its first words.
pub(crate) fn sentence(text: &[u8], error: &serde_json::Error) -> String {
    let lines = text.split_inclusive(|byte| *byte == b'\n').take(error.line().saturating_sub(1));
    let place = (lines.map(<[u8]>::len).sum::<usize>() + error.column()).min(text.len());
    let near = last_key(&text[..place]).map(|key| format!(", after the key `{}`", shown(key)));
    format!("Bad request, malformed JSON: {error}{}", near.unwrap_or_default())
}

fn shown(key: &[u8]) -> String {
    String::from_utf8_lossy(key).chars().take(MAX_KEY_CHARS).flat_map(char::escape_debug).collect()
}

/// Returns the last string followed by a colon, without its quotes. Tolerates malformed JSON, unlike a parser.
fn last_key(text: &[u8]) -> Option<&[u8]> {
    let (mut key, mut string, mut start, mut escaped) = (None, None, None, false);
    for (index, byte) in text.iter().enumerate() {
        match (*byte, start) {
            _ if escaped => escaped = false,
            (b'\\', Some(_)) => escaped = true,
            (b'"', Some(from)) => {
                string = text.get(from..index);
                start = None;
            }
            (b'"', None) => start = Some(index + 1),
            (b':', None) => key = string.take().or(key),
            (b',' | b'[' | b'{' | b']' | b'}', None) => string = None,
            _ => {}
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let error = serde_json::from_str::<serde_json::Value>(text).unwrap_err();
        assert_eq!(sentence(text.as_bytes(), &error), format!("Bad request, malformed JSON: {expect}"), "{text}");
    }

    #[test]
    fn the_place_is_named_and_no_value() {
        check(
            "{\"url\": \"https://secret.test/\",\n \"formats\": [\"html\"\n \"links\"]}",
            "expected `,` or `]` at line 3 column 2, after the key `formats`",
        );
        check(r#"{"url": 'x'}"#, "expected value at line 1 column 9, after the key `url`");
        check(r#"{"a": {"b": "c:d"}, }"#, "trailing comma at line 1 column 21, after the key `b`");
        check("{url: 1}", "key must be a string at line 1 column 2");
        check("[1, 2", "EOF while parsing a list at line 1 column 5");
        check(
            r#"{"say \"a\"": tru"#,
            r#"EOF while parsing a value at line 1 column 17, after the key `say \\\"a\\\"`"#,
        );
    }

    #[test]
    fn a_long_key_is_cut() {
        let text = format!("{{\"{}\": }}", "k".repeat(5000));
        let error = serde_json::from_str::<serde_json::Value>(&text).unwrap_err();
        assert!(sentence(text.as_bytes(), &error).len() < 200);
    }
}
