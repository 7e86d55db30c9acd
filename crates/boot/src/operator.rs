//! The operator's token, `admin.token`, and who sends it.

use base::Secret;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use sha2::{Digest, Sha256};

/// What the token of the operator is compared with.
#[derive(Clone, Copy)]
pub struct Operator([u8; 32]);

/// A request has more than one `Authorization` header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the request has more than one Authorization header")]
pub struct Repeated;

impl Operator {
    /// None when there is no token and so no operator.
    #[must_use]
    pub fn new(token: &Secret) -> Option<Self> {
        (!token.is_empty()).then(|| Self(Sha256::digest(token.expose().as_bytes()).into()))
    }

    /// Whether the token of a request is the operator's. Every byte is looked at, so the time it takes tells nothing of the
    /// token; the digests make both sides of one length.
    #[must_use]
    pub fn sends(&self, headers: &HeaderMap) -> bool {
        let Ok(Some(token)) = bearer(headers) else { return false };
        let given = Sha256::digest(token.as_bytes());
        given.iter().zip(self.0).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
    }
}

/// The token of `Authorization: Bearer TOKEN` (RFC 6750 section 2.1). Another scheme counts as no token.
///
/// # Errors
/// [`Repeated`], where nobody could tell which of two tokens is meant.
pub fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Repeated> {
    let mut lines = headers.get_all(AUTHORIZATION).iter();
    let first = lines.next();
    if lines.next().is_some() {
        return Err(Repeated);
    }
    let Some(text) = first.and_then(|value| value.to_str().ok()) else {
        return Ok(None);
    };
    let (scheme, token) = text.trim().split_once(' ').unwrap_or((text, ""));
    Ok(Some(token.trim()).filter(|token| scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[&[u8]]) -> HeaderMap {
        lines.iter().map(|line| (AUTHORIZATION, line[..].try_into().unwrap())).collect()
    }

    #[test]
    fn tokens_by_header() {
        let check = |lines: &[&[u8]], expect: Result<Option<&str>, Repeated>| {
            assert_eq!(bearer(&headers(lines)), expect, "{lines:?}")
        };
        check(&[], Ok(None));
        check(&[b"Bearer fc-1"], Ok(Some("fc-1")));
        check(&[b"bearer   fc-1 "], Ok(Some("fc-1")));
        check(&[b"Bearer undefined"], Ok(Some("undefined")));
        check(&[b"Bearer"], Ok(None));
        check(&[b"Bearer "], Ok(None));
        check(&[b"Basic e30="], Ok(None));
        check(&[b"Bearer \xff"], Ok(None));
        check(&[b"Bearer a", b"Bearer b"], Err(Repeated));
        check(&[b"", b""], Err(Repeated));
    }

    #[test]
    fn only_the_whole_token_is_the_operators() {
        assert!(Operator::new(&Secret::new("")).is_none());
        let operator = Operator::new(&Secret::new("hush")).unwrap();
        for (line, expect) in [("Bearer hush", true), ("Bearer hus", false), ("Bearer hushh", false), ("hush", false)] {
            assert_eq!(operator.sends(&headers(&[line.as_bytes()])), expect, "{line}");
        }
        assert!(!operator.sends(&headers(&[b"Bearer hush", b"Bearer hush"])) && !operator.sends(&headers(&[])));
    }
}
