//! Links, images and embedded players.

use dom_query::{Element, local_name};
use html5ever::tendril::StrTendril;
use url::Url;

use super::escape::{Spot, destination, push_text};
use crate::images::{LAZY_SETS, LAZY_SOURCES};
use crate::page::{Index, Page};
use crate::urls::{absolute, is_embedded, largest};

/// Stands where the data of an embedded picture stood.
const REMOVED: &str = "<Base64-Image-Removed>";

/// Target and title of a link; None for anchors and for links that run code.
pub(super) fn link(page: &Page, index: Index) -> Option<(String, Option<String>)> {
    let element = page.element(index)?;
    let target = absolute(page.base(), &element.attr("href")?)?;
    let title = element
        .attr("title")
        .map(String::from)
        .filter(|title| !title.trim().is_empty());
    let title = title.filter(|title| title.trim() != page.text_of(index).trim());
    Some((target.into(), title))
}

/// A picture as markdown; None for pixels that only count visitors.
pub(super) fn image(page: &Page, index: Index, remove_base64: bool, in_cell: bool) -> Option<String> {
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
    push_text(
        &mut alt,
        &words,
        Spot {
            in_link: true,
            in_cell,
            ..Spot::default()
        },
    );
    let title = element
        .attr("title")
        .map(|title| title.replace(['\\', '"'], "'"))
        .unwrap_or_default();
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    if title.is_empty() || title == words {
        return Some(format!("![{alt}]({target})"));
    }
    Some(format!(
        "![{alt}]({target} \"{}\")",
        if in_cell { title.replace('|', "\\|") } else { title }
    ))
}

/// The best source of an `<img>`: the largest of its set, what a script would load, or `src`.
pub(crate) fn source(element: &Element) -> Option<String> {
    let set = ["srcset"]
        .iter()
        .chain(&LAZY_SETS)
        .find_map(|name| largest(&element.attr(name)?).map(str::to_owned));
    let usable = |url: &StrTendril| !url.trim().is_empty() && !is_embedded(url);
    let lazy = || {
        LAZY_SOURCES
            .iter()
            .filter_map(|name| element.attr(name))
            .find(usable)
            .map(String::from)
    };
    let plain = || {
        element
            .attr("src")
            .map(String::from)
            .filter(|src| !src.trim().is_empty())
    };
    set.or_else(lazy).or_else(plain)
}

/// `<iframe>`, `<video>`, `<audio>`, `<embed>` and `<object>` as a link: target and text.
pub(super) fn embedded(page: &Page, index: Index) -> Option<(Url, String)> {
    let element = page.element(index)?;
    let own = ["src", "data-src", "data"]
        .iter()
        .find_map(|name| absolute(page.base(), &element.attr(name)?));
    let child = || {
        page.children(index)
            .filter(|&child| page.is(child, &local_name!("source")))
            .find_map(|child| absolute(page.base(), &page.attr(child, "src")?))
    };
    let target = own
        .or_else(child)
        .filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let named = ["title", "aria-label"]
        .iter()
        .find_map(|name| element.attr(name).filter(|v| !v.trim().is_empty()));
    Some((
        target,
        named.map_or_else(|| element.name.local.to_string(), String::from),
    ))
}

fn is_counting_pixel(element: &Element) -> bool {
    let tiny = |name| {
        element
            .attr(name)
            .is_some_and(|size| matches!(size.trim().trim_end_matches("px"), "0" | "1"))
    };
    tiny("width") && tiny("height")
}
