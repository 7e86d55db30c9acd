//! Converts saved HTML pages to markdown.
//!
//! One page: `page_to_markdown [--url URL] [--whole-page] FILE` writes its markdown to standard output.
//!
//! Many pages: `page_to_markdown [--whole-page] --batch` reads lines `{"id", "url", "enc", "path"}` from standard input
//! and writes lines `{"id", "out", "us"}`; `enc` is the page's charset, `us` the microseconds from decoded text to
//! markdown. A page that cannot be read gives a line with an `error` and no text; the batch continues.
//!
//! Links are written as in the page, because saved pages often refer to pages and images saved with them.

use std::io::{BufRead, Error, Write, stdin, stdout};
use std::time::Instant;

use encoding_rs::{Encoding, UTF_8};
use formats::{ContentOptions, LinkStyle, MarkdownOptions, Page, about, content, markdown};
use serde_json::{Value, json};
use url::Url;

const USAGE: &str =
    "usage: page_to_markdown [--url URL] [--whole-page] FILE, or page_to_markdown [--whole-page] --batch";
/// URL of a page whose own is not known.
const SOMEWHERE: &str = "http://localhost/";

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let (mut batch, mut file, mut url) = (false, None, SOMEWHERE.to_owned());
    let mut options = ContentOptions::default();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--batch" => batch = true,
            "--whole-page" => options.only_main_content = false,
            "--url" => url = arguments.next().ok_or_else(|| Error::other(USAGE))?,
            _ if argument.starts_with('-') => return Err(Error::other(USAGE)),
            _ => file = Some(argument),
        }
    }
    match file {
        None if batch => convert_lines(&options),
        Some(file) => {
            let text = convert(&std::fs::read(file)?, UTF_8, &url, &options).0;
            writeln!(stdout().lock(), "{text}")
        }
        None => Err(Error::other(USAGE)),
    }
}

fn convert_lines(options: &ContentOptions) -> Result<(), Error> {
    let mut out = stdout().lock();
    for line in stdin().lock().lines() {
        let case: Value = serde_json::from_str(&line?)?;
        let text = |key: &str| case[key].as_str().unwrap_or_default();
        let charset = Encoding::for_label(text("enc").as_bytes()).unwrap_or(UTF_8);
        let found = match std::fs::read(text("path")) {
            Ok(bytes) => {
                let (markdown, us) = convert(&bytes, charset, text("url"), options);
                json!({ "id": case["id"], "out": markdown, "us": us })
            }
            Err(error) => json!({ "id": case["id"], "out": "", "us": 0, "error": error.to_string() }),
        };
        writeln!(out, "{}", on_one_line(&found.to_string()))?;
    }
    out.flush()
}

/// Escapes the characters that JSON allows in strings but that some readers treat as line breaks.
fn on_one_line(json: &str) -> String {
    json.replace('\u{85}', "\\u0085").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// Returns the markdown of a page, and the microseconds that the conversion took.
fn convert(bytes: &[u8], charset: &'static Encoding, url: &str, options: &ContentOptions) -> (String, u64) {
    // URLs in lists of saved pages are often invalid. The fallback lets the page be converted nevertheless.
    let url = Url::parse(url).or_else(|_| Url::parse(SOMEWHERE));
    let html = charset.decode(bytes).0;
    let started = Instant::now();
    let text = url.map(|url| {
        let page = Page::parse(&html, &url);
        let style = MarkdownOptions { links: LinkStyle::AsWritten, ..MarkdownOptions::default() };
        let text = markdown(&content(&page, options), &style);
        if text.is_empty() { about(&page) } else { text }
    });
    (text.unwrap_or_default(), u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX))
}
