//! Secrets of targets and webhooks: header values, and user names and passwords in URLs. Answers show masks in their place, and a request
//! may send the masks back.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::{Map, Value};

use crate::target::http_rest;

/// Mask in the place of a secret.
pub const MASK: &str = "***";

/// Secrets by the JSON pointers of their places, with the texts that the masks have replaced.
pub type HiddenValues = BTreeMap<String, String>;

/// Objects of headers in a target.
const HEADERS: &[&str] = &["/scrapeOptions/headers", "/crawlOptions/scrapeOptions/headers"];

/// Masks the secrets of a target, and returns them.
pub fn hide_target(given: &mut Map<String, Value>) -> HiddenValues {
    let mut hidden = HiddenValues::new();
    let mut whole = Value::Object(std::mem::take(given));
    for place in HEADERS {
        hide_headers(&mut whole, place, &mut hidden);
    }
    hide_url(&mut whole, "/url", &mut hidden);
    let urls = whole.get("urls").and_then(Value::as_array).map_or(0, Vec::len);
    for index in 0..urls {
        hide_url(&mut whole, &format!("/urls/{index}"), &mut hidden);
    }
    put_back(given, whole);
    hidden
}

/// Masks the secrets of a webhook, and returns them.
pub fn hide_webhook(given: &mut Map<String, Value>) -> HiddenValues {
    let mut hidden = HiddenValues::new();
    let mut whole = Value::Object(std::mem::take(given));
    hide_headers(&mut whole, "/headers", &mut hidden);
    hide_url(&mut whole, "/url", &mut hidden);
    put_back(given, whole);
    hidden
}

/// Restores secrets where their masks stand. Other texts stay, so a request can replace a secret.
pub fn reveal(given: &mut Map<String, Value>, hidden: &HiddenValues) {
    let mut whole = Value::Object(std::mem::take(given));
    for (place, secret) in hidden {
        if let Some(Value::String(text)) = whole.pointer_mut(place)
            && (text == MASK || masked_url(secret).is_some_and(|masked| *text == masked))
        {
            text.clone_from(secret);
        }
    }
    put_back(given, whole);
}

/// Returns the path of a secret that is still a mask, such as `scrapeOptions.headers.Cookie`.
#[must_use]
pub fn masked_path(given: &Map<String, Value>) -> Option<String> {
    fn walk(value: &Value, path: &str, depth: u32) -> Option<String> {
        match value {
            Value::String(text) if text == MASK || has_masked_userinfo(text) => Some(path.to_owned()),
            Value::Object(map) if depth > 0 => {
                map.iter().find_map(|(key, value)| walk(value, &format!("{path}.{key}"), depth - 1))
            }
            Value::Array(list) if depth > 0 => {
                list.iter().enumerate().find_map(|(index, value)| walk(value, &format!("{path}[{index}]"), depth - 1))
            }
            _ => None,
        }
    }
    let places = ["headers", "url", "urls", "scrapeOptions", "crawlOptions"];
    let headers = |key: &str, value: &Value| match key {
        "headers" | "url" | "urls" => walk(value, key, 2),
        "scrapeOptions" => walk(value.get("headers")?, "scrapeOptions.headers", 2),
        _ => walk(value.pointer("/scrapeOptions/headers")?, "crawlOptions.scrapeOptions.headers", 2),
    };
    places.into_iter().find_map(|key| headers(key, given.get(key)?))
}

fn put_back(given: &mut Map<String, Value>, whole: Value) {
    if let Value::Object(map) = whole {
        *given = map;
    }
}

fn hide_headers(whole: &mut Value, place: &str, hidden: &mut HiddenValues) {
    let Some(headers) = whole.pointer_mut(place).and_then(Value::as_object_mut) else { return };
    for (name, value) in headers {
        if let Value::String(text) = value
            && text != MASK
        {
            let name = name.replace('~', "~0").replace('/', "~1");
            hidden.insert(format!("{place}/{name}"), std::mem::replace(text, MASK.to_owned()));
        }
    }
}

fn hide_url(whole: &mut Value, place: &str, hidden: &mut HiddenValues) {
    if let Some(Value::String(text)) = whole.pointer_mut(place)
        && let Some(masked) = masked_url(text)
        && masked != *text
    {
        hidden.insert(place.to_owned(), std::mem::replace(text, masked));
    }
}

/// Returns a URL with a mask in the place of its user name and password; `None` if it has none.
fn masked_url(text: &str) -> Option<String> {
    let place = userinfo(text)?;
    Some(format!("{}{MASK}{}", &text[..place.start], &text[place.end..]))
}

fn has_masked_userinfo(text: &str) -> bool {
    userinfo(text).is_some_and(|place| &text[place] == MASK)
}

/// Returns the place of user name and password in a URL as it is written.
fn userinfo(text: &str) -> Option<Range<usize>> {
    let rest = http_rest(text.trim_start())?.strip_prefix("//")?;
    // End of the authority by the WHATWG URL standard, where a backslash counts as a slash.
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let at = rest[..end].rfind('@')?;
    let start = text.len() - rest.len();
    Some(start..start + at)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "`json!` bodies are written in place")]
    fn map(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn secrets_are_masked_and_come_back() {
        let given = map(json!({
            "type": "scrape",
            "urls": ["https://a.test/x", "http://me:hush1@b.test/?q=a:b@c", " HTTPS://hush4@c.test "],
            "scrapeOptions": { "headers": { "Cookie": "hush2", "X/~": "hush3" }, "mobile": true },
        }));
        let mut shown = given.clone();
        let hidden = hide_target(&mut shown);
        let text = Value::Object(shown.clone()).to_string();
        assert!(!text.contains("hush") && text.contains("http://***@b.test/?q=a:b@c"), "{text}");
        assert_eq!(hidden.len(), 4);
        assert_eq!(masked_path(&shown).as_deref(), Some("urls[1]"));
        let mut back = shown.clone();
        reveal(&mut back, &hidden);
        assert_eq!((&back, masked_path(&back)), (&given, None));
        // A second time nothing is left to hide.
        assert_eq!(hide_target(&mut shown), HiddenValues::new());
    }

    #[test]
    fn a_new_value_replaces_a_secret_and_a_stray_mask_is_found() {
        let mut shown = map(json!({ "url": "https://a.test/", "headers": { "A": "hush", "B": "hush" } }));
        let hidden = hide_webhook(&mut shown);
        shown["headers"]["A"] = json!("new");
        reveal(&mut shown, &hidden);
        assert_eq!(shown["headers"], json!({ "A": "new", "B": "hush" }));
        shown["headers"]["C"] = json!(MASK);
        assert_eq!(masked_path(&shown).as_deref(), Some("headers.C"));
        let crawl = map(json!({ "crawlOptions": { "scrapeOptions": { "headers": { "A": MASK } } } }));
        assert_eq!(masked_path(&crawl).as_deref(), Some("crawlOptions.scrapeOptions.headers.A"));
        // A mask elsewhere is a text like any other.
        assert_eq!(masked_path(&map(json!({ "queries": [MASK], "note": MASK }))), None);
    }

    #[test]
    fn the_secret_of_another_url_is_not_given_away() {
        let mut target = map(json!({ "urls": ["http://me:hush@a.test/"] }));
        let hidden = hide_target(&mut target);
        let mut other = map(json!({ "urls": ["http://***@evil.test/"] }));
        reveal(&mut other, &hidden);
        assert_eq!(other["urls"], json!(["http://***@evil.test/"]));
        assert_eq!(masked_path(&other).as_deref(), Some("urls[0]"));
    }
}
