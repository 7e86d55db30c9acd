//! The compared engines, and the pages for the comparison.

mod made;

use std::fs::File;
use std::io::{Error, Read};
use std::path::Path;

use encoding_rs::{Encoding, UTF_8};
use flate2::read::GzDecoder;
use formats::{ContentOptions, MarkdownOptions, Page, content, markdown};
use serde_json::Value;
use url::Url;

/// A decoded page.
pub(crate) struct Source {
    /// URL that the page was read from.
    pub(crate) url: Url,
    /// Decoded source.
    pub(crate) html: String,
}

/// A converter from HTML to markdown or text.
pub(crate) struct Engine {
    /// Name in the output.
    pub(crate) name: &'static str,
    /// Converts one page; empty if the engine fails.
    pub(crate) convert: fn(&Source) -> String,
}

/// The engines: ours first, the reference for ratios second.
pub(crate) const ENGINES: [Engine; 5] = [
    Engine { name: "formats", convert: ours },
    Engine { name: "dom_smoothie + htmd", convert: article },
    Engine { name: "htmd, whole page", convert: |source| htmd::convert(&source.html).unwrap_or_default() },
    Engine {
        name: "mdream, whole page",
        convert: |source| mdream::html_to_markdown(&source.html, mdream::types::HtmlToMarkdownOptions::default()),
    },
    Engine {
        name: "html2text, whole page",
        convert: |source| html2text::from_read(source.html.as_bytes(), 120).unwrap_or_default(),
    },
];

/// Reads the pages from the folder given by `--data` (`aeb/cases.jsonl` and `aeb/html/ID.html.gz` in it); without it,
/// returns synthetic ones.
pub(crate) fn sources() -> Result<Vec<Source>, Error> {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--data").skip(1);
    match arguments.next() {
        Some(folder) => saved(&Path::new(&folder).join("aeb")),
        None => Ok(made::sources()),
    }
}

fn saved(folder: &Path) -> Result<Vec<Source>, Error> {
    let mut sources = Vec::new();
    for line in std::fs::read_to_string(folder.join("cases.jsonl"))?.lines() {
        let case: Value = serde_json::from_str(line)?;
        let text = |key: &str| case[key].as_str().unwrap_or_default();
        let mut bytes = Vec::new();
        GzDecoder::new(File::open(folder.join("html").join(format!("{}.html.gz", text("id"))))?)
            .read_to_end(&mut bytes)?;
        let charset = Encoding::for_label(text("enc").as_bytes()).unwrap_or(UTF_8);
        let url = Url::parse(text("url")).map_err(Error::other)?;
        sources.push(Source { url, html: charset.decode(&bytes).0.into_owned() });
    }
    Ok(sources)
}

fn ours(source: &Source) -> String {
    let page = Page::parse(&source.html, &source.url);
    markdown(&content(&page, &ContentOptions::default()), &MarkdownOptions::default())
}

fn article(source: &Source) -> String {
    let found = dom_smoothie::Readability::new(source.html.as_str(), Some(source.url.as_str()), None);
    let article = found.and_then(|mut readability| readability.parse());
    article.map(|article| htmd::convert(&article.content).unwrap_or_default()).unwrap_or_default()
}
