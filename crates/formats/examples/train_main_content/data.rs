//! Annotated pages of the public data sets.

use std::fs::File;
use std::io::{BufRead, BufReader, Error, Read};
use std::path::{Path, PathBuf};

use encoding_rs::{Encoding, UTF_8};
use flate2::read::GzDecoder;
use formats::training::{self, Blocks, Sample};
use formats::{ContentOptions, content};
use serde_json::Value;
use url::Url;

use crate::splice::MARK;

/// Data set of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Set {
    /// WCXB: pages of seven kinds, with the text of their content.
    Wcxb,
    /// article-extraction-benchmark: articles, with their text.
    Aeb,
    /// trafilatura: pages with some segments that are content and some that are not.
    Traf,
    /// Pages composed by the trainer: articles followed by other parts.
    Made,
}

/// Annotation of a page.
#[derive(Debug, Clone)]
pub(crate) enum Truth {
    Text(String),
    Segments { with: Vec<String>, without: Vec<String> },
}

/// An annotated page before it is parsed.
pub(crate) struct Case {
    pub(crate) set: Set,
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) truth: Truth,
    pub(crate) url: Url,
}

/// An annotated page and its blocks.
pub(crate) struct Page {
    pub(crate) set: Set,
    pub(crate) id: String,
    pub(crate) kind: String,
    /// Host without `www.`: all pages of one site are in one fold.
    pub(crate) host: String,
    pub(crate) url: Url,
    pub(crate) html: String,
    pub(crate) truth: Truth,
    pub(crate) texts: Vec<String>,
    pub(crate) samples: Vec<Sample>,
    /// Whether each block is in a part that was added to the page.
    pub(crate) put_in: Vec<bool>,
    /// Features of all blocks, one block after the other.
    pub(crate) features: Vec<f32>,
    pub(crate) blocks: Blocks,
}

impl Page {
    /// Parses a page. Returns `None` if it has no text.
    pub(crate) fn of(case: Case, html: String) -> Option<Page> {
        let parsed = formats::Page::parse(&html, &case.url);
        let whole = content(&parsed, &ContentOptions { only_main_content: false, ..ContentOptions::default() });
        let (blocks, mut samples) = training::blocks(&whole);
        let is_put_in = |sample: &Sample| parsed.ancestors(sample.nodes[0]).any(|at| parsed.attr(at, MARK).is_some());
        let put_in = samples.iter().map(|sample| case.set == Set::Made && is_put_in(sample)).collect();
        let texts = samples.iter_mut().map(|sample| std::mem::take(&mut sample.text)).collect();
        let features = samples.iter_mut().flat_map(|sample| std::mem::take(&mut sample.features)).collect();
        let host = case.url.host_str().unwrap_or_default();
        let host = host.strip_prefix("www.").unwrap_or(host).to_owned();
        let Case { set, id, kind, truth, url } = case;
        (!samples.is_empty()).then_some(Page {
            set,
            id,
            kind,
            host,
            url,
            html,
            truth,
            texts,
            samples,
            put_in,
            features,
            blocks,
        })
    }
}

/// Reads all sets below `folder`, on two threads.
pub(crate) fn read(folder: &Path) -> Result<Vec<Page>, Error> {
    let mut cases = Vec::new();
    for (set, name) in [(Set::Aeb, "aeb"), (Set::Wcxb, "wcxb"), (Set::Traf, "traf")] {
        let folder = folder.join(name);
        for line in BufReader::new(File::open(folder.join("cases.jsonl"))?).lines() {
            cases.push((set, folder.clone(), serde_json::from_str::<Value>(&line?)?));
        }
    }
    let read = |cases: &[(Set, PathBuf, Value)]| -> Result<Vec<Page>, Error> {
        cases.iter().filter_map(|(set, folder, case)| page(*set, folder, case).transpose()).collect()
    };
    let (first, second) = cases.split_at(cases.len() * 2 / 5);
    std::thread::scope(|scope| {
        let second = scope.spawn(|| read(second));
        let mut pages = read(first)?;
        pages.extend(second.join().map_err(|_| Error::other("the reader panicked on a page"))??);
        Ok(pages)
    })
}

/// Reads a page. Returns `None` if it has no usable annotation or no text.
fn page(set: Set, folder: &Path, case: &Value) -> Result<Option<Page>, Error> {
    let text = |key: &str| case[key].as_str().unwrap_or_default();
    let list = |key: &str| {
        let values = case["truth"][key].as_array().into_iter().flatten();
        values.filter_map(|value| value.as_str().map(str::to_owned)).collect()
    };
    let truth = match case["truth"]["text"].as_str() {
        _ if set == Set::Traf => Truth::Segments { with: list("with"), without: list("without") },
        Some(text) if !text.is_empty() => Truth::Text(text.to_owned()),
        _ => return Ok(None),
    };
    let url = Url::parse(text("url")).map_err(Error::other)?;
    let mut bytes = Vec::new();
    let file = folder.join("html").join(format!("{}.html.gz", text("id")));
    GzDecoder::new(File::open(file)?).read_to_end(&mut bytes)?;
    let charset = Encoding::for_label(text("enc").as_bytes()).unwrap_or(UTF_8);
    let case = Case { set, id: text("id").to_owned(), kind: text("type").to_owned(), truth, url };
    Ok(Page::of(case, charset.decode(&bytes).0.into_owned()))
}
