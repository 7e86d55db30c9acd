//! Transfer encodings of bodies, and of words in headers.

use memchr::memchr;

/// Decodes base64. Characters outside its alphabet are skipped.
pub(super) fn base64(text: &[u8]) -> Vec<u8> {
    let (mut out, mut bits, mut count) = (Vec::with_capacity(text.len() / 4 * 3), 0_u32, 0_u32);
    for byte in text {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            _ => continue,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push(u8::try_from(bits >> count & 0xFF).unwrap_or_default());
        }
    }
    out
}

/// Decodes quoted-printable text; in headers `_` is a space.
pub(super) fn quoted(text: &[u8], is_header: bool) -> Vec<u8> {
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let (mut out, mut at) = (Vec::with_capacity(text.len()), 0);
    while let Some(byte) = text.get(at) {
        at += 1;
        match byte {
            b'=' => match (digit(text.get(at)), digit(text.get(at + 1))) {
                (Some(high), Some(low)) => {
                    out.push(u8::try_from(high << 4 | low).unwrap_or_default());
                    at += 2;
                }
                _ => {
                    let line = &text[at..memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end + 1)];
                    if line.trim_ascii().is_empty() { at += line.len() } else { out.push(b'=') }
                }
            },
            b'_' if is_header => out.push(b' '),
            byte => out.push(*byte),
        }
    }
    out
}
