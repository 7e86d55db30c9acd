//! Parts of a message: their kinds, their bytes, and the parts in them.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use memchr::memchr;

use super::headers::Headers;
use super::transfer::{base64, quoted};

/// Maximum nesting of parts.
const MAX_DEPTH: usize = 12;
/// Maximum number of parts of a message.
const MAX_PARTS: usize = 1000;

/// Parts that may still be read.
#[derive(Debug)]
pub(super) struct Budget {
    depth: usize,
    parts: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { depth: MAX_DEPTH, parts: MAX_PARTS }
    }
}

/// Part of a message.
#[derive(Debug)]
pub(super) struct Part<'m> {
    pub headers: Headers,
    /// Bytes as they were sent.
    body: &'m [u8],
    pub parts: Vec<Part<'m>>,
    kind: String,
}

impl<'m> Part<'m> {
    /// Reads a part; `None` if there are too many.
    pub(super) fn read(bytes: &'m [u8], budget: &mut Budget) -> Option<Self> {
        budget.parts = budget.parts.checked_sub(1)?;
        let (headers, body) = Headers::read(bytes).unwrap_or((Headers::default(), bytes));
        let kind = headers.value("content-type").unwrap_or_else(|| "text/plain".to_owned());
        let mut part = Self { headers, body, parts: Vec::new(), kind };
        budget.depth = budget.depth.checked_sub(1)?;
        if part.kind.starts_with("multipart/") {
            if let Some(boundary) =
                part.headers.parameter("content-type", "boundary").filter(|boundary| !boundary.is_empty())
            {
                part.parts = split(body, &boundary).into_iter().map_while(|piece| Part::read(piece, budget)).collect();
            }
        } else if part.kind == "message/rfc822" {
            part.parts = Part::read(body, budget).into_iter().collect();
        }
        budget.depth += 1;
        Some(part)
    }

    /// Media type in lower case.
    pub(super) fn kind(&self) -> &str {
        &self.kind
    }

    /// Whether this is an archive of a page rather than a message to somebody.
    pub(super) fn is_archive(&self) -> bool {
        let is_saved = self.headers.get("snapshot-content-location").is_some()
            || self.headers.get("from").is_none_or(|from| from.to_ascii_lowercase().contains("saved by"));
        is_saved && self.headers.get("to").is_none() && matches!(self.kind(), "multipart/related" | "text/html")
    }

    /// Whether the part is sent as a file.
    pub(super) fn is_attached(&self) -> bool {
        self.headers.value("content-disposition").as_deref() == Some("attachment")
    }

    /// Whether the part is plain text for people.
    pub(super) fn is_text(&self) -> bool {
        matches!(self.kind(), "text/plain" | "text/markdown" | "text/enriched" | "text/x-markdown" | "text")
    }

    /// Whether lines that end with a space go on in the next one.
    pub(super) fn is_flowed(&self) -> bool {
        self.headers.parameter("content-type", "format").is_some_and(|format| format.eq_ignore_ascii_case("flowed"))
    }

    /// Name of the file.
    pub(super) fn name(&self) -> Option<String> {
        let named = self.headers.parameter("content-disposition", "filename");
        named.or_else(|| self.headers.parameter("content-type", "name")).filter(|name| !name.trim().is_empty())
    }

    /// Returns how good the part is for reading, among alternatives; 0 for none.
    pub(super) fn quality(&self) -> u8 {
        match self.kind() {
            "text/html" | "application/xhtml+xml" if self.text().trim().is_empty() => 0,
            "text/html" | "application/xhtml+xml" => 3,
            _ if self.is_text() => 1,
            kind if kind.starts_with("multipart/") => self.parts.iter().map(Part::quality).max().unwrap_or(0),
            _ => 0,
        }
    }

    /// Returns the text of the part.
    pub(super) fn text(&self) -> String {
        let bytes = match self.headers.value("content-transfer-encoding").as_deref() {
            Some("base64") => base64(self.body),
            Some("quoted-printable") => quoted(self.body, false),
            _ => self.body.to_vec(),
        };
        let declared = self.headers.parameter("content-type", "charset");
        let declared = declared.and_then(|label| Encoding::for_label(label.trim().as_bytes()));
        let encoding =
            declared.unwrap_or_else(|| if std::str::from_utf8(&bytes).is_ok() { UTF_8 } else { WINDOWS_1252 });
        encoding.decode(&bytes).0.into_owned()
    }
}

/// Splits a body at the lines of its boundary. What is before the first and behind the last is for no reader.
fn split<'m>(body: &'m [u8], boundary: &str) -> Vec<&'m [u8]> {
    let (mut parts, mut start, mut at) = (Vec::new(), None, 0);
    while at < body.len() && parts.len() < MAX_PARTS {
        let end = memchr(b'\n', &body[at..]).map_or(body.len(), |end| at + end + 1);
        let line = body[at..end].trim_ascii_end();
        if let Some(rest) = line.strip_prefix(b"--").and_then(|line| line.strip_prefix(boundary.as_bytes())) {
            let is_last = rest == b"--";
            if is_last || rest.is_empty() {
                parts.extend(start.map(|start| &body[start..at]));
                start = (!is_last).then_some(end);
                if is_last {
                    return parts;
                }
            }
        }
        at = end;
    }
    parts.extend(start.map(|start: usize| &body[start..]));
    parts
}
