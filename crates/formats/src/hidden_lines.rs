//! Lines of code that mdBook hides until the reader asks for them: `fn main() {` around an example.

use page::{Element, Index, Page, local_name};

/// Class of such lines.
const LINE: &str = "boring";
/// Class of code that hides them. A script of the page sets it, and takes it away on a click.
const HIDES: &str = "hide-boring";
/// Class of code that the scripts of the page have gone through.
const SCRIPTED: &str = "hljs";
/// Elements around a line among which its code is looked for.
const AROUND: usize = 4;
/// Names that stand in every book, in `id` or `class`; that of the oldest ones last.
const BOOK: [&str; 4] =
    ["mdbook-menu-bar-hover-placeholder", "menu-bar-hover-placeholder", "mdbook-help-container", "nav-wide-wrapper"];

/// Whether an element may be such a line. Looked at on every element of every page.
pub(crate) fn is_line(element: &Element) -> bool {
    element.name.local == local_name!("span")
        && element
            .attrs
            .iter()
            .any(|attribute| attribute.name.local == local_name!("class") && &*attribute.value == LINE)
}

/// Those of `lines` that a reader of the page does not see. A page whose scripts have run says so itself; of another one
/// it must be told that it is a book.
pub(crate) fn unseen(page: &Page, mut lines: Vec<Index>) -> Vec<Index> {
    if lines.is_empty() {
        return lines;
    }
    let is_book = is_book(page);
    let is_hidden = |&line: &Index| {
        let code = page.ancestors(line).take(AROUND).find(|&above| page.is(above, &local_name!("code")));
        let Some(class) = code.and_then(|code| page.attr(code, "class")) else { return false };
        let has = |name: &str| class.split_ascii_whitespace().any(|own| own == name);
        has(HIDES) || is_book && class.starts_with("language-") && !has(SCRIPTED)
    };
    lines.retain(is_hidden);
    lines
}

fn is_book(page: &Page) -> bool {
    let says_book = |element: &Element| {
        element.attrs.iter().any(|attribute| match attribute.name.local {
            local_name!("id") | local_name!("class") => BOOK.contains(&&*attribute.value),
            _ => false,
        })
    };
    page.positions().filter_map(|index| page.element(index)).any(says_book)
}

#[cfg(test)]
mod tests {
    use url::Url;

    use crate::{ContentOptions, MarkdownOptions, Page, content, markdown};

    fn check(html: &str, expect: &str) {
        let page = Page::parse(html, &Url::parse("https://a.test/").unwrap());
        let whole = ContentOptions { only_main_content: false, ..ContentOptions::default() };
        for options in [ContentOptions::default(), whole] {
            assert_eq!(markdown(&content(&page, &options), &MarkdownOptions::default()), expect, "{html}");
        }
    }

    #[test]
    fn lines_that_a_book_hides_are_left_out() {
        let code = |class: &str| {
            format!(
                "<pre><code class='{class}'><span class=boring>fn main() {{\n</span>let a = 1;\n<span class=boring>}}</span></code></pre>"
            )
        };
        let book = "<div id=menu-bar-hover-placeholder></div>";
        let (short, long) = ("```rust\nlet a = 1;\n```", "```rust\nfn main() {\nlet a = 1;\n}\n```");
        check(&format!("{book}{}", code("language-rust")), short);
        check(&format!("<div id=mdbook-help-container></div>{}", code("language-rust edition2024 ignore")), short);
        check(&code("language-rust hljs hide-boring"), short);
        let python = "<pre><code class=language-python><span class=boring>import os\n</span>print(1)</code></pre>";
        check(&format!("{book}{python}"), "```python\nprint(1)\n```");
        // Shown after a click, on a page that is no book, and in what is no code.
        check(&format!("{book}{}", code("language-rust hljs")), long);
        check(&code("language-rust"), long);
        check(&format!("{book}<p>A <span class=boring>dull</span> day."), "A dull day.");
    }
}
