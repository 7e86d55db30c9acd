//! The text of a page, as questions are asked of it.

use answers::PageText;
use serde_json::{Map, Value};
use url::Url;
use wire::Document;

use crate::source::Source;

/// Longest value of the metadata that is shown, in bytes.
const LONGEST_VALUE: usize = 500;

/// Makes the text of a page. `text` is its markdown where the document has none. A file that was not read has no text.
pub(crate) fn page_text(source: &Source<'_>, text: Option<&str>, document: &Document) -> PageText {
    if matches!(source, Source::Bytes(_)) {
        return PageText::default();
    }
    let metadata = &document.metadata.page;
    let of = |key: &str| metadata.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut links = source.links();
    links.extend(source.images());
    PageText {
        markdown: document.markdown.as_deref().or(text).unwrap_or_default().to_owned(),
        title: of("title"),
        language: of("language"),
        facts: facts(metadata),
        structured: String::new(),
        links,
    }
}

/// Adds the address of the page to its text.
pub(crate) fn add_url(page: &mut PageText, url: &Url) {
    if matches!(url.scheme(), "http" | "https") {
        page.facts.push_str(&format!("URL: {url}\n"));
        page.links.push(url.to_string());
    }
}

/// Returns the metadata, one value a line.
fn facts(metadata: &Map<String, Value>) -> String {
    let shown = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let lines = metadata.iter().map(|(key, value)| {
        let mut line = format!("{key}: {}", shown(value)).replace('\n', " ");
        line.truncate(line.floor_char_boundary(LONGEST_VALUE));
        line + "\n"
    });
    lines.collect()
}
