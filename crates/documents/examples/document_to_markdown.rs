//! Converts a document to markdown: `document_to_markdown FILE` prints it; with `--serve` each line of the input,
//! `IN<tab>OUT`, converts a file, and writes the blocks of a PDF beside the output. Office files need the feature
//! `office`.

use std::io::{BufRead, Write};
use std::path::Path;
use std::{env, fs, io};

use documents::{Kind, MarkdownOptions, ReadOptions, blocks, detect, markdown, read_pdf};

fn main() -> io::Result<()> {
    let argument = env::args().nth(1).unwrap_or_default();
    let mut out = io::stdout();
    if argument != "--serve" {
        return match convert(Path::new(&argument), None) {
            Ok(text) => writeln!(out, "{text}"),
            Err(error) => {
                writeln!(io::stderr(), "{error}")?;
                std::process::exit(2)
            }
        };
    }
    writeln!(out, "READY")?;
    out.flush()?;
    for line in io::stdin().lock().lines() {
        let line = line?;
        let Some((from, to)) = line.split_once('\t') else { continue };
        match convert(Path::new(from), Some(Path::new(to))) {
            Ok(_) => writeln!(out, "OK")?,
            Err(error) => writeln!(out, "ERR {error}")?,
        }
        out.flush()?;
    }
    Ok(())
}

/// Converts a file, and writes its markdown if there is an output path.
fn convert(from: &Path, to: Option<&Path>) -> Result<String, String> {
    let bytes = fs::read(from).map_err(|error| error.to_string())?;
    let name = from.file_name().map(|name| name.to_string_lossy().into_owned());
    match detect(&bytes, None, name.as_deref()) {
        Some(Kind::Pdf) | None => pdf(&bytes, to),
        Some(kind) => {
            let markdown = office(&bytes, kind)?;
            if let Some(to) = to {
                fs::write(to, &markdown).map_err(|error| error.to_string())?;
            }
            Ok(markdown)
        }
    }
}

#[cfg(feature = "office")]
fn office(bytes: &[u8], kind: Kind) -> Result<String, String> {
    documents::office(bytes, kind).map(|office| office.markdown).map_err(|error| error.to_string())
}

#[cfg(not(feature = "office"))]
fn office(_: &[u8], kind: Kind) -> Result<String, String> {
    Err(format!("this program was built without the feature office, which reads {}", kind.word()))
}

/// Converts a PDF, and writes its markdown and blocks if there is an output path.
fn pdf(bytes: &[u8], to: Option<&Path>) -> Result<String, String> {
    let document = read_pdf(bytes, &ReadOptions::default()).map_err(|error| error.to_string())?;
    let markdown = markdown(&document, &MarkdownOptions::default());
    if let Some(to) = to {
        fs::write(to, &markdown.text).map_err(|error| error.to_string())?;
        let name = to.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if let Some(folder) =
            to.parent().and_then(Path::parent).map(|folder| folder.join("blocks")).filter(|f| f.is_dir())
        {
            let json = serde_json::to_vec(&blocks(&document, &markdown)).map_err(|error| error.to_string())?;
            fs::write(folder.join(format!("{name}.json")), json).map_err(|error| error.to_string())?;
        }
    }
    Ok(markdown.text)
}
