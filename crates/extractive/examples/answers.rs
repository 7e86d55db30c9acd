//! Answers questions about pages from their own sentences.
//!
//! `answers --batch` reads lines `{"id", "query", "html" or "markdown", "url", "lang"}` and writes lines `{"id",
//! "answer", "highlights", "quote", "summary", "us"}`, with a `warning` where the page has no answer; `us` are the
//! microseconds from markdown to answer. Without a `query` only the summary is written. `--whole-page` reads the whole
//! page, not its main content. `--excerpt BYTES` answers from the excerpt of this length.

use std::io::{BufRead, Error, Write, stdin, stdout};
use std::time::Instant;

use base::Stop;
use extractive::{Page, Source, excerpt};
use formats::{ContentOptions, LinkStyle, MarkdownOptions, about, content, markdown, metadata};
use serde_json::{Value, json};
use url::Url;

/// URL of a page whose own is not known.
const SOMEWHERE: &str = "http://localhost/";

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !arguments.iter().any(|argument| argument == "--batch") {
        return Err(Error::other("usage: answers --batch [--whole-page] [--excerpt BYTES]"));
    }
    let only_main_content = !arguments.iter().any(|argument| argument == "--whole-page");
    let options = ContentOptions { only_main_content, ..ContentOptions::default() };
    let bytes = arguments.iter().skip_while(|argument| *argument != "--excerpt").nth(1);
    let bytes = bytes.map_or(Ok(usize::MAX), |bytes| bytes.parse()).map_err(Error::other)?;
    let mut out = stdout().lock();
    for line in stdin().lock().lines() {
        let line: Value = serde_json::from_str(&line?)?;
        writeln!(out, "{}", answer(&line, &options, bytes)?)?;
    }
    out.flush()
}

fn answer(line: &Value, options: &ContentOptions, bytes: usize) -> Result<Value, Error> {
    let field = |name: &str| line[name].as_str().unwrap_or_default();
    let (text, title) = match line["markdown"].as_str() {
        Some(text) => (text.to_owned(), field("title").to_owned()),
        None => read_html(field("html"), field("url"), options)?,
    };
    let (stop, started) = (Stop::new(), Instant::now());
    let text = excerpt(&text, field("query"), bytes);
    let source = Source { markdown: &text, title: &title, language: field("lang") };
    let page = Page::read(&source, &stop).map_err(Error::other)?;
    let mut answer = json!({ "id": line["id"] });
    if field("query").is_empty() {
        answer["summary"] = page.summary(&stop).map_err(Error::other)?.into();
    } else if let Some(found) = page.find(field("query"), None, &stop).map_err(Error::other)? {
        answer["answer"] = found.answer.into();
        answer["highlights"] = found.highlights.into();
        answer["quote"] = found.quote.into();
    } else {
        answer["warning"] = "the page does not answer this".into();
    }
    answer["us"] = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX).into();
    Ok(answer)
}

/// Returns the markdown and the title of a page.
fn read_html(html: &str, url: &str, options: &ContentOptions) -> Result<(String, String), Error> {
    let url = Url::parse(url).or_else(|_| Url::parse(SOMEWHERE)).map_err(Error::other)?;
    let page = formats::Page::parse(html, &url);
    let style = MarkdownOptions { links: LinkStyle::AsWritten, ..MarkdownOptions::default() };
    let text = markdown(&content(&page, options), &style);
    let text = if text.is_empty() { about(&page) } else { text };
    let title = metadata(&page)["title"].as_str().unwrap_or_default().to_owned();
    Ok((text, title))
}
