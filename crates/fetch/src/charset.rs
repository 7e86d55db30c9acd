//! Detection of a page's character encoding: byte order mark, header, `<meta>`, then a guess.
//!
//! The order is that of the HTML standard ("determining the character encoding"), section 13.2.3.

use std::borrow::Cow;
use std::ops::Range;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

/// Bytes of the body that are searched for a declaration. The standard asks for at least 1024; browsers honour later
/// ones too, and sites that begin with a licence comment or preload tags need it.
const PRESCAN: usize = 16 * 1024;

/// Bytes of text that the guess is made from. More of it does not change the answer.
const GUESS: usize = 1 << 20;

/// Facts about a body that are known before its bytes are read.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Hints<'a> {
    /// Label from the `Content-Type` header.
    pub(crate) header: Option<&'a str>,
    /// Whether the body may declare its own encoding: HTML and XML may, plain text and JSON may not.
    pub(crate) markup: bool,
    /// Last label of the host name, for the guess: the same bytes are more likely Greek under `gr`.
    pub(crate) tld: Option<&'a str>,
}

/// Decodes the body to text. Never fails: malformed bytes become U+FFFD.
pub(crate) fn decode<'a>(body: &'a [u8], hints: Hints<'_>) -> Cow<'a, str> {
    if let Some((encoding, mark)) = Encoding::for_bom(body) {
        return encoding.decode_without_bom_handling(&body[mark..]).0;
    }
    let declared = hints.header.and_then(known).or_else(|| if hints.markup { prescan(body) } else { None });
    declared.unwrap_or_else(|| guess(body, hints.tld)).decode_without_bom_handling(body).0
}

/// Returns the `charset` parameter of a `Content-Type` value, without quotes.
pub(crate) fn parameter(content_type: &str) -> Option<&str> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']);
        (name.trim().eq_ignore_ascii_case("charset") && !value.is_empty()).then_some(value)
    })
}

/// Returns the encoding with this label. Labels of encodings that are banned for security (ISO-2022-KR, HZ) are
/// ignored: they would turn the whole page into one U+FFFD, and the guess does better.
fn known(label: &str) -> Option<&'static Encoding> {
    Encoding::for_label(label.as_bytes()).filter(|encoding| *encoding != REPLACEMENT)
}

/// Implements "prescan a byte stream to determine its encoding" of the HTML standard, after the XML declaration.
fn prescan(body: &[u8]) -> Option<&'static Encoding> {
    let start = &body[..body.len().min(PRESCAN)];
    if start.starts_with(b"<?xml") {
        let end = start.iter().position(|byte| *byte == b'>')?;
        if let Some(encoding) = attribute_after(&start[..end], b"encoding").and_then(|label| in_ascii(&label)) {
            return Some(encoding);
        }
    }
    let mut at = 0;
    while let Some(found) = start[at..].iter().position(|byte| *byte == b'<') {
        at += found;
        let rest = &start[at..];
        if rest.starts_with(b"<!--") {
            // The search starts at offset 2, as `<!-->` is a complete comment in HTML.
            at += rest[2..].windows(3).position(|part| part == b"-->")? + 5;
        } else if is_meta(rest) {
            let (encoding, length) = meta(&rest[5..]);
            if encoding.is_some() {
                return encoding;
            }
            at += 5 + length;
        } else {
            at += 1;
        }
    }
    None
}

fn is_meta(rest: &[u8]) -> bool {
    let name = rest.get(1..5).is_some_and(|name| name.eq_ignore_ascii_case(b"meta"));
    name && rest.get(5).is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b'/')
}

/// Returns the encoding that one `<meta …>` declares, and the length of its attributes in bytes.
fn meta(text: &[u8]) -> (Option<&'static Encoding>, usize) {
    let (mut at, mut charset, mut content, mut pragma) = (0, None, None, false);
    while let Some((name, value, end)) = attribute(text, at) {
        at = end;
        match name.as_str() {
            "charset" if charset.is_none() => charset = Some(value),
            "content" if content.is_none() => content = Some(value),
            "http-equiv" => pragma = value == "content-type",
            _ => {}
        }
    }
    let from_content =
        || content.filter(|_| pragma).and_then(|content| attribute_after(content.as_bytes(), b"charset"));
    (charset.or_else(from_content).and_then(|label| in_ascii(&label)), at)
}

/// Returns the next attribute from `at` (name and value in lower case) and its end. `None` at the end of the tag.
fn attribute(text: &[u8], at: usize) -> Option<(String, String, usize)> {
    let skip =
        |from: usize, skipped: fn(&u8) -> bool| from + text[from..].iter().take_while(|byte| skipped(byte)).count();
    let start = skip(at, |byte| byte.is_ascii_whitespace() || *byte == b'/');
    if matches!(text.get(start), None | Some(b'>')) {
        return None;
    }
    let name_end = skip(start + 1, |byte| !byte.is_ascii_whitespace() && !matches!(byte, b'=' | b'>' | b'/'));
    let equals = skip(name_end, u8::is_ascii_whitespace);
    if text.get(equals) != Some(&b'=') {
        return Some((lower(text, start..name_end), String::new(), name_end));
    }
    let from = skip(equals + 1, u8::is_ascii_whitespace);
    let (value, end) = match text.get(from) {
        Some(b'"') => quoted(from + 1, skip(from + 1, |byte| *byte != b'"')),
        Some(b'\'') => quoted(from + 1, skip(from + 1, |byte| *byte != b'\'')),
        _ => {
            let end = skip(from, |byte| !byte.is_ascii_whitespace() && *byte != b'>');
            (from..end, end)
        }
    };
    Some((lower(text, start..name_end), lower(text, value), end.min(text.len())))
}

fn quoted(from: usize, to: usize) -> (Range<usize>, usize) {
    (from..to, to + 1)
}

fn lower(text: &[u8], range: Range<usize>) -> String {
    String::from_utf8_lossy(&text[range]).trim().to_ascii_lowercase()
}

/// Returns the value after `name=` in free text such as `text/html; charset=koi8-r`.
fn attribute_after(text: &[u8], name: &[u8]) -> Option<String> {
    let found = text.windows(name.len()).position(|part| part.eq_ignore_ascii_case(name))?;
    let rest = text[found + name.len()..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let rest = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'")).unwrap_or(rest);
    let end = rest.iter().position(|byte| byte.is_ascii_whitespace() || matches!(byte, b';' | b'"' | b'\'' | b'?'));
    Some(lower(rest, 0..end.unwrap_or(rest.len())))
}

/// Returns the encoding for a label found in the page. A label readable as ASCII cannot mean UTF-16, so UTF-8 is used.
fn in_ascii(label: &str) -> Option<&'static Encoding> {
    let encoding = known(label)?;
    Some(match encoding {
        utf16 if utf16 == UTF_16LE || utf16 == UTF_16BE => UTF_8,
        user if user == X_USER_DEFINED => WINDOWS_1252,
        other => other,
    })
}

fn guess(body: &[u8], tld: Option<&str>) -> &'static Encoding {
    let first = Encoding::ascii_valid_up_to(body);
    if first == body.len() || mostly_utf8(&body[first..]) {
        return UTF_8;
    }
    // Pages may begin with long scripts in plain ASCII, which carry no information about the encoding.
    let start = first.saturating_sub(1024);
    let window = &body[start..body.len().min(start + GUESS)];
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(window, start + window.len() == body.len());
    // The detector panics on anything but a lower-case label.
    let plain = |label: &&str| label.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-');
    detector.guess(tld.filter(plain).map(str::as_bytes), Utf8Detection::Deny)
}

/// Whether the text is UTF-8 with a few broken bytes (a cut at a byte limit, one pasted character). Text in another
/// encoding forms hardly any valid sequences.
fn mostly_utf8(body: &[u8]) -> bool {
    let (mut good, mut bad) = (0usize, 0usize);
    for chunk in body[..body.len().min(GUESS)].utf8_chunks() {
        good += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        bad += usize::from(!chunk.invalid().is_empty());
    }
    // The second case is a short body with a single sequence that was cut off at its end.
    good > 20 * bad
        || (bad == 1 && good > 0 && std::str::from_utf8(body).is_err_and(|error| error.error_len().is_none()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &[u8], header: Option<&str>, expect: &str) {
        let text = decode(body, Hints { header, markup: true, tld: None });
        assert!(text.contains(expect), "{header:?}: {text}");
    }

    fn encoded(label: &str, text: &str) -> Vec<u8> {
        Encoding::for_label(label.as_bytes()).unwrap().encode(text).0.into_owned()
    }

    const RUSSIAN: &str = "Привет, мир! Это обычный русский текст для проверки.";
    const JAPANESE: &str = "これは日本語のページです。文字コードの判定を確認します。";

    #[test]
    fn mark_wins_over_header_and_meta() {
        let mut utf16 = vec![0xFF, 0xFE];
        utf16.extend("<p>žluťoučký".encode_utf16().flat_map(u16::to_le_bytes));
        check(&utf16, Some("iso-8859-1"), "<p>žluťoučký");
        let mut utf16 = vec![0xFE, 0xFF];
        utf16.extend("<p>žluťoučký".encode_utf16().flat_map(u16::to_be_bytes));
        check(&utf16, None, "<p>žluťoučký");
        check("\u{feff}<meta charset=koi8-r>é".as_bytes(), Some("windows-1252"), "r>é");
        assert!(!decode("\u{feff}a".as_bytes(), Hints::default()).contains('\u{feff}'));
    }

    #[test]
    fn header_wins_over_meta() {
        let body = [b"<meta charset=utf-8>".to_vec(), encoded("windows-1251", RUSSIAN)].concat();
        check(&body, Some("windows-1251"), RUSSIAN);
        check(&body, Some("CP1251"), RUSSIAN);
    }

    #[test]
    fn declarations_in_the_page() {
        let page = |head: &str, label: &str, text: &str| [head.as_bytes().to_vec(), encoded(label, text)].concat();
        check(&page("<META CharSet='shift_jis'>", "shift_jis", JAPANESE), None, JAPANESE);
        check(&page("<meta/charset = \"shift_jis\" />", "shift_jis", JAPANESE), None, JAPANESE);
        let pragma = "<meta http-equiv=Content-Type content='text/html; charset=KOI8-R'>";
        check(&page(pragma, "koi8-r", "да"), None, "да");
        let reversed = "<meta content=\"text/html;charset=koi8-r\" http-equiv=\"content-type\">";
        check(&page(reversed, "koi8-r", "да"), None, "да");
        check(&page("<?xml version='1.0' encoding='windows-1251'?><r>", "windows-1251", "да"), None, "да");
        check(&page("<!-- <meta charset=koi8-r> --><meta charset=windows-1251>", "windows-1251", "да"), None, "да");
        let late = format!("<!--{}--><meta charset=windows-1251>", "x".repeat(3000));
        check(&page(&late, "windows-1251", "да"), None, "да");
    }

    #[test]
    fn declarations_that_do_not_count() {
        let page = |head: &str| [head.as_bytes().to_vec(), "да".as_bytes().to_vec()].concat();
        check(&page("<meta charset=utf-16>"), None, "да");
        check(&page("<meta name=description content='charset=koi8-r'>"), None, "да");
        check(&page("<metadata charset=koi8-r>"), None, "да");
        check(&page("<meta charset=nonsense>"), Some("nonsense"), "да");
        check(&page("<meta charset=hz-gb-2312>"), Some("iso-2022-kr"), "да");
        let plain = decode("<meta charset=koi8-r>да".as_bytes(), Hints::default());
        assert!(plain.contains("да"));
    }

    #[test]
    fn guesses() {
        check(&encoded("windows-1251", RUSSIAN), None, RUSSIAN);
        check(&encoded("shift_jis", JAPANESE), None, JAPANESE);
        check(&encoded("euc-jp", JAPANESE), None, JAPANESE);
        check(RUSSIAN.as_bytes(), None, RUSSIAN);
        check(b"ascii", None, "ascii");
        check(&encoded("windows-1252", "un café, déjà vu, à la carte"), None, "café, déjà");
        let script = format!("<script>{}</script>", "var a=1;".repeat(200_000));
        check(&[script.into_bytes(), encoded("windows-1251", RUSSIAN)].concat(), None, RUSSIAN);
    }

    #[test]
    fn broken_utf8_stays_utf8() {
        let body = [RUSSIAN.as_bytes(), b"\xff", RUSSIAN.as_bytes()].concat();
        check(&body, None, RUSSIAN);
        check(&"да".as_bytes()[..3], None, "д\u{fffd}");
    }

    #[test]
    fn any_bytes_decode() {
        for body in [
            &b""[..],
            b"<",
            b"<meta",
            b"<meta ",
            b"<meta charset",
            b"<meta charset=",
            b"<meta charset='",
            b"<!-",
            b"<!--",
            b"<?xml",
            b"<meta =\"",
            b"<meta a='b",
        ] {
            decode(body, Hints { markup: true, tld: Some("RU"), ..Hints::default() });
        }
        decode(b"\xff\xc0", Hints { tld: Some("xn--p1ai"), ..Hints::default() });
    }

    #[test]
    fn parameters() {
        let check = |value: &str, expect: Option<&str>| assert_eq!(parameter(value), expect, "{value}");
        check("text/html; charset=utf-8", Some("utf-8"));
        check("text/html;CHARSET=\"Shift_JIS\"; x=y", Some("Shift_JIS"));
        check("text/html; boundary=charset", None);
        check("text/html; charset=", None);
        check("charset=utf-8", None);
    }
}
