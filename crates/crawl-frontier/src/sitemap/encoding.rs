//! Incremental decoding of text: UTF-8, and UTF-16 detected by its byte-order mark.

/// Decoder of the pieces of a file to UTF-8. Invalid UTF-8 passes unchanged.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    form: Encoding,
    /// Undecoded bytes: the beginning of the file, or half of a UTF-16 unit.
    pending: Vec<u8>,
    /// High surrogate of a UTF-16 pair.
    high: Option<u16>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum Encoding {
    #[default]
    Unknown,
    Bytes,
    Utf16 {
        little: bool,
    },
}

impl Decoder {
    /// Decodes a piece and appends it to `text`.
    pub(super) fn decode(&mut self, piece: &[u8], text: &mut Vec<u8>) {
        if self.form == Encoding::Bytes {
            text.extend_from_slice(piece);
            return;
        }
        let mut bytes = std::mem::take(&mut self.pending);
        bytes.extend_from_slice(piece);
        if self.form == Encoding::Unknown {
            let Some((form, mark)) = form(&bytes) else {
                self.pending = bytes;
                return;
            };
            self.form = form;
            bytes.drain(..mark);
        }
        match self.form {
            Encoding::Utf16 { little } => self.utf16(&bytes, little, text),
            _ => text.extend_from_slice(&bytes),
        }
    }

    /// Appends the bytes held back for the detection of the encoding.
    pub(super) fn finish(&mut self, text: &mut Vec<u8>) {
        if self.form == Encoding::Unknown {
            text.append(&mut self.pending);
        }
    }

    fn utf16(&mut self, bytes: &[u8], little: bool, text: &mut Vec<u8>) {
        let pairs = bytes.chunks_exact(2);
        self.pending = pairs.remainder().to_vec();
        let units = pairs.map(|pair| {
            let pair = [pair[0], pair[1]];
            if little { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) }
        });
        let mut units: Vec<u16> = self.high.take().into_iter().chain(units).collect();
        self.high = units.pop_if(|last| (0xd800..0xdc00).contains(last));
        for decoded in char::decode_utf16(units) {
            let mut buffer = [0; 4];
            let c = decoded.unwrap_or(char::REPLACEMENT_CHARACTER);
            text.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
        }
    }
}

/// Detects the encoding and the length of its byte-order mark; `None` while there are too few bytes.
fn form(bytes: &[u8]) -> Option<(Encoding, usize)> {
    match bytes {
        [0xef, 0xbb, 0xbf, ..] => Some((Encoding::Bytes, 3)),
        [0xff, 0xfe, ..] => Some((Encoding::Utf16 { little: true }, 2)),
        [0xfe, 0xff, ..] => Some((Encoding::Utf16 { little: false }, 2)),
        [b'<', 0, ..] => Some((Encoding::Utf16 { little: true }, 0)),
        [0, b'<', ..] => Some((Encoding::Utf16 { little: false }, 0)),
        [] | [0xef | 0xff | 0xfe | b'<' | 0] | [0xef, 0xbb] => None,
        _ => Some((Encoding::Bytes, 0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expect: &str) {
        for size in [1, 3, bytes.len().max(1)] {
            let mut decoder = Decoder::default();
            let mut text = Vec::new();
            bytes.chunks(size).for_each(|piece| decoder.decode(piece, &mut text));
            decoder.finish(&mut text);
            assert_eq!(String::from_utf8_lossy(&text), expect, "in pieces of {size}");
        }
    }

    #[test]
    fn encodings() {
        let words = "<a>é😀</a>";
        let little: Vec<u8> = words.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = words.encode_utf16().flat_map(u16::to_be_bytes).collect();
        check(words.as_bytes(), words);
        check(&[b"\xef\xbb\xbf", words.as_bytes()].concat(), words);
        check(&little, words);
        check(&[b"\xff\xfe".as_slice(), &little].concat(), words);
        check(&[b"\xfe\xff".as_slice(), &big].concat(), words);
        check(b"", "");
        check(b"<", "<");
        check(b"\xef", "\u{fffd}");
    }
}
