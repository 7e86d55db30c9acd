//! Metadata of compound files: the summary information stream ([MS-OLEPS] 2.21 and 3.1.2).

use std::io::{Cursor, Read};

use cfb::CompoundFile;
use encoding_rs::{Encoding, UTF_8, UTF_16LE, WINDOWS_1252};

use super::clean;
use crate::bytes::{u16_at, u32_at};
use crate::model::Metadata;

/// Maximum size of the stream, in bytes.
const MAX_STREAM: u64 = 1024 * 1024;
/// Maximum number of entries in the stream.
const MAX_ENTRIES: u32 = 100;
/// Seconds from 1601, the epoch of the format, to 1970.
const FROM_1601: i64 = 11_644_473_600;

pub(super) fn read_properties(bytes: &[u8]) -> Option<Metadata> {
    let mut file = CompoundFile::open(Cursor::new(bytes)).ok()?;
    let mut stream = Vec::new();
    file.open_stream("/\u{5}SummaryInformation").ok()?.take(MAX_STREAM).read_to_end(&mut stream).ok()?;
    let set = PropertySet::of(&stream)?;
    Some(Metadata {
        title: set.text(2),
        subject: set.text(3),
        author: set.text(4),
        keywords: set.text(5),
        creator: set.text(18),
        created: set.date(12),
        modified: set.date(13),
        ..Metadata::default()
    })
}

struct PropertySet<'a> {
    bytes: &'a [u8],
    encoding: &'static Encoding,
}

impl<'a> PropertySet<'a> {
    fn of(stream: &'a [u8]) -> Option<Self> {
        let bytes = stream.get(u32_at(stream, 44)? as usize..)?;
        let set = Self { bytes, encoding: WINDOWS_1252 };
        let page = set.value(1).and_then(|(_, value)| u16_at(value, 0)).unwrap_or(1252);
        Some(Self { bytes, encoding: encoding(page) })
    }

    /// Returns the type of a property and the bytes after it.
    fn value(&self, wanted: u32) -> Option<(u32, &'a [u8])> {
        let count = u32_at(self.bytes, 4)?.min(MAX_ENTRIES);
        let entry = (0..count as usize).find(|entry| u32_at(self.bytes, 8 + entry * 8) == Some(wanted))?;
        let at = u32_at(self.bytes, 12 + entry * 8)? as usize;
        Some((u32_at(self.bytes, at)?, self.bytes.get(at.checked_add(4)?..)?))
    }

    fn text(&self, property: u32) -> Option<String> {
        let (kind, value) = self.value(property)?;
        let length = u32_at(value, 0)? as usize;
        let text = match kind {
            30 => self.encoding.decode_without_bom_handling(value.get(4..length.checked_add(4)?)?).0,
            31 => UTF_16LE.decode_without_bom_handling(value.get(4..length.checked_mul(2)?.checked_add(4)?)?).0,
            _ => return None,
        };
        clean(text.trim_end_matches('\0'))
    }

    /// Returns a time (in units of 100 ns) as RFC 3339 in UTC.
    fn date(&self, property: u32) -> Option<String> {
        let (kind, value) = self.value(property)?;
        let ticks = u64::from(u32_at(value, 4)?) << 32 | u64::from(u32_at(value, 0)?);
        let seconds = i64::try_from(ticks / 10_000_000).ok()? - FROM_1601;
        // Zero means "never"; times before 1980 are older than the format.
        (kind == 64 && seconds > 315_532_800).then(|| rfc3339(seconds)).flatten()
    }
}

/// Returns the encoding of a code page that Office writes; unknown ones are treated as Western European.
fn encoding(page: u16) -> &'static Encoding {
    let label = match page {
        65001 => return UTF_8,
        1200 => return UTF_16LE,
        932 => "shift_jis".to_owned(),
        936 => "gbk".to_owned(),
        949 => "euc-kr".to_owned(),
        950 => "big5".to_owned(),
        10_000 => "macintosh".to_owned(),
        page => format!("windows-{page}"),
    };
    Encoding::for_label(label.as_bytes()).unwrap_or(WINDOWS_1252)
}

/// Converts seconds since 1970 to a date of the Gregorian calendar. Years are counted from March, so that leap days
/// come last.
fn rfc3339(seconds: i64) -> Option<String> {
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let from_march_0000 = days + 719_468;
    let (era, day_of_era) = (from_march_0000.div_euclid(146_097), from_march_0000.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    (year < 10_000).then(|| format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_dates() {
        for (seconds, date) in [
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_704_067_199, "2023-12-31T23:59:59Z"),
            (1_709_251_200, "2024-03-01T00:00:00Z"),
        ] {
            assert_eq!(rfc3339(seconds).as_deref(), Some(date));
        }
        assert_eq!(rfc3339(i64::MAX / 2), None);
    }
}
