//! Elements and their attributes, borrowed from the page.

use page::{Index, Page};

/// Returns the value of an attribute. [`Page::attr`] shares it; this borrows it.
pub(crate) fn attribute<'p>(page: &'p Page, index: Index, name: &str) -> Option<&'p str> {
    page.element(index)?
        .attrs
        .iter()
        .find(|attribute| &*attribute.name.local == name)
        .map(|attribute| &*attribute.value)
}

/// Returns the text of a node with runs of blanks as one; without scripts and styles.
pub(crate) fn text(page: &Page, index: Index) -> String {
    let mut out = String::new();
    let mut at = index;
    while at < page.end(index) {
        match page.name(at).map(|name| &**name) {
            Some("script" | "style" | "noscript" | "template" | "svg") => {
                at = page.end(at);
                continue;
            }
            Some("span" | "em" | "label") if is_for_readers_of_screens(page, at) => {
                at = page.end(at);
                continue;
            }
            Some("br" | "p" | "div" | "li" | "td" | "th" | "dt" | "dd" | "tr" | "option") => push(&mut out, " "),
            _ => page.text(at).into_iter().for_each(|text| push(&mut out, text)),
        }
        at += 1;
    }
    out.truncate(out.trim_end().len());
    out
}

/// Whether a class says that an element is read out and not shown: `Details about` before a title.
fn is_for_readers_of_screens(page: &Page, node: Index) -> bool {
    const MARKS: [&str; 5] = ["visually-hidden", "visuallyhidden", "sr-only", "screen-reader", "g-hdn"];
    attribute(page, node, "class").is_some_and(|class| MARKS.iter().any(|mark| class.contains(mark)))
}

/// Appends `text` with each run of blanks as one.
fn push(out: &mut String, text: &str) {
    for character in text.chars() {
        if !character.is_whitespace() {
            out.push(character);
        } else if !out.is_empty() && !out.ends_with(' ') {
            out.push(' ');
        }
    }
}

/// Returns `text` with each run of blanks as one, without those at its ends.
pub(crate) fn squeezed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push(&mut out, text);
    out.truncate(out.trim_end().len());
    out
}
