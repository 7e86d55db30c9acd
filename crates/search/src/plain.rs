//! Plain text of titles and snippets: without HTML, entities and line breaks.

/// Maximum length of a text that is read, in bytes; the rest is cut off.
const MAX_BYTES: usize = 8 << 10;

/// Names of elements that are removed. Others, such as the `<T>` of `Vec<T>`, are text.
const ELEMENTS: &str = "a abbr article b big blockquote br cite code del div em font h1 h2 h3 h4 hr i img ins kbd li \
    mark ol p pre q s samp script small span strong style sub sup table td time tr u ul wbr";

/// Elements that separate words.
const BLOCKS: [&str; 15] =
    ["article", "blockquote", "br", "div", "h1", "h2", "h3", "h4", "hr", "li", "p", "pre", "table", "td", "tr"];

/// Returns the plain text of a title or snippet: tags removed, entities decoded, white space folded, at most `most`
/// characters.
pub(crate) fn plain(text: &str, most: usize) -> String {
    let text = &text[..text.floor_char_boundary(MAX_BYTES)];
    let bare = without_tags(text);
    folded(&page::decoded(&bare), most)
}

/// Folds white space and removes control and invisible characters.
fn folded(text: &str, most: usize) -> String {
    let mut out = String::with_capacity(text.len().min(most));
    let mut count = 0;
    let mut gap = false;
    for c in text.chars() {
        if c.is_whitespace() || c.is_control() {
            gap = count > 0;
            continue;
        }
        if is_invisible(c) {
            continue;
        }
        let needed = 1 + usize::from(gap);
        if count + needed > most {
            // A cut text says so; its last character makes room.
            if most > 1 && count >= most {
                out.pop();
                out.truncate(out.trim_end().len());
            }
            out.push('…');
            break;
        }
        if gap {
            out.push(' ');
        }
        out.push(c);
        count += needed;
        gap = false;
    }
    out
}

/// Marks of direction and zero width, with which a title can show something else than it says.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

fn without_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        match tag(rest) {
            Some(Tag { end, name, is_closing }) => {
                if BLOCKS.contains(&name.as_str()) {
                    out.push(' ');
                }
                rest = &rest[end..];
                if !is_closing && matches!(name.as_str(), "script" | "style") {
                    rest = after_content(rest, &name);
                }
            }
            None => {
                out.push('<');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

struct Tag {
    /// Place after the tag.
    end: usize,
    name: String,
    is_closing: bool,
}

/// Reads a tag of a known element, or a comment, at the start of `text`.
fn tag(text: &str) -> Option<Tag> {
    if let Some(comment) = text.strip_prefix("<!--") {
        let end = comment.find("-->").map_or(text.len(), |at| at + 7);
        return Some(Tag { end, name: String::new(), is_closing: true });
    }
    let inner = &text[1..];
    let is_closing = inner.starts_with('/');
    let inner = inner.strip_prefix('/').unwrap_or(inner);
    let length = inner.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let name = inner[..length].to_ascii_lowercase();
    let is_end = inner[length..].starts_with(|c: char| c.is_whitespace() || matches!(c, '/' | '>'));
    if !is_end || !ELEMENTS.split(' ').any(|element| element == name) {
        return None;
    }
    let end = text.find('>')? + 1;
    Some(Tag { end, name, is_closing })
}

/// Returns what follows the content of a script or style sheet.
fn after_content<'a>(text: &'a str, name: &str) -> &'a str {
    let end = format!("</{name}");
    text.to_ascii_lowercase().find(&end).map_or("", |at| &text[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_plain() {
        for (text, expect) in [
            ("<b>Result</b> &amp; more 1", "Result & more 1"),
            ("A <em>text</em>&nbsp;with &lt;tags&gt;", "A text with <tags>"),
            ("Vec<T> in std - Rust", "Vec<T> in std - Rust"),
            ("a < b and c > d", "a < b and c > d"),
            ("one<br/>two<p class='x'>three", "one two three"),
            ("x<script>alert(1)</script>y <STYLE>b{}</style>z", "xy z"),
            ("x<script>alert(1)", "x"),
            ("<strong>K</strong>ey<wbr>words", "Keywords"),
            ("a<!-- no -->b", "ab"),
            ("line\n\n  break\u{0}\u{7}", "line break"),
            ("a\u{202e}b\u{200b}c", "abc"),
            ("&#60;img src=x onerror=y&#62;", "<img src=x onerror=y>"),
            ("<b unclosed", "<b unclosed"),
            ("", ""),
        ] {
            assert_eq!(plain(text, 300), expect, "{text}");
        }
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(plain("abcdef", 4), "abc…");
        assert_eq!(plain("abcd", 4), "abcd");
        assert_eq!(plain("äöü äöü", 5), "äöü…");
        assert_eq!(plain(&"x ".repeat(100_000), 1000).chars().count(), 1000);
        assert!(plain(&"<".repeat(100_000), 300).chars().count() <= 300);
    }
}
