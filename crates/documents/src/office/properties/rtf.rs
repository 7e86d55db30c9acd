//! Metadata of RTF: the group `\info` (Rich Text Format Specification 1.9.1, "Information Group").

use encoding_rs::WINDOWS_1252;
use memchr::memmem;

use super::{clean, date};
use crate::model::Metadata;

/// Bytes in which the group is searched, as it belongs to the header, and its maximum length.
const MAX_HEADER: usize = 1024 * 1024;
const MAX_GROUP: usize = 64 * 1024;

pub(super) fn read_properties(bytes: &[u8]) -> Option<Metadata> {
    let header = &bytes[..bytes.len().min(MAX_HEADER)];
    let start = memmem::find(header, b"{\\info")?;
    let group = &header[start..header.len().min(start + MAX_GROUP)];
    let entry = |name: &str| find(group, name).and_then(|entry| clean(&group_text(entry)));
    Some(Metadata {
        title: entry("title"),
        subject: entry("subject"),
        author: entry("author"),
        keywords: entry("keywords"),
        created: find(group, "creatim").and_then(time),
        modified: find(group, "revtim").and_then(time),
        ..Metadata::default()
    })
}

/// Returns the content of a named group, without the name.
fn find<'a>(group: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let start = ["{\\", "{\\*\\"].iter().find_map(|open| {
        let mark = format!("{open}{name}");
        let at = memmem::find(group, mark.as_bytes())? + mark.len();
        group.get(at).is_some_and(|next| !next.is_ascii_alphabetic()).then_some(at)
    })?;
    let rest = &group[start..];
    let mut depth = 0_u32;
    for (at, byte) in rest.iter().enumerate() {
        match byte {
            b'{' if !is_escaped(rest, at) => depth += 1,
            b'}' if !is_escaped(rest, at) && depth == 0 => return Some(&rest[..at]),
            b'}' if !is_escaped(rest, at) => depth -= 1,
            _ => {}
        }
    }
    None
}

fn is_escaped(text: &[u8], at: usize) -> bool {
    text[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// Returns the text of a group: `\'e9` is a byte, `\u233 ?` a character with its fallback, other control words are
/// formatting.
fn group_text(group: &[u8]) -> String {
    let mut out = String::new();
    let mut rest = group;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'{' | b'}' | b'\r' | b'\n' => {}
            b'\\' => rest = escape(after, &mut out),
            byte => out.push_str(&WINDOWS_1252.decode_without_bom_handling(&[*byte]).0),
        }
    }
    out
}

/// Reads an escape after a backslash; returns the rest.
fn escape<'a>(after: &'a [u8], out: &mut String) -> &'a [u8] {
    let Some((first, rest)) = after.split_first() else { return after };
    if *first == b'\'' {
        let byte = rest.get(..2).and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        out.extend(byte.map(|byte| WINDOWS_1252.decode_without_bom_handling(&[byte]).0.into_owned()));
        return rest.get(2..).unwrap_or_default();
    }
    if !first.is_ascii_alphabetic() {
        out.extend(matches!(first, b'\\' | b'{' | b'}').then_some(char::from(*first)));
        return rest;
    }
    let letters = after.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let number = after[letters..].iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'-').count();
    let mut rest = &after[letters + number..];
    rest = rest.strip_prefix(b" ").unwrap_or(rest);
    if &after[..letters] == b"u" {
        let code =
            std::str::from_utf8(&after[letters..letters + number]).ok().and_then(|text| text.parse::<i32>().ok());
        // Numbers above 32 767 are written as negative 16-bit ones.
        let code = code.map(|code| if code < 0 { code + 65_536 } else { code });
        out.extend(code.and_then(|code| char::from_u32(code.unsigned_abs())));
        rest = match rest {
            [b'\\', b'\'', _, _, other @ ..] => other,
            [b'\\' | b'{' | b'}', ..] | [] => rest,
            [_, other @ ..] => other,
        };
    }
    rest
}

/// Parses `\yr2024\mo1\dy31\hr9\min30`, which has no zone.
fn time(group: &[u8]) -> Option<String> {
    let group = String::from_utf8_lossy(group);
    let number = |name: &str| {
        let (_, rest) = group.split_once(&format!("\\{name}"))?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).take(4).collect();
        digits.parse::<u32>().ok()
    };
    let part = |name: &str| number(name).unwrap_or(0);
    let (year, month, day) = (number("yr")?, number("mo")?, number("dy")?);
    let (hour, minute, second) = (part("hr"), part("min"), part("sec"));
    date(&format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_of_information_is_read() {
        let file = br"{\rtf1\ansi{\fonttbl}{\info{\title Caf\'e9 \u233?\{x\}}{\author A {\b B}}{\creatim\yr2024\mo1\dy31\hr9\min30}}text}";
        let metadata = read_properties(file).expect("information");
        assert_eq!(metadata.title.as_deref(), Some("Café é{x}"));
        assert_eq!(metadata.author.as_deref(), Some("A B"));
        assert_eq!(metadata.created.as_deref(), Some("2024-01-31T09:30:00Z"));
        assert_eq!(metadata.modified, None);
    }

    #[test]
    fn damaged_groups_are_no_harm() {
        for file in [
            "{\\rtf1{\\info",
            "{\\rtf1{\\info{\\title x",
            "{\\info{\\title \\u}{\\title\\'}",
            "{\\info{\\creatim\\yr9}}",
        ] {
            let _metadata = read_properties(file.as_bytes());
        }
    }
}
