//! Metadata of office files.

mod compound;
mod rtf;
mod xml;

use crate::detect::Kind;
use crate::model::Metadata;

/// Maximum length of an entry, in characters.
const MAX_ENTRY: usize = 2000;

/// Reads title, author, dates and other entries. Missing or damaged ones are absent.
pub(super) fn read_properties(bytes: &[u8], kind: Kind) -> Metadata {
    match kind {
        Kind::Docx | Kind::Docm | Kind::Pptx | Kind::Pptm | Kind::Xlsx | Kind::Xlsm | Kind::Xlsb => xml::ooxml(bytes),
        Kind::Odt | Kind::Odp | Kind::Ods => xml::open_document(bytes),
        Kind::Epub => xml::epub(bytes),
        Kind::Doc | Kind::Ppt | Kind::Xls => compound::read_properties(bytes),
        Kind::Rtf => rtf::read_properties(bytes),
        Kind::Csv | Kind::Pdf | Kind::Image(_) => Some(Metadata::default()),
    }
    .unwrap_or_default()
}

/// Normalizes an entry to one line of limited length.
fn clean(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split(|letter: char| letter.is_whitespace() || letter.is_control()).collect();
    let text = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    let text: String = text.chars().take(MAX_ENTRY).collect();
    (!text.is_empty()).then_some(text)
}

/// Converts a date and time of ISO 8601 to RFC 3339. Time and zone may be missing; UTC is then assumed.
fn date(text: &str) -> Option<String> {
    let text = text.trim();
    let (day, time) = text.split_at_checked(10)?;
    let number = |from: usize, to: usize| day.get(from..to).and_then(|part| part.parse::<u32>().ok());
    let (month, dom) = (number(5, 7)?, number(8, 10)?);
    let is_day = number(0, 4)? > 0 && day.as_bytes()[4] == b'-' && day.as_bytes()[7] == b'-';
    if !is_day || !(1..=12).contains(&month) || !(1..=31).contains(&dom) {
        return None;
    }
    let time = time.strip_prefix(['T', ' ']).unwrap_or_default();
    let digits = |from: usize| time.get(from..from + 2).and_then(|part| part.parse::<u32>().ok());
    let (Some(hour), Some(minute)) = (digits(0), digits(3)) else { return Some(format!("{day}T00:00:00Z")) };
    let second = digits(6).unwrap_or(0);
    let zone = time.find(['Z', '+', '-']).map_or("Z", |at| &time[at..]);
    let is_zone = zone == "Z" || (zone.len() == 6 && zone.as_bytes()[3] == b':');
    let is_time = hour < 24 && minute < 60 && second < 60 && is_zone;
    is_time.then(|| format!("{day}T{hour:02}:{minute:02}:{second:02}{zone}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_as_everywhere() {
        for (source, expected) in [
            ("2024-01-31T09:30:05Z", Some("2024-01-31T09:30:05Z")),
            ("2024-01-31T09:30:05.123456", Some("2024-01-31T09:30:05Z")),
            ("2024-01-31T09:30:05.5+01:00", Some("2024-01-31T09:30:05+01:00")),
            ("2024-01-31", Some("2024-01-31T00:00:00Z")),
            ("2024-13-31", None),
            ("2024", None),
            ("yesterday at ten", None),
        ] {
            assert_eq!(date(source).as_deref(), expected, "{source}");
        }
    }
}
