//! Any bytes as a page, in every format.

use std::collections::HashMap;

use formats::{Content, ContentOptions, MarkdownOptions, Page};
use url::Url;

use crate::address;

/// Markdown up to this size is compared letter by letter; larger outputs may have been cut by a limit.
const COMPARED: usize = 4 << 20;

/// A page of any bytes.
///
/// It must hold: the same page converts the same way; no output has a NUL; the main content is never empty where the page
/// has text, and has no letters that the page has not; what the clean HTML says can be shown, also after a browser has
/// parsed it again; links and pictures are unique URLs that run no code; metadata has no control characters.
pub fn page(input: &[u8]) {
    let source = String::from_utf8_lossy(input);
    let url = address();
    let page = Page::parse(&source, &url);
    let whole = formats::content(&page, &ContentOptions { only_main_content: false, ..ContentOptions::default() });
    let main = formats::content(&page, &ContentOptions::default());
    assert!(whole.is_empty() || !main.is_empty(), "the main content is empty, the page is not");

    let (all, some) = (markdown(&whole), markdown(&main));
    for text in [&all, &some] {
        assert!(!text.contains('\0'));
    }
    if all.len() < COMPARED {
        assert_letters_are_among(&some, &all);
    }
    assert_is_safe(&whole, &url);
    assert_is_safe(&main, &url);
    assert_urls(&formats::links(&page));
    assert_urls(&formats::images(&page));
    for value in formats::metadata(&page).values() {
        assert!(!value.to_string().contains(char::is_control));
    }

    let again = Page::parse(&source, &url);
    let whole = formats::content(&again, &ContentOptions { only_main_content: false, ..ContentOptions::default() });
    assert!(markdown(&whole) == all, "the second time differs");
}

fn markdown(content: &Content) -> String {
    formats::markdown(content, &MarkdownOptions { remove_base64_images: false, ..MarkdownOptions::default() })
}

/// Numbers and marks depend on what stands around them, letters do not.
fn assert_letters_are_among(part: &str, all: &str) {
    // The one tag that markdown has in table cells, and nowhere else.
    let (part, all) = (part.replace("<br>", " "), all.replace("<br>", " "));
    let mut letters: HashMap<char, isize> = HashMap::new();
    all.chars().filter(|c| c.is_alphabetic()).for_each(|c| *letters.entry(c).or_default() += 1);
    for c in part.chars().filter(|c| c.is_alphabetic()) {
        let left = letters.entry(c).or_default();
        *left -= 1;
        assert!(*left >= 0, "the main content has a letter {c} that the page has not");
    }
}

fn assert_is_safe(content: &Content, url: &Url) {
    let html = formats::html(content);
    assert!(!html.contains('\0'));
    let shown = Page::parse(&html, url);
    let machinery = shown.document().select("script, style, noscript, meta, link, base, template, [srcdoc]");
    assert!(!machinery.exists(), "machinery is left");
    for node in shown.document().select("*").nodes() {
        for attribute in node.attrs() {
            let name = attribute.name.local.to_ascii_lowercase();
            assert!(!name.starts_with("on"), "the handler {name} is left");
            let value: String = attribute.value.chars().filter(|c| !c.is_control() && *c != ' ').collect();
            let code = ["javascript:", "vbscript:", "data:text/html"];
            let runs =
                code.iter().any(|scheme| value.get(..scheme.len()).is_some_and(|s| s.eq_ignore_ascii_case(scheme)));
            let is_url = matches!(&*name, "href" | "src" | "action" | "formaction" | "data" | "poster" | "xlink:href");
            assert!(!is_url || !runs, "{name} runs {value}");
        }
    }
}

fn assert_urls(urls: &[String]) {
    for (place, text) in urls.iter().enumerate() {
        let url = Url::parse(text).expect("a link must be a URL");
        assert!(!matches!(url.scheme(), "javascript" | "vbscript" | "data"), "{text}");
        assert!(!urls[..place.min(50)].contains(text), "{text} is there twice");
    }
}
