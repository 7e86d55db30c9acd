//! Fallback text for pages without visible content: their title and description.

use page::Page;
use serde_json::Value;

use crate::content::ContentOptions;
use crate::markdown::{MarkdownOptions, markdown};
use crate::metadata::metadata;
use crate::select::content;

/// Returns the title of a page as a heading, and its description, as markdown: for a page that is blank until its
/// scripts have run. Empty if the page has neither.
///
/// ```
/// let url = url::Url::parse("https://example.com/").unwrap();
/// let page = formats::Page::parse("<title>Shop</title><meta name=description content='All *you* need'><div id=app>", &url);
/// assert_eq!(formats::about(&page), "# Shop\n\nAll \\*you\\* need");
/// ```
#[must_use]
pub fn about(page: &Page) -> String {
    let metadata = metadata(page);
    let text = |keys: [&str; 2]| {
        let texts = keys.iter().filter_map(|key| metadata.get(*key).and_then(Value::as_str));
        texts.map(str::trim).find(|text| !text.is_empty()).map(in_html).unwrap_or_default()
    };
    let (title, description) = (text(["title", "ogTitle"]), text(["description", "ogDescription"]));
    let page = Page::parse(&format!("<h1>{title}</h1><p>{description}"), page.url());
    let whole = ContentOptions { only_main_content: false, ..ContentOptions::default() };
    markdown(&content(&page, &whole), &MarkdownOptions::default())
}

fn in_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
