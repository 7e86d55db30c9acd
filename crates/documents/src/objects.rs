//! Lookup of values in a PDF. Tolerant: missing values and values of another type are `None`.

use lopdf::{Dictionary, Document, Object, ObjectId, Stream};

use crate::geometry::{Matrix, Point, Rect};

/// Maximum decompressed size of one stream (page, form, font), in bytes.
pub(crate) const MAX_STREAM: usize = 64 << 20;

/// Lookup in a dictionary, following references.
pub(crate) trait Lookup {
    fn object<'a>(&'a self, doc: &'a Document, key: &[u8]) -> Option<&'a Object>;

    fn dict<'a>(&'a self, doc: &'a Document, key: &[u8]) -> Option<&'a Dictionary> {
        as_dict(self.object(doc, key)?)
    }

    fn array<'a>(&'a self, doc: &'a Document, key: &[u8]) -> Option<&'a [Object]> {
        self.object(doc, key)?.as_array().ok().map(Vec::as_slice)
    }

    fn stream<'a>(&'a self, doc: &'a Document, key: &[u8]) -> Option<&'a Stream> {
        self.object(doc, key)?.as_stream().ok()
    }

    fn name<'a>(&'a self, doc: &'a Document, key: &[u8]) -> Option<&'a [u8]> {
        self.object(doc, key)?.as_name().ok()
    }

    fn number(&self, doc: &Document, key: &[u8]) -> Option<f32> {
        number(self.object(doc, key)?)
    }

    fn integer(&self, doc: &Document, key: &[u8]) -> Option<i64> {
        self.object(doc, key)?.as_i64().ok()
    }

    fn text(&self, doc: &Document, key: &[u8]) -> Option<String> {
        decode_text(self.object(doc, key)?)
    }

    fn rect(&self, doc: &Document, key: &[u8]) -> Option<Rect> {
        let [x0, y0, x1, y1] = numbers::<4>(doc, self.array(doc, key)?)?;
        Some(Rect::between(Point { x: x0, y: y0 }, Point { x: x1, y: y1 }))
    }

    fn matrix(&self, doc: &Document, key: &[u8]) -> Option<Matrix> {
        numbers::<6>(doc, self.array(doc, key)?).map(Matrix)
    }
}

impl Lookup for Dictionary {
    fn object<'a>(&'a self, doc: &'a Document, key: &[u8]) -> Option<&'a Object> {
        resolve(doc, self.get(key).ok()?)
    }
}

/// Follows a reference, or returns the object itself.
pub(crate) fn resolve<'a>(doc: &'a Document, object: &'a Object) -> Option<&'a Object> {
    match object {
        Object::Reference(_) => doc.dereference(object).ok().map(|(_, found)| found),
        other => Some(other),
    }
}

/// Returns a dictionary, or that of a stream.
pub(crate) fn as_dict(object: &Object) -> Option<&Dictionary> {
    match object {
        Object::Dictionary(dict) => Some(dict),
        Object::Stream(stream) => Some(&stream.dict),
        _ => None,
    }
}

pub(crate) fn reference(dict: &Dictionary, key: &[u8]) -> Option<ObjectId> {
    dict.get(key).ok()?.as_reference().ok()
}

pub(crate) fn number(object: &Object) -> Option<f32> {
    object.as_float().ok().filter(|value| value.is_finite())
}

fn numbers<const N: usize>(doc: &Document, array: &[Object]) -> Option<[f32; N]> {
    let mut out = [0.0; N];
    for (place, value) in out.iter_mut().enumerate() {
        *value = number(resolve(doc, array.get(place)?)?)?;
    }
    Some(out)
}

/// Returns the bytes of a stream; `None` if it is damaged or longer than `limit`.
pub(crate) fn bytes(stream: &Stream, limit: usize) -> Option<Vec<u8>> {
    stream.get_plain_content_with_limit(limit).ok()
}

/// Decodes a text string: UTF-16 or UTF-8 with a byte order mark, else PDFDocEncoding, which is mostly Latin-1.
pub(crate) fn decode_text(object: &Object) -> Option<String> {
    Some(text_of(object.as_str().ok()?))
}

pub(crate) fn text_of(bytes: &[u8]) -> String {
    if let Some(rest) = bytes.strip_prefix(&[0xfe, 0xff]) {
        return utf16(rest, u16::from_be_bytes);
    }
    if let Some(rest) = bytes.strip_prefix(&[0xff, 0xfe]) {
        return utf16(rest, u16::from_le_bytes);
    }
    if let Some(rest) = bytes.strip_prefix(&[0xef, 0xbb, 0xbf]) {
        return String::from_utf8_lossy(rest).into_owned();
    }
    bytes.iter().map(|byte| doc_char(*byte)).collect()
}

fn utf16(bytes: &[u8], read: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| read([pair[0], pair[1]]));
    char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

fn doc_char(byte: u8) -> char {
    const HIGH: [char; 33] = [
        '•', '†', '‡', '…', '—', '–', 'ƒ', '⁄', '‹', '›', '−', '‰', '„', '“', '”', '‘', '’', '‚', '™', 'ﬁ', 'ﬂ', 'Ł',
        'Œ', 'Š', 'Ÿ', 'Ž', 'ı', 'ł', 'œ', 'š', 'ž', '\u{fffd}', '€',
    ];
    match byte {
        0x80..=0xa0 => HIGH[usize::from(byte - 0x80)],
        other => char::from(other),
    }
}
