//! What each fuzz target does with its input: everything that a stranger's bytes go through, and what must hold of it.
//!
//! `cargo xtask fuzz` builds and runs the targets. A target fails by panicking.

mod change;
mod office;
mod page;
mod pdf;
mod picture;
mod product;
mod wire;

use fetch::{Fetched, detect};
use formats::{ContentOptions, MarkdownOptions, Page};
use url::Url;

pub use crate::change::{fields, unified};
pub use crate::office::{detection, mail, office};
pub use crate::page::page;
pub use crate::pdf::{pdf, pdf_content, pdf_font};
pub use crate::picture::picture;
pub use crate::product::product;
pub use crate::wire::{decode, target_url};

/// A selector in the first line, a page in the others.
pub fn selector(input: &[u8]) {
    let (selector, source) = first_line(input);
    let page = Page::parse(&source, &address());
    let usable = ::page::check_selector(&selector).is_ok();
    let found = formats::attributes(&page, &selector, "class");
    assert!(usable || found.is_empty(), "a refused selector found something");
    let tags = vec![selector];
    for (include_tags, exclude_tags) in [(tags.clone(), vec![]), (vec![], tags.clone()), (tags.clone(), tags)] {
        let options = ContentOptions { only_main_content: true, include_tags, exclude_tags };
        let content = formats::content(&page, &options);
        let markdown = formats::markdown(&content, &MarkdownOptions::default());
        formats::html(&content);
        let both = !options.include_tags.is_empty() && !options.exclude_tags.is_empty();
        assert!(!both || !usable || markdown.is_empty(), "what is excluded was included");
    }
}

/// A text without markup.
pub fn text_links(input: &[u8]) {
    let base = address();
    let links = formats::text_links(&String::from_utf8_lossy(input), &base, &base::Stop::new());
    for (place, link) in links.iter().enumerate() {
        let url = Url::parse(link).expect("a link must be a URL");
        assert_eq!(url.as_str(), link);
        assert!(!matches!(url.scheme(), "javascript" | "vbscript" | "data"), "{link}");
        assert!(!links[..place.min(50)].contains(link), "{link} is there twice");
    }
}

/// A `Content-Type` header in the first line, a body in the others.
pub fn encoding(input: &[u8]) {
    let (header, body) = input.split_at(input.iter().position(|byte| *byte == b'\n').unwrap_or(0));
    let header = String::from_utf8_lossy(header).into_owned();
    let fetched = |header: Option<String>| Fetched::new(address(), 200, header, body.to_vec().into());
    let page = fetched(Some(header));
    assert_eq!(page.text(), page.text());
    let page = fetched(Some("text/html; charset=utf-8".to_owned()));
    let marked = [&b"\xff\xfe"[..], b"\xfe\xff", b"\xef\xbb\xbf"].iter().any(|mark| body.starts_with(mark));
    assert!(marked || page.text() == String::from_utf8_lossy(body), "UTF-8 was not read as such");
}

/// A `Content-Type` header in the first line, a body in the others.
pub fn sniff(input: &[u8]) {
    let (header, body) = input.split_at(input.iter().position(|byte| *byte == b'\n').unwrap_or(0));
    let told = detect(Some(&String::from_utf8_lossy(header)), body);
    assert_eq!(told, detect(Some(&String::from_utf8_lossy(header)), body));
    let _told_without_header = detect(None, body);
}

fn first_line(input: &[u8]) -> (String, String) {
    let text = String::from_utf8_lossy(input).into_owned();
    match text.split_once('\n') {
        Some((line, rest)) => (line.to_owned(), rest.to_owned()),
        None => (text, "<div class=a id=b><p class='c d'>text <a href=/x>link</a></p></div><p>more".to_owned()),
    }
}

fn address() -> Url {
    Url::parse("https://example.com/folder/page?query").expect("an address")
}
