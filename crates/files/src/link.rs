//! Signed URLs of files: `/files/{id}/{name}?until=SECONDS&signature=HEX`. The signature is HMAC-SHA256 (RFC 2104) over
//! id, expiry and name, so that none of them can be changed.

use base::Secret;
use hmac::{Hmac, KeyInit, Mac};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::Sha256;
use uuid::Uuid;

/// Characters to percent-encode: all except the unreserved ones of RFC 3986 section 2.3.
pub(crate) const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Parts of a requested URL.
#[derive(Debug, Clone, Copy)]
pub struct Link<'a> {
    /// Id of the file.
    pub id: Uuid,
    /// Name of the file, decoded.
    pub name: &'a str,
    /// Time of expiry, in seconds since 1970.
    pub until: i64,
    /// Signature, not verified yet.
    pub signature: &'a str,
}

/// Parts of an upload URL. Its signature covers other data than that of a [`Link`], so that neither is valid as the
/// other.
#[derive(Debug, Clone, Copy)]
pub struct UploadLink<'a> {
    /// Id, name, expiry and signature.
    pub link: Link<'a>,
    /// Byte limit of the upload.
    pub size: u64,
}

/// Signing key of URLs.
pub(crate) struct Key(Hmac<Sha256>);

impl Key {
    pub(crate) fn new(secret: &Secret) -> Self {
        match <Hmac<Sha256> as KeyInit>::new_from_slice(secret.expose().as_bytes()) {
            Ok(mac) => Self(mac),
            Err(_) => unreachable!("HMAC takes keys of every length (RFC 2104 section 3)"),
        }
    }

    /// Returns path and query of a signed URL.
    pub(crate) fn sign(&self, id: Uuid, name: &str, until: i64) -> String {
        let signature = hex::encode(self.mac(id, name, until).finalize().into_bytes());
        let name = utf8_percent_encode(name, RESERVED);
        format!("/files/{id}/{name}?until={until}&signature={signature}")
    }

    /// Whether the signature is valid. The comparison takes constant time for signatures of the right length.
    pub(crate) fn verify(&self, link: &Link<'_>) -> bool {
        let mut digest = [0; 32];
        hex::decode_to_slice(link.signature, &mut digest).is_ok()
            && self.mac(link.id, link.name, link.until).verify_slice(&digest).is_ok()
    }

    /// Returns path and query of a signed URL for an upload of up to `size` bytes.
    pub(crate) fn sign_upload(&self, id: Uuid, name: &str, until: i64, size: u64) -> String {
        let signature = hex::encode(self.upload_mac(id, name, until, size).finalize().into_bytes());
        let name = utf8_percent_encode(name, RESERVED);
        format!("/files/{id}/{name}?until={until}&size={size}&signature={signature}")
    }

    /// Whether the signature of an upload URL is valid; see [`Key::verify`].
    pub(crate) fn verify_upload(&self, UploadLink { link, size }: &UploadLink<'_>) -> bool {
        let mut digest = [0; 32];
        hex::decode_to_slice(link.signature, &mut digest).is_ok()
            && self.upload_mac(link.id, link.name, link.until, *size).verify_slice(&digest).is_ok()
    }

    /// Computes the signature of an upload URL. No id begins with `upload`, so it never equals that of a [`Link`].
    fn upload_mac(&self, id: Uuid, name: &str, until: i64, size: u64) -> Hmac<Sha256> {
        self.0.clone().chain_update(format!("upload\n{id}\n{until}\n{size}\n{name}"))
    }

    fn mac(&self, id: Uuid, name: &str, until: i64) -> Hmac<Sha256> {
        // The fields are unambiguous: only the name, which comes last, has a free length and may hold a line break.
        self.0.clone().chain_update(format!("{id}\n{until}\n{name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: Uuid = Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0001);

    fn key() -> Key {
        Key::new(&Secret::new("the key"))
    }

    fn signature(path: &str) -> &str {
        path.rsplit_once('=').unwrap().1
    }

    #[test]
    fn a_url_is_what_was_signed() {
        let path = key().sign(ID, "Ä b/ü.png", 1_800_000_000);
        let start = "/files/01900000-0000-7000-8000-000000000001/%C3%84%20b%2F%C3%BC.png?until=1800000000&signature=";
        assert!(path.starts_with(start), "{path}");
        let link = Link { id: ID, name: "Ä b/ü.png", until: 1_800_000_000, signature: signature(&path) };
        assert!(key().verify(&link));
    }

    #[test]
    fn nothing_can_be_changed() {
        let path = key().sign(ID, "a.png", 1000);
        let signature = signature(&path);
        let link = Link { id: ID, name: "a.png", until: 1000, signature };
        let another = key().sign(Uuid::from_u128(2), "a.png", 1000);
        let upper = signature.to_uppercase();
        assert!(key().verify(&Link { signature: &upper, ..link }), "the digits are the same");
        for changed in [
            Link { id: Uuid::from_u128(2), ..link },
            Link { name: "a.html", ..link },
            Link { name: "", ..link },
            Link { until: 1001, ..link },
            Link { until: -1, ..link },
            Link { signature: another.rsplit_once('=').unwrap().1, ..link },
            Link { signature: "", ..link },
            Link { signature: &signature[..62], ..link },
            Link { signature: &format!("{signature}00"), ..link },
            Link { signature: &signature.replace(|c: char| c.is_ascii_digit(), "g"), ..link },
        ] {
            assert!(!key().verify(&changed), "{changed:?}");
        }
        assert!(!Key::new(&Secret::new("another key")).verify(&link));
    }

    #[test]
    fn reading_and_sending_are_two_things() {
        let (read, send) = (key().sign(ID, "a.pdf", 1000), key().sign_upload(ID, "a.pdf", 1000, 5));
        let link = |signature| Link { id: ID, name: "a.pdf", until: 1000, signature };
        let upload = |signature, size| UploadLink { link: link(signature), size };
        assert!(send.contains("?until=1000&size=5&signature="), "{send}");
        assert!(key().verify_upload(&upload(signature(&send), 5)));
        assert!(!key().verify_upload(&upload(signature(&send), 6)));
        assert!(!key().verify_upload(&upload(signature(&read), 5)));
        assert!(!key().verify(&link(signature(&send))));
    }

    #[test]
    fn end_and_name_cannot_be_shifted() {
        let path = key().sign(ID, "2\nb", 1);
        assert!(!key().verify(&Link { id: ID, name: "b", until: 12, signature: signature(&path) }));
    }
}
