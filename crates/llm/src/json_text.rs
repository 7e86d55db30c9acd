//! JSON in the text of a model: beside reasoning, in a code fence, among prose, with the usual slips, or cut.

mod parse;

use serde_json::Value;

use parse::{Parsed, parse};

/// Number of places in a text where JSON is looked for. Texts with more have no answer in them.
const MAX_STARTS: usize = 64;

/// Kind of the wanted value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An object.
    Object,
    /// An array.
    Array,
    /// Any value.
    Any,
}

/// A value found in a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The value; of a cut one, everything up to its last whole item.
    pub value: Value,
    /// Whether the value is whole. `false` when the text ends inside it.
    pub is_whole: bool,
}

impl Kind {
    fn matches(self, value: &Value) -> bool {
        match self {
            Self::Object => value.is_object(),
            Self::Array => value.is_array(),
            Self::Any => true,
        }
    }
}

/// Finds the first value of the wanted kind, else the first value of another kind. Trailing commas, single quotes, line
/// breaks in strings and the words of Python are accepted.
///
/// ```
/// use llm::json_text::{Kind, find};
///
/// let found = find("Item [1] is here:\n```json\n{\"a\": [1, 2,],}\n```", Kind::Object).unwrap();
/// assert_eq!((found.value.to_string().as_str(), found.is_whole), (r#"{"a":[1,2]}"#, true));
/// let cut = find(r#"{"rows": [{"id": 1}, {"id": 2}, {"id": 3"#, Kind::Object).unwrap();
/// assert_eq!((cut.value.to_string().as_str(), cut.is_whole), (r#"{"rows":[{"id":1},{"id":2}]}"#, false));
/// ```
#[must_use]
pub fn find(text: &str, kind: Kind) -> Option<Found> {
    let text = without_reasoning(text).trim();
    if kind == Kind::Any
        && let Ok(value) = serde_json::from_str(text)
    {
        return Some(Found { value, is_whole: true });
    }
    // A fence says where the answer is; the prose before it may hold brackets.
    let fenced = fence(text).and_then(|inner| first(inner, kind)).filter(|found| kind.matches(&found.value));
    fenced.or_else(|| first(text, kind))
}

fn first(text: &str, kind: Kind) -> Option<Found> {
    let (mut at, mut other) = (0, None);
    for _ in 0..MAX_STARTS {
        let Some(start) = text.get(at..).and_then(|rest| rest.find(['{', '['])).map(|found| at + found) else { break };
        match parse(&text[start..]) {
            Parsed::Whole { value, .. } if kind.matches(&value) => return Some(Found { value, is_whole: true }),
            Parsed::Whole { value, length } => {
                other.get_or_insert(Found { value, is_whole: true });
                at = start + length;
            }
            // What follows lies inside this value, so that it is no answer itself.
            Parsed::Cut(value) => return other.or(Some(Found { value, is_whole: false })),
            Parsed::Bad { at: bad } => at = start + bad.max(1),
        }
        while !text.is_char_boundary(at) {
            at += 1;
        }
    }
    other
}

/// Returns the content of the first code fence; up to the end of the text when the fence is not closed.
fn fence(text: &str) -> Option<&str> {
    let (_, after) = text.split_once("```")?;
    let (_, inner) = after.split_once('\n')?;
    Some(inner.split("\n```").next().unwrap_or(inner))
}

/// Removes the reasoning before an answer: `<think>…</think>`, and everything up to `</think>` where the template of the
/// model has opened it. A text that ends within its reasoning has no answer.
#[must_use]
pub fn without_reasoning(text: &str) -> &str {
    let trimmed = text.trim_start();
    if trimmed.starts_with(['{', '[']) {
        return text;
    }
    for [open, close] in [["<think>", "</think>"], ["<thinking>", "</thinking>"], ["<reasoning>", "</reasoning>"]] {
        let is_open = trimmed.starts_with(open);
        match trimmed.find(close) {
            Some(end) => return &trimmed[end + close.len()..],
            None if is_open => return "",
            None => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn check(text: &str, expect: Value) {
        assert_eq!(find(text, Kind::Object), Some(Found { value: expect, is_whole: true }), "{text}");
    }

    #[test]
    fn the_answer_is_found_among_what_surrounds_it() {
        let answer = json!({ "a": [1, 2] });
        for text in [
            r#"{"a": [1, 2]}"#,
            "```json\n{\"a\": [1, 2]}\n```",
            "```\n{\"a\": [1, 2]}\n```\nDone.",
            "Here is what I found:\n{\"a\": [1, 2]}\nLet me know if you need more.",
            "As [1] says {see below}: {\"a\": [1, 2]}",
            "<think>Rows, {\"not\": \"this\"}.</think>{\"a\": [1, 2]}",
            "Rows, {\"not\": \"this\"}.</think>\n\n{\"a\": [1, 2]}",
            "[\"x\"]\n{\"a\": [1, 2]}",
            "{\"a\": [1, 2,],}",
            "{'a': [1, 2]}",
            "\u{feff}{\"a\": [1, 2]} {\"b\": 3}",
        ] {
            check(text, answer.clone());
        }
    }

    #[test]
    fn slips_inside_values_are_forgiven() {
        check("{\"a\": \"two\nlines\", \"b\": True, \"c\": None}", json!({ "a": "two\nlines", "b": true, "c": null }));
        check(r#"{"a": "1\_000 \u00e9 \ud83d\ude00 \ud800"}"#, json!({ "a": "1_000 é 😀 \u{fffd}" }));
        check(r#"{"text": "a </think> {b} ``` c"}"#, json!({ "text": "a </think> {b} ``` c" }));
        check(r#"{"n": [1e3, -0.5, 12345678901234567890]}"#, json!({ "n": [1e3, -0.5, 12345678901234567890_u64] }));
    }

    #[test]
    fn what_is_no_answer_is_none() {
        for text in ["", "I am sorry.", "<think>{\"a\": 1}", "{curly} [brackets]", "{\"a\": {\"b\": 1} oops }"] {
            assert_eq!(find(text, Kind::Object), None, "{text}");
        }
        assert_eq!(find("[1]", Kind::Object).unwrap().value, json!([1]));
        assert_eq!(find("\"word\"", Kind::Any).unwrap().value, json!("word"));
    }

    #[test]
    fn a_cut_answer_ends_after_its_last_whole_item() {
        for (text, expect) in [
            (r#"{"rows": [{"id": 1}, {"id": 2, "n"#, json!({ "rows": [{ "id": 1 }] })),
            (r#"{"rows": [1, 2, 3"#, json!({ "rows": [1, 2] })),
            (r#"{"name": "Ada", "city": "Lon"#, json!({ "name": "Ada" })),
            (r#"{"a": {"b": 1, "c": tr"#, json!({ "a": { "b": 1 } })),
            ("{", json!({})),
        ] {
            assert_eq!(find(text, Kind::Object), Some(Found { value: expect, is_whole: false }), "{text}");
        }
    }

    #[test]
    fn deep_and_hostile_texts_end_soon() {
        for text in ["[".repeat(1_000_000), "{\"a\":".repeat(200_000), "{".repeat(1_000_000), "[{".repeat(500_000)] {
            assert_eq!(find(&text, Kind::Object), None);
        }
        let wide = format!("[{}]", "0,".repeat(2_000_000));
        assert_eq!(find(&wide, Kind::Array), None);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in "[\\[\\]{}\",:'`a1\\\\\n é<>/think]{0,60}") {
            let _ = find(&text, Kind::Object);
            let _ = find(&text, Kind::Any);
        }

        #[test]
        fn plain_json_is_read_as_by_any_parser(numbers in prop::collection::vec(any::<i64>(), 0..9), text in "\\PC*") {
            let value = json!({ "n": numbers, "t": text, "o": { "x": null } });
            let found = find(&value.to_string(), Kind::Object);
            prop_assert_eq!(found, Some(Found { value, is_whole: true }));
        }
    }
}
