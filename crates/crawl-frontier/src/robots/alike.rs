//! Normalisation of patterns and of paths with their query for comparison (RFC 9309 sections 2.2.2 and 2.2.3).
//!
//! Escapes of letters, digits and `-._~` are equivalent to those characters and are decoded. Other escapes are kept in
//! upper case: `%2F` is not a slash. In a query, where `:`, `/`, `?` and `@` are not delimiters (RFC 3986 section 3.4),
//! their escapes are decoded as well. Characters that are invalid in URLs (spaces, quotes, non-ASCII bytes) are escaped.

use std::borrow::Cow;

use crate::spelling::{escape, is_unreserved, push_escaped, push_unless_unreserved};

/// Reserved characters of a URL (RFC 3986 section 2.2), without the two that are special in patterns.
const RESERVED: &[u8] = b":/?#[]@!&'()+,;=";

/// Reserved characters that are not delimiters in a query.
const PLAIN_IN_QUERY: &[u8] = b":/?@";

/// Maximum number of stars in a pattern that are considered as the beginning of a query.
const MAX_STARS: usize = 8;

/// Normalises a path with its query. `*` and `$` are escaped, because they are special in patterns.
pub(super) fn path(raw: &[u8]) -> Cow<'_, str> {
    alike(raw, |_| false)
}

/// Normalises a pattern. Every `*`, and a `$` at the end, are kept.
pub(super) fn pattern(raw: &[u8]) -> Cow<'_, str> {
    let last = raw.len().saturating_sub(1);
    alike(raw, |at| raw[at] == b'*' || (raw[at] == b'$' && at == last))
}

/// Returns the variants of a pattern for queries that begin inside one of its stars, where escapes are decoded differently.
/// Variants equal to the pattern are omitted.
pub(super) fn in_query(pattern: &str) -> Vec<String> {
    const ESCAPES: [(&str, &str); 4] = [("%3A", ":"), ("%2F", "/"), ("%3F", "?"), ("%40", "@")];
    let end = pattern.find('?').unwrap_or(pattern.len());
    let stars = pattern[..end].match_indices('*').take(MAX_STARS);
    let variant = |(star, _): (usize, &str)| {
        let (path, query) = pattern.split_at(star + 1);
        let plain = ESCAPES.iter().fold(query.to_owned(), |query, (escape, plain)| query.replace(escape, plain));
        (plain != query).then(|| format!("{path}?*{plain}"))
    };
    stars.filter_map(variant).collect()
}

/// Normalises bytes; `stays` decides by index whether a `*` or `$` is kept.
fn alike(raw: &[u8], stays: impl Fn(usize) -> bool) -> Cow<'_, str> {
    let is_plain = |at: usize| is_unreserved(raw[at]) || RESERVED.contains(&raw[at]) || stays(at);
    if (0..raw.len()).all(is_plain) {
        return String::from_utf8_lossy(raw);
    }
    let mut text = String::with_capacity(raw.len() + 16);
    let (mut at, mut is_query) = (0, false);
    while at < raw.len() {
        match escape(&raw[at..]) {
            Some(byte) => {
                match is_query && PLAIN_IN_QUERY.contains(&byte) {
                    true => text.push(char::from(byte)),
                    false => push_unless_unreserved(&mut text, byte),
                }
                at += 3;
                continue;
            }
            None if is_plain(at) => {
                is_query |= raw[at] == b'?';
                text.push(char::from(raw[at]));
            }
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
            ("/%3Fa%3A?u=https%3a%2F/a.test%3F%40%26%2a", "/%3Fa%3A?u=https://a.test?@%26%2A"),
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
    fn a_query_may_begin_in_a_star() {
        let cases: [(&str, &[&str]); 9] = [
            ("/*u=https%3A%2F%2Fa.test", &["/*?*u=https://a.test"]),
            ("/*url=*%2F", &["/*?*url=*/", "/*url=*?*/"]),
            ("/*a*b%40%26$", &["/*?*a*b@%26$", "/*a*?*b@%26$"]),
            ("/%2Fx*y%3A", &["/%2Fx*?*y:"]),
            ("/*%2Fa*b", &["/*?*/a*b"]),
            ("/*?u=/", &[]),
            ("/*a?*/", &[]),
            ("/r%2F*", &[]),
            ("/*r", &[]),
        ];
        for (one, others) in cases {
            assert_eq!(in_query(one), others, "{one}");
        }
        assert_eq!(in_query(&format!("/{}%2F", "*a".repeat(20))).len(), MAX_STARS);
    }
}
