//! Metadata of a PDF.

use crate::model::Metadata;
use crate::objects::{Lookup, as_dict, resolve};
use crate::open::Pdf;

/// Maximum length of an entry, in characters.
const MAX_ENTRY: usize = 2000;

/// Reads the document information dictionary.
pub(crate) fn read_info(pdf: &Pdf, read: usize) -> Metadata {
    let doc = &pdf.doc;
    let info = doc.trailer.get(b"Info").ok().and_then(|info| resolve(doc, info)).and_then(as_dict);
    let text = |key: &[u8]| info.and_then(|info| info.text(doc, key)).and_then(|text| clean(&text));
    let date = |key: &[u8]| info.and_then(|info| info.text(doc, key)).and_then(|text| rfc3339(&text));
    let language = doc.catalog().ok().and_then(|catalog| catalog.text(doc, b"Lang"));
    Metadata {
        title: text(b"Title"),
        author: text(b"Author"),
        subject: text(b"Subject"),
        keywords: text(b"Keywords"),
        creator: text(b"Creator"),
        producer: text(b"Producer"),
        language: language.and_then(|text| clean(&text)),
        created: date(b"CreationDate"),
        modified: date(b"ModDate"),
        num_pages: u32::try_from(read).unwrap_or(u32::MAX),
        total_pages: u32::try_from(pdf.pages.len()).unwrap_or(u32::MAX),
    }
}

fn clean(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split(|letter: char| letter.is_whitespace() || letter.is_control()).collect();
    let text = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    let text: String = text.chars().take(MAX_ENTRY).collect();
    (!text.is_empty()).then_some(text)
}

/// Converts a PDF date, `D:20240131093000+01'00'`, to RFC 3339.
fn rfc3339(text: &str) -> Option<String> {
    let text = text.trim().strip_prefix("D:").unwrap_or(text.trim());
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let part = |from: usize, to: usize, other: u32| match text.get(from..to) {
        Some(part) if to <= digits => part.parse().ok(),
        _ => Some(other),
    };
    if digits < 4 {
        return None;
    }
    let (year, month, day): (u32, u32, u32) = (part(0, 4, 0)?, part(4, 6, 1)?, part(6, 8, 1)?);
    let (hour, minute, second): (u32, u32, u32) = (part(8, 10, 0)?, part(10, 12, 0)?, part(12, 14, 0)?);
    let valid =
        year > 0 && (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second < 60;
    let zone = zone(text.get(digits..).unwrap_or_default());
    valid.then(|| format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{zone}"))
}

fn zone(text: &str) -> String {
    let (sign, rest) = match text.split_at_checked(1) {
        Some((sign @ ("+" | "-"), rest)) => (sign, rest),
        _ => return "Z".to_owned(),
    };
    let numbers: Vec<u32> = rest.split('\'').filter_map(|part| part.parse().ok()).collect();
    match numbers[..] {
        [hours, minutes, ..] if hours < 24 && minutes < 60 => format!("{sign}{hours:02}:{minutes:02}"),
        [hours] if hours < 24 => format!("{sign}{hours:02}:00"),
        _ => "Z".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_as_everywhere() {
        for (source, date) in [
            ("D:20240131093005+01'00'", Some("2024-01-31T09:30:05+01:00")),
            ("D:20240131093005Z", Some("2024-01-31T09:30:05Z")),
            ("D:2024", Some("2024-01-01T00:00:00Z")),
            ("20240131", Some("2024-01-31T00:00:00Z")),
            ("D:20241331", None),
            ("yesterday", None),
            ("D:20240131093005-08", Some("2024-01-31T09:30:05-08:00")),
        ] {
            assert_eq!(rfc3339(source).as_deref(), date, "{source}");
        }
    }
}
