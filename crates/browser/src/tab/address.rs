//! Fingerprints of requests, for recognizing repetitions.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use super::ResourceKind;

/// Number of bytes of an address or a body that are compared.
const MAX_CHARS: usize = 500;
/// Minimum length of a path segment that is treated as a timestamp or random value.
const MIN_LOT: usize = 6;

/// Three fingerprints of a request, from exact to coarse, each a hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Address {
    /// Method, address and body.
    pub(crate) exact: u64,
    /// Method, address and body without counters, timestamps and random values.
    pub(crate) folded: u64,
    /// Endpoint: method and path without the query.
    pub(crate) place: u64,
}

impl Address {
    /// Returns the fingerprints of a script's request.
    pub(crate) fn of(method: &str, url: &str, body: &str) -> Self {
        let path = path(url);
        let query = fold(&url[path.len()..], 1);
        let place = fold(path, MIN_LOT);
        Self {
            exact: hash([method, url, body, ""]),
            folded: hash([method, &place, &query, &fold(body, 1)]),
            place: hash([method, &place, "", ""]),
        }
    }

    /// Returns the fingerprints of a file, where every path is another file.
    fn of_file(url: &str) -> Self {
        let path = path(url);
        let query = fold(&url[path.len()..], 1);
        Self { exact: hash([url, "", "", ""]), folded: hash([path, &query, "", ""]), place: hash([path, "", "", ""]) }
    }

    /// Returns the fingerprints of a `Network.requestWillBeSent`.
    pub(crate) fn of_event(kind: ResourceKind, params: &Value) -> Self {
        let request = &params["request"];
        let text = |name: &str| request[name].as_str().unwrap_or_default();
        match kind {
            ResourceKind::Xhr | ResourceKind::Fetch => Self::of(text("method"), text("url"), text("postData")),
            _ => Self::of_file(text("url")),
        }
    }
}

fn path(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or_default()
}

fn hash(parts: [&str; 4]) -> u64 {
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    hasher.finish()
}

/// Replaces words of at least `least` bytes that contain a digit by `0`.
fn fold(text: &str, least: usize) -> String {
    let mut folded = String::with_capacity(text.len().min(MAX_CHARS));
    for part in text
        .get(..text.floor_char_boundary(MAX_CHARS))
        .unwrap_or_default()
        .split_inclusive(|c: char| !c.is_alphanumeric())
    {
        let word = part.trim_end_matches(|c: char| !c.is_alphanumeric());
        let is_lot = word.len() >= least && word.contains(|c: char| c.is_ascii_digit());
        folded.push_str(if is_lot { "0" } else { word });
        folded.push_str(&part[word.len()..]);
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(url: &str) -> Address {
        Address::of("GET", url, "")
    }

    #[test]
    fn numbers_and_lots_do_not_tell_requests_apart() {
        for (one, other) in [
            ("/poll?t=1764000000123", "/poll?t=1764000000999"),
            ("/p?0.12", "/p?0.9"),
            ("/p?id=a8f-3c1", "/p?id=7b2-99d"),
            ("/poll/1764000000123", "/poll/1764000000999"),
        ] {
            assert_eq!(get(one).folded, get(other).folded, "{one}");
            assert_ne!(get(one).exact, get(other).exact, "{one}");
        }
        assert_ne!(get("/list?by=name").folded, get("/list?by=age").folded);
        assert_eq!(get("/list?by=name").place, get("/list?by=age").place);
        assert_ne!(get("/item/1").place, get("/item/2").place);
        assert_ne!(get("/a").place, Address::of("POST", "/a", "").place);
        assert_ne!(Address::of("POST", "/a", "{query}").folded, Address::of("POST", "/a", "{other}").folded);
        assert_ne!(Address::of_file("/a1b2c3d4.js").place, Address::of_file("/b1b2c3d4.js").place);
    }
}
