//! Links, images and embedded players.

use dom_query::{Element, local_name};
use html5ever::tendril::StrTendril;
use url::Url;

use super::escape::{Spot, destination, push_text};
use super::{Open, Writer};
use crate::images::{LAZY_SETS, LAZY_SOURCES};
use crate::page::{Index, Page};
use crate::urls::{absolute, is_embedded, largest};

/// Bytes of all targets together; a long base URL multiplies with every relative link.
const MAX_BYTES: usize = 16 << 20;
/// Stands where the data of an embedded picture stood.
const REMOVED: &str = "<Base64-Image-Removed>";

impl Writer<'_> {
    pub(super) fn start_link(&mut self, index: Index) -> Option<Open> {
        if self.heading && is_permalink(self.page, index) {
            return None;
        }
        if self.link_bytes > MAX_BYTES {
            return Some(Open::Inline);
        }
        let Some((target, title)) = link(self.page, index) else {
            return Some(Open::Inline);
        };
        self.link_bytes += target.len();
        Some(if self.inline.open_link(target, title) { Open::Mark } else { Open::Inline })
    }

    pub(super) fn image(&mut self, index: Index) {
        if self.link_bytes > MAX_BYTES {
            return;
        }
        let in_cell = self.in_cell();
        if let Some(image) = image(self.page, index, self.options.remove_base64_images, in_cell) {
            self.link_bytes += image.len();
            self.inline.raw(image);
        }
    }

    pub(super) fn embedded(&mut self, index: Index) {
        if let Some((target, text)) = embedded(self.page, index) {
            self.boundary();
            let opened = self.inline.open_link(target.into(), None);
            self.inline.text(&text);
            if opened {
                self.inline.close();
            }
            self.boundary();
        }
    }

    /// A formula as TeX where the page holds its source, else its parts as text.
    pub(super) fn formula(&mut self, index: Index) -> Option<Open> {
        let annotation = self.page.subtree(index).find(|&i| {
            self.page.attr(i, "encoding").is_some_and(|encoding| encoding.eq_ignore_ascii_case("application/x-tex"))
        });
        let tex = annotation.map(|i| self.page.text_of(i));
        let Some(tex) = tex.or_else(|| self.page.attr(index, "alttext").map(String::from)) else {
            return Some(Open::Inline);
        };
        let tex = tex.split_whitespace().collect::<Vec<_>>().join(" ");
        let display = self.page.attr(index, "display").is_some_and(|display| &*display == "block");
        self.inline.raw(if display { format!("$${tex}$$") } else { format!("${tex}$") });
        None
    }
}

/// Target and title of a link; None for anchors and for links that run code.
fn link(page: &Page, index: Index) -> Option<(String, Option<String>)> {
    let element = page.element(index)?;
    let target = absolute(page.base(), &element.attr("href")?)?;
    let title = element.attr("title").map(String::from).filter(|title| !title.trim().is_empty());
    let title = title.filter(|title| title.trim() != page.text_of(index).trim());
    Some((target.into(), title))
}

/// A picture as markdown; None for pixels that only count visitors.
fn image(page: &Page, index: Index, remove_base64: bool, in_cell: bool) -> Option<String> {
    let element = page.element(index)?;
    if is_counting_pixel(&element) {
        return None;
    }
    let source = source(&element)?;
    let target = if !is_embedded(&source) {
        destination(absolute(page.base(), &source)?.as_str(), in_cell)
    } else if remove_base64 {
        REMOVED.to_owned()
    } else {
        destination(source.trim(), in_cell)
    };
    let mut alt = String::new();
    let written = element.attr("alt").unwrap_or_default();
    let words = written.split_whitespace().collect::<Vec<_>>().join(" ");
    push_text(&mut alt, &words, Spot { in_link: true, in_cell, ..Spot::default() });
    let title = element.attr("title").map(|title| title.replace(['\\', '"'], "'")).unwrap_or_default();
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    if title.is_empty() || title == words {
        return Some(format!("![{alt}]({target})"));
    }
    Some(format!("![{alt}]({target} \"{}\")", if in_cell { title.replace('|', "\\|") } else { title }))
}

/// The best source of an `<img>`: the largest of its set, what a script would load, or `src`.
pub(crate) fn source(element: &Element) -> Option<String> {
    let set = ["srcset"].iter().chain(&LAZY_SETS).find_map(|name| largest(&element.attr(name)?).map(str::to_owned));
    let usable = |url: &StrTendril| !url.trim().is_empty() && !is_embedded(url);
    let lazy = || LAZY_SOURCES.iter().filter_map(|name| element.attr(name)).find(usable).map(String::from);
    let plain = || element.attr("src").map(String::from).filter(|src| !src.trim().is_empty());
    set.or_else(lazy).or_else(plain)
}

/// `<iframe>`, `<video>`, `<audio>`, `<embed>` and `<object>` as a link: target and text.
fn embedded(page: &Page, index: Index) -> Option<(Url, String)> {
    let element = page.element(index)?;
    let own = ["src", "data-src", "data"].iter().find_map(|name| absolute(page.base(), &element.attr(name)?));
    let child = || {
        page.children(index)
            .filter(|&child| page.is(child, &local_name!("source")))
            .find_map(|child| absolute(page.base(), &page.attr(child, "src")?))
    };
    let target = own.or_else(child).filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let named = ["title", "aria-label"].iter().find_map(|name| element.attr(name).filter(|v| !v.trim().is_empty()));
    Some((target, named.map_or_else(|| element.name.local.to_string(), String::from)))
}

fn is_counting_pixel(element: &Element) -> bool {
    let tiny = |name| element.attr(name).is_some_and(|size| matches!(size.trim().trim_end_matches("px"), "0" | "1"));
    tiny("width") && tiny("height")
}

/// An anchor that links a heading to itself.
fn is_permalink(page: &Page, index: Index) -> bool {
    let to_itself = page.attr(index, "href").is_some_and(|href| href.starts_with('#'));
    let text = page.text_of(index);
    to_itself && (text.trim().is_empty() || matches!(text.trim(), "#" | "¶" | "§" | "🔗" | "∞" | "\u{f0c1}"))
}

/// The drawing that KaTeX puts beside the formula itself.
pub(super) fn is_drawn_formula(page: &Page, index: Index) -> bool {
    page.attr(index, "class").is_some_and(|class| class.split_ascii_whitespace().any(|name| name == "katex-html"))
}
