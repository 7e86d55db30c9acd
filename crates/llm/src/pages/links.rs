//! URLs in answers: only links of the page stay, so that no answer carries what a page told the model to send somewhere.
//! URLs in plain text do not count as links: instructions to a model (prompt injection) are plain text.

use std::collections::HashSet;

use serde_json::Value;
use url::Url;

use crate::schema::Schema;

/// The links of a page, images and other resources included.
#[derive(Debug, Clone, Default)]
pub struct Links(HashSet<String>);

impl Links {
    /// Collects absolute URLs.
    #[must_use]
    pub fn of<'a>(links: impl IntoIterator<Item = &'a str>) -> Self {
        Self(links.into_iter().map(normal).collect())
    }

    fn has(&self, url: &str) -> bool {
        self.0.contains(&normal(url))
    }
}

/// Returns a URL in a form in which equal ones are the same text.
fn normal(url: &str) -> String {
    let mut normal = Url::parse(url).map_or_else(|_| url.to_owned(), String::from);
    normal.truncate(normal.trim_end_matches('/').len());
    normal
}

/// Removes from an answer the URLs that are no links of the page, and returns how many these were. A text that is such a URL
/// becomes null where the schema allows it, and is removed where it is not required; else it is empty.
///
/// ```
/// use llm::pages::{Links, drop_unknown_urls};
///
/// let links = Links::of(["https://shop.example/a", "https://shop.example/b"]);
/// let mut answer = serde_json::json!({
///     "url": "https://shop.example/b", "image": "https://evil.example/?q=secret", "note": "see https://evil.example/x now",
/// });
/// assert_eq!(drop_unknown_urls(&mut answer, &links, None), 2);
/// assert_eq!(answer, serde_json::json!({ "url": "https://shop.example/b", "note": "see  now" }));
/// ```
pub fn drop_unknown_urls(answer: &mut Value, links: &Links, schema: Option<&Schema>) -> usize {
    let mut dropped = 0;
    if is_dropped(answer, links, &mut dropped) {
        *answer = Value::String(String::new());
    }
    if let Some(schema) = schema.filter(|_| dropped > 0)
        && !schema.is_valid(answer)
    {
        *answer = schema.repaired(std::mem::take(answer));
        restore_required(answer, schema);
    }
    dropped
}

/// Puts what is required back, as an empty text.
fn restore_required(answer: &mut Value, schema: &Schema) {
    // Each round names the members that are missing; inner ones become visible once the outer ones are there.
    for _ in 0..8 {
        let missing = schema.missing(answer);
        if missing.is_empty() {
            return;
        }
        for place in missing {
            if let Some(Value::Object(members)) = answer.pointer_mut(&place.path) {
                members.entry(place.name).or_insert_with(|| Value::String(String::new()));
            }
        }
    }
}

/// Removes unknown URLs inside a value. Returns whether the value itself is one.
fn is_dropped(value: &mut Value, links: &Links, dropped: &mut usize) -> bool {
    match value {
        Value::Array(items) => items.retain_mut(|item| !is_dropped(item, links, dropped)),
        Value::Object(members) => members.retain(|_, member| !is_dropped(member, links, dropped)),
        Value::String(text) => {
            let unknown: Vec<Found> = urls(text).filter(|found| !links.has(&text[found.start..found.end])).collect();
            *dropped += unknown.len();
            if let [one] = unknown.as_slice()
                && text[..one.start].trim().is_empty()
                && text[one.end..].trim().is_empty()
            {
                return true;
            }
            for found in unknown.iter().rev() {
                text.replace_range(found.start..found.end, "");
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    false
}

/// Place of a URL in a text, in bytes.
struct Found {
    start: usize,
    end: usize,
}

/// Returns the URLs in a text: with any scheme and `//`, with a scheme that runs or carries something, or from `www.`.
fn urls(text: &str) -> impl Iterator<Item = Found> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = text.get(at..)?;
            let start = at + rest.char_indices().find(|(offset, _)| begins(text, at + offset))?.0;
            // A script goes on behind its brackets.
            let ends: fn(char) -> bool = if has_script(text, start) { char::is_whitespace } else { is_end };
            let length = text[start..].find(ends).unwrap_or(text.len() - start);
            let url = text[start..start + length].trim_end_matches(['.', ',', ';', ':', '!', '?', '…', '。', '、']);
            at = start + length.max(1);
            if url.len() > 4 {
                return Some(Found { start, end: start + url.len() });
            }
        }
    })
}

fn is_end(character: char) -> bool {
    character.is_whitespace() || character.is_control() || "<>\"'`()[]{}|\\^「」（）".contains(character)
}

/// Returns whether the URL that begins at this byte runs code.
fn has_script(text: &str, at: usize) -> bool {
    const SCHEME: &str = "javascript:";
    text.get(at..at + SCHEME.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(SCHEME))
}

/// Returns whether a URL begins at this byte.
fn begins(text: &str, at: usize) -> bool {
    let rest = &text.as_bytes()[at..];
    let is_inside = at > 0 && text.as_bytes()[at - 1].is_ascii_alphanumeric();
    if is_inside || !rest[0].is_ascii_alphabetic() {
        return false;
    }
    let has = |start: &str| rest.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start.as_bytes()));
    if has("www.") || has("javascript:") || has("data:") || has("mailto:") {
        return true;
    }
    let scheme = rest.iter().take(20).take_while(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte)).count();
    rest[scheme..].starts_with(b"://")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kept(answer: Value, schema: Option<Value>) -> Value {
        let links = Links::of(["https://shop.example/a", "https://shop.example/b/", "https://shop.example/c?d=1"]);
        let schema = schema.map(|source| Schema::read(source).unwrap());
        let mut answer = answer;
        drop_unknown_urls(&mut answer, &links, schema.as_ref());
        answer
    }

    #[test]
    fn urls_of_the_page_stay_and_others_go() {
        for url in [
            "https://shop.example/a",
            "https://shop.example/b",
            "HTTPS://shop.example/a/",
            "https://shop.example/c?d=1",
        ] {
            assert_eq!(kept(json!([url]), None), json!([url]));
        }
        for url in [
            "https://shop.example/a?leak=1",
            "https://shop.example/abc",
            "http://shop.example/a",
            "HTTPS://EVIL.example",
            "ftp://evil.example/x",
            "www.evil.example/x",
            "javascript:alert(1)",
            "mailto:me@evil.example",
            "data:text/html,x",
        ] {
            assert_eq!(kept(json!([url, "text"]), None), json!(["text"]), "{url}");
        }
    }

    #[test]
    fn texts_lose_only_the_url() {
        assert_eq!(kept(json!("![x](https://evil.example/?a=b) ok"), None), "![x]() ok");
        assert_eq!(kept(json!("time 12:30, ratio 3://4, note: data"), None), "time 12:30, ratio 3://4, note: data");
    }

    #[test]
    fn a_required_member_is_empty_instead() {
        let item = json!({ "type": "object", "required": ["url"], "properties": { "url": { "type": "string" } } });
        let source = json!({ "type": "object", "required": ["site", "items"], "properties": {
            "site": { "type": "string" }, "items": { "type": "array", "items": item },
        } });
        let answer = json!({ "site": "https://evil.example", "items": [{ "url": "https://evil.example/2" }] });
        assert_eq!(kept(answer, Some(source)), json!({ "site": "", "items": [{ "url": "" }] }));
    }
}
