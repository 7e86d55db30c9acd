//! Files of documents for `index import`: lines of JSON, and web archives.

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;

use anyhow::{Context as _, ensure};
use app::indexing::{ImportedDocument, WebArchive};
use fetch::Fetched;
use flate2::bufread::MultiGzDecoder;

/// Documents that are stored in one transaction, and their size in bytes. One document may be larger.
const BATCH: usize = 64;
const BATCH_BYTES: usize = 16 << 20;
/// Limit of one line, in bytes.
const MAX_LINE: usize = 16 << 20;

/// Pages of an imported file, in its order.
pub(crate) enum ImportedPages {
    /// One JSON object per line.
    Lines(Lines),
    /// Web archive.
    Archive(WebArchive<Box<dyn BufRead + Send>>),
}

/// Lines of a file, which are counted for messages.
pub(crate) struct Lines {
    reader: BufReader<File>,
    number: u64,
}

impl ImportedPages {
    /// Opens a file; its name says what it is.
    pub(crate) fn open(file: &Path) -> anyhow::Result<Self> {
        let opened = File::open(file).with_context(|| format!("cannot read {}", file.display()))?;
        let reader = BufReader::new(opened);
        let ends_in =
            |path: &Path, ending: &str| path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending));
        let is_packed = ends_in(file, "gz") && file.file_stem().is_some_and(|stem| ends_in(Path::new(stem), "warc"));
        Ok(if is_packed {
            Self::Archive(WebArchive::new(Box::new(BufReader::new(MultiGzDecoder::new(reader)))))
        } else if ends_in(file, "warc") {
            Self::Archive(WebArchive::new(Box::new(reader)))
        } else {
            Self::Lines(Lines { reader, number: 0 })
        })
    }

    /// Returns the next pages; none at the end.
    pub(crate) fn batch(&mut self) -> anyhow::Result<Vec<Fetched>> {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while batch.len() < BATCH && bytes < BATCH_BYTES {
            let next = match self {
                Self::Lines(lines) => lines.next()?,
                Self::Archive(archive) => archive.next_page()?,
            };
            let Some(page) = next else { break };
            bytes += page.body.len();
            batch.push(page);
        }
        Ok(batch)
    }
}

impl Lines {
    fn next(&mut self) -> anyhow::Result<Option<Fetched>> {
        let mut line = Vec::new();
        let limit = u64::try_from(MAX_LINE)? + 1;
        while self.reader.by_ref().take(limit).read_until(b'\n', &mut line)? > 0 {
            self.number += 1;
            ensure!(line.len() <= MAX_LINE, "line {} is longer than {MAX_LINE} bytes", self.number);
            if !line.trim_ascii().is_empty() {
                let document = serde_json::from_slice::<ImportedDocument>(&line);
                let document = document.with_context(|| format!("line {} is no document", self.number))?;
                return document.into_page().map(Some).with_context(|| format!("line {}", self.number));
            }
            line.clear();
        }
        Ok(None)
    }
}
