//! Structured data of a page: JSON-LD.

use page::{Page, local_name};
use serde_json::Value;

/// Limit on the blocks that are read, in bytes.
const MAX_READ: usize = 4 << 20;
/// Limit on the result, in bytes.
const MAX_BYTES: usize = 64 << 10;
/// Limit on one text in it, in characters; the rest is cut off.
const MAX_CHARS: usize = 1000;

/// Returns the JSON-LD of a page, one block per line, without blanks; blocks that are not JSON are left out. At most
/// 64 KiB: a block that no longer fits is left out, and so is the end of texts of more than 1000 characters.
///
/// ```
/// let url = url::Url::parse("https://example.com/").unwrap();
/// let page = formats::Page::parse("<script type='application/ld+json'>{ \"name\": \"Saw\" }</script>", &url);
/// assert_eq!(formats::structured(&page), "{\"name\":\"Saw\"}");
/// ```
#[must_use]
pub fn structured(page: &Page) -> String {
    let (mut found, mut read) = (String::new(), 0);
    let is_block = |&index: &usize| {
        page.is(index, &local_name!("script"))
            && page.attr(index, "type").is_some_and(|kind| kind.to_ascii_lowercase().contains("ld+json"))
    };
    for index in page.positions().filter(is_block) {
        let source = page.text_of(index);
        read += source.len();
        if read > MAX_READ {
            break;
        }
        let Ok(mut value) = serde_json::from_str(source.trim()) else { continue };
        shorten(&mut value);
        let block = value.to_string();
        if found.len() + block.len() < MAX_BYTES {
            if !found.is_empty() {
                found.push('\n');
            }
            found.push_str(&block);
        }
    }
    found
}

/// Cuts long texts. The depth of a value is bounded by its parser.
fn shorten(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some((end, _)) = text.char_indices().nth(MAX_CHARS) {
                text.truncate(end);
                text.push('…');
            }
        }
        Value::Array(values) => values.iter_mut().for_each(shorten),
        Value::Object(members) => members.values_mut().for_each(shorten),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;

    #[test]
    fn blocks_are_bounded() {
        let found = |html: &str| structured(&Page::parse(html, &Url::parse("https://a.test/").unwrap()));
        let block = |inner: &str| format!("<script type=\"application/ld+json\">{inner}</script>");
        assert_eq!(found(&(block("[1, 2]") + &block("{broken") + &block("{\"a\": null}"))), "[1,2]\n{\"a\":null}");
        assert_eq!(found("<script>{}</script><p>x"), "");
        let long = found(&block(&format!("\"{}\"", "é".repeat(5000))));
        assert_eq!(long.chars().count(), MAX_CHARS + 3);
        let many = format!("[{}0]", "12345678,".repeat(10_000));
        assert_eq!(found(&(block(&many) + &block("7"))), "7");
    }
}
