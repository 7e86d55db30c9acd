//! Validators (`ETag`, `Last-Modified`) and conditional requests (RFC 9110 sections 8.8 and 13).

use http::header::{ETAG, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED};
use http::{HeaderMap, HeaderValue};

/// Longest header value that is kept.
const MAX_BYTES: usize = 256;

/// Validators of one version of a page, used to ask the site for the page only if it has changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Validators {
    /// The `ETag` header as it was sent, strong or weak.
    pub etag: Option<String>,
    /// The `Last-Modified` header as it was sent.
    pub last_modified: Option<String>,
}

impl Validators {
    /// Reads the validators of a response. Values that are too long, not visible ASCII or no entity tag are discarded.
    pub(crate) fn of(answer: &HeaderMap) -> Self {
        let sent = |name| answer.get(name).and_then(|value| value.to_str().ok()).filter(|value| is_sound(value));
        Self {
            etag: sent(ETAG).filter(|value| is_entity_tag(value)).map(str::to_owned),
            last_modified: sent(LAST_MODIFIED).map(str::to_owned),
        }
    }

    /// Builds the headers of a conditional request, which gets 304 while the page is unchanged (RFC 9110 section 13.1).
    pub(crate) fn conditions(&self) -> HeaderMap {
        let mut conditions = HeaderMap::new();
        for (name, value) in [(IF_NONE_MATCH, &self.etag), (IF_MODIFIED_SINCE, &self.last_modified)] {
            if let Some(value) = value.as_ref().and_then(|value| HeaderValue::try_from(value).ok()) {
                conditions.insert(name, value);
            }
        }
        conditions
    }

    /// Merges in the validators of a 304; values that it does not send are kept.
    #[must_use]
    pub fn renewed(self, told: Self) -> Self {
        Self { etag: told.etag.or(self.etag), last_modified: told.last_modified.or(self.last_modified) }
    }
}

fn is_sound(value: &str) -> bool {
    !value.is_empty() && value.len() <= MAX_BYTES && value.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// Whether this is `"…"` or `W/"…"`. Anything else has its own meaning in `If-None-Match`: a list, or `*` for any
/// version.
fn is_entity_tag(value: &str) -> bool {
    let opaque = value.strip_prefix("W/").unwrap_or(value);
    let inner = opaque.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inner.is_some_and(|inner| !inner.contains(['"', ' ']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(headers: &[(&'static str, &str)]) -> Validators {
        let mut answer = HeaderMap::new();
        for (name, value) in headers {
            answer.insert(*name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        Validators::of(&answer)
    }

    #[test]
    fn only_entity_tags_are_taken() {
        let long = |bytes: usize| format!("\"{}\"", "a".repeat(bytes - 2));
        let (longest, longer) = (long(MAX_BYTES), long(MAX_BYTES + 1));
        for (value, is_taken) in [
            (r#""v1""#, true),
            (r#"W/"v1""#, true),
            (r#""""#, true),
            (longest.as_str(), true),
            (longer.as_str(), false),
            ("*", false),
            ("v1", false),
            (r#"""#, false),
            ("W/", false),
            (r#"w/"v1""#, false),
            (r#""a", "b""#, false),
            (r#""a b""#, false),
            (r#""ü""#, false),
            ("\"a\tb\"", false),
            ("", false),
        ] {
            assert_eq!(sent(&[("etag", value)]).etag.is_some(), is_taken, "{value}");
        }
    }

    #[test]
    fn what_was_sent_is_asked_with() {
        let date = "Mon, 02 Nov 2026 10:00:00 GMT";
        let both = sent(&[("etag", r#"W/"v1""#), ("last-modified", date)]);
        let conditions = both.conditions();
        assert_eq!(conditions[IF_NONE_MATCH], r#"W/"v1""#);
        assert_eq!(conditions[IF_MODIFIED_SINCE], date);
        let one = sent(&[("last-modified", date)]);
        assert_eq!((one.conditions().len(), one.conditions().contains_key(IF_NONE_MATCH)), (1, false));
        assert!(Validators::default().conditions().is_empty());
        assert_eq!(both.clone().renewed(Validators::default()), both);
        let told = sent(&[("etag", r#""v1""#)]);
        assert_eq!(both.renewed(told.clone()), Validators { etag: told.etag, ..one });
    }
}
