//! The text of a content without marks, for an index of what was read.

use page::{Element, Index, LocalName, Page, local_name};

use crate::content::{Content, Visitor};
use crate::elements::{is_box, is_heading};

/// Text of a [`Content`], and the headings in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlainText {
    /// Text, each block on a line of its own.
    pub text: String,
    /// Headings, one per line. They are part of the text too.
    pub headings: String,
}

/// Returns the text of a content without marks, at most about `max_bytes` of it; the rest is left out. Controls,
/// drawings and embedded pages have no text.
///
/// ```
/// use formats::{ContentOptions, Page, content, plain_text};
///
/// let url = url::Url::parse("https://example.com/").unwrap();
/// let page = Page::parse("<main><h1>Saws</h1><p>A <b>good</b> saw<ul><li>cuts", &url);
/// let plain = plain_text(&content(&page, &ContentOptions::default()), 1 << 20);
/// assert_eq!((plain.text.as_str(), plain.headings.as_str()), ("Saws\nA good saw\ncuts", "Saws"));
/// ```
#[must_use]
pub fn plain_text(content: &Content<'_>, max_bytes: usize) -> PlainText {
    let page = content.page();
    let mut writer = Writer { page, plain: PlainText::default(), max_bytes, code: 0, heading: None };
    content.walk(&mut writer);
    writer.plain.text.truncate(writer.plain.text.trim_end().len());
    writer.plain
}

struct Writer<'p> {
    page: &'p Page,
    plain: PlainText,
    max_bytes: usize,
    /// Number of open elements whose line breaks count.
    code: usize,
    /// Start of the open heading in the text.
    heading: Option<usize>,
}

impl Visitor for Writer<'_> {
    fn enter(&mut self, index: Index, name: &LocalName) -> bool {
        if self.plain.text.len() >= self.max_bytes || is_wordless(name) {
            return false;
        }
        if is_line(name) {
            self.end_line();
        } else if is_cell(name) {
            self.space();
        }
        if is_heading(name) {
            self.heading = Some(self.plain.text.len());
        }
        if self.page.element(index).is_some_and(is_code) {
            self.code += 1;
        }
        true
    }

    fn text(&mut self, index: Index) {
        let Some(text) = self.page.text(index) else { return };
        for (at, line) in text.split('\n').enumerate() {
            if at > 0 && self.code > 0 {
                self.end_line();
            }
            self.words(line, at > 0);
            if self.plain.text.len() >= self.max_bytes {
                return;
            }
        }
    }

    fn leave(&mut self, index: Index) {
        let Some(name) = self.page.name(index) else { return };
        if self.page.element(index).is_some_and(is_code) {
            self.code -= 1;
        }
        if let Some(start) = self.heading.take_if(|_| is_heading(name)) {
            let heading = self.plain.text.get(start..).unwrap_or_default().trim();
            if !heading.is_empty() {
                let gap = if self.plain.headings.is_empty() { "" } else { "\n" };
                self.plain.headings.push_str(gap);
                self.plain.headings.push_str(heading);
            }
        }
        if is_line(name) {
            self.end_line();
        }
    }
}

impl Writer<'_> {
    /// Writes words with single spaces between them. `apart` says that a line break stands before them.
    fn words(&mut self, line: &str, apart: bool) {
        if apart || line.starts_with(char::is_whitespace) {
            self.space();
        }
        let mut is_first = true;
        for word in line.split_whitespace() {
            if !is_first {
                self.plain.text.push(' ');
            }
            is_first = false;
            let left = self.max_bytes.saturating_sub(self.plain.text.len());
            self.plain.text.push_str(&word[..word.floor_char_boundary(left)]);
        }
        if !is_first && line.ends_with(char::is_whitespace) {
            self.space();
        }
    }

    fn space(&mut self) {
        if !self.plain.text.is_empty() && !self.plain.text.ends_with([' ', '\n']) {
            self.plain.text.push(' ');
        }
    }

    fn end_line(&mut self) {
        if self.plain.text.ends_with(' ') {
            self.plain.text.pop();
        }
        if !self.plain.text.is_empty() && !self.plain.text.ends_with('\n') {
            self.plain.text.push('\n');
        }
    }
}

/// Whether an element begins and ends a line.
fn is_line(name: &LocalName) -> bool {
    is_box(name)
        || is_heading(name)
        || matches!(
            *name,
            local_name!("br")
                | local_name!("dt")
                | local_name!("hr")
                | local_name!("li")
                | local_name!("ol")
                | local_name!("pre")
                | local_name!("summary")
                | local_name!("tr")
                | local_name!("ul")
        )
}

fn is_cell(name: &LocalName) -> bool {
    matches!(*name, local_name!("td") | local_name!("th"))
}

fn is_code(element: &Element) -> bool {
    element.name.local == local_name!("pre")
}

/// Whether the text inside an element is none of the page's.
fn is_wordless(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("audio")
            | local_name!("button")
            | local_name!("canvas")
            | local_name!("iframe")
            | local_name!("object")
            | local_name!("select")
            | local_name!("svg")
            | local_name!("textarea")
            | local_name!("video")
    )
}

#[cfg(test)]
mod tests {
    use crate::{ContentOptions, content};

    use super::*;

    fn plain(html: &str, max_bytes: usize) -> PlainText {
        let page = Page::parse(html, &url::Url::parse("https://a.test/").unwrap());
        let whole = ContentOptions { only_main_content: false, ..ContentOptions::default() };
        plain_text(&content(&page, &whole), max_bytes)
    }

    #[test]
    fn blocks_are_lines_and_words_are_kept_apart() {
        let check = |html: &str, expect: &str| assert_eq!(plain(html, 1000).text, expect, "{html}");
        check("<p>a <b>b</b>c\n d</p><p>e", "a bc d\ne");
        check("<p>a<br>b<hr>c", "a\nb\nc");
        check("<table><tr><th>a<th>b<tr><td>c<td>d</table>", "a b\nc d");
        check("<pre>let a;\n\n  let b;</pre>x", "let a;\nlet b;\nx");
        check("<p>a<button>no</button> <svg><title>no</title></svg>b<script>no</script>", "a b");
        check("<i>a</i> <i>b</i>", "a b");
        check("", "");
    }

    #[test]
    fn headings_are_listed() {
        let found = plain("<h1>A <i>saw</i></h1><p>x<h2> </h2><div><h3>B</h3>y</div>", 1000);
        assert_eq!((found.text.as_str(), found.headings.as_str()), ("A saw\nx\nB\ny", "A saw\nB"));
    }

    #[test]
    fn the_text_is_bounded() {
        let found = plain(&"<p>abc é".repeat(1000), 50);
        assert!((45..=60).contains(&found.text.len()), "{}", found.text.len());
        assert_eq!(plain(&"é".repeat(1000), 51).text.len(), 50);
    }
}
