//! One spelling for what robots.txt compares: patterns, and paths with their query (RFC 9309 sections 2.2.2 and 2.2.3).
//!
//! An escape of a letter, a digit or one of `-._~` means the same as that character, so it is undone. Any other escape
//! stays, in upper case: `%2F` is no slash. What no URL may hold as it is (spaces, quotes, other bytes than ASCII) is escaped.

use std::borrow::Cow;

use crate::spelling::{escape, is_unreserved, push_escaped, push_unless_unreserved};

/// Characters that mean something in a URL (RFC 3986 section 2.2), besides the two that mean something in a pattern.
const RESERVED: &[u8] = b":/?#[]@!&'()+,;=";

/// A path with its query. `*` and `$` are escaped, as they mean something else in a pattern.
pub(super) fn path(raw: &[u8]) -> Cow<'_, str> {
    alike(raw, |_| false)
}

/// A pattern: any `*` and a `$` at its end stay what they are.
pub(super) fn pattern(raw: &[u8]) -> Cow<'_, str> {
    let last = raw.len().saturating_sub(1);
    alike(raw, |at| raw[at] == b'*' || (raw[at] == b'$' && at == last))
}

/// The other spelling of a pattern's query, if it has one: there `:` and `/` mean what their escapes mean.
pub(super) fn with_other_query(pattern: &str) -> Option<String> {
    let (path, query) = pattern.split_once('?')?;
    let escaped = query.replace(':', "%3A").replace('/', "%2F");
    let query = if escaped == query { query.replace("%3A", ":").replace("%2F", "/") } else { escaped };
    Some(format!("{path}?{query}")).filter(|other| other != pattern)
}

/// `stays` tells by its place whether a `*` or `$` is kept.
fn alike(raw: &[u8], stays: impl Fn(usize) -> bool) -> Cow<'_, str> {
    let is_plain = |at: usize| is_unreserved(raw[at]) || RESERVED.contains(&raw[at]) || stays(at);
    if (0..raw.len()).all(is_plain) {
        return String::from_utf8_lossy(raw);
    }
    let mut text = String::with_capacity(raw.len() + 16);
    let mut at = 0;
    while at < raw.len() {
        match escape(&raw[at..]) {
            Some(byte) => {
                push_unless_unreserved(&mut text, byte);
                at += 3;
                continue;
            }
            None if is_plain(at) => text.push(char::from(raw[at])),
            None => push_escaped(&mut text, raw[at]),
        }
        at += 1;
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_one_spelling() {
        for (raw, expect) in [
            ("/a/b?c=d&e=(f)", "/a/b?c=d&e=(f)"),
            ("/%7Eme/%62%61%7a", "/~me/baz"),
            ("/c%2fd", "/c%2Fd"),
            ("/größe", "/gr%C3%B6%C3%9Fe"),
            ("/gr%c3%b6%c3%9fe", "/gr%C3%B6%C3%9Fe"),
            ("/a b|c", "/a%20b%7Cc"),
            ("/100%", "/100%25"),
            ("/a*b$", "/a%2Ab%24"),
        ] {
            assert_eq!(path(raw.as_bytes()), expect, "{raw}");
            assert_eq!(path(expect.as_bytes()), expect, "{raw} again");
        }
    }

    #[test]
    fn signs_of_patterns_stay() {
        for (raw, expect) in
            [("/*.pdf$", "/*.pdf$"), ("/a$b", "/a%24b"), ("/a%2ab%24", "/a%2Ab%24"), ("/é*$", "/%C3%A9*$")]
        {
            assert_eq!(pattern(raw.as_bytes()), expect, "{raw}");
        }
    }

    #[test]
    fn queries_have_two_spellings() {
        for (one, other) in [
            ("/r?u=https://a.test", Some("/r?u=https%3A%2F%2Fa.test")),
            ("/r?u=https%3A%2F%2Fa.test", Some("/r?u=https://a.test")),
            ("/r?u=1", None),
            ("/r:/%2F", None),
        ] {
            assert_eq!(with_other_query(one).as_deref(), other, "{one}");
        }
    }
}
