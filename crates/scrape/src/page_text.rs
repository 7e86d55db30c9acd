//! The text of a page for the formats that are asked of it, made while the page is parsed.

use std::collections::HashSet;

use answers::PageText;
use fetch::BodyKind;
use serde_json::{Map, Value};
use url::Url;
use wire::Document;

use crate::plain;
use crate::source::{PageSource, Source, TextSource};

/// Limit on the facts, in bytes.
const MAX_FACTS: usize = 16 << 10;
/// Limit on the value of one fact, in characters; the rest is cut off.
const MAX_VALUE: usize = 1000;
/// Limit on a value without blanks that is not an address, in bytes: above it are keys and encoded data.
const MAX_WORD: usize = 100;
/// Beginnings of metadata that is for programs alone.
const FOR_PROGRAMS: [&str; 24] = [
    "al:",
    "apple-",
    "bingbot",
    "charset",
    "color-scheme",
    "csrf",
    "facebook-",
    "favicon",
    "fb:",
    "format-detection",
    "generator",
    "google",
    "handheldfriendly",
    "mobile-",
    "msapplication",
    "msvalidate",
    "next-",
    "og:image:",
    "og:type",
    "p:domain",
    "referrer",
    "robots",
    "theme-color",
    "viewport",
];

/// Makes the text of a page. `text` is its markdown where the document has none. A file that was not read has no text.
pub(crate) fn page_text(source: &Source<'_>, text: Option<&str>, document: &Document) -> PageText {
    let metadata = &document.metadata.page;
    let said = |key: &str| metadata.get(key).and_then(Value::as_str).unwrap_or_default().trim().to_owned();
    let (title, language) = (said("title"), said("language"));
    let facts = facts(&title, metadata);
    let found = match source {
        Source::Page(page) => of_page(page, document.markdown.as_deref().or(text)),
        Source::Text(text) => PageText { markdown: of_text(text), links: source.links(), ..PageText::default() },
        Source::Document(read) => {
            let markdown = plain::without_embedded_images(&read.markdown());
            PageText { markdown, links: read.links(), ..PageText::default() }
        }
        Source::Bytes(_) => return PageText::default(),
    };
    PageText { title, language, facts, ..found }.visible()
}

/// Adds the address of the page to its text.
pub(crate) fn add_url(text: &mut PageText, url: &Url) {
    if matches!(url.scheme(), "http" | "https") {
        text.facts.push_str(&format!("URL: {url}\n"));
        text.links.push(url.to_string());
    }
}

fn of_page(source: &PageSource<'_>, made: Option<&str>) -> PageText {
    let hidden = source.hidden();
    PageText {
        markdown: source.seen_markdown(&hidden, made),
        structured: formats::structured(source.page),
        links: source.seen_links(&hidden),
        ..PageText::default()
    }
}

fn of_text(source: &TextSource<'_>) -> String {
    match source.kind {
        BodyKind::Json => plain::fenced(source.text, "json"),
        BodyKind::Markdown => plain::without_comments(&plain::without_embedded_images(source.text)),
        _ => source.text.to_owned(),
    }
}

/// Returns title and metadata, one per line; a value that has been said before is left out.
fn facts(title: &str, metadata: &Map<String, Value>) -> String {
    let mut facts = String::new();
    let mut known = HashSet::new();
    let title = ("title", Value::from(title));
    let others = metadata.iter().map(|(key, value)| (key.as_str(), value.clone()));
    for (key, value) in std::iter::once(title).chain(others) {
        let lower = key.to_ascii_lowercase();
        if FOR_PROGRAMS.iter().any(|start| lower.starts_with(start)) {
            continue;
        }
        let value = one_line(&value);
        let is_text = value.contains(' ') || value.len() <= MAX_WORD || value.starts_with("http");
        let has_room = facts.len() + key.len() + value.len() < MAX_FACTS;
        if !value.is_empty() && is_text && has_room && known.insert(value.clone()) {
            facts.push_str(&format!("{}: {value}\n", key.split_whitespace().collect::<Vec<_>>().join(" ")));
        }
    }
    facts
}

/// Returns a value of the metadata as one line.
fn one_line(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        _ => String::new(),
    };
    let line: Vec<&str> = text.split_whitespace().collect();
    line.join(" ").chars().take(MAX_VALUE).collect()
}

#[cfg(test)]
mod tests {
    use base::Stop;
    use serde_json::json;
    use wire::ScrapeOptions;

    use super::*;
    use crate::source::{Besides, Origin};

    /// Returns the text of a page, with its markdown made before or not.
    fn of_html(html: &str, is_made: bool) -> PageText {
        let page = formats::Page::parse(html, &Url::parse("https://a.test/d/").unwrap());
        let options = ScrapeOptions::default();
        let source = Source::Page(Box::new(PageSource::new(&page, &options, Origin::Sent(200), Besides::default())));
        let mut document = Document::default();
        document.metadata.page = source.metadata();
        let made = is_made.then(|| source.markdown());
        page_text(&source, made.as_deref(), &document)
    }

    const PAGE: &str = "<html lang=en><title>Harbour\u{200b} museum</title>\
        <meta name=description content='All of it'><meta property=og:description content='All of it'>\
        <meta name=author content='Ann Lee'><meta name=viewport content='width=9'><meta name=robots content=all>\
        <script type=application/ld+json>{\"@type\": \"Museum\"}</script>\
        <main><h1>Harbour museum</h1><p>The museum opens at ten. <a href=in title='Come in'>Entry</a> is 8 euros for adults.</p>\
        <div style='display:none'>Ignore it. <a href=/out>x</a></div><p>Open\u{e0049}\u{202e} daily.</p><img src=a.png></main>";

    #[test]
    fn a_page_has_the_text_that_readers_see() {
        for is_made in [true, false] {
            let text = of_html(PAGE, is_made);
            assert_eq!(
                text.markdown,
                "# Harbour museum\n\nThe museum opens at ten. [Entry](https://a.test/d/in) is 8 euros for adults.\n\n\
                 Open daily.\n\n![](https://a.test/d/a.png)"
            );
            assert_eq!((text.title.as_str(), text.language.as_str()), ("Harbour museum", "en"));
            assert_eq!(text.links, ["https://a.test/d/in", "https://a.test/d/a.png"]);
            assert_eq!(text.structured, "{\"@type\":\"Museum\"}");
            let facts: Vec<&str> = text.facts.lines().collect();
            assert_eq!(facts, ["title: Harbour museum", "author: Ann Lee", "description: All of it", "language: en"]);
        }
    }

    #[test]
    fn text_has_what_its_rendering_shows() {
        let of = |text: &str, kind: BodyKind| {
            let (url, stop) = (Url::parse("https://a.test/").unwrap(), Stop::default());
            let source = Source::Text(TextSource { text, kind, url: &url, keeps_images: true, stop: &stop });
            let mut document = Document::default();
            document.metadata.page = source.metadata();
            page_text(&source, Some(text), &document)
        };
        let text = of("# A\n\n[//]: # (note)\nb <!-- c --> [d](/e)\n", BodyKind::Markdown);
        assert_eq!((text.markdown.as_str(), text.title.as_str()), ("# A\n\nb  [d](/e)\n", "A"));
        assert_eq!(text.links, ["https://a.test/e"]);
        assert_eq!(of("{\"a\": 1}", BodyKind::Json).markdown, "```json\n{\"a\": 1}\n```");
        let bytes = page_text(&Source::Bytes(b"x"), Some("eA=="), &Document::default());
        assert_eq!(bytes, PageText::default());
    }

    #[test]
    fn facts_are_bounded_and_say_nothing_twice() {
        let metadata =
            json!({ "a": "x".repeat(5000), "b": format!("y {}", "x".repeat(5000)), "c": "T", "d": [1, "e", "f"] });
        let facts = facts("T", metadata.as_object().unwrap());
        assert_eq!(facts.lines().map(str::len).collect::<Vec<_>>(), ["title: T".len(), MAX_VALUE + 3, "d: e, f".len()]);
        let many: Map<String, Value> = (0..5000).map(|n| (format!("k{n}"), format!("v{n}").into())).collect();
        assert!(super::facts("", &many).len() <= MAX_FACTS + 10);
    }
}
