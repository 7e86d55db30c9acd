//! Packages: their parts, and the same package with some of them replaced.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{Cursor, Read, Write};

use encoding_rs::{UTF_16BE, UTF_16LE};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::{limits, tree};
use crate::error::Error;

/// Maximum size of a part that is read, in bytes; the whole archive has a limit of its own.
const MAX_PART: u64 = 192 * 1024 * 1024;

/// Opened package, and the parts that will be replaced.
pub(super) struct Package<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    changed: BTreeMap<String, Vec<u8>>,
}

/// Relationship of a part to another part or an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Relation {
    pub id: String,
    /// Last word of its type, as in `styles`.
    pub kind: String,
    /// Address as written.
    pub target: String,
    pub is_external: bool,
}

impl<'a> Package<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Option<Self> {
        Some(Self { archive: ZipArchive::new(Cursor::new(bytes)).ok()?, changed: BTreeMap::new() })
    }

    /// Returns the names of all parts.
    pub(super) fn names(&self) -> Vec<String> {
        self.archive.file_names().map(str::to_owned).collect()
    }

    /// Returns a part, unpacked.
    pub(super) fn part(&mut self, name: &str) -> Option<Vec<u8>> {
        let file = self.archive.by_name(name.trim_start_matches('/')).ok()?;
        let mut bytes = Vec::new();
        file.take(MAX_PART).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Returns the unpacked size of a part without keeping it.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] if it has more bytes than allowed.
    pub(super) fn size(&mut self, name: &str, room: u64) -> Result<u64, Error> {
        match self.archive.by_name(name.trim_start_matches('/')) {
            Ok(file) => limits::measure(file, room).map(|(size, _)| size),
            Err(_) => Ok(0),
        }
    }

    /// Returns a part as text: UTF-8, or UTF-16 with a byte order mark.
    pub(super) fn text(&mut self, name: &str) -> Option<String> {
        self.part(name).and_then(utf8)
    }

    /// Replaces a part, or adds it.
    pub(super) fn replace(&mut self, name: &str, bytes: Vec<u8>) {
        self.changed.insert(name.trim_start_matches('/').to_owned(), bytes);
    }

    /// Returns the name of the main part of an OOXML package.
    pub(super) fn main_part(&mut self, usual: &str) -> String {
        let main = self.relations("").into_iter().find(|relation| relation.kind == "officeDocument");
        main.map_or_else(|| usual.to_owned(), |relation| resolved("", &relation.target))
    }

    /// Returns the relationships of a part; those of the package for an empty name.
    pub(super) fn relations(&mut self, part: &str) -> Vec<Relation> {
        let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
        let slash = if folder.is_empty() { "" } else { "/" };
        let Some(text) = self.text(&format!("{folder}{slash}_rels/{file}.rels")) else { return Vec::new() };
        let Some(root) = tree::parse(&text) else { return Vec::new() };
        root.elements().filter_map(relation).collect()
    }

    /// Returns the package with the replaced parts; `None` if none were replaced, or if it cannot be written.
    pub(super) fn rewritten(self) -> Option<Vec<u8>> {
        let Self { mut archive, mut changed } = self;
        if changed.is_empty() {
            return None;
        }
        let mut out = ZipWriter::new(Cursor::new(Vec::new()));
        for index in 0..archive.len() {
            let file = archive.by_index_raw(index).ok()?;
            let name = file.name().to_owned();
            match changed.remove(name.trim_start_matches('/')) {
                Some(bytes) => store(&mut out, &name, &bytes)?,
                None => out.raw_copy_file(file).ok()?,
            }
        }
        for (name, bytes) in &changed {
            store(&mut out, name, bytes)?;
        }
        out.finish().ok().map(Cursor::into_inner)
    }
}

fn relation(element: &tree::Element<'_>) -> Option<Relation> {
    let text = |name: &str| element.attribute(name).map(Cow::into_owned);
    Some(Relation {
        id: text("Id")?,
        kind: text("Type")?.rsplit('/').next()?.to_owned(),
        target: text("Target")?,
        is_external: text("TargetMode").as_deref() == Some("External"),
    })
}

/// Returns a package of these parts.
pub(super) fn packed(parts: &[(&str, &[u8])]) -> Option<Vec<u8>> {
    let mut out = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        store(&mut out, name, bytes)?;
    }
    out.finish().ok().map(Cursor::into_inner)
}

fn store(out: &mut ZipWriter<Cursor<Vec<u8>>>, name: &str, bytes: &[u8]) -> Option<()> {
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    out.start_file(name, stored).ok()?;
    out.write_all(bytes).ok()
}

/// Decodes a part of XML.
pub(super) fn utf8(bytes: Vec<u8>) -> Option<String> {
    match bytes.as_slice() {
        [0xFF, 0xFE, ..] => Some(UTF_16LE.decode(&bytes).0.into_owned()),
        [0xFE, 0xFF, ..] => Some(UTF_16BE.decode(&bytes).0.into_owned()),
        [0xEF, 0xBB, 0xBF, rest @ ..] => std::str::from_utf8(rest).ok().map(str::to_owned),
        _ => String::from_utf8(bytes).ok(),
    }
}

/// Returns the name of a part by an address relative to another part.
pub(super) fn resolved(part: &str, target: &str) -> String {
    let target = target.split(['#', '?']).next().unwrap_or_default();
    if let Some(absolute) = target.strip_prefix('/') {
        return absolute.to_owned();
    }
    let mut folders: Vec<&str> = part.split('/').collect();
    folders.pop();
    for piece in target.split('/') {
        match piece {
            "" | "." => {}
            ".." => {
                folders.pop();
            }
            piece => folders.push(piece),
        }
    }
    folders.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_relative_to_their_part() {
        for (part, target, name) in [
            ("word/document.xml", "styles.xml", "word/styles.xml"),
            ("word/document.xml", "../media/a.png", "media/a.png"),
            ("word/document.xml", "/word/b.xml", "word/b.xml"),
            ("", "word/document.xml", "word/document.xml"),
            ("a", "../../b", "b"),
        ] {
            assert_eq!(resolved(part, target), name);
        }
    }

    #[test]
    fn a_package_keeps_what_was_not_replaced() {
        let bytes = packed(&[("a", b"1"), ("b", b"2")]).unwrap();
        let mut package = Package::open(&bytes).unwrap();
        package.replace("b", b"3".to_vec());
        package.replace("c", b"4".to_vec());
        let rewritten = package.rewritten().unwrap();
        let mut package = Package::open(&rewritten).unwrap();
        let parts = ["a", "b", "c"].map(|name| package.text(name).unwrap());
        assert_eq!(parts, ["1", "3", "4"]);
        assert!(package.rewritten().is_none(), "nothing was replaced");
    }
}
