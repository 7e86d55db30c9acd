//! Paragraphs of books that are not marked as `p`.
//!
//! Many books mark paragraphs as `div`, and glossaries as `dt` and `dd`. The converter takes such an element for inline
//! text, and so joins the last word of one with the first of the next. So the book is rewritten before: those elements
//! that contain no blocks are renamed to `p`.

use std::io::{Cursor, Read, Write};
use std::ops::Range;

use quick_xml::Reader;
use quick_xml::events::Event;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

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

/// Returns the rewritten book; `None` if nothing has to be changed, or if it cannot be written.
pub(super) fn with_paragraphs(book: &[u8]) -> Option<Vec<u8>> {
    let mut archive = ZipArchive::new(Cursor::new(book)).ok()?;
    let mut out = ZipWriter::new(Cursor::new(Vec::with_capacity(book.len())));
    let mut is_changed = false;
    for index in 0..archive.len() {
        match chapter(&mut archive, index) {
            Some((name, text)) => {
                is_changed = true;
                let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
                out.start_file(name, stored).ok()?;
                out.write_all(&text).ok()?;
            }
            None => out.raw_copy_file(archive.by_index_raw(index).ok()?).ok()?,
        }
    }
    if is_changed { out.finish().ok().map(Cursor::into_inner) } else { None }
}

/// Returns the name and new text of a chapter, if it has to be changed.
fn chapter(archive: &mut ZipArchive<Cursor<&[u8]>>, index: usize) -> Option<(String, Vec<u8>)> {
    let file = archive.by_index(index).ok()?;
    let name = file.name().to_owned();
    let ending = name.rsplit('.').next()?.to_ascii_lowercase();
    if !matches!(ending.as_str(), "xhtml" | "html" | "htm" | "xml") || file.size() > MAX_CHAPTER {
        return None;
    }
    let mut text = Vec::new();
    file.take(MAX_CHAPTER + 1).read_to_end(&mut text).ok()?;
    (text.len() as u64 <= MAX_CHAPTER).then(|| renamed(&text)).flatten().map(|text| (name, text))
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
    fn damaged_chapters_stay_as_they_are() {
        for text in ["<div>a", "</div>", "<div>a</p>", "<div", "", "\u{feff}<"] {
            check(text, None);
        }
    }
}
