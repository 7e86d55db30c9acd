//! Mail: messages and archives of pages (RFC 5322, 2045, 2047, 2557), as the page that a reader sees.
//!
//! ```
//! let message = b"From: a@example.org\nSubject: =?utf-8?Q?Caf=C3=A9?=\nContent-Transfer-Encoding: base64\n\nSGk=";
//! let page = documents::mail_page(message).unwrap();
//! assert!(page.contains("<h1>Café</h1>") && page.contains("<p>Hi</p>"));
//! ```

mod headers;
mod mime;
mod transfer;

use std::fmt::Write;

use headers::Headers;
use mime::{Budget, Part};

/// Headers that people read, in this order.
const SHOWN: [&str; 6] = ["From", "To", "Cc", "Reply-To", "Date", "Subject"];
/// Headers of which a message has one at least.
const USUAL: [&str; 8] = ["from", "to", "date", "subject", "message-id", "received", "return-path", "mime-version"];
/// Bytes in which the headers of a message begin.
const LOOK: usize = 64 * 1024;
/// Maximum number of names of attachments.
const MAX_NAMES: usize = 200;

/// Whether the bytes are a message or an archive of a page: headers, two of which messages have.
#[must_use]
pub fn is_mail(bytes: &[u8]) -> bool {
    let start = without_envelope(&bytes[..bytes.len().min(LOOK)]);
    let Some((headers, _)) = Headers::read(start) else { return false };
    USUAL.iter().filter(|name| headers.get(name).is_some()).count() >= 2
        && (headers.get("from").is_some() || headers.get("mime-version").is_some() || headers.get("received").is_some())
}

/// Returns the page that a reader sees of a message: its headers, its text and the names of its attachments. Of an
/// archive of a page it is that page. `None` if the bytes are neither.
#[must_use]
pub fn mail_page(bytes: &[u8]) -> Option<String> {
    if !is_mail(bytes) {
        return None;
    }
    let part = Part::read(without_envelope(bytes), &mut Budget::default())?;
    Some(if part.is_archive() { page_of(&part)? } else { message(&part) })
}

/// Returns the page of an archive of one.
#[cfg(feature = "office")]
#[must_use]
pub(crate) fn page_of_archive(bytes: &[u8]) -> Option<String> {
    let part = is_mail(bytes).then(|| Part::read(without_envelope(bytes), &mut Budget::default())).flatten()?;
    page_of(&part)
}

/// Skips the line that mailboxes put before a message.
fn without_envelope(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes).trim_ascii_start();
    match memchr::memchr(b'\n', bytes).filter(|_| bytes.starts_with(b"From ")) {
        Some(end) => &bytes[end + 1..],
        None => bytes,
    }
}

/// Returns the page of an archive, the root of its related parts.
fn page_of(part: &Part) -> Option<String> {
    match part.kind() {
        "text/html" | "application/xhtml+xml" => Some(part.text()),
        kind if kind.starts_with("multipart/") => {
            let start = part.headers.parameter("content-type", "start");
            let is_start =
                |part: &&Part| start.is_some() && part.headers.get("content-id").map(str::trim) == start.as_deref();
            part.parts.iter().find(is_start).and_then(page_of).or_else(|| part.parts.iter().find_map(page_of))
        }
        _ => None,
    }
}

/// Writes a message as a page.
fn message(part: &Part) -> String {
    let mut page = String::from("<!DOCTYPE html><html><head><meta charset=\"utf-8\">");
    let subject = part.headers.text("subject").filter(|subject| !subject.trim().is_empty());
    if let Some(subject) = &subject {
        let _ = write!(page, "<title>{}</title>", escaped(subject));
    }
    page.push_str("</head><body><article>");
    add_message(part, &mut page, "h1");
    page.push_str("</article></body></html>");
    page
}

fn add_message(part: &Part, page: &mut String, heading: &str) {
    if let Some(subject) = part.headers.text("subject").filter(|subject| !subject.trim().is_empty()) {
        let _ = write!(page, "<{heading}>{}</{heading}>", escaped(&subject));
    }
    let lines = SHOWN.iter().filter(|name| **name != "Subject").filter_map(|name| {
        let text = part.headers.text(name).filter(|text| !text.trim().is_empty())?;
        Some(format!("<b>{name}:</b> {}", escaped(&text)))
    });
    let lines: Vec<String> = lines.collect();
    if !lines.is_empty() {
        let _ = write!(page, "<p>{}</p>", lines.join("<br>"));
    }
    let mut names = Vec::new();
    add_body(part, page, &mut names);
    if !names.is_empty() {
        page.push_str("<p><b>Attachments:</b></p><ul>");
        names.iter().take(MAX_NAMES).for_each(|name| {
            let _ = write!(page, "<li>{}</li>", escaped(name));
        });
        page.push_str("</ul>");
    }
}

/// Writes the text of a part, the best of several alternatives, and collects the names of what is attached.
fn add_body(part: &Part, page: &mut String, names: &mut Vec<String>) {
    if part.is_attached() {
        names.push(part.name().unwrap_or_else(|| part.kind().to_owned()));
        return;
    }
    match part.kind() {
        "multipart/alternative" => {
            let best = part.parts.iter().filter(|part| part.quality() > 0).max_by_key(|part| part.quality());
            best.into_iter().for_each(|part| add_body(part, page, names));
        }
        kind if kind.starts_with("multipart/") => part.parts.iter().for_each(|part| add_body(part, page, names)),
        "message/rfc822" => {
            page.push_str("<hr>");
            part.parts.iter().for_each(|part| add_message(part, page, "h2"));
        }
        "text/html" | "application/xhtml+xml" => page.push_str(&body_of(&part.text())),
        _ if part.is_text() && part.is_flowed() => add_text(&unwrapped(&part.text()), page),
        _ if part.is_text() => add_text(&part.text(), page),
        kind => names.extend(part.name().or_else(|| (!kind.starts_with("image/")).then(|| kind.to_owned()))),
    }
}

/// Writes plain text as paragraphs.
fn add_text(text: &str, page: &mut String) {
    let text = text.replace("\r\n", "\n");
    for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
        let lines: Vec<String> = paragraph.trim_matches('\n').lines().map(escaped).collect();
        let _ = write!(page, "<p>{}</p>", lines.join("<br>"));
    }
}

/// Joins the lines that a mail program has wrapped (RFC 3676): those that end with a space.
fn unwrapped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let line = line.strip_prefix(' ').unwrap_or(line);
        out.push_str(line);
        if !line.ends_with(' ') || line == "-- " {
            out.push('\n');
        }
    }
    out
}

/// Returns what is inside the body of a page.
fn body_of(page: &str) -> String {
    let lower = page.to_ascii_lowercase();
    let start = lower.find("<body").and_then(|at| lower[at..].find('>').map(|end| at + end + 1));
    let end = lower.rfind("</body").filter(|end| start.is_none_or(|start| start <= *end));
    match start {
        Some(start) => page[start..end.unwrap_or(page.len())].to_owned(),
        None => page.to_owned(),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIXED: &str = "Received: x\r\nFrom: =?iso-8859-1?Q?Ren=E9_M?= <a@example.org>\r\nTo: b@example.org,\r\n c@example.org\r\n\
        Subject: =?utf-8?B?R3LDvMOf?=\r\n =?utf-8?B?ZQ==?=\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=\"a b\"\r\n\r\n\
        Preamble\r\n--a b\r\nContent-Type: multipart/alternative; boundary=c\r\n\r\n--c\r\nContent-Type: text/plain\r\n\r\nplain\r\n\
        --c\r\nContent-Type: text/html; charset=windows-1252\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n\
        <html><body bgcolor=3Dx><p>m=B2 is so=\r\nft</body></html>\r\n--c--\r\n--a b\r\n\
        Content-Type: application/pdf; name=\"x.pdf\"\r\nContent-Disposition: attachment; filename*=utf-8''r%C3%A9sum%C3%A9.pdf\r\n\
        Content-Transfer-Encoding: base64\r\n\r\nJVBERi0=\r\n--a b--\r\nEpilogue\r\n";

    #[test]
    fn a_message_is_what_people_read() {
        let page = mail_page(MIXED.as_bytes()).unwrap();
        for part in [
            "<h1>Grüße</h1>",
            "<b>From:</b> René M &lt;a@example.org&gt;<br><b>To:</b> b@example.org, c@example.org</p>",
            "<p>m² is soft",
            "<li>résumé.pdf</li>",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        for part in ["plain", "JVBERi0", "Preamble", "Epilogue", "Received", "bgcolor"] {
            assert!(!page.contains(part), "{part}: {page}");
        }
    }

    #[test]
    fn wrapped_lines_are_joined_and_dates_are_no_text() {
        let message = "From: a\nTo: b\nMIME-Version: 1.0\nContent-Type: multipart/alternative; boundary=x\n\n--x\n\
            Content-Type: text/plain; format=flowed\n\nThe harbour \nwas quiet.\nNobody spoke.\n--x\nContent-Type: text/calendar\n\n\
            BEGIN:VCALENDAR\n--x--\n";
        let page = mail_page(message.as_bytes()).unwrap();
        assert!(
            page.contains("<p>The harbour was quiet.<br>Nobody spoke.</p>") && !page.contains("VCALENDAR"),
            "{page}"
        );
    }

    #[test]
    fn an_archive_is_its_page() {
        let archive = "From: <Saved by a browser>\nSubject: x\nMIME-Version: 1.0\n\
            Content-Type: multipart/related; type=\"text/html\"; boundary=z\n\n--z\nContent-Type: text/html\n\n<p>The page\n\
            --z\nContent-Type: image/png\nContent-Transfer-Encoding: base64\nContent-Location: a.png\n\nAAAA\n--z--\n";
        assert_eq!(mail_page(archive.as_bytes()).unwrap().trim(), "<p>The page");
    }

    #[test]
    fn what_is_no_mail_has_no_page() {
        for text in ["", "Hello", "From: a\n", "Note: this\nis: text", "<html>", "a,b\n1,2", "Date: x\nSubject: y\n\nz"]
        {
            assert_eq!(mail_page(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn deep_and_damaged_messages_are_no_harm() {
        let head = "From: a\nTo: b\nMIME-Version: 1.0\n";
        let nested = format!("{head}Content-Type: multipart/mixed; boundary=a\n\n").repeat(50);
        for text in [
            format!("{head}Content-Type: multipart/mixed; boundary=a\n\n--a\n{nested}"),
            format!("{head}Content-Type: multipart/mixed\n\nx"),
            format!("{head}Content-Type: multipart/mixed; boundary=\"\"\n\n--\n--\n"),
            format!("{head}Content-Transfer-Encoding: quoted-printable\n\n=\n=Z=4"),
            format!("{head}Subject: =?utf-8?B?%%%?= =?x?Q?a?= =?\n\n"),
            format!("{head}Content-Type: multipart/mixed; boundary=a\n\n{}", "--a\n\n".repeat(5000)),
        ] {
            assert!(mail_page(text.as_bytes()).is_some(), "{text:.80}");
        }
    }
}
