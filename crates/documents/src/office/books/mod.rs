//! Chapters of books: their encodings, paragraphs, raised text and readings.
//!
//! The converter reads UTF-8 and the commonest named characters, so chapters are decoded before. It also drops what
//! raises text, and writes the reading of a word like a part of it.
//!
//! Many books mark paragraphs as `div`, and glossaries as `dt` and `dd`. The converter takes such an element for inline
//! text, and so joins the last word of one with the first of the next. So the book is rewritten before: those elements
//! that contain no blocks are renamed to `p`.

mod notes;

use std::io::{Cursor, Read, Write};
use std::ops::Range;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use memchr::memmem;
use quick_xml::Reader;
use quick_xml::events::Event;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::entities;
use super::marks::{Inserts, Script};
use super::package::Package;
use super::tree;
use notes::Notes;

/// Elements that contain either blocks or text.
const HOLDERS: [&str; 13] = [
    "div",
    "section",
    "article",
    "aside",
    "main",
    "header",
    "footer",
    "figure",
    "figcaption",
    "center",
    "summary",
    "dt",
    "dd",
];
/// Other block elements.
const BLOCKS: [&str; 18] = [
    "p",
    "ul",
    "ol",
    "li",
    "dl",
    "table",
    "blockquote",
    "pre",
    "hr",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "nav",
    "details",
    "body",
];
/// Maximum size of a chapter that is rewritten, in bytes.
const MAX_CHAPTER: u64 = 16 * 1024 * 1024;
/// Encryption that only makes fonts useless elsewhere.
const OF_FONTS: [&str; 2] = ["http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"];

/// Whether a chapter is encrypted, as in books with rights management.
pub(super) fn is_locked(book: &[u8]) -> bool {
    let list = Package::open(book).and_then(|mut package| package.text("META-INF/encryption.xml"));
    let Some(root) = list.as_deref().and_then(tree::parse) else { return false };
    let mut is_locked = false;
    root.each("EncryptedData", &mut |data| {
        let method = data.child("EncryptionMethod").and_then(|method| method.attribute("Algorithm"));
        let address = data.below("CipherReference").and_then(|part| part.attribute("URI"));
        let is_chapter = address.is_some_and(|address| is_markup(&address));
        is_locked |= is_chapter && !method.is_some_and(|method| OF_FONTS.contains(&method.as_ref()));
    });
    is_locked
}

/// Returns the rewritten book; `None` if nothing has to be changed, or if it cannot be written.
pub(super) fn mended(book: &[u8], inserts: &mut Inserts) -> Option<Vec<u8>> {
    let mut notes = Notes::default();
    let mut archive = ZipArchive::new(Cursor::new(book)).ok()?;
    let mut out = ZipWriter::new(Cursor::new(Vec::with_capacity(book.len())));
    let mut is_changed = false;
    for index in 0..archive.len() {
        match chapter(&mut archive, index, &mut |name, text| notes.connected(name, text, inserts)) {
            Some((name, text)) => {
                is_changed = true;
                let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
                out.start_file(name, stored).ok()?;
                out.write_all(&text).ok()?;
            }
            None => out.raw_copy_file(archive.by_index_raw(index).ok()?).ok()?,
        }
    }
    notes.finish(inserts);
    if is_changed { out.finish().ok().map(Cursor::into_inner) } else { None }
}

/// Connects the notes of a chapter, given its name and text.
type Connect<'a> = dyn FnMut(&str, &[u8]) -> Option<Vec<u8>> + 'a;

/// Returns the name and new text of a chapter, if it has to be changed.
fn chapter(
    archive: &mut ZipArchive<Cursor<&[u8]>>,
    index: usize,
    connected: &mut Connect<'_>,
) -> Option<(String, Vec<u8>)> {
    let file = archive.by_index(index).ok()?;
    let name = file.name().to_owned();
    let is_list = name.ends_with(".opf") || name.ends_with(".ncx");
    if !(is_markup(&name) || is_list) || file.size() > MAX_CHAPTER {
        return None;
    }
    let mut text = Vec::new();
    file.take(MAX_CHAPTER + 1).read_to_end(&mut text).ok()?;
    if text.len() as u64 > MAX_CHAPTER {
        return None;
    }
    let decoded = decoded(&text);
    if is_list {
        return decoded.map(|text| (name, text.into_bytes()));
    }
    let source = decoded.as_deref().map_or(&text[..], str::as_bytes);
    let connected = connected(&name, source);
    let source = connected.as_deref().unwrap_or(source);
    let renamed = renamed(source);
    let spliced = spliced(renamed.as_deref().unwrap_or(source));
    spliced.or(renamed).or(connected).or(decoded.map(String::into_bytes)).map(|text| (name, text))
}

fn is_markup(name: &str) -> bool {
    let ending = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    matches!(ending.as_str(), "xhtml" | "html" | "htm" | "xml")
}

/// Returns a chapter in UTF-8 without named characters; `None` if it is so already.
fn decoded(text: &[u8]) -> Option<String> {
    let is_utf8 = std::str::from_utf8(text).is_ok();
    let (decoded, used, _) = encoding(text, is_utf8).decode(text);
    let names = entities::without_names(&decoded);
    if used == UTF_8 && is_utf8 && names == decoded && !text.starts_with(b"\xEF\xBB\xBF") {
        return None;
    }
    // The declaration names the old encoding.
    let is_declared = used != UTF_8 && names.trim_start().starts_with("<?xml");
    let start = names.find("?>").filter(|_| is_declared).map_or(0, |end| end + 2);
    Some(names[start..].to_owned())
}

/// Returns the encoding of a chapter: as declared, else UTF-8, else that of Western Europe.
fn encoding(text: &[u8], is_utf8: bool) -> &'static Encoding {
    match text {
        [0xFF, 0xFE, ..] | [b'<', 0, ..] => return UTF_16LE,
        [0xFE, 0xFF, ..] | [0, b'<', ..] => return UTF_16BE,
        [0xEF, 0xBB, 0xBF, ..] => return UTF_8,
        _ => {}
    }
    let start = String::from_utf8_lossy(&text[..text.len().min(1024)]).to_ascii_lowercase();
    let declared = ["encoding=", "charset="].iter().find_map(|word| {
        let value = start.split_once(word)?.1.trim_start_matches(['"', '\'', ' ']);
        let end = value.find(|letter: char| !letter.is_ascii_alphanumeric() && !matches!(letter, '-' | '_' | ':'));
        Encoding::for_label(&value.as_bytes()[..end.unwrap_or(value.len())])
    });
    match declared {
        _ if is_utf8 => UTF_8,
        Some(encoding) if encoding != UTF_8 => encoding,
        _ => WINDOWS_1252,
    }
}

/// Puts marks around raised and lowered text, and brackets around readings; `None` if there are none.
fn spliced(text: &[u8]) -> Option<Vec<u8>> {
    let has = |word: &[u8]| memmem::find(text, word).is_some();
    let has_readings = has(b"<rt") && !has(b"<rp");
    if !(has_readings || has(b"<sup") || has(b"<sub")) {
        return None;
    }
    let (mut out, mut rest) = (Vec::with_capacity(text.len() + 1024), text);
    while let Some(at) = memchr::memchr(b'<', rest) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        let end = memchr::memchr(b'>', rest)? + 1;
        let tag = &rest[..end];
        rest = &rest[end..];
        let name = tag[1..].split(|byte| matches!(byte, b' ' | b'>' | b'/' | b'\n' | b'\r' | b'\t'));
        let name =
            name.clone().next().filter(|name| !name.is_empty()).or_else(|| name.clone().nth(1)).unwrap_or_default();
        let mark = usize::from(tag.starts_with(b"</"));
        let extra = match name {
            b"sup" => Script::Raised.ends()[mark],
            b"sub" => Script::Lowered.ends()[mark],
            b"rt" if has_readings => ["(", ")"][mark],
            _ => "",
        };
        let is_empty = tag.ends_with(b"/>");
        // The marks stand inside of the element, so that spaces around it stay outside.
        if mark == 1 {
            out.extend_from_slice(extra.as_bytes());
        }
        out.extend_from_slice(tag);
        if mark == 0 && !is_empty {
            out.extend_from_slice(extra.as_bytes());
        }
    }
    out.extend_from_slice(rest);
    Some(out)
}

struct Element {
    /// Position of its name.
    name: Range<usize>,
    is_holder: bool,
    has_blocks: bool,
}

/// Renames holders without blocks to `p`; `None` if there are none, or if the tags do not match.
fn renamed(text: &[u8]) -> Option<Vec<u8>> {
    let mut reader = Reader::from_reader(text);
    let (mut open, mut names): (Vec<Element>, Vec<Range<usize>>) = (Vec::new(), Vec::new());
    loop {
        let start = usize::try_from(reader.buffer_position()).ok()?;
        match reader.read_event().ok()? {
            Event::Start(tag) => {
                let name = place(text, start + 1, tag.name().as_ref())?;
                let is_holder = is_any(&HOLDERS, &text[name.clone()]);
                open.push(Element { name, is_holder, has_blocks: false });
            }
            Event::Empty(tag) if is_block(tag.name().as_ref()) => {
                open.iter_mut().rev().take(1).for_each(|parent| parent.has_blocks = true);
            }
            Event::End(tag) => {
                let element = open.pop()?;
                let name = place(text, start + 2, tag.name().as_ref())?;
                let is_block = is_block(&text[name.clone()]);
                if let Some(parent) = open.last_mut() {
                    parent.has_blocks |= element.has_blocks || is_block;
                }
                if element.is_holder && !element.has_blocks {
                    names.extend([element.name, name]);
                }
            }
            Event::Eof => break,
            _ => {}
        }
    }
    names.sort_unstable_by_key(|name| name.start);
    (!names.is_empty()).then(|| with_names(text, &names))
}

/// Returns the position of a name, after a check that it is there.
fn place(text: &[u8], start: usize, name: &[u8]) -> Option<Range<usize>> {
    let range = start..start.checked_add(name.len())?;
    (text.get(range.clone())? == name).then_some(range)
}

fn is_block(name: &[u8]) -> bool {
    is_any(&HOLDERS, name) || is_any(&BLOCKS, name)
}

fn is_any(names: &[&str], name: &[u8]) -> bool {
    names.iter().any(|known| known.as_bytes() == name)
}

fn with_names(text: &[u8], names: &[Range<usize>]) -> Vec<u8> {
    let (mut out, mut at) = (Vec::with_capacity(text.len()), 0);
    for name in names {
        out.extend_from_slice(&text[at..name.start]);
        out.push(b'p');
        at = name.end;
    }
    out.extend_from_slice(&text[at..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&str>) {
        let renamed = renamed(text.as_bytes()).map(|text| String::from_utf8_lossy(&text).into_owned());
        assert_eq!(renamed.as_deref(), expected);
    }

    #[test]
    fn holders_of_text_are_paragraphs() {
        check(
            "<body><div class='x'>a<b>b</b></div><div>c<div >d</div ></div>\n<dl><dt>e</dt><dd><p>f</p></dd></dl></body>",
            Some("<body><p class='x'>a<b>b</b></p><div>c<p >d</p ></div>\n<dl><p>e</p><dd><p>f</p></dd></dl></body>"),
        );
        check("<body><div><span><hr/></span></div></body>", None);
        check("<!-- <div> --><p>a</p><![CDATA[<div>]]>", None);
    }

    #[test]
    fn chapters_are_decoded() {
        let check = |text: &[u8], expected: Option<&str>| assert_eq!(decoded(text).as_deref(), expected);
        check(b"<p>caf\xC3\xA9 &amp;</p>", None);
        check(b"<?xml version='1.0' encoding='ISO-8859-1'?><p>caf\xE9</p>", Some("<p>caf\u{e9}</p>"));
        check(b"<p>caf\xE9</p>", Some("<p>caf\u{e9}</p>"));
        check(b"<?xml version='1.0' encoding='windows-1251'?><p>\xE4\xE0</p>", Some("<p>\u{434}\u{430}</p>"));
        check("<p>caf\u{e9}&hellip;</p>".as_bytes(), Some("<p>caf\u{e9}\u{2026}</p>"));
        let utf16: Vec<u8> = "\u{feff}<p>\u{df}</p>".encode_utf16().flat_map(u16::to_le_bytes).collect();
        check(&utf16, Some("<p>\u{df}</p>"));
        check(&utf16[2..], Some("<p>\u{df}</p>"));
    }

    #[test]
    fn raised_text_and_readings_are_marked() {
        let spliced = |text: &str| spliced(text.as_bytes()).map(|text| String::from_utf8(text).unwrap());
        assert_eq!(
            spliced("<p>m<sup class='x'>2</sup></p>").unwrap(),
            "<p>m<sup class='x'>\u{FDD0}2\u{FDD1}</sup></p>"
        );
        assert_eq!(spliced("<ruby>a<rt>b</rt></ruby><rt/>").unwrap(), "<ruby>a<rt>(b)</rt></ruby><rt/>");
        assert_eq!(spliced("<ruby>a<rp>(</rp><rt>b</rt></ruby>"), None);
        assert_eq!(spliced("<sup"), None);
    }

    #[test]
    fn damaged_chapters_stay_as_they_are() {
        for text in ["<div>a", "</div>", "<div>a</p>", "<div", "", "\u{feff}<"] {
            check(text, None);
        }
    }
}
