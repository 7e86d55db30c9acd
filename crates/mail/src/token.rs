//! Signed tokens for the links in letters.

use std::fmt;

use base::{Secret, Timestamp};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use thiserror::Error;

/// Longest token that is looked at.
const MAX_LENGTH: usize = 1024;

/// Purpose of a token. One for one purpose is no use for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The recipient confirms that it wants letters.
    Confirm,
    /// The recipient wants no more letters.
    Unsubscribe,
}

impl Purpose {
    fn as_str(self) -> &'static str {
        match self {
            Self::Confirm => "confirm",
            Self::Unsubscribe => "unsubscribe",
        }
    }
}

/// The token was not made here, not for this purpose, or is too old.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the link is invalid or has expired")]
pub struct TokenError;

/// Makes and checks tokens with one key.
#[derive(Clone)]
pub struct Tokens(Hmac<Sha256>);

impl Tokens {
    /// Takes the key, which all servers of an installation share.
    #[must_use]
    pub fn new(key: &Secret) -> Self {
        match <Hmac<Sha256> as KeyInit>::new_from_slice(key.expose().as_bytes()) {
            Ok(mac) => Self(mac),
            Err(_) => unreachable!("HMAC takes keys of any length"),
        }
    }

    /// Makes a token for `subject`, any text that names what it is about, such as an id. It is readable in the token.
    #[must_use]
    pub fn sign(&self, purpose: Purpose, subject: &str, until: Timestamp) -> String {
        let payload = format!("{}.{subject}", until.timestamp());
        let mac = self.mac(purpose, &payload).finalize().into_bytes();
        format!("{}.{}", URL_SAFE_NO_PAD.encode(&payload), URL_SAFE_NO_PAD.encode(mac))
    }

    /// Checks a token, and returns its subject.
    ///
    /// # Errors
    /// It was not made with this key and for this purpose, or `now` is past its end.
    pub fn verify(&self, purpose: Purpose, token: &str, now: Timestamp) -> Result<String, TokenError> {
        if token.len() > MAX_LENGTH {
            return Err(TokenError);
        }
        let (payload, mac) = token.split_once('.').ok_or(TokenError)?;
        let decoded = |text: &str| URL_SAFE_NO_PAD.decode(text).map_err(|_| TokenError);
        let payload = String::from_utf8(decoded(payload)?).map_err(|_| TokenError)?;
        self.mac(purpose, &payload).verify_slice(&decoded(mac)?).map_err(|_| TokenError)?;
        let (until, subject) = payload.split_once('.').ok_or(TokenError)?;
        let until: i64 = until.parse().map_err(|_| TokenError)?;
        if now.timestamp() > until { Err(TokenError) } else { Ok(subject.to_owned()) }
    }

    fn mac(&self, purpose: Purpose, payload: &str) -> Hmac<Sha256> {
        // The key may sign other things too, such as files.
        let signed = format!("mail\n{}\n{payload}", purpose.as_str());
        let mut mac = self.0.clone();
        mac.update(signed.as_bytes());
        mac
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tokens(***)")
    }
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, TimeDelta};

    use super::*;

    #[test]
    fn a_token_is_of_one_key_purpose_and_time() {
        let (tokens, other) = (Tokens::new(&Secret::new("key")), Tokens::new(&Secret::new("another key")));
        let now = DateTime::UNIX_EPOCH + TimeDelta::days(20_000);
        let token = tokens.sign(Purpose::Confirm, "018f.a@example.com", now + TimeDelta::days(7));
        assert!(token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)), "{token}");
        assert_eq!(tokens.verify(Purpose::Confirm, &token, now).as_deref(), Ok("018f.a@example.com"));
        assert_eq!(
            tokens.verify(Purpose::Confirm, &token, now + TimeDelta::days(7)).as_deref(),
            Ok("018f.a@example.com")
        );
        assert_eq!(tokens.verify(Purpose::Confirm, &token, now + TimeDelta::days(8)), Err(TokenError));
        assert_eq!(tokens.verify(Purpose::Unsubscribe, &token, now), Err(TokenError));
        assert_eq!(other.verify(Purpose::Confirm, &token, now), Err(TokenError));
    }

    #[test]
    fn a_token_that_was_changed_is_refused() {
        let tokens = Tokens::new(&Secret::new("key"));
        let now = DateTime::UNIX_EPOCH;
        let token = tokens.sign(Purpose::Unsubscribe, "a", now);
        for at in 0..token.len() {
            let mut changed = token.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            assert_eq!(tokens.verify(Purpose::Unsubscribe, &changed, now), Err(TokenError), "{at}");
        }
        for bad in ["", ".", "a", "a.b", "é.é", &"a".repeat(5000)] {
            assert_eq!(tokens.verify(Purpose::Unsubscribe, bad, now), Err(TokenError), "{bad}");
        }
    }
}
