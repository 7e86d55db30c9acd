//! Encryption of profiles: JSON, compressed, then AES-256-GCM (NIST SP 800-38D) with a random nonce. Team and name are
//! authenticated as additional data, so that a row cannot be passed off as another one.

use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use base::Secret;
use fetch::{MAX_STATE_BYTES, State};
use kernel::AppError;

/// First byte of the sealed form.
const VERSION: u8 = 1;
/// Zstandard compression level.
const LEVEL: i32 = 3;

/// Encrypts and decrypts profiles.
pub(crate) struct Sealer(RandomizedNonceKey);

/// Error of encryption or decryption.
#[derive(Debug, thiserror::Error)]
enum SealError {
    #[error("the profile cannot be decrypted: it was encrypted with another key (sessions.profile_key), or modified")]
    Unsealed,
    #[error("the profile cannot be compressed or decompressed")]
    Packed(#[from] std::io::Error),
    #[error("the profile cannot be parsed or written as JSON")]
    Json(#[from] serde_json::Error),
}

impl Sealer {
    /// Creates a sealer with a key of 64 hexadecimal digits. Any other text gives a random key, which ends with the
    /// process.
    pub(crate) fn new(key: &Secret) -> Self {
        let mut bytes = rand::random::<[u8; 32]>();
        let mut given = [0; 32];
        if hex::decode_to_slice(key.expose(), &mut given).is_ok() {
            bytes = given;
        }
        match RandomizedNonceKey::new(&AES_256_GCM, &bytes) {
            Ok(key) => Self(key),
            Err(_) => unreachable!("a key of AES-256 has 32 bytes"),
        }
    }

    pub(crate) fn seal(&self, state: &State, team: &str, name: &str) -> Result<Vec<u8>, AppError> {
        self.try_seal(state, team, name).map_err(AppError::internal)
    }

    pub(crate) fn open(&self, sealed: &[u8], team: &str, name: &str) -> Result<State, AppError> {
        self.try_open(sealed, team, name).map_err(AppError::internal)
    }

    fn try_seal(&self, state: &State, team: &str, name: &str) -> Result<Vec<u8>, SealError> {
        let mut packed = zstd::bulk::compress(&serde_json::to_vec(state)?, LEVEL)?;
        let nonce = self.0.seal_in_place_append_tag(about(team, name), &mut packed).map_err(|_| SealError::Unsealed)?;
        let mut sealed = vec![VERSION];
        sealed.extend(nonce.as_ref());
        sealed.append(&mut packed);
        Ok(sealed)
    }

    fn try_open(&self, sealed: &[u8], team: &str, name: &str) -> Result<State, SealError> {
        let (version, rest) = sealed.split_first().ok_or(SealError::Unsealed)?;
        let (nonce, packed) = rest.split_at_checked(NONCE_LEN).ok_or(SealError::Unsealed)?;
        if *version != VERSION {
            return Err(SealError::Unsealed);
        }
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| SealError::Unsealed)?;
        let mut packed = packed.to_vec();
        let packed = self.0.open_in_place(nonce, about(team, name), &mut packed).map_err(|_| SealError::Unsealed)?;
        Ok(serde_json::from_slice(&zstd::bulk::decompress(packed, MAX_STATE_BYTES)?)?)
    }
}

/// Returns the additional data. Ids of teams contain no line break, so the separator is unambiguous.
fn about(team: &str, name: &str) -> Aad<String> {
    Aad::from(format!("{team}\n{name}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn state() -> State {
        State { cookies: vec![json!({ "name": "sid", "value": "hush-hush" })], origins: vec![] }
    }

    #[test]
    fn only_the_key_opens_what_was_sealed() {
        let sealer = Sealer::new(&Secret::new("07".repeat(32)));
        let sealed = sealer.try_seal(&state(), "red", "shop").unwrap();
        assert_ne!(sealed, sealer.try_seal(&state(), "red", "shop").unwrap(), "the nonce is random");
        assert!(!sealed.windows(9).any(|part| part == b"hush-hush"));
        let same = Sealer::new(&Secret::new("07".repeat(32)));
        assert_eq!(same.try_open(&sealed, "red", "shop").unwrap().cookies, state().cookies);
        for (sealer, team, name) in [
            (&Sealer::new(&Secret::new("08".repeat(32))), "red", "shop"),
            (&Sealer::new(&Secret::default()), "red", "shop"),
            (&same, "blue", "shop"),
            (&same, "red", "Shop"),
        ] {
            assert!(matches!(sealer.try_open(&sealed, team, name), Err(SealError::Unsealed)));
        }
        for at in [0, 1, sealed.len() - 1] {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert!(same.try_open(&changed, "red", "shop").is_err(), "byte {at}");
        }
        assert!(same.try_open(&sealed[..12], "red", "shop").is_err());
        assert!(same.try_open(&[], "red", "shop").is_err());
    }
}
