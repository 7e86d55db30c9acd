//! Signatures over the exact bytes of a body: the service's own (docs/CONTRACT.md, "Webhooks") and those of Standard
//! Webhooks 1.0.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

const OURS: &str = "sha256=";
const STANDARD_VERSION: &str = "v1,";

/// Returns the value of `X-Service-Signature`: `sha256=` and the lower-case hex of HMAC-SHA256 over the raw body. The
/// key may have any length; for a team's secret it is the whole text.
#[must_use]
pub fn sign(key: impl AsRef<[u8]>, body: &[u8]) -> String {
    let digest = mac(key.as_ref(), &[body]).finalize().into_bytes();
    format!("{OURS}{}", hex::encode(digest))
}

/// Whether `header` is the `X-Service-Signature` of this body. Compares in constant time.
#[must_use]
pub fn verify(key: impl AsRef<[u8]>, body: &[u8], header: &str) -> bool {
    let digest = header.strip_prefix(OURS).and_then(|digits| hex::decode(digits).ok());
    digest.is_some_and(|digest| mac(key.as_ref(), &[body]).verify_slice(&digest).is_ok())
}

/// Returns one signature for `webhook-signature`: `v1,` and the base64 of HMAC-SHA256 over `<id>.<timestamp>.<body>`
/// (Standard Webhooks 1.0). `timestamp` is in seconds since 1970; `key` is [`SigningSecret::key`].
///
/// [`SigningSecret::key`]: crate::SigningSecret::key
#[must_use]
pub fn standard_sign(key: impl AsRef<[u8]>, id: &str, timestamp: i64, body: &[u8]) -> String {
    let digest = standard_mac(key.as_ref(), id, timestamp, body).finalize().into_bytes();
    format!("{STANDARD_VERSION}{}", STANDARD.encode(digest))
}

/// Parts of a received message, for [`standard_verify`].
#[derive(Debug, Clone, Copy)]
pub struct Received<'a> {
    /// Header `webhook-id`.
    pub id: &'a str,
    /// Header `webhook-timestamp`.
    pub timestamp: &'a str,
    /// Header `webhook-signature`: one or more signatures, separated by spaces.
    pub signatures: &'a str,
    /// Body as received.
    pub body: &'a [u8],
}

/// Whether any of the signatures is valid, and the timestamp is within `tolerance` of `now` (seconds since 1970),
/// before or after. Standard Webhooks recommends a few minutes. Compares in constant time.
#[must_use]
pub fn standard_verify(key: impl AsRef<[u8]>, received: &Received<'_>, now: i64, tolerance: Duration) -> bool {
    let Ok(timestamp) = received.timestamp.parse::<i64>() else { return false };
    if now.abs_diff(timestamp) > tolerance.as_secs() {
        return false;
    }
    received.signatures.split(' ').any(|signature| {
        let digest = signature.strip_prefix(STANDARD_VERSION).and_then(|encoded| STANDARD.decode(encoded).ok());
        let expect = || standard_mac(key.as_ref(), received.id, timestamp, received.body);
        digest.is_some_and(|digest| expect().verify_slice(&digest).is_ok())
    })
}

fn standard_mac(key: &[u8], id: &str, timestamp: i64, body: &[u8]) -> Hmac<Sha256> {
    mac(key, &[id.as_bytes(), b".", timestamp.to_string().as_bytes(), b".", body])
}

fn mac(key: &[u8], parts: &[&[u8]]) -> Hmac<Sha256> {
    let Ok(mut mac) = <Hmac<Sha256> as KeyInit>::new_from_slice(key) else {
        unreachable!("HMAC takes keys of every length (RFC 2104 section 3)")
    };
    for part in parts {
        mac.update(part);
    }
    mac
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SigningSecret;
    use proptest::prelude::*;

    /// Checks published test vectors.
    #[test]
    fn vectors_of_others() {
        let check = |key: &[u8], body: &[u8], hex: &str| {
            let header = format!("sha256={hex}");
            assert_eq!(sign(key, body), header);
            assert!(verify(key, body, &header));
        };
        // Example from GitHub's webhook documentation.
        let github = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
        check(b"It's a Secret to Everybody", b"Hello, World!", github);
        // RFC 4231 sections 4.2, 4.3, 4.4, 4.7 and 4.8.
        let one = "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7";
        check(&[0x0b; 20], b"Hi There", one);
        let two = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        check(b"Jefe", b"what do ya want for nothing?", two);
        let three = "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe";
        check(&[0xaa; 20], &[0xdd; 50], three);
        let six = "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54";
        check(&[0xaa; 131], b"Test Using Larger Than Block-Size Key - Hash Key First", six);
    }

    /// Checks the example of the Standard Webhooks libraries.
    #[test]
    fn vectors_of_standard_webhooks() {
        let secret = SigningSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
        let signature = standard_sign(secret.key(), id, 1_614_265_330, br#"{"test": 2432232314}"#);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    /// Checks every vector of the case file, which `cargo xtask webhook-vectors` checks too.
    #[test]
    fn vectors_of_the_case_file() {
        let text = include_str!("../../../tests/cases/webhook_vectors.json");
        let file: serde_json::Value = serde_json::from_str(text).unwrap();
        let vectors = file["vectors"].as_array().unwrap();
        assert!(vectors.len() >= 10, "only {} vectors", vectors.len());
        for vector in vectors {
            let bytes = |member: &str| hex::decode(vector[member].as_str().unwrap()).unwrap();
            let (key, body, header) = (bytes("secret_hex"), bytes("body_hex"), vector["header"].as_str().unwrap());
            assert_eq!(sign(&key, &body), header, "{}", vector["name"]);
            assert!(verify(&key, &body, header), "{}", vector["name"]);
            assert!(!verify(&key, &[&body[..], b"x"].concat(), header), "{}", vector["name"]);
        }
    }

    #[test]
    fn vectors_of_headers_that_do_not_fit() {
        let good = sign("k", b"{}");
        assert!(verify("k", b"{}", &good));
        let upper = format!("sha256={}", good[7..].to_uppercase());
        assert!(verify("k", b"{}", &upper), "hex digits have no case");
        for bad in ["", "sha256=", "sha256=00", &good[7..], &good[..70], &format!("{good}00"), &format!("sha1={good}")]
        {
            assert!(!verify("k", b"{}", bad), "{bad}");
        }
        assert!(!verify("k2", b"{}", &good) && !verify("k", b"{} ", &good));
    }

    #[test]
    fn vectors_of_rotation_and_age() {
        let (old, new) = (SigningSecret::generate([1; 32]), SigningSecret::generate([2; 32]));
        let signed = |secret: &SigningSecret| standard_sign(secret.key(), "m", 1000, b"{}");
        let both = format!("{} {}", signed(&new), signed(&old));
        let check = |secret: &SigningSecret, timestamp: &str, signatures: &str, now: i64, expect: bool| {
            let received = Received { id: "m", timestamp, signatures, body: b"{}" };
            let fits = standard_verify(secret.key(), &received, now, Duration::from_secs(300));
            assert_eq!(fits, expect, "{timestamp} {signatures} {now}");
        };
        check(&old, "1000", &both, 1000, true);
        check(&new, "1000", &both, 1300, true);
        check(&new, "1000", &both, 700, true);
        check(&new, "1000", &both, 1301, false);
        check(&new, "1000", &both, 699, false);
        check(&old, "1000", &signed(&new), 1000, false);
        check(&new, "1001", &both, 1000, false);
        check(&new, "x", &both, 1000, false);
        check(&new, "1000", "v1, v1,AAAA v2,x", 1000, false);
        check(&new, "1000", "", 1000, false);
    }

    proptest! {
        #[test]
        fn whatever_is_signed_verifies_and_nothing_else(
            key in proptest::collection::vec(any::<u8>(), 0..200),
            body in proptest::collection::vec(any::<u8>(), 0..2000),
            bit in any::<proptest::sample::Index>(),
        ) {
            let header = sign(&key, &body);
            prop_assert!(verify(&key, &body, &header));
            let mut other = body.clone();
            other.push(0);
            let at = bit.index(other.len() * 8);
            other[at / 8] ^= 1 << (at % 8);
            prop_assert!(!verify(&key, &other, &header));
        }
    }
}
