//! Converts PDFs and images to markdown, with OCR where needed: `recognise_to_markdown FILE` prints it; with `--serve`
//! each line of the input, `IN<tab>OUT`, converts a file, and writes its blocks beside the output. Further arguments
//! are the languages, by default all that are installed.

#[path = "../src/eyes.rs"]
mod eyes;

use std::io::{BufRead, Write};
use std::path::Path;
use std::{env, fs, io};

use documents::{Document, Kind, MarkdownOptions, Opened, ReadOptions, blocks, markdown, read_pictures};
use reader::Eyes;

fn main() -> io::Result<()> {
    let mut arguments = env::args().skip(1);
    let first = arguments.next().unwrap_or_default();
    let languages: Vec<String> = arguments.collect();
    let mut eyes = eyes::make(&languages).map_err(io::Error::other)?;
    let mut out = io::stdout();
    if first != "--serve" {
        return match convert(&mut *eyes, Path::new(&first), None) {
            Ok(text) => writeln!(out, "{text}"),
            Err(error) => Err(io::Error::other(error)),
        };
    }
    writeln!(out, "READY")?;
    out.flush()?;
    for line in io::stdin().lock().lines() {
        let line = line?;
        let Some((from, to)) = line.split_once('\t') else { continue };
        match convert(&mut *eyes, Path::new(from), Some(Path::new(to))) {
            Ok(_) => writeln!(out, "OK")?,
            Err(error) => writeln!(out, "ERR {error}")?,
        }
        out.flush()?;
    }
    Ok(())
}

/// Converts a file, and writes its markdown and blocks if there is an output path.
fn convert(eyes: &mut dyn Eyes, from: &Path, to: Option<&Path>) -> Result<String, String> {
    let bytes = fs::read(from).map_err(|error| error.to_string())?;
    let document = document(eyes, &bytes)?;
    let markdown = markdown(&document, &MarkdownOptions::default());
    if let Some(to) = to {
        fs::write(to, &markdown.text).map_err(|error| error.to_string())?;
        let name = to.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let folder = to.parent().and_then(Path::parent).map(|folder| folder.join("blocks"));
        if let Some(folder) = folder.filter(|folder| folder.is_dir()) {
            let json = serde_json::to_vec(&blocks(&document, &markdown)).map_err(|error| error.to_string())?;
            fs::write(folder.join(format!("{name}.json")), json).map_err(|error| error.to_string())?;
        }
    }
    Ok(markdown.text)
}

fn document(eyes: &mut dyn Eyes, bytes: &[u8]) -> Result<Document, String> {
    let kind = documents::detect(bytes, None, None).ok_or("the file is no supported document")?;
    if kind != Kind::Pdf {
        let count = eyes.count(bytes, kind).map_err(|error| error.to_string())?;
        let mut pages = eyes.open(bytes, kind).map_err(|error| error.to_string())?;
        return Ok(read_pictures(count, &ReadOptions::default(), &mut *pages));
    }
    let opened = Opened::new(bytes).map_err(|error| error.to_string())?;
    match eyes.open(bytes, kind) {
        Ok(mut pages) => Ok(opened.read(&ReadOptions::default(), Some(&mut *pages))),
        Err(_) => Ok(opened.read(&ReadOptions::default(), None)),
    }
}
