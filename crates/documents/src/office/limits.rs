//! Limits that are checked before conversion.
//!
//! The converter keeps a part of a package as a tree, at some 400 bytes per element, and its own limits are too high
//! for a server with many teams. So archives are unpacked once, keeping nothing, to measure them.

use std::io::{Cursor, Read};

use memchr::memchr_iter;
use zip::ZipArchive;
use zip::result::ZipError;

use super::rows;
use crate::detect::Kind;
use crate::error::Error;

/// Maximum number of files in an archive.
const MAX_ENTRIES: usize = 10_000;
/// Maximum unpacked size of an archive, in bytes.
pub(super) const MAX_UNPACKED: u64 = 192 * 1024 * 1024;
/// Error for an archive that exceeds it.
pub(super) const TOO_LARGE: Error = Error::Limit("it is too large when unpacked");
/// Maximum number of tags in one part of an archive, and in all parts.
const MAX_TAGS: usize = 800_000;
const MAX_ALL_TAGS: usize = 4_000_000;

/// Rejects a file that would need too much memory. Returns how many bytes the sheets of a workbook may have, as they are
/// unpacked and measured where they are read.
pub(super) fn check(bytes: &[u8], kind: Kind) -> Result<u64, Error> {
    match kind {
        Kind::Csv => rows::check(bytes).map(|()| MAX_UNPACKED),
        Kind::Doc | Kind::Xls | Kind::Ppt if is_locked(bytes) => Err(Error::Encrypted),
        Kind::Doc | Kind::Rtf | Kind::Ppt | Kind::Xls | Kind::Pdf | Kind::Image(_) => Ok(MAX_UNPACKED),
        _ if bytes.starts_with(b"PK") => archive(bytes, kind),
        // A package in a compound file is an encrypted one ([MS-OFFCRYPTO] 2.3.4.4).
        _ if bytes.starts_with(b"\xD0\xCF\x11\xE0") => Err(Error::Encrypted),
        _ => Ok(MAX_UNPACKED),
    }
}

/// Whether the document is locked by rights management: its content is a stream of its own ([MS-OFFCRYPTO] 2.2).
fn is_locked(bytes: &[u8]) -> bool {
    let name: Vec<u8> = "\tDRMContent".encode_utf16().flat_map(u16::to_le_bytes).collect();
    memchr::memmem::find(bytes, &name).is_some()
}

fn archive(bytes: &[u8], kind: Kind) -> Result<u64, Error> {
    let mut archive = ZipArchive::new(Cursor::new(bytes))
        .map_err(|error| Error::Broken(format!("it is not a complete archive: {error}")))?;
    if archive.len() > MAX_ENTRIES {
        return Err(Error::Limit("it has too many parts"));
    }
    let (mut unpacked, mut tags) = (0_u64, 0_usize);
    for index in 0..archive.len() {
        let file = match archive.by_index(index) {
            Ok(file) => file,
            Err(ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED)) => return Err(Error::Encrypted),
            // The converter decides whether this part is essential.
            Err(_) => continue,
        };
        if matches!(kind, Kind::Xlsx | Kind::Xlsm) && is_of_sheets(file.name()) {
            continue;
        }
        let (size, in_part) = measure(file, MAX_UNPACKED - unpacked)?;
        unpacked += size;
        tags += in_part;
        if in_part > MAX_TAGS || tags > MAX_ALL_TAGS {
            return Err(Error::Limit("it has too many cells or paragraphs"));
        }
    }
    Ok(MAX_UNPACKED - unpacked)
}

/// Whether a part of a workbook holds sheets or their texts, which are read row by row where they are large.
pub(super) fn is_of_sheets(name: &str) -> bool {
    name.contains("worksheets/") || name.ends_with("sharedStrings.xml")
}

/// Returns the size of a part and the number of its tags. A damaged part is measured up to the damage.
pub(super) fn measure(mut file: impl Read, room: u64) -> Result<(u64, usize), Error> {
    let mut chunk = [0; 32 * 1024];
    let (mut size, mut tags, mut is_markup) = (0_u64, 0, None);
    while let Ok(length @ 1..) = file.read(&mut chunk) {
        let part = &chunk[..length];
        size += length as u64;
        if size > room {
            return Err(TOO_LARGE);
        }
        if *is_markup.get_or_insert_with(|| opens_markup(part)) {
            tags += memchr_iter(b'<', part).count();
        }
    }
    Ok((size, tags))
}

fn opens_markup(start: &[u8]) -> bool {
    let start = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start).trim_ascii_start();
    matches!(start, [b'<', ..] | [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..])
}
