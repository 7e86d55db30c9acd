//! Metadata in XML parts of packages: OOXML, OpenDocument, EPUB.

use std::io::{Cursor, Read};

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::Event;
use zip::ZipArchive;

use super::{clean, date};
use crate::model::Metadata;

/// Maximum size of a part, in bytes.
const MAX_PART: u64 = 1024 * 1024;
/// Maximum number of entries in a part.
const MAX_ENTRIES: usize = 500;

/// Reads the properties of OOXML: ECMA-376 part 2, 8.3 (core properties) and part 1, 22.2 (`Application`).
pub(super) fn ooxml(bytes: &[u8]) -> Option<Metadata> {
    let mut package = Package::open(bytes)?;
    let core = Entries::of(&package.part("docProps/core.xml").unwrap_or_default());
    let app = Entries::of(&package.part("docProps/app.xml").unwrap_or_default());
    Some(Metadata {
        title: core.first("title"),
        author: core.all("creator"),
        subject: core.first("subject"),
        keywords: core.first("keywords"),
        creator: app.first("Application"),
        language: core.first("language"),
        created: core.date("created"),
        modified: core.date("modified"),
        ..Metadata::default()
    })
}

/// Reads the metadata of OpenDocument 1.3 part 3, 4.3.
pub(super) fn open_document(bytes: &[u8]) -> Option<Metadata> {
    let mut package = Package::open(bytes)?;
    let meta = Entries::of(&package.part("meta.xml")?);
    Some(Metadata {
        title: meta.first("title"),
        author: meta.first("initial-creator").or_else(|| meta.first("creator")),
        subject: meta.first("subject"),
        keywords: meta.all("keyword"),
        creator: meta.first("generator"),
        language: meta.first("language"),
        created: meta.date("creation-date"),
        modified: meta.date("date"),
        ..Metadata::default()
    })
}

/// Reads the metadata of EPUB 3.3, 5.5.
pub(super) fn epub(bytes: &[u8]) -> Option<Metadata> {
    let mut package = Package::open(bytes)?;
    let container = package.part("META-INF/container.xml")?;
    let opf = Entries::of(&package.part(&root_file(&container)?)?);
    Some(Metadata {
        title: opf.first("title"),
        author: opf.all("creator"),
        subject: opf.all("subject"),
        language: opf.first("language"),
        producer: opf.first("publisher"),
        created: opf.date("date"),
        modified: opf.date("dcterms:modified"),
        ..Metadata::default()
    })
}

struct Package<'a>(ZipArchive<Cursor<&'a [u8]>>);

impl<'a> Package<'a> {
    fn open(bytes: &'a [u8]) -> Option<Self> {
        ZipArchive::new(Cursor::new(bytes)).ok().map(Self)
    }

    fn part(&mut self, name: &str) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        self.0.by_name(name).ok()?.take(MAX_PART).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }
}

/// Names and texts of the elements without child elements.
struct Entries(Vec<(String, String)>);

impl Entries {
    fn of(part: &[u8]) -> Self {
        let mut reader = Reader::from_reader(part);
        let (mut entries, mut name, mut text) = (Vec::new(), String::new(), String::new());
        while let Ok(event) = reader.read_event() {
            match event {
                Event::Start(start) => {
                    let local = String::from_utf8_lossy(start.local_name().as_ref()).into_owned();
                    let property = start.try_get_attribute("property").ok().flatten();
                    // In EPUB's `<meta property="dcterms:modified">` the attribute is the name.
                    name = property.map_or(local, |name| String::from_utf8_lossy(&name.value).into_owned());
                    text.clear();
                }
                Event::Text(part) => text.push_str(&String::from_utf8_lossy(&part)),
                Event::CData(part) => text.push_str(&String::from_utf8_lossy(&part)),
                Event::GeneralRef(reference) => match reference.resolve_char_ref() {
                    Ok(Some(letter)) => text.push(letter),
                    _ => text
                        .push_str(resolve_predefined_entity(&String::from_utf8_lossy(&reference)).unwrap_or_default()),
                },
                Event::End(_) if !name.is_empty() => {
                    entries.push((std::mem::take(&mut name), std::mem::take(&mut text)));
                }
                Event::Eof => break,
                _ => {}
            }
            if entries.len() >= MAX_ENTRIES {
                break;
            }
        }
        Self(entries)
    }

    fn texts(&self, name: &str) -> impl Iterator<Item = String> {
        self.0.iter().filter(move |(known, _)| known == name).filter_map(|(_, text)| clean(text))
    }

    fn first(&self, name: &str) -> Option<String> {
        self.texts(name).next()
    }

    fn all(&self, name: &str) -> Option<String> {
        clean(&self.texts(name).collect::<Vec<_>>().join(", "))
    }

    fn date(&self, name: &str) -> Option<String> {
        self.texts(name).find_map(|text| date(&text))
    }
}

/// Returns the path of the package document from the container (EPUB 3.3, 4.2.6.3.1).
fn root_file(container: &[u8]) -> Option<String> {
    let mut reader = Reader::from_reader(container);
    loop {
        match reader.read_event().ok()? {
            Event::Start(start) | Event::Empty(start) if start.local_name().as_ref() == b"rootfile" => {
                let path = start.try_get_attribute("full-path").ok()??;
                return Some(String::from_utf8_lossy(&path.value).into_owned());
            }
            Event::Eof => return None,
            _ => {}
        }
    }
}
