//! Kind of a body, by its declared type and by its bytes.
//!
//! The order of trust follows WHATWG MIME Sniffing where a browser would also look: bytes that can only be one thing win
//! over the header, then the header, then the look of the text.

/// Kind of a body, by how it can be processed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyKind {
    /// HTML, XHTML included.
    Html,
    /// Any other XML: feeds, sitemaps.
    Xml,
    /// JSON and every `+json` type.
    Json,
    /// Readable text without markup: plain text, CSV, source code.
    Text,
    /// Markdown.
    Markdown,
    /// PDF.
    Pdf,
    /// A picture, SVG included.
    Image,
    /// Everything else: archives, office files, audio, video, fonts, programs.
    Other,
}

/// Bytes that are searched for signatures and control characters.
const LOOK: usize = 1024;

/// Detects the kind from the `Content-Type` header, if any, and the decoded body.
#[must_use]
pub fn detect(content_type: Option<&str>, body: &[u8]) -> BodyKind {
    let essence = essence(content_type.unwrap_or_default());
    let declared = declared(&essence);
    let head = opening(body);
    if head.is_empty() {
        return declared.filter(|kind| kind.is_text()).unwrap_or(BodyKind::Html);
    }
    if let Some(kind) = signature(body) {
        return kind;
    }
    match declared {
        Some(BodyKind::Html | BodyKind::Xml) => {
            markup(&head).unwrap_or(if declared == Some(BodyKind::Xml) { BodyKind::Xml } else { BodyKind::Html })
        }
        Some(kind @ (BodyKind::Text | BodyKind::Markdown)) => {
            if is_binary(body) {
                BodyKind::Other
            } else {
                kind
            }
        }
        // Error pages are often sent with the type of the requested file.
        Some(kind) => match markup(&head) {
            Some(BodyKind::Html) => BodyKind::Html,
            _ if kind == BodyKind::Pdf => pdf_behind_junk(body),
            _ => kind,
        },
        None => markup(&head).unwrap_or(if is_binary(body) { BodyKind::Other } else { BodyKind::Text }),
    }
}

impl BodyKind {
    /// Whether the body is text rather than binary.
    #[must_use]
    pub fn is_text(self) -> bool {
        matches!(self, Self::Html | Self::Xml | Self::Json | Self::Text | Self::Markdown)
    }
}

/// Returns the media type without parameters, in lower case: `text/html` for `Text/HTML; charset=utf-8`.
fn essence(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Returns the declared kind; `None` for a missing type, `application/octet-stream` and unknown types.
fn declared(essence: &str) -> Option<BodyKind> {
    let (class, name) = essence.split_once('/')?;
    Some(match (class, name) {
        ("text", "html") | ("application", "xhtml+xml" | "vnd.wap.xhtml+xml") => BodyKind::Html,
        ("image", _) => BodyKind::Image,
        ("text" | "application", "xml") => BodyKind::Xml,
        (_, name) if name.ends_with("+xml") => BodyKind::Xml,
        ("text" | "application", "json" | "x-json") => BodyKind::Json,
        (_, name) if name.ends_with("+json") => BodyKind::Json,
        ("text", "markdown" | "x-markdown") => BodyKind::Markdown,
        ("application" | "text", "pdf" | "x-pdf") => BodyKind::Pdf,
        ("text", _) => BodyKind::Text,
        ("audio" | "video" | "font", _) => BodyKind::Other,
        _ => return None,
    })
}

/// Detects a kind by signatures that no text begins with. Signatures of letters alone also need a non-letter byte.
// This is not a crate for file types: those also accept bytes that text may begin with ("BM", "MZ", "ID3"), and a page
// must never be taken for a file because of its first word.
fn signature(body: &[u8]) -> Option<BodyKind> {
    const PICTURES: [&[u8]; 9] = [
        b"\x89PNG\r\n\x1a\n",
        b"\xFF\xD8\xFF",
        b"GIF87a",
        b"GIF89a",
        b"II*\0",
        b"MM\0*",
        b"\0\0\x01\0",
        b"\0\0\0\x0CjP  \r\n\x87\n",
        b"\xFFO\xFFQ",
    ];
    const OTHERS: [&[u8]; 16] = [
        b"PK\x03\x04",
        b"PK\x05\x06",
        b"\x1F\x8B",
        b"7z\xBC\xAF\x27\x1C",
        b"Rar!\x1A\x07",
        b"\xFD7zXZ\0",
        b"\x28\xB5\x2F\xFD",
        b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1",
        b"\x1A\x45\xDF\xA3",
        b"OggS\0",
        b"fLaC\0",
        b"\0asm",
        b"\x7FELF",
        b"wOFF\0",
        b"wOF2\0",
        b"{\\rtf",
    ];
    let starts = |signatures: &[&[u8]]| signatures.iter().any(|signature| body.starts_with(signature));
    if starts(&PICTURES) {
        return Some(BodyKind::Image);
    }
    if starts(&OTHERS) || (body.starts_with(b"ID3") && body.get(3).is_some_and(|version| *version < 16)) {
        return Some(BodyKind::Other);
    }
    match (body.get(..4), body.get(4..8), body.get(8..12)) {
        (Some(b"RIFF"), _, Some(b"WEBP")) => Some(BodyKind::Image),
        (Some(b"RIFF"), _, Some(b"WAVE" | b"AVI ")) => Some(BodyKind::Other),
        (_, Some(b"ftyp"), Some(b"avif" | b"avis" | b"heic" | b"heix" | b"mif1" | b"msf1")) => Some(BodyKind::Image),
        (_, Some(b"ftyp"), _) => Some(BodyKind::Other),
        _ => body.trim_ascii_start().starts_with(b"%PDF-").then_some(BodyKind::Pdf),
    }
}

/// Resolves a declared PDF without a leading `%PDF-`. Readers accept it anywhere in the first 1024 bytes (ISO 32000-1
/// annex H); undeclared bodies do not get that tolerance.
fn pdf_behind_junk(body: &[u8]) -> BodyKind {
    let start = &body[..body.len().min(LOOK)];
    if start.windows(5).any(|part| part == b"%PDF-") || is_binary(body) { BodyKind::Pdf } else { BodyKind::Text }
}

/// Returns the start of the body in lower case: without byte order mark, white space and comments, UTF-16 narrowed.
fn opening(body: &[u8]) -> Vec<u8> {
    let start = &body[..body.len().min(2 * LOOK)];
    let narrow: Vec<u8> = match start {
        [0xFF, 0xFE, rest @ ..] | [0xFE, 0xFF, rest @ ..] => rest.iter().copied().filter(|byte| *byte != 0).collect(),
        [0xEF, 0xBB, 0xBF, rest @ ..] => rest.to_vec(),
        _ => start.to_vec(),
    };
    let mut rest = narrow.trim_ascii_start();
    while let Some(comment) = rest.strip_prefix(b"<!--") {
        match comment.windows(3).position(|part| part == b"-->") {
            Some(end) => rest = comment[end + 3..].trim_ascii_start(),
            // The comment extends past the inspected bytes; it is still markup, so it is kept for `markup`.
            None => break,
        }
    }
    rest.to_ascii_lowercase()
}

/// Returns `Html` or `Xml` if the text begins like one of them.
fn markup(opening: &[u8]) -> Option<BodyKind> {
    const TAGS: &str = "!doctype html head body title meta link script style iframe h1 h2 h3 div p a b i br hr table ul ol \
        dl font span section article main header nav footer form img pre blockquote strong em noscript \
        center base frameset";
    if opening.starts_with(b"<?xml") {
        let html = contains(opening, b"<html") || contains(opening, b"<!doctype html");
        return Some(if html { BodyKind::Html } else { BodyKind::Xml });
    }
    if opening.starts_with(b"<!--") {
        return Some(BodyKind::Html);
    }
    let name = opening.strip_prefix(b"<")?;
    let tag = TAGS.split(' ').find_map(|tag| {
        let rest = name.strip_prefix(tag.as_bytes())?;
        matches!(rest.first(), Some(b' ' | b'>' | b'/' | b'\t' | b'\n' | b'\r')).then_some(tag)
    })?;
    // Another document type, such as `<!DOCTYPE rss …>`.
    let other = tag == "!doctype" && !name[tag.len()..].trim_ascii_start().starts_with(b"html");
    Some(if other { BodyKind::Xml } else { BodyKind::Html })
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// Whether the body has control bytes that no text has (MIME Sniffing section 7.2). UTF-16 is text despite its zeros.
fn is_binary(body: &[u8]) -> bool {
    let utf16 = body.starts_with(&[0xFF, 0xFE]) || body.starts_with(&[0xFE, 0xFF]);
    let control = |byte: &u8| matches!(byte, 0..=0x08 | 0x0B | 0x0E..=0x1A | 0x1C..=0x1F);
    !utf16 && body[..body.len().min(LOOK)].iter().any(control)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(content_type: &str, body: &[u8], expect: BodyKind) {
        let content_type = (!content_type.is_empty()).then_some(content_type);
        assert_eq!(detect(content_type, body), expect, "{content_type:?} {:?}", String::from_utf8_lossy(body));
    }

    #[test]
    fn header_decides_when_the_bytes_do_not_object() {
        check("text/html", b"hello", BodyKind::Html);
        check("Text/HTML; charset=utf-8", b"<p>x", BodyKind::Html);
        check("application/xhtml+xml", b"<?xml version='1.0'?><html xmlns='x'>", BodyKind::Html);
        check("application/rss+xml", b"<rss>", BodyKind::Xml);
        check("application/json", b"{}", BodyKind::Json);
        check("application/ld+json; profile=x", b"{}", BodyKind::Json);
        check("application/problem+json", b"[]", BodyKind::Json);
        check("text/markdown", b"<div>\n# x", BodyKind::Markdown);
        check("text/plain", b"<html>shown as source", BodyKind::Text);
        check("text/csv", b"a,b", BodyKind::Text);
        check("image/svg+xml", b"<svg xmlns='x'/>", BodyKind::Image);
        check("video/mp4", b"\0\0\0\x20ftypisom", BodyKind::Other);
    }

    #[test]
    fn bytes_win_over_a_wrong_header() {
        check("application/pdf", b"<!DOCTYPE html><p>not found", BodyKind::Html);
        check("application/pdf", b"\n<!-- x -->\n<HTML lang=en>", BodyKind::Html);
        check("image/png", b"<html>", BodyKind::Html);
        check("application/json", b"<!doctype html>", BodyKind::Html);
        check("text/html", b"%PDF-1.7", BodyKind::Pdf);
        check("text/plain", b"%PDF-1.7", BodyKind::Pdf);
        check("application/octet-stream", b"%PDF-1.4", BodyKind::Pdf);
        check("application/pdf", b"junk\n%PDF-1.4", BodyKind::Pdf);
        check("text/html", b"\x89PNG\r\n\x1a\n", BodyKind::Image);
        check("text/html", b"PK\x03\x04", BodyKind::Other);
        check("text/html", b"\x1f\x8b\x08", BodyKind::Other);
        check("text/plain", b"\x00\x01\x02", BodyKind::Other);
        check("text/xml", b"<?xml version='1.0'?><!DOCTYPE html><html>", BodyKind::Html);
        check("text/html", b"<?xml version='1.0'?><rss>", BodyKind::Xml);
        check("text/plain", b"ID3 is a tag format", BodyKind::Text);
    }

    #[test]
    fn without_a_header_the_look_decides() {
        check("", b"<!DOCTYPE html>", BodyKind::Html);
        check("", b"\xEF\xBB\xBF  <html>", BodyKind::Html);
        check("", b"\xFF\xFE<\0h\0t\0m\0l\0>\0", BodyKind::Html);
        check("", b"<abc>", BodyKind::Text);
        check("", b"<!doctype rss><rss>", BodyKind::Xml);
        check("", b"hello", BodyKind::Text);
        check("", b"\x00\x01", BodyKind::Other);
        check("", b"RIFF\x10\0\0\0WEBPVP8 ", BodyKind::Image);
        check("", b"\0\0\0\x1cftypavif", BodyKind::Image);
        check("nonsense", b"<p>x", BodyKind::Html);
        check("application/x-yaml", b"a: b", BodyKind::Text);
    }

    #[test]
    fn an_empty_body_is_an_empty_page() {
        check("", b"", BodyKind::Html);
        check("image/png", b"", BodyKind::Html);
        check("application/pdf", b" \r\n", BodyKind::Html);
        check("application/json", b"", BodyKind::Json);
        check("text/plain", b"", BodyKind::Text);
    }
}
