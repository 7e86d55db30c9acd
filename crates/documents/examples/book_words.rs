//! Measures how much of each book is in its markdown: `book_words FOLDER` reads every EPUB under the folder, and fails
//! if one has less than 99 % of the words that another program, html2text, finds in its chapters.

use std::collections::HashMap;
use std::io::{self, Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::{env, fs};

use documents::{Kind, office};
use zip::ZipArchive;

/// Minimum share of the words.
const ENOUGH: f64 = 0.99;
/// Byte limit of one chapter.
const MAX_CHAPTER: u64 = 16 * 1024 * 1024;

fn main() -> io::Result<()> {
    let folder = env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let (mut out, mut poor) = (io::stdout(), 0);
    for path in books(Path::new(&folder))? {
        match share(&fs::read(&path)?) {
            Ok(share) => {
                poor += u32::from(share < ENOUGH);
                writeln!(out, "{:.4} {}", share, path.display())?;
            }
            Err(error) => {
                poor += 1;
                writeln!(out, "error {}: {error}", path.display())?;
            }
        }
    }
    std::process::exit(i32::from(poor > 0))
}

/// Returns every EPUB under a folder, sorted.
fn books(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let (mut found, mut waiting) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|extension| extension == "epub") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Returns the share of the words of all chapters that are in the markdown, counted with repetitions.
fn share(book: &[u8]) -> Result<f64, String> {
    let markdown = office(book, Kind::Epub).map_err(|error| error.to_string())?.markdown;
    let mut there = HashMap::new();
    for word in words(&markdown) {
        *there.entry(word).or_insert(0_u32) += 1;
    }
    let (mut all, mut found) = (0_u32, 0_u32);
    for chapter in chapters(book).map_err(|error| error.to_string())? {
        let plain =
            html2text::config::plain().link_footnotes(false).string_from_read(&chapter[..], 10_000).unwrap_or_default();
        for word in words(&plain) {
            all += 1;
            if let Some(left) = there.get_mut(&word).filter(|left| **left > 0) {
                *left -= 1;
                found += 1;
            }
        }
    }
    Ok(if all == 0 { 1.0 } else { f64::from(found) / f64::from(all) })
}

/// Returns the files in the book's spine, in the order of the archive.
fn chapters(book: &[u8]) -> zip::result::ZipResult<Vec<Vec<u8>>> {
    let mut archive = ZipArchive::new(Cursor::new(book))?;
    let names: Vec<String> = archive.file_names().map(str::to_owned).collect();
    let mut package = String::new();
    if let Some(name) = names.iter().find(|name| name.ends_with(".opf")) {
        archive.by_name(name)?.take(MAX_CHAPTER).read_to_string(&mut package)?;
    }
    let files = spine(&package);
    let mut chapters = Vec::new();
    for name in names.iter().filter(|name| files.iter().any(|file| name.ends_with(file.as_str()))) {
        let mut chapter = Vec::new();
        archive.by_name(name)?.take(MAX_CHAPTER).read_to_end(&mut chapter)?;
        chapters.push(chapter);
    }
    Ok(chapters)
}

/// Returns the file names of the items in the spine.
fn spine(package: &str) -> Vec<String> {
    let attribute = |tag: &str, name: &str| {
        let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
        rest.split_once('"').map(|(value, _)| value.to_owned())
    };
    let tags = |name: &'static str| package.split('<').filter(move |tag| tag.starts_with(name));
    let read: Vec<String> = tags("itemref ").filter_map(|tag| attribute(tag, "idref")).collect();
    let items = tags("item ").filter(|tag| attribute(tag, "id").is_some_and(|id| read.contains(&id)));
    items.filter_map(|tag| attribute(tag, "href")).collect()
}

/// Splits a text into runs of letters and digits, in lower case.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}
