//! Prints the product of a saved page.
//!
//! `page_to_product --url URL PAGE.html` prints it as JSON. `page_to_product --batch` reads lines
//! `{"id", "url", "enc", "path"}` and writes lines `{"id", "product", "us"}`: the time, in microseconds, is that of the
//! extraction without the parsing of the page.

use std::io::{BufRead, Error, Write, stdin, stdout};
use std::time::Instant;

use page::Page;
use serde_json::{Value, json};
use url::Url;

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [batch] if batch == "--batch" => batch_of_pages(),
        [flag, url, path] if flag == "--url" => {
            let found = extract(url, path, "utf-8")?;
            writeln!(stdout().lock(), "{}", serde_json::to_string_pretty(&found)?)
        }
        _ => Err(Error::other("usage: page_to_product --url URL PAGE.html | --batch")),
    }
}

fn batch_of_pages() -> Result<(), Error> {
    for line in stdin().lock().lines() {
        let line: Value = serde_json::from_str(&line?)?;
        let field = |name: &str| line[name].as_str().unwrap_or_default();
        let mut found = extract(field("url"), field("path"), field("enc"))?;
        found["id"] = line["id"].clone();
        writeln!(stdout().lock(), "{found}")?;
    }
    Ok(())
}

fn extract(url: &str, path: &str, encoding: &str) -> Result<Value, Error> {
    let bytes = std::fs::read(path)?;
    let encoding = encoding_rs::Encoding::for_label(encoding.as_bytes()).unwrap_or(encoding_rs::UTF_8);
    let html = encoding.decode(&bytes).0;
    let url = Url::parse(url).map_err(Error::other)?;
    let page = Page::parse(&html, &url);
    let start = Instant::now();
    let found = extract_product::product(&page);
    let micros = start.elapsed().as_micros() as u64;
    let mut line = json!({ "product": found.as_ref().ok(), "us": micros, "bytes": bytes.len() });
    if let Err(missing) = found {
        line["warning"] = missing.to_string().into();
    }
    Ok(line)
}
