//! Description of files that are not supported documents.

use super::{LOOK, text_start};
use crate::detect::compound;

/// Signatures of unsupported files, and their names for messages.
const OTHERS: [(&[u8], &str); 22] = [
    (b"PK\x03\x04", "a ZIP archive"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (compound::SIGNATURE, "a compound file of no known program"),
    (b"\x1F\x8B", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"7z\xBC\xAF\x27\x1C", "a 7-Zip archive"),
    (b"Rar!\x1A\x07", "a RAR archive"),
    (b"\xFD7zXZ\0", "an xz archive"),
    (b"\x28\xB5\x2F\xFD", "a Zstandard archive"),
    (b"\x1A\x45\xDF\xA3", "a video"),
    (b"OggS\0", "sound or video"),
    (b"fLaC\0", "sound"),
    (b"ID3\x02", "sound"),
    (b"ID3\x03", "sound"),
    (b"ID3\x04", "sound"),
    (b"\0asm", "a program"),
    (b"\x7FELF", "a program"),
    (b"MZ\x90\0", "a program"),
    (b"wOFF\0", "a font"),
    (b"wOF2\0", "a font"),
    (b"\0\x01\0\0\0", "a font"),
    (b"SQLite format 3\0", "a database"),
];

/// Returns a description of bytes without a kind (see [`detect`](super::detect)): `a ZIP archive`, `text`, `an empty
/// file`.
#[must_use]
pub fn looks_like(bytes: &[u8]) -> &'static str {
    let start = text_start(bytes);
    match known(bytes) {
        Some(name) => name,
        None if start.is_empty() => "an empty file",
        None if is_binary(bytes) => "data of an unknown kind",
        None if is_markup(start) => "a page of markup",
        None => "text",
    }
}

/// Whether the bytes have the signature of an unsupported file.
pub(super) fn is_known(bytes: &[u8]) -> bool {
    known(bytes).is_some()
}

fn known(bytes: &[u8]) -> Option<&'static str> {
    let others = OTHERS.iter().find(|(signature, _)| bytes.starts_with(signature));
    if let Some((_, name)) = others {
        return Some(name);
    }
    match (bytes.get(..4)?, bytes.get(4..8)?, bytes.get(8..12)?) {
        (_, b"ftyp", b"heic" | b"heix" | b"mif1" | b"msf1") => Some("a HEIF picture"),
        (_, b"ftyp", _) => Some("sound or video"),
        (b"RIFF", _, b"WAVE") => Some("sound"),
        (b"RIFF", _, b"AVI ") => Some("a video"),
        _ => None,
    }
}

/// Whether the text begins with a tag, declaration or comment of HTML or XML. Zeros of UTF-16 are skipped.
pub(super) fn is_markup(start: &[u8]) -> bool {
    let narrow: Vec<u8> = start[..start.len().min(LOOK)].iter().copied().filter(|byte| *byte != 0).collect();
    let text = narrow.strip_prefix(b"\xFF\xFE").or(narrow.strip_prefix(b"\xFE\xFF")).unwrap_or(&narrow);
    match text.trim_ascii_start() {
        [b'<', b'!' | b'?', ..] => true,
        [b'<', first, ..] => first.is_ascii_alphabetic(),
        _ => false,
    }
}

/// Whether there are control bytes that no text has (WHATWG MIME Sniffing section 7.2). UTF-16 is text despite its
/// zeros.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    let utf16 = bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]);
    let control = |byte: &u8| matches!(byte, 0..=0x08 | 0x0B | 0x0E..=0x1A | 0x1C..=0x1F);
    !utf16 && bytes[..bytes.len().min(LOOK)].iter().any(control)
}
