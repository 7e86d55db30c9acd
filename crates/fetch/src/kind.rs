//! What a body is: by what the server says, and by what the bytes are.
//!
//! The order of trust follows WHATWG MIME Sniffing where a browser would also look: bytes that can only be one thing win
//! over the header, then the header, then the look of the text.

/// What a body can be turned into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// HTML, XHTML included.
    Html,
    /// Any other XML: feeds, sitemaps.
    Xml,
    /// JSON and every `+json` type.
    Json,
    /// Readable text without structure of its own: plain text, CSV, source code.
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

/// How far a signature may stand from the first byte, and how much text is looked at.
const LOOK: usize = 1024;

/// Tells the kind from the `Content-Type` header, if there was one, and the decoded body.
#[must_use]
pub fn detect(content_type: Option<&str>, body: &[u8]) -> Kind {
    let essence = essence(content_type.unwrap_or_default());
    let declared = declared(&essence);
    let head = opening(body);
    if head.is_empty() {
        return declared.filter(|kind| kind.is_text()).unwrap_or(Kind::Html);
    }
    if let Some(kind) = signature(body) {
        return kind;
    }
    match declared {
        Some(Kind::Html | Kind::Xml) => {
            markup(&head).unwrap_or(if declared == Some(Kind::Xml) { Kind::Xml } else { Kind::Html })
        }
        Some(kind @ (Kind::Text | Kind::Markdown)) => {
            if is_binary(body) {
                Kind::Other
            } else {
                kind
            }
        }
        // Error pages are often sent with the type of the file that was asked for.
        Some(kind) => match markup(&head) {
            Some(Kind::Html) => Kind::Html,
            _ if kind == Kind::Pdf => pdf_behind_junk(body),
            _ => kind,
        },
        None => markup(&head).unwrap_or(if is_binary(body) { Kind::Other } else { Kind::Text }),
    }
}

impl Kind {
    /// Whether the body is characters rather than bytes.
    #[must_use]
    pub fn is_text(self) -> bool {
        matches!(self, Self::Html | Self::Xml | Self::Json | Self::Text | Self::Markdown)
    }
}

/// The type without parameters, in lower case: `text/html` of `Text/HTML; charset=utf-8`.
fn essence(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// `None` for types that say nothing: none at all, `application/octet-stream`, ones we do not know.
fn declared(essence: &str) -> Option<Kind> {
    let (class, name) = essence.split_once('/')?;
    Some(match (class, name) {
        ("text", "html") | ("application", "xhtml+xml" | "vnd.wap.xhtml+xml") => Kind::Html,
        ("image", _) => Kind::Image,
        ("text" | "application", "xml") => Kind::Xml,
        (_, name) if name.ends_with("+xml") => Kind::Xml,
        ("text" | "application", "json" | "x-json") => Kind::Json,
        (_, name) if name.ends_with("+json") => Kind::Json,
        ("text", "markdown" | "x-markdown") => Kind::Markdown,
        ("application" | "text", "pdf" | "x-pdf") => Kind::Pdf,
        ("text", _) => Kind::Text,
        ("audio" | "video" | "font", _) => Kind::Other,
        _ => return None,
    })
}

/// Signatures that no text begins with. Those made of letters alone are checked together with a byte that is not a letter.
// A table of our own, not a crate for file types: those also take bytes that text may begin with ("BM", "MZ", "ID3") for
// files, and a page must never become a file because of its first word.
fn signature(body: &[u8]) -> Option<Kind> {
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
        return Some(Kind::Image);
    }
    if starts(&OTHERS) || (body.starts_with(b"ID3") && body.get(3).is_some_and(|version| *version < 16)) {
        return Some(Kind::Other);
    }
    match (body.get(..4), body.get(4..8), body.get(8..12)) {
        (Some(b"RIFF"), _, Some(b"WEBP")) => Some(Kind::Image),
        (Some(b"RIFF"), _, Some(b"WAVE" | b"AVI ")) => Some(Kind::Other),
        (_, Some(b"ftyp"), Some(b"avif" | b"avis" | b"heic" | b"heix" | b"mif1" | b"msf1")) => Some(Kind::Image),
        (_, Some(b"ftyp"), _) => Some(Kind::Other),
        _ => body.trim_ascii_start().starts_with(b"%PDF-").then_some(Kind::Pdf),
    }
}

/// Readers accept `%PDF-` anywhere in the first 1024 bytes (ISO 32000-1 annex H), but only a declared PDF gets that credit.
fn pdf_behind_junk(body: &[u8]) -> Kind {
    let start = &body[..body.len().min(LOOK)];
    if start.windows(5).any(|part| part == b"%PDF-") || is_binary(body) { Kind::Pdf } else { Kind::Text }
}

/// The beginning of the body as lower-case ASCII: without byte order mark, white space and comments, UTF-16 narrowed.
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
            // The comment goes on past what is looked at: still markup, so keep it for the check below.
            None => break,
        }
    }
    rest.to_ascii_lowercase()
}

/// Html or Xml when the text begins like one of them.
fn markup(opening: &[u8]) -> Option<Kind> {
    const TAGS: &str = "!doctype html head body title meta link script style iframe h1 h2 h3 div p a b i br hr table ul ol \
        dl font span section article main header nav footer form img pre blockquote strong em noscript \
        center base frameset";
    if opening.starts_with(b"<?xml") {
        let html = contains(opening, b"<html") || contains(opening, b"<!doctype html");
        return Some(if html { Kind::Html } else { Kind::Xml });
    }
    if opening.starts_with(b"<!--") {
        return Some(Kind::Html);
    }
    let name = opening.strip_prefix(b"<")?;
    let tag = TAGS.split(' ').find_map(|tag| {
        let rest = name.strip_prefix(tag.as_bytes())?;
        matches!(rest.first(), Some(b' ' | b'>' | b'/' | b'\t' | b'\n' | b'\r')).then_some(tag)
    })?;
    // `<!DOCTYPE rss …>` and its like.
    let other = tag == "!doctype" && !name[tag.len()..].trim_ascii_start().starts_with(b"html");
    Some(if other { Kind::Xml } else { Kind::Html })
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// Control bytes that no text has (MIME Sniffing section 7.2). UTF-16 is text although it is full of zeros.
fn is_binary(body: &[u8]) -> bool {
    let utf16 = body.starts_with(&[0xFF, 0xFE]) || body.starts_with(&[0xFE, 0xFF]);
    let control = |byte: &u8| matches!(byte, 0..=0x08 | 0x0B | 0x0E..=0x1A | 0x1C..=0x1F);
    !utf16 && body[..body.len().min(LOOK)].iter().any(control)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(content_type: &str, body: &[u8], expect: Kind) {
        let content_type = (!content_type.is_empty()).then_some(content_type);
        assert_eq!(detect(content_type, body), expect, "{content_type:?} {:?}", String::from_utf8_lossy(body));
    }

    #[test]
    fn header_decides_when_the_bytes_do_not_object() {
        check("text/html", b"hello", Kind::Html);
        check("Text/HTML; charset=utf-8", b"<p>x", Kind::Html);
        check("application/xhtml+xml", b"<?xml version='1.0'?><html xmlns='x'>", Kind::Html);
        check("application/rss+xml", b"<rss>", Kind::Xml);
        check("application/json", b"{}", Kind::Json);
        check("application/ld+json; profile=x", b"{}", Kind::Json);
        check("application/problem+json", b"[]", Kind::Json);
        check("text/markdown", b"<div>\n# x", Kind::Markdown);
        check("text/plain", b"<html>shown as source", Kind::Text);
        check("text/csv", b"a,b", Kind::Text);
        check("image/svg+xml", b"<svg xmlns='x'/>", Kind::Image);
        check("video/mp4", b"\0\0\0\x20ftypisom", Kind::Other);
    }

    #[test]
    fn bytes_win_over_a_wrong_header() {
        check("application/pdf", b"<!DOCTYPE html><p>not found", Kind::Html);
        check("application/pdf", b"\n<!-- x -->\n<HTML lang=en>", Kind::Html);
        check("image/png", b"<html>", Kind::Html);
        check("application/json", b"<!doctype html>", Kind::Html);
        check("text/html", b"%PDF-1.7", Kind::Pdf);
        check("text/plain", b"%PDF-1.7", Kind::Pdf);
        check("application/octet-stream", b"%PDF-1.4", Kind::Pdf);
        check("application/pdf", b"junk\n%PDF-1.4", Kind::Pdf);
        check("text/html", b"\x89PNG\r\n\x1a\n", Kind::Image);
        check("text/html", b"PK\x03\x04", Kind::Other);
        check("text/html", b"\x1f\x8b\x08", Kind::Other);
        check("text/plain", b"\x00\x01\x02", Kind::Other);
        check("text/xml", b"<?xml version='1.0'?><!DOCTYPE html><html>", Kind::Html);
        check("text/html", b"<?xml version='1.0'?><rss>", Kind::Xml);
        check("text/plain", b"ID3 is a tag format", Kind::Text);
    }

    #[test]
    fn without_a_header_the_look_decides() {
        check("", b"<!DOCTYPE html>", Kind::Html);
        check("", b"\xEF\xBB\xBF  <html>", Kind::Html);
        check("", b"\xFF\xFE<\0h\0t\0m\0l\0>\0", Kind::Html);
        check("", b"<abc>", Kind::Text);
        check("", b"<!doctype rss><rss>", Kind::Xml);
        check("", b"hello", Kind::Text);
        check("", b"\x00\x01", Kind::Other);
        check("", b"RIFF\x10\0\0\0WEBPVP8 ", Kind::Image);
        check("", b"\0\0\0\x1cftypavif", Kind::Image);
        check("nonsense", b"<p>x", Kind::Html);
        check("application/x-yaml", b"a: b", Kind::Text);
    }

    #[test]
    fn an_empty_body_is_an_empty_page() {
        check("", b"", Kind::Html);
        check("image/png", b"", Kind::Html);
        check("application/pdf", b" \r\n", Kind::Html);
        check("application/json", b"", Kind::Json);
        check("text/plain", b"", Kind::Text);
    }
}
