//! Sanitising of file names and content types for response headers. Both may be untrusted input from web pages.

use percent_encoding::utf8_percent_encode;

use crate::link::RESERVED;

/// Limit of a name, in characters, which keeps URLs short.
const MAX_NAME: usize = 100;
/// Limit of a content type, in bytes.
const MAX_TYPE: usize = 200;
/// Content type of files without a valid one.
const BYTES: &str = "application/octet-stream";
/// Types that a browser may show inline under our origin. SVG and HTML hold scripts, and PDF may: they are downloaded.
const SHOWN: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/// Returns a name that is safe on every system: letters, digits and a few punctuation marks, without a leading dot,
/// which would hide the file. Keeps what follows the last slash, and of a long name the end, which holds the extension.
pub(crate) fn name(given: &str) -> String {
    let last = given.rsplit(['/', '\\']).next().unwrap_or_default();
    let safe = |c: char| if c.is_alphanumeric() || " .-_()+,".contains(c) { c } else { '_' };
    let name: Vec<char> = last.trim_matches([' ', '.']).chars().map(safe).collect();
    let name: String = name[name.len().saturating_sub(MAX_NAME)..].iter().collect();
    match name.trim_matches([' ', '.']) {
        "" => "file".to_owned(),
        name => name.to_owned(),
    }
}

/// Returns the content type if it is valid in a header (RFC 9110 section 8.3.1), else `application/octet-stream`.
pub(crate) fn content_type(given: &str) -> String {
    let token = |text: &str| {
        !text.is_empty() && text.bytes().all(|c| c.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&c))
    };
    let essence = given.split(';').next().unwrap_or_default().trim();
    let known = essence.split_once('/').is_some_and(|(kind, part)| token(kind) && token(part));
    let printable = given.len() <= MAX_TYPE && given.bytes().all(|c| matches!(c, b' '..=b'~'));
    if known && printable { given.trim().to_ascii_lowercase() } else { BYTES.to_owned() }
}

/// Returns the value of `Content-Disposition` (RFC 6266), with an ASCII fallback of the name for old clients.
pub(crate) fn disposition(content_type: &str, name: &str) -> String {
    let way = if SHOWN.contains(&content_type) { "inline" } else { "attachment" };
    let ascii: String = name.chars().map(|c| if c.is_ascii() { c } else { '_' }).collect();
    if ascii == name {
        return format!("{way}; filename=\"{name}\"");
    }
    // RFC 8187 section 3.2.1 allows a few more characters unencoded than `RESERVED`; encoding more is valid.
    format!("{way}; filename=\"{ascii}\"; filename*=UTF-8''{}", utf8_percent_encode(name, RESERVED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let check = |given: &str, expect: &str| assert_eq!(name(given), expect, "{given:?}");
        check("screenshot.png", "screenshot.png");
        check("Größe (1), 2+3.pdf", "Größe (1), 2+3.pdf");
        check("../../etc/passwd", "passwd");
        check("C:\\temp\\x.exe", "x.exe");
        check("a/b/", "file");
        for empty in ["", ".", "..", " . ", "/"] {
            check(empty, "file");
        }
        check(".bashrc", "bashrc");
        check("a\r\nSet-Cookie: b=c", "a__Set-Cookie_ b_c");
        check("a\";filename=\"b.html", "a__filename__b.html");
        check("a\u{202e}gnp.exe", "a_gnp.exe");
        check("<b>?&#%.html", "_b_____.html");
        check(&format!("{}.png", "ä".repeat(300)), &format!("{}.png", "ä".repeat(96)));
        check(&format!("a.{}", " ".repeat(300)), "a");
    }

    #[test]
    fn types() {
        let check = |given: &str, expect: &str| assert_eq!(content_type(given), expect, "{given:?}");
        check("image/png", "image/png");
        check(" Text/HTML; Charset=UTF-8 ", "text/html; charset=utf-8");
        check("application/vnd.api+json", "application/vnd.api+json");
        for none in ["", "png", "image/", "/png", "a b/c", "image/png\r\nx: y", "image/pn\u{e4}", "image/png; a=\u{7}"]
        {
            check(none, BYTES);
        }
        check(&format!("image/{}", "p".repeat(300)), BYTES);
    }

    #[test]
    fn pictures_are_shown_and_nothing_else() {
        let check = |content_type: &str, name: &str, expect: &str| {
            assert_eq!(disposition(content_type, name), expect, "{content_type} {name}");
        };
        check("image/png", "a b.png", "inline; filename=\"a b.png\"");
        check("image/webp", "ä.webp", "inline; filename=\"_.webp\"; filename*=UTF-8''%C3%A4.webp");
        for other in ["image/svg+xml", "text/html", "application/pdf", "audio/mpeg", "image/png; x=y", BYTES] {
            check(other, "x", "attachment; filename=\"x\"");
        }
    }
}
