//! Headers of a message, decoded.

use encoding_rs::{Encoding, UTF_8};
use memchr::memchr;

use super::transfer::{base64, quoted};

/// Maximum number of headers of one part.
const MAX_HEADERS: usize = 500;
/// Maximum length of a header, in bytes.
const MAX_LENGTH: usize = 64 * 1024;

/// Names in lower case and values, in order.
#[derive(Debug, Default)]
pub(super) struct Headers(Vec<(String, String)>);

impl Headers {
    /// Reads the headers; returns them and what follows. `None` if the bytes do not begin with a header.
    pub(super) fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (mut headers, mut rest): (Vec<(String, String)>, _) = (Vec::new(), bytes);
        while !rest.is_empty() {
            let end = memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
            let line = rest[..end].trim_ascii_end();
            if line.is_empty() {
                rest = &rest[end..];
                break;
            }
            let text = String::from_utf8_lossy(&line[..line.len().min(MAX_LENGTH)]);
            if line.starts_with(b" ") || line.starts_with(b"\t") {
                let (_, value) = headers.last_mut()?;
                if value.len() < MAX_LENGTH {
                    value.push(' ');
                    value.push_str(text.trim());
                }
            } else {
                let (name, value) = text.split_once(':')?;
                let is_name = |letter: char| letter.is_ascii_graphic();
                if name.is_empty() || !name.trim_end().chars().all(is_name) || headers.len() >= MAX_HEADERS {
                    return None;
                }
                headers.push((name.trim_end().to_ascii_lowercase(), value.trim().to_owned()));
            }
            rest = &rest[end..];
        }
        Some((Self(headers), rest))
    }

    /// Returns a header as it was sent.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Returns a header as people read it.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.get(name).map(decoded)
    }

    /// Returns the value before the parameters, in lower case.
    pub(super) fn value(&self, name: &str) -> Option<String> {
        self.get(name)?.split(';').next().map(|value| value.trim().to_ascii_lowercase())
    }

    /// Returns a parameter: plain, in words with an encoding, or by RFC 2231 with one, perhaps in pieces.
    pub(super) fn parameter(&self, name: &str, wanted: &str) -> Option<String> {
        let parameters = parameters(self.get(name)?);
        let get = |name: &str| parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        if let Some(value) = get(wanted) {
            return Some(decoded(value));
        }
        if let Some(value) = get(&format!("{wanted}*")) {
            return Some(percent_decoded(value));
        }
        let piece = |number: usize| get(&format!("{wanted}*{number}*")).or_else(|| get(&format!("{wanted}*{number}")));
        let whole: String = (0..100).map_while(piece).collect();
        (!whole.is_empty()).then(|| percent_decoded(&whole))
    }
}

/// Splits parameters at semicolons outside of quotation marks.
fn parameters(header: &str) -> Vec<(String, String)> {
    let (mut found, mut rest) = (Vec::new(), header.split_once(';').map_or("", |(_, rest)| rest));
    while let Some((name, value)) = rest.split_once('=') {
        let value = value.trim_start();
        let (value, after) = match value.strip_prefix('"') {
            Some(inner) => {
                let mut is_escaped = false;
                let end = inner.find(|letter: char| {
                    let ends = letter == '"' && !is_escaped;
                    is_escaped = letter == '\\' && !is_escaped;
                    ends
                });
                let end = end.unwrap_or(inner.len());
                (inner[..end].replace("\\\"", "\""), inner.get(end + 1..).unwrap_or_default())
            }
            None => {
                let end = value.find(';').unwrap_or(value.len());
                (value[..end].trim().to_owned(), &value[end..])
            }
        };
        found.push((name.trim_matches([' ', ';', '\t']).to_ascii_lowercase(), value));
        rest = after.trim_start().trim_start_matches(';');
    }
    found
}

/// Decodes `utf-8'en'na%C3%AFve`.
fn percent_decoded(value: &str) -> String {
    let mut pieces = value.splitn(3, '\'');
    let (label, text) = match (pieces.next(), pieces.next(), pieces.next()) {
        (Some(label), Some(_), Some(text)) => (label, text),
        _ => ("utf-8", value),
    };
    let bytes = quoted(text.replace('=', "%3D").replace('%', "=").as_bytes(), false);
    Encoding::for_label(label.as_bytes()).unwrap_or(UTF_8).decode(&bytes).0.into_owned()
}

/// Decodes words such as `=?utf-8?B?R3LDvMOf?=` (RFC 2047). Spaces between two of them are not shown.
fn decoded(text: &str) -> String {
    let (mut out, mut rest, mut was_word) = (String::new(), text, false);
    while let Some(at) = rest.find("=?") {
        let before = &rest[..at];
        match word(&rest[at..]) {
            Some((word, after)) => {
                if !(was_word && before.trim().is_empty()) {
                    out.push_str(before);
                }
                out.push_str(&word);
                (rest, was_word) = (after, true);
            }
            None => {
                out.push_str(&rest[..at + 2]);
                (rest, was_word) = (&rest[at + 2..], false);
            }
        }
    }
    out.push_str(rest);
    out
}

/// Decodes one word; returns its text and the rest.
fn word(text: &str) -> Option<(String, &str)> {
    let (label, rest) = text.strip_prefix("=?")?.split_once('?')?;
    let (method, rest) = rest.split_once('?')?;
    let (data, rest) = rest.split_once("?=")?;
    let bytes = match method {
        "B" | "b" => base64(data.as_bytes()),
        "Q" | "q" => quoted(data.as_bytes(), true),
        _ => return None,
    };
    let label = label.split('*').next().unwrap_or_default();
    let encoding = Encoding::for_label(label.as_bytes())?;
    Some((encoding.decode(&bytes).0.into_owned(), rest))
}
