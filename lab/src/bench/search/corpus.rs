//! Documents to import: the pages of installed documentation, and generated ones with the words of those.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use serde_json::json;
use xtask::{say, setup};

use crate::random::Random;

/// Words of a generated document.
const WORDS: usize = 250;
/// Most pages of documentation.
const MAX_DOCS: usize = 5_000;
/// Largest file of documentation that is taken, in bytes.
const MAX_FILE: u64 = 1 << 20;
/// Words for generated documents if no documentation is installed.
const SYLLABLES: [&str; 24] = [
    "ba", "co", "di", "fu", "ga", "he", "in", "jo", "ka", "lu", "ma", "ne", "or", "pi", "qua", "re", "sto", "ti", "un",
    "ve", "wi", "xe", "yo", "za",
];

/// Corpus in a file.
pub(super) struct Corpus {
    pub(super) file: PathBuf,
    pub(super) documents: usize,
    /// Bytes of the bodies.
    pub(super) bytes: u64,
    /// Words, the most frequent first.
    pub(super) words: Vec<String>,
}

/// Writes a corpus of this number of documents.
pub(super) fn write(file: &Path, documents: usize) -> Result<Corpus> {
    ensure!(documents > 0, "--documents must be at least 1");
    let mut out = BufWriter::new(File::create(file)?);
    let mut corpus = Corpus { file: file.to_owned(), documents: 0, bytes: 0, words: Vec::new() };
    let mut counts = BTreeMap::new();
    for page in pages().into_iter().take(MAX_DOCS.min(documents)) {
        let Ok(html) = fs::read_to_string(&page) else { continue };
        count_words(&html, &mut counts);
        let url = format!("https://docs.example{}", page.display());
        writeln!(out, "{}", json!({ "url": url, "html": html }))?;
        (corpus.documents, corpus.bytes) = (corpus.documents + 1, corpus.bytes + html.len() as u64);
    }
    let from_docs = corpus.documents;
    corpus.words = words(counts);
    for number in corpus.documents..documents {
        let text = made_up(number, &corpus.words);
        let url = format!("https://site{}.example/{number}", number % 5000);
        let title: Vec<&str> = text.split(' ').take(5).collect();
        writeln!(out, "{}", json!({ "url": url, "title": title.join(" "), "text": text, "language": "en" }))?;
        (corpus.documents, corpus.bytes) = (number + 1, corpus.bytes + text.len() as u64);
    }
    out.flush()?;
    let each = corpus.bytes / corpus.documents as u64;
    say!("{} documents, {from_docs} of them installed documentation, {each} bytes on average", corpus.documents);
    Ok(corpus)
}

/// Returns the files of HTML in the installed documentation.
pub(super) fn pages() -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), setup::docs_folders());
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<PathBuf> =
            fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        entries.sort();
        for path in entries {
            let is_html = path.extension().is_some_and(|extension| extension == "html");
            match fs::symlink_metadata(&path) {
                Ok(known) if known.is_dir() => folders.push(path),
                Ok(known) if known.is_file() && is_html && known.len() <= MAX_FILE => found.push(path),
                _ => {}
            }
        }
    }
    found
}

fn count_words(html: &str, counts: &mut BTreeMap<String, usize>) {
    let text = html.split('<').filter_map(|part| part.split_once('>')).map(|(_, text)| text);
    let words = text.flat_map(|text| text.split(|letter: char| !letter.is_ascii_alphabetic()));
    for word in words.filter(|word| (3..=20).contains(&word.len())) {
        *counts.entry(word.to_ascii_lowercase()).or_insert(0) += 1;
    }
}

/// Returns the words that occur, or made-up ones, the most frequent first.
fn words(counts: BTreeMap<String, usize>) -> Vec<String> {
    let mut counted: Vec<(String, usize)> = counts.into_iter().collect();
    counted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let mut words: Vec<String> = counted.into_iter().map(|(word, _)| word).take(50_000).collect();
    for first in SYLLABLES {
        for second in SYLLABLES {
            words.extend(SYLLABLES.iter().map(|third| format!("{first}{second}{third}")));
        }
    }
    words
}

/// Returns a text whose words are as unevenly frequent as those of a language.
fn made_up(number: usize, words: &[String]) -> String {
    let mut random = Random::new(number as u64 + 1);
    let mut text = String::with_capacity(WORDS * 8);
    for at in 0..WORDS {
        text.push_str(if at == 0 {
            ""
        } else if at % 60 == 0 {
            "\n"
        } else {
            " "
        });
        text.push_str(zipf(&mut random, words));
    }
    text
}

/// Returns a word by Zipf's law: the n-th is drawn about as often as 1/n.
pub(super) fn zipf<'w>(random: &mut Random, words: &'w [String]) -> &'w str {
    let share = (random.high() % 1_000_000) as f64 / 1e6;
    let place = (words.len() as f64).powf(share) as usize - 1;
    &words[place.min(words.len() - 1)]
}
