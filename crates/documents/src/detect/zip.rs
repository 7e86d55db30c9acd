//! ZIP directory, read without unpacking (APPNOTE.TXT of PKWARE, sections 4.3.7, 4.3.12 and 4.3.16).

use std::io::Read;

use flate2::read::DeflateDecoder;
use memchr::memmem;

use crate::bytes::{u16_at, u32_at};

/// Maximum number of entries; documents have fewer.
const MAX_ENTRIES: usize = 65_536;
/// Bytes of a name that are kept; the names that identify a document are shorter.
const MAX_NAME: usize = 128;
/// Maximum size of the end record in bytes: 22, and a comment of up to 65 535.
const LONGEST_END: usize = 65_535 + 22;

/// File in the archive.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub name: &'a [u8],
    /// Compression method: 0 for stored, 8 for deflated.
    method: u16,
    packed: &'a [u8],
}

/// Returns the files in the central directory, or without one, those found by their local headers.
pub(crate) fn entries(file: &[u8]) -> Vec<Entry<'_>> {
    let listed = directory(file).unwrap_or_default();
    if listed.is_empty() { found(file) } else { listed }
}

/// Returns the first bytes of a file, at most `most`.
pub(crate) fn beginning(entries: &[Entry<'_>], name: &str, most: u64) -> Option<Vec<u8>> {
    let entry = entries.iter().find(|entry| entry.name == name.as_bytes())?;
    let mut bytes = Vec::new();
    let read = match entry.method {
        0 => entry.packed.take(most).read_to_end(&mut bytes),
        8 => DeflateDecoder::new(entry.packed).take(most).read_to_end(&mut bytes),
        _ => return None,
    };
    read.is_ok().then_some(bytes)
}

fn directory(file: &[u8]) -> Option<Vec<Entry<'_>>> {
    let tail = file.len().saturating_sub(LONGEST_END);
    let end = tail + memmem::rfind(&file[tail..], b"PK\x05\x06")?;
    let (size, offset) = (u32_at(file, end + 12)? as usize, u32_at(file, end + 16)? as usize);
    // Data before the archive shifts all offsets; then the directory is located relative to the end record.
    let is_there = |at: &usize| file.get(*at..*at + 4).is_some_and(|mark| mark == b"PK\x01\x02");
    let start = Some(offset).filter(is_there).or_else(|| end.checked_sub(size).filter(is_there))?;
    let moved = start.saturating_sub(offset);
    let (mut entries, mut at) = (Vec::new(), start);
    while entries.len() < MAX_ENTRIES && is_there(&at) {
        let name_length = usize::from(u16_at(file, at + 28)?);
        let name = file.get(at + 46..at + 46 + name_length)?;
        let local = u32_at(file, at + 42)? as usize + moved;
        let packed = packed(file, local, u32_at(file, at + 20)? as usize);
        entries.push(Entry { name: short(name), method: u16_at(file, at + 10)?, packed });
        at += 46 + name_length + usize::from(u16_at(file, at + 30)?) + usize::from(u16_at(file, at + 32)?);
    }
    Some(entries)
}

/// Returns the compressed bytes after a local header, or nothing if they are not in the file.
fn packed(file: &[u8], header: usize, length: usize) -> &[u8] {
    let start = || {
        let name = usize::from(u16_at(file, header.checked_add(26)?)?);
        header.checked_add(30 + name + usize::from(u16_at(file, header + 28)?))
    };
    let bytes = start().and_then(|start| file.get(start..start.saturating_add(length)));
    bytes.unwrap_or_default()
}

/// Returns the files of a truncated archive, by their local headers.
fn found(file: &[u8]) -> Vec<Entry<'_>> {
    let headers = memmem::find_iter(file, b"PK\x03\x04").take(MAX_ENTRIES);
    let entry = |at: usize| {
        let name = file.get(at + 30..at + 30 + usize::from(u16_at(file, at + 26)?))?;
        let packed = packed(file, at, u32_at(file, at + 18)? as usize);
        Some(Entry { name: short(name), method: u16_at(file, at + 8)?, packed })
    };
    headers.filter_map(entry).collect()
}

/// Truncates a name. Headers may overlap, so a malicious file could otherwise hold more names than bytes.
fn short(name: &[u8]) -> &[u8] {
    &name[..name.len().min(MAX_NAME)]
}
