//! Authentication of the operator by the token `admin.token`.

use app::Refusal;
use base::Secret;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use sha2::{Digest, Sha256};
use wire::Code;

/// SHA-256 digest of the operator's token.
#[derive(Clone, Copy)]
pub struct Operator([u8; 32]);

/// Error for a request with more than one `Authorization` header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the request has more than one Authorization header")]
pub struct RepeatedAuthorization;

impl Refusal for RepeatedAuthorization {
    fn code(&self) -> Code {
        Code::BadRequest
    }
}

impl Operator {
    /// Returns `None` for an empty token, which disables the operator API.
    #[must_use]
    pub fn new(token: &Secret) -> Option<Self> {
        (!token.is_empty()).then(|| Self(Sha256::digest(token.expose().as_bytes()).into()))
    }

    /// Returns whether a request carries the operator's token. The comparison takes constant time, so its duration reveals
    /// nothing about the token; the digests give both sides the same length.
    #[must_use]
    pub fn sends(&self, headers: &HeaderMap) -> bool {
        let Ok(Some(token)) = bearer(headers) else { return false };
        let given = Sha256::digest(token.as_bytes());
        given.iter().zip(self.0).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
    }
}

/// Returns the token of `Authorization: Bearer TOKEN` (RFC 6750 section 2.1). Other schemes count as no token.
///
/// # Errors
/// [`RepeatedAuthorization`], because it is ambiguous which of several tokens counts.
pub fn bearer(headers: &HeaderMap) -> Result<Option<&str>, RepeatedAuthorization> {
    let mut lines = headers.get_all(AUTHORIZATION).iter();
    let first = lines.next();
    if lines.next().is_some() {
        return Err(RepeatedAuthorization);
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
        let check = |lines: &[&[u8]], expect: Result<Option<&str>, RepeatedAuthorization>| {
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
        check(&[b"Bearer a", b"Bearer b"], Err(RepeatedAuthorization));
        check(&[b"", b""], Err(RepeatedAuthorization));
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
