//! Groups of boxes in the record stream ([MS-PPT] 2.3.1, [MS-ODRAW] 2.2.16 and 2.3.4.37).

use std::io::{Cursor, Read};

use cfb::CompoundFile;

use crate::bytes::{u16_at, u32_at};

/// Maximum size of the stream, in bytes.
const MAX_STREAM: u64 = 128 * 1024 * 1024;
/// Maximum nesting of records.
const MAX_DEPTH: usize = 32;
const MAX_TABLES: usize = 500;
/// Maximum number of boxes in one table.
const MAX_BOXES: usize = 5000;

const GROUP: u16 = 0xF003;
const SHAPE: u16 = 0xF004;
const OPTIONS: [u16; 3] = [0xF00B, 0xF121, 0xF122];
const CHILD_ANCHOR: u16 = 0xF00F;
const TEXT_BOX: u16 = 0xF00D;
const TEXT_CHARS: u16 = 0x0FA0;
const TEXT_BYTES: u16 = 0x0FA8;
/// Option `tableProperties` of a group that is a table.
const TABLE_PROPERTIES: u16 = 0x039F;

/// Cell: its position in the group, and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TableBox {
    pub left: i32,
    pub top: i32,
    pub text: String,
}

/// Returns the boxes of each table, in file order. Lines between the boxes have no text and are left out.
pub(super) fn tables(bytes: &[u8]) -> Option<Vec<Vec<TableBox>>> {
    let mut file = CompoundFile::open(Cursor::new(bytes)).ok()?;
    let mut stream = Vec::new();
    file.open_stream("/PowerPoint Document").ok()?.take(MAX_STREAM).read_to_end(&mut stream).ok()?;
    let mut tables = Vec::new();
    let mut open = vec![Records(&stream)];
    while let Some(records) = open.last_mut() {
        let Some(record) = records.next() else {
            open.pop();
            continue;
        };
        if let Some(table) = table(&record) {
            tables.push(table);
        } else if record.is_container && open.len() < MAX_DEPTH {
            open.push(Records(record.body));
        }
        if tables.len() == MAX_TABLES {
            break;
        }
    }
    Some(tables)
}

struct Record<'a> {
    kind: u16,
    instance: u16,
    is_container: bool,
    body: &'a [u8],
}

/// Sequence of records; the last one may be truncated.
struct Records<'a>(&'a [u8]);

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        let (version, kind) = (u16_at(self.0, 0)?, u16_at(self.0, 2)?);
        let length = u32_at(self.0, 4)? as usize;
        let rest = self.0.get(8..)?;
        let (body, rest) = rest.split_at(length.min(rest.len()));
        self.0 = rest;
        Some(Record { kind, instance: version >> 4, is_container: version & 0xF == 0xF, body })
    }
}

/// Returns the boxes of a group, if its first shape, which represents the group, declares a table.
fn table(group: &Record<'_>) -> Option<Vec<TableBox>> {
    let mut shapes = Records(group.body).filter(|record| record.kind == SHAPE);
    if group.kind != GROUP || !is_table(&shapes.next()?) {
        return None;
    }
    Some(shapes.take(MAX_BOXES).filter_map(|shape| table_box(&shape)).collect())
}

fn is_table(shape: &Record<'_>) -> bool {
    let mut options = Records(shape.body).filter(|record| OPTIONS.contains(&record.kind));
    options.any(|record| {
        // The upper two bits of an option number are flags.
        (0..usize::from(record.instance))
            .map_while(|place| u16_at(record.body, place * 6))
            .any(|number| number & 0x3FFF == TABLE_PROPERTIES)
    })
}

fn table_box(shape: &Record<'_>) -> Option<TableBox> {
    let part = |kind: u16| Records(shape.body).find(|record| record.kind == kind);
    let anchor = part(CHILD_ANCHOR)?;
    let place = |at: usize| u32_at(anchor.body, at).map(u32::cast_signed);
    let text: String = Records(part(TEXT_BOX)?.body).filter_map(|record| record_text(&record)).collect();
    Some(TableBox { left: place(0)?, top: place(4)?, text })
}

fn record_text(record: &Record<'_>) -> Option<String> {
    match record.kind {
        TEXT_CHARS => {
            let units = record.body.as_chunks().0.iter().map(|unit| u16::from_le_bytes(*unit));
            Some(char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
        }
        // The low bytes of UTF-16 code units.
        TEXT_BYTES => Some(record.body.iter().map(|byte| char::from(*byte)).collect()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u16, instance: u16, is_container: bool, body: &[u8]) -> Vec<u8> {
        let mut out = ((instance << 4) | if is_container { 0xF } else { 0 }).to_le_bytes().to_vec();
        out.extend(kind.to_le_bytes());
        out.extend(u32::try_from(body.len()).expect("a short record").to_le_bytes());
        out.extend(body);
        out
    }

    fn cell(left: i32, top: i32, text: &str) -> Vec<u8> {
        let anchor: Vec<u8> = [left, top, left + 1, top + 1].iter().flat_map(|place| place.to_le_bytes()).collect();
        let text = record(TEXT_BYTES, 0, false, text.as_bytes());
        let parts = [record(CHILD_ANCHOR, 0, false, &anchor), record(TEXT_BOX, 0, true, &text)].concat();
        record(SHAPE, 0, true, &parts)
    }

    #[test]
    fn groups_that_are_tables_are_found() {
        let mut option = TABLE_PROPERTIES.to_le_bytes().to_vec();
        option.extend([1, 0, 0, 0]);
        let head = record(SHAPE, 0, true, &record(0xF122, 1, false, &option));
        let group = record(GROUP, 0, true, &[head, cell(0, 0, "a"), cell(5, 0, "b")].concat());
        let found = Records(&group).next().and_then(|group| table(&group)).expect("a table");
        let expected = |left, text: &str| TableBox { left, top: 0, text: text.to_owned() };
        assert_eq!(found, [expected(0, "a"), expected(5, "b")]);
        let plain = record(GROUP, 0, true, &[record(SHAPE, 0, true, b""), cell(0, 0, "a")].concat());
        assert!(Records(&plain).next().and_then(|group| table(&group)).is_none());
    }
}
