//! Validation of keys: the same keys are valid in a directory and in a bucket, and none can leave its folder.

use crate::BlobError;

/// Byte limit of a key. S3 allows 1024 bytes, prefix included.
const MAX_KEY: usize = 512;

/// Rejects keys that are not plain segments joined by `/`.
///
/// `#` is among the rejected characters because the local store names unfinished files `key#1`.
pub(crate) fn check(key: &str) -> Result<(), BlobError> {
    let plain = |segment: &str| {
        let known = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'.' | b'_' | b'-');
        !matches!(segment, "" | "." | "..") && segment.len() <= 200 && segment.bytes().all(known)
    };
    if key.len() <= MAX_KEY && key.split('/').all(plain) { Ok(()) } else { Err(BlobError::Key(key.to_owned())) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn plain_keys_pass() {
        for key in ["a", "bodies/ab/cd.zst", "a..b", "A-1_2.x/y", "..."] {
            assert!(super::check(key).is_ok(), "{key}");
        }
    }

    #[test]
    fn keys_that_could_leave_the_folder_are_refused() {
        let long = "a/".repeat(300) + "a";
        let segment = "a".repeat(201);
        let bad = [
            "", "/", "/a", "a/", "a//b", ".", "..", "a/../b", "../a", "a/./b", "a\\b", "a b", "a#1", "ä", "a\0",
            "%2e%2e/a", "C:",
        ];
        for key in bad.into_iter().chain([long.as_str(), segment.as_str()]) {
            assert!(super::check(key).is_err(), "{key}");
        }
    }
}
