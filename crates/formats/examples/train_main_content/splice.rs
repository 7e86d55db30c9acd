//! Serialisation of a parsed page, or a part of it, as HTML, with changed texts and inserted pieces.

use std::collections::HashMap;
use std::fmt::Write;

use formats::Page;

/// Attribute of every element that was inserted into a page: its text is not content there.
pub(crate) const MARK: &str = "data-put-in";

/// Changes to a page while it is written, by node.
#[derive(Default)]
pub(crate) struct Changes {
    /// Replacements for text nodes.
    pub(crate) texts: HashMap<usize, String>,
    /// HTML to insert after an element.
    pub(crate) behind: HashMap<usize, String>,
    /// Whether class names and ids are replaced by hashes.
    pub(crate) nameless: bool,
    /// Whether the outermost element is marked as inserted, and raw text elements such as scripts are left out.
    pub(crate) put_in: bool,
}

/// Writes the subtree of `root` as HTML.
pub(crate) fn html(page: &Page, root: usize, changes: &Changes) -> String {
    let mut out = String::new();
    let mut open: Vec<(usize, String)> = Vec::new();
    let close = |(at, name): (usize, String), out: &mut String| {
        if !is_void(&name) {
            let _ = write!(out, "</{name}>");
        }
        out.push_str(changes.behind.get(&at).map_or("", String::as_str));
    };
    let mut at = root;
    while at < page.end(root) {
        while let Some(last) = open.pop_if(|(above, _)| page.end(*above) <= at) {
            close(last, &mut out);
        }
        let name = page.name(at).map(ToString::to_string);
        let machine = name.as_deref().is_some_and(is_raw);
        if machine && changes.put_in {
            at = page.end(at);
            continue;
        }
        match name {
            Some(name) => {
                start(page, at, changes, at == root, &mut out);
                open.push((at, name));
            }
            None => {
                let text = changes.texts.get(&at).map(String::as_str).or_else(|| page.text(at)).unwrap_or_default();
                let raw = open.last().is_some_and(|(_, name)| is_raw(name));
                out.push_str(&if raw { text.to_owned() } else { escaped(text) });
            }
        }
        at += 1;
    }
    while let Some(last) = open.pop() {
        close(last, &mut out);
    }
    out
}

/// Writes the start tag of an element. `outermost` says whether it is the root of the output.
fn start(page: &Page, at: usize, changes: &Changes, outermost: bool, out: &mut String) {
    let _ = write!(out, "<{}", page.name(at).map_or("", |name| &**name));
    let attributes = page.element(at).map_or(&[][..], |element| &element.attrs);
    for attribute in attributes {
        let key = &*attribute.name.local;
        let value = if changes.nameless && matches!(key, "class" | "id") {
            attribute.value.split_ascii_whitespace().map(meaningless).collect::<Vec<_>>().join(" ")
        } else {
            attribute.value.to_string()
        };
        let _ = write!(out, " {key}=\"{}\"", escaped(&value));
    }
    if outermost && changes.put_in {
        let _ = write!(out, " {MARK}=\"\"");
    }
    out.push('>');
}

/// Returns a hash in place of a name; equal names stay equal.
fn meaningless(name: &str) -> String {
    let sum = name.bytes().fold(7_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
    format!("x{sum:08x}")
}

/// Escapes text for HTML.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn is_raw(name: &str) -> bool {
    matches!(name, "script" | "style" | "iframe" | "noscript" | "template" | "noembed" | "noframes" | "xmp")
}

fn is_void(name: &str) -> bool {
    matches!(
        name,
        "area"
            | "base"
            | "br"
            | "col"
            | "embed"
            | "hr"
            | "img"
            | "input"
            | "link"
            | "meta"
            | "source"
            | "track"
            | "wbr"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(html: &str) -> Page {
        Page::parse(html, &url::Url::parse("https://a.test/").unwrap())
    }

    #[test]
    fn a_page_is_written_as_it_was_read() {
        let text = r#"<html><head><script>a < b</script></head><body><p class="x">1 &lt; 2<br>3</p></body></html>"#;
        assert_eq!(html(&page(text), 0, &Changes::default()), text);
    }

    #[test]
    fn pieces_are_put_in_and_texts_changed() {
        let page = page("<div id=a><p class='b c'>one<p>two</div>");
        let div = page.first(&page::local_name!("div")).unwrap();
        let mut changes = Changes { put_in: true, nameless: true, ..Changes::default() };
        changes.texts.insert(div + 2, "un & deux".to_owned());
        changes.behind.insert(div + 1, "<hr>".to_owned());
        let found = html(&page, div, &changes);
        let names = ["a", "b", "c"].map(meaningless);
        let [a, b, c] = names;
        assert_eq!(
            found,
            format!("<div id=\"{a}\" {MARK}=\"\"><p class=\"{b} {c}\">un &amp; deux</p><hr><p>two</p></div>")
        );
    }
}
