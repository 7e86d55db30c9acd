//! Signing secrets of a team's webhooks.

use base::Secret;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Prefix of every secret (Standard Webhooks 1.0, "Signature scheme").
const PREFIX: &str = "whsec_";
/// Number of random bytes, before base64 encoding (Standard Webhooks 1.0, "Signature scheme").
const BYTES: std::ops::RangeInclusive<usize> = 24..=64;

/// Signing secret: `whsec_` and the base64 of 24 to 64 random bytes. Prints as `***`.
///
/// The whole text is the key of `X-Service-Signature`. The decoded bytes are the key of `webhook-signature`, as
/// Standard Webhooks libraries expect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SigningSecret {
    text: Secret,
    key: SecretBytes,
}

/// Text that is not a valid signing secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be `whsec_` followed by the base64 of 24 to 64 bytes")]
pub struct InvalidSecret;

impl SigningSecret {
    /// Returns a secret made of 32 random bytes.
    #[must_use]
    pub fn generate(random: [u8; 32]) -> Self {
        Self { text: Secret::new(format!("{PREFIX}{}", STANDARD.encode(random))), key: SecretBytes(random.to_vec()) }
    }

    /// Parses a secret.
    ///
    /// # Errors
    /// [`InvalidSecret`] if the prefix, the encoding or the length is wrong.
    pub fn parse(text: &str) -> Result<Self, InvalidSecret> {
        let encoded = text.strip_prefix(PREFIX).ok_or(InvalidSecret)?;
        let key = STANDARD.decode(encoded).map_err(|_| InvalidSecret)?;
        if !BYTES.contains(&key.len()) {
            return Err(InvalidSecret);
        }
        Ok(Self { text: Secret::new(text), key: SecretBytes(key) })
    }

    /// Returns the whole text, for its owner. Its bytes are the key of [`sign`](crate::sign).
    #[must_use]
    pub fn text(&self) -> &str {
        self.text.expose()
    }

    /// Returns the decoded bytes: the key of [`standard_sign`](crate::standard_sign).
    #[must_use]
    pub fn key(&self) -> &[u8] {
        &self.key.0
    }
}

#[derive(Clone, PartialEq, Eq)]
struct SecretBytes(Vec<u8>);

impl std::fmt::Debug for SecretBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_read_back_and_do_not_print() {
        let secret = SigningSecret::generate([7; 32]);
        assert_eq!(SigningSecret::parse(secret.text()), Ok(secret.clone()));
        assert_eq!(secret.key(), [7; 32]);
        assert_eq!(format!("{secret:?}"), "SigningSecret { text: ***, key: *** }");
    }

    #[test]
    fn other_texts_are_refused() {
        let sized = |bytes: usize| format!("whsec_{}", STANDARD.encode(vec![1; bytes]));
        let check = |text: &str, valid: bool| assert_eq!(SigningSecret::parse(text).is_ok(), valid, "{text}");
        check(&sized(24), true);
        check(&sized(64), true);
        check(&sized(23), false);
        check(&sized(65), false);
        check("", false);
        check("whsec_", false);
        check(&sized(32)[6..], false);
        check(&format!("{} ", sized(32)), false);
        check("whsec_!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!", false);
    }
}
