//! Channel binding `tls-server-end-point` (RFC 5929 section 4.1): ties the login to the server's certificate, so that a
//! man in the middle cannot relay it.

use sha2::{Digest, Sha256, Sha384, Sha512};

const SEQUENCE: u8 = 0x30;
const OBJECT_ID: u8 = 0x06;

/// Returns the hash of the certificate with the hash function of its signature; SHA-256 in place of MD5 and SHA-1.
/// `None` if the signature names no hash function (Ed25519, RSA-PSS): the login then uses no channel binding.
pub(crate) fn server_end_point(certificate: &[u8]) -> Option<Vec<u8>> {
    Some(match signature_algorithm(certificate)? {
        // 1.2.840.113549.1.1: PKCS #1. 4 is MD5, 5 is SHA-1, 11 to 13 are SHA-256, SHA-384 and SHA-512.
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, kind] => match kind {
            4 | 5 | 11 => Sha256::digest(certificate).to_vec(),
            12 => Sha384::digest(certificate).to_vec(),
            13 => Sha512::digest(certificate).to_vec(),
            _ => return None,
        },
        // 1.2.840.10045.4: ECDSA. 1 is SHA-1, 3.2 to 3.4 are SHA-256, SHA-384 and SHA-512.
        [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, kind @ ..] => match kind {
            [1] | [3, 2] => Sha256::digest(certificate).to_vec(),
            [3, 3] => Sha384::digest(certificate).to_vec(),
            [3, 4] => Sha512::digest(certificate).to_vec(),
            _ => return None,
        },
        _ => return None,
    })
}

/// Returns the object id in `Certificate ::= SEQUENCE { tbsCertificate, signatureAlgorithm SEQUENCE { OBJECT
/// IDENTIFIER, … }, … }` (RFC 5280 section 4.1).
fn signature_algorithm(certificate: &[u8]) -> Option<&[u8]> {
    let (certificate, _) = element(certificate, SEQUENCE)?;
    let (_, rest) = element(certificate, SEQUENCE)?;
    let (algorithm, _) = element(rest, SEQUENCE)?;
    let (id, _) = element(algorithm, OBJECT_ID)?;
    Some(id)
}

/// Splits off a DER element with this tag: returns its content and the rest.
fn element(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (_, rest) = bytes.split_first().filter(|(first, _)| **first == tag)?;
    let (first, rest) = rest.split_first()?;
    // Lengths below 0x80 are a single byte; else the low bits count the bytes of the length, big-endian.
    let (length, rest) = match usize::from(*first) {
        short @ 0..0x80 => (short, rest),
        long => {
            let (digits, rest) =
                rest.split_at_checked(long - 0x80).filter(|(digits, _)| (1..=4).contains(&digits.len()))?;
            (digits.iter().fold(0, |sum, digit| (sum << 8) | usize::from(*digit)), rest)
        }
    };
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a certificate that has nothing but its signature algorithm.
    fn certificate(id: &[u8]) -> Vec<u8> {
        let wrap = |tag: u8, content: &[u8]| {
            let length = u8::try_from(content.len()).unwrap();
            [&[tag, 0x81, length], content].concat()
        };
        let algorithm = wrap(SEQUENCE, &[wrap(OBJECT_ID, id), vec![5, 0]].concat());
        wrap(SEQUENCE, &[wrap(SEQUENCE, &[2, 1, 0]), algorithm, vec![3, 1, 0]].concat())
    }

    fn check(id: &[u8], length: Option<usize>) {
        assert_eq!(server_end_point(&certificate(id)).map(|hash| hash.len()), length, "{id:x?}");
    }

    #[test]
    fn the_hash_is_that_of_the_signature() {
        let rsa = |kind: u8| [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, kind];
        for (kind, length) in [(4, Some(32)), (5, Some(32)), (11, Some(32)), (12, Some(48)), (13, Some(64)), (10, None)]
        {
            check(&rsa(kind), length);
        }
        let ecdsa = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04];
        check(&[&ecdsa[..], &[1]].concat(), Some(32));
        check(&[&ecdsa[..], &[3, 2]].concat(), Some(32));
        check(&[&ecdsa[..], &[3, 3]].concat(), Some(48));
        check(&[&ecdsa[..], &[3, 4]].concat(), Some(64));
        check(&[0x2b, 0x65, 0x70], None);
    }

    #[test]
    fn torn_certificates_have_none() {
        let whole = certificate(&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 3, 2]);
        // The signature value after the algorithm is not read.
        for end in 0..whole.len() - 3 {
            assert_eq!(server_end_point(&whole[..end]), None, "{end}");
        }
        assert_eq!(server_end_point(&[0x30, 0x80]), None);
        assert_eq!(server_end_point(&[0x30, 0x88, 255, 255, 255, 255, 255, 255, 255, 255]), None);
    }
}
