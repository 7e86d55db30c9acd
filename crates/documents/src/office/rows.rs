//! CSV: limits, encoding and delimiter.

use std::borrow::Cow;
use std::collections::HashMap;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use csv::{ByteRecord, Reader, ReaderBuilder};
use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

use crate::error::Error;

/// Maximum number of columns, as in spreadsheets.
const MAX_COLUMNS: usize = 16_384;
/// Maximum number of cells, rows by columns: some 400 bytes each while the table is written.
const MAX_PLACES: usize = 1_000_000;
const MAX_BYTES: usize = 32 * 1024 * 1024;
/// Number of records that are used to detect the delimiter.
const SAMPLE: usize = 20;
/// Bytes that the encoding is guessed from.
const GUESS: usize = 1 << 20;

/// Rejects a table that is too wide or too long in bytes.
pub(super) fn check(bytes: &[u8]) -> Result<(), Error> {
    if bytes.len() > MAX_BYTES {
        return Err(Error::Limit("it is too long"));
    }
    let text = utf8(bytes);
    let (delimiter, text) = named_delimiter(&text).unwrap_or_else(|| (delimiter(&text), &text));
    let (mut record, mut reader) = (ByteRecord::new(), reader(text, delimiter));
    while reader.read_byte_record(&mut record).unwrap_or(false) {
        if record.len() > MAX_COLUMNS {
            return Err(Error::Limit("it has too many columns"));
        }
    }
    Ok(())
}

/// Table, and what its reader must know.
pub(super) struct Rows {
    pub text: Vec<u8>,
    pub warning: Option<String>,
}

/// Returns the rows of a table in UTF-8. Short rows are padded, so one long row costs as many cells as there are rows;
/// what exceeds the maximum is cut, and a warning says where.
pub(super) fn rows(bytes: &[u8]) -> Rows {
    let mut text = table(bytes);
    let (mut rows, mut widest, mut record) = (0_usize, 0_usize, ByteRecord::new());
    let mut reader = reader(&text, delimiter(&text));
    let cut = loop {
        let start = reader.position().byte();
        if !reader.read_byte_record(&mut record).unwrap_or(false) {
            break None;
        }
        rows += 1;
        widest = widest.max(record.len());
        if rows.saturating_mul(widest) > MAX_PLACES {
            break usize::try_from(start).ok();
        }
    };
    let warning = cut.map(|cut| {
        text.truncate(cut);
        format!("the table is cut before its row {rows}, as it has more than {MAX_PLACES} cells")
    });
    Rows { text, warning }
}

/// Returns the table in UTF-8, with a delimiter that the converter finds. A first line `sep=;`, which Excel reads as
/// the name of the delimiter, is no row.
fn table(bytes: &[u8]) -> Vec<u8> {
    let text = utf8(bytes);
    let Some((delimiter, rest)) = named_delimiter(&text) else { return text.into_owned() };
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::with_capacity(rest.len()));
    for record in reader(rest, delimiter).into_byte_records().map_while(Result::ok) {
        if writer.write_byte_record(&record).is_err() {
            break;
        }
    }
    writer.into_inner().unwrap_or_default()
}

/// Returns the delimiter that the first line names, and the text behind that line.
fn named_delimiter(text: &[u8]) -> Option<(u8, &[u8])> {
    let rest = text.strip_prefix(b"sep=").or_else(|| text.strip_prefix(b"\"sep="))?;
    let (delimiter, rest) = rest.split_first()?;
    let rest = rest.strip_prefix(b"\"").unwrap_or(rest);
    let rest = rest.strip_prefix(b"\r\n").or_else(|| rest.strip_prefix(b"\n")).or_else(|| rest.strip_prefix(b"\r"))?;
    (delimiter.is_ascii() && !delimiter.is_ascii_alphanumeric() && *delimiter != b'"').then_some((*delimiter, rest))
}

/// Converts the text to UTF-8: by its byte order mark, unchanged if it is valid UTF-8, else by a guess.
pub(super) fn utf8(bytes: &[u8]) -> Cow<'_, [u8]> {
    let decoded = match bytes {
        [0xFF, 0xFE, ..] => UTF_16LE.decode(bytes).0,
        [0xFE, 0xFF, ..] => UTF_16BE.decode(bytes).0,
        _ if std::str::from_utf8(bytes).is_ok() => {
            return Cow::Borrowed(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes));
        }
        _ => guessed(bytes).decode_without_bom_handling(bytes).0,
    };
    Cow::Owned(decoded.into_owned().into_bytes())
}

fn guessed(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(&bytes[..bytes.len().min(GUESS)], bytes.len() <= GUESS);
    detector.guess(None, Utf8Detection::Allow)
}

fn reader(text: &[u8], delimiter: u8) -> Reader<&[u8]> {
    ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(text)
}

/// Returns the delimiter: the one that splits most of the first records into equally many values, parsed like the
/// converter does.
fn delimiter(text: &[u8]) -> u8 {
    let mut best = (b',', 0);
    for candidate in *b",;\t|" {
        let mut widths: HashMap<usize, usize> = HashMap::new();
        for record in reader(text, candidate).into_byte_records().map_while(Result::ok).take(SAMPLE) {
            *widths.entry(record.len()).or_default() += 1;
        }
        let usual = widths.into_iter().max_by_key(|(width, often)| (*often, *width));
        if let Some((width @ 2.., often)) = usual
            && often * 1000 + width.min(500) > best.1
        {
            best = (candidate, often * 1000 + width.min(500));
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_are_told_apart() {
        for (text, separator) in [
            ("a,b\n1,2", b','),
            ("a;b\n\"1,5\";2", b';'),
            ("a\tb\n1,0\t2,0", b'\t'),
            ("a|b\nc|d", b'|'),
            ("a\nb", b','),
        ] {
            assert_eq!(delimiter(text.as_bytes()), separator, "{text}");
        }
    }

    #[test]
    fn the_first_line_may_name_the_delimiter() {
        for (text, expected) in [
            ("sep=;\r\na;b\n1,5;2", "a,b\n\"1,5\",2\n"),
            ("\"sep=\t\"\na\tb", "a,b\n"),
            ("sep=x\na", "sep=x\na"),
            ("sep=;", "sep=;"),
            ("a;b", "a;b"),
        ] {
            assert_eq!(String::from_utf8(table(text.as_bytes())).unwrap(), expected);
        }
    }

    #[test]
    fn old_encodings_are_recognised() {
        let (japanese, ..) = encoding_rs::SHIFT_JIS.encode("名前,年齢,住所\n佐藤太郎,30,東京\n三木英子,25,大阪\n");
        assert!(String::from_utf8_lossy(&utf8(&japanese)).contains("佐藤太郎,30,東京"));
        assert_eq!(*utf8(b"Caf\xE9;2\nCr\xE8me;3"), *"Café;2\nCrème;3".as_bytes());
        assert_eq!(*utf8(b"\xEF\xBB\xBFa"), *b"a");
    }

    #[test]
    fn tables_that_are_too_large_are_refused_or_cut() {
        let wide = "a,".repeat(20_000);
        assert_eq!(check(wide.as_bytes()), Err(Error::Limit("it has too many columns")));
        let long_row = format!("{}\n{}", "a,".repeat(10_000), "b\n".repeat(1000));
        let rows = rows(long_row.as_bytes());
        assert_eq!(rows.warning.unwrap(), "the table is cut before its row 100, as it has more than 1000000 cells");
        assert_eq!(rows.text.iter().filter(|byte| **byte == b'\n').count(), 99);
        let utf16: Vec<u8> = [0xFEFF].into_iter().chain(wide.encode_utf16()).flat_map(u16::to_le_bytes).collect();
        assert_eq!(check(&utf16), Err(Error::Limit("it has too many columns")));
        assert_eq!(check("a,b\n".repeat(100_000).as_bytes()), Ok(()));
    }
}
