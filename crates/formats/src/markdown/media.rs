//! Links, images and embedded players.

use page::{Element, Index, Page, StrTendril, absolute, is_embedded, largest, local_name};
use url::Url;

use super::escape::{TextContext, push_text};
use super::event::Link;
use super::paragraph::push_target;
use super::spaces::fold_spaces;
use super::{LinkStyle, Open, Writer};
use crate::elements::is_label;
use crate::marks;

/// Limit on all targets together, in bytes: every relative link is expanded by the base URL, which may be long.
const MAX_BYTES: usize = 16 << 20;
/// Number of ancestors of a link that are checked.
const NEAR: usize = 3;
/// Number of nodes of a label that are searched for a duplicate image.
const MAX_LABEL: usize = 20;
/// Limit on the alternative text of a picture that counts as a label, in bytes and in words: below the length of most
/// sentences.
const MAX_LABEL_BYTES: usize = 40;
const MAX_LABEL_WORDS: usize = 5;
/// Class of headings that are links to the table of contents (docutils).
const CONTENTS: &str = "toc-backref";
/// Replacement for the data of an embedded image.
const REMOVED: &str = "<Base64-Image-Removed>";
/// Attributes for lazy loading: URLs of images that a script will load.
pub(crate) const LAZY_SOURCES: [&str; 4] = ["data-src", "data-lazy-src", "data-original", "data-url"];
/// Attributes for lazy loading with a `srcset`.
pub(crate) const LAZY_SETS: [&str; 2] = ["data-srcset", "data-lazy-srcset"];

impl Writer<'_> {
    pub(super) fn start_link(&mut self, index: Index) -> Option<Open> {
        if self.is_permalink(index) || self.is_way_back(index) || self.footnote_reference(index) {
            return None;
        }
        self.look_for_parts(index);
        if self.link_bytes > MAX_BYTES || self.names_its_own_place(index) {
            return Some(Open::Inline);
        }
        let Some((target, title)) = self.link(index) else {
            return Some(Open::Inline);
        };
        self.link_bytes += target.len();
        Some(if self.inline.open_link(target, title) { Open::Mark } else { Open::Inline })
    }

    /// Whether a link is a permalink to its own position.
    fn is_permalink(&self, index: Index) -> bool {
        let page = self.page;
        let named = || self.heading || page.ancestors(index).take(NEAR).any(|above| names_a_place(page, above));
        marks::is_permalink(page, index, named)
    }

    /// Whether a link is the text of a heading or term and leads to that same heading, or back to a table of contents.
    fn names_its_own_place(&self, index: Index) -> bool {
        let page = self.page;
        let Some(href) = page.attr(index, "href") else { return false };
        let Some((before, place)) = href.trim().split_once('#').filter(|(_, place)| !place.is_empty()) else {
            return false;
        };
        let is_label = |at: Index| page.name(at).is_some_and(is_label);
        let is_place =
            |at: Index| ["id", "name"].iter().any(|name| page.attr(at, name).is_some_and(|id| is_id(place, &id)));
        let near = || page.ancestors(index).take(NEAR);
        let is_found = if self.heading || near().any(is_label) {
            page.element(index).is_some_and(|link| marks::holds_any(link, &[CONTENTS]))
                || is_place(index)
                || near().any(is_place)
        } else {
            // The link is around a heading.
            let inner = page.children(index).find(|&child| page.name(child).is_some());
            inner.is_some_and(|inner| is_label(inner) && (is_place(inner) || is_place(index)))
        };
        let is_here = || {
            absolute(page.base(), before).is_some_and(|mut there| {
                there.set_fragment(None);
                let mut here = page.url().clone();
                here.set_fragment(None);
                there == here
            })
        };
        is_found && (before.is_empty() || is_here())
    }

    pub(super) fn image(&mut self, index: Index) {
        if self.link_bytes > MAX_BYTES || self.is_zoomed(index) || self.formula_image(index) {
            return;
        }
        if let Some(image) = self.picture(index) {
            self.link_bytes += image.len();
            self.inline.raw(&image);
        }
    }

    /// Whether an image is a duplicate in a label: a click on it shows it larger.
    fn is_zoomed(&self, index: Index) -> bool {
        let page = self.page;
        let label = page.ancestors(index).take(NEAR).find(|&above| page.is(above, &local_name!("label")));
        let label = label.filter(|label| index - label < MAX_LABEL);
        let first = label.and_then(|label| (label..index).find(|&at| page.is(at, &local_name!("img"))));
        // Repeated siblings are meant, such as the stars of a rating.
        let first = first.filter(|&first| page.parent(first) != page.parent(index));
        let source = |at: Index| page.element(at).and_then(source);
        first.is_some_and(|first| source(first) == source(index))
    }

    pub(super) fn embedded(&mut self, index: Index) {
        if let Some((target, text)) = self.player(index) {
            self.boundary();
            let opened = self.inline.open_link(target, None);
            self.inline.text(&text);
            if opened {
                self.inline.close();
            }
            self.boundary();
        }
    }

    /// Returns the target to write for `link`; `None` if it is not a URL or would run code.
    fn target(&self, link: &str) -> Option<String> {
        if self.options.links == LinkStyle::Absolute {
            let known = resolve_plain(&self.origin, link);
            return known.or_else(|| absolute(self.page.base(), link).map(String::from));
        }
        let link = link.trim_matches(|c: char| c.is_ascii_whitespace() || c.is_control());
        (!runs_code(link)).then(|| link.to_owned())
    }

    /// Returns the target and title of a link; `None` for anchors and for links that run code.
    fn link(&self, index: Index) -> Option<(String, Option<String>)> {
        let element = self.page.element(index)?;
        let target = self.target(&element.attr("href")?)?;
        let title = self.title(element).filter(|title| !title.trim().is_empty());
        let repeats = |title: &String| title.trim() == self.page.text_of(index).trim();
        let title = title.filter(|title| self.options.links == LinkStyle::AsWritten || !repeats(title));
        Some((target, title))
    }

    /// Returns the title of a link or a picture, which shows only under the pointer.
    fn title(&self, element: &Element) -> Option<String> {
        element.attr("title").filter(|_| !self.options.only_seen).map(String::from)
    }

    /// Returns an image as markdown; `None` for tracking pixels and images without a usable source.
    fn picture(&self, index: Index) -> Option<String> {
        let element = self.page.element(index)?;
        if is_counting_pixel(element) {
            return None;
        }
        let source = source(element)?;
        let in_cell = self.in_cell();
        let alt = words(&element.attr("alt").unwrap_or_default());
        let alt = if self.options.only_seen && !is_label_of_picture(&alt) { String::new() } else { alt };
        let title = words(&self.title(element).unwrap_or_default());
        let mut image = String::from("![");
        push_text(&mut image, &alt, TextContext { in_link: true, in_cell, ..TextContext::default() });
        image.push(']');
        if is_embedded(&source) && self.options.remove_base64_images {
            image.push('(');
            image.push_str(REMOVED);
            image.push(')');
            return Some(image);
        }
        let target = if is_embedded(&source) { source.trim().to_owned() } else { self.target(&source)? };
        let title = Some(title).filter(|title| !title.is_empty() && *title != alt);
        push_target(&mut image, &Link { target, title }, in_cell);
        Some(image)
    }

    /// Returns the target and text of a link to an `<iframe>`, `<video>`, `<audio>`, `<embed>` or `<object>`.
    fn player(&self, index: Index) -> Option<(String, String)> {
        let page = self.page;
        let element = page.element(index)?;
        let shows =
            |link: &StrTendril| absolute(page.base(), link).is_some_and(|url| matches!(url.scheme(), "http" | "https"));
        let own = ["src", "data-src", "data-lazy-src", "data"].iter().find_map(|name| element.attr(name).filter(shows));
        let child = || {
            page.children(index)
                .filter(|&child| page.is(child, &local_name!("source")))
                .find_map(|child| page.attr(child, "src").filter(shows))
        };
        let target = self.target(&own.or_else(child)?)?;
        let names = if self.options.only_seen { &[][..] } else { &["title", "aria-label"] };
        let named = names.iter().find_map(|name| element.attr(name).filter(|v| !v.trim().is_empty()));
        Some((target, named.map_or_else(|| element.name.local.to_string(), String::from)))
    }
}

/// Whether markdown for readers leaves out a label of the element ([`super::MarkdownOptions::only_seen`]).
pub(crate) fn has_unseen_label(element: &Element) -> bool {
    element.attrs.iter().any(|attribute| match &*attribute.name.local {
        "title" | "aria-label" => true,
        "alt" => !is_label_of_picture(&attribute.value),
        _ => false,
    })
}

/// Whether the alternative text of a picture is short enough for a label, such as a name or a rating.
fn is_label_of_picture(alt: &str) -> bool {
    alt.len() <= MAX_LABEL_BYTES && alt.split(' ').count() <= MAX_LABEL_WORDS
}

/// Whether the fragment of a link, which may be percent-encoded, is this `id`.
pub(crate) fn is_id(fragment: &str, id: &str) -> bool {
    let hex = |at: usize| u8::from_str_radix(fragment.get(at + 1..at + 3)?, 16).ok();
    let (mut at, mut bytes) = (0, id.bytes());
    while let Some(&byte) = fragment.as_bytes().get(at) {
        let decoded = if byte == b'%' { hex(at) } else { None };
        at += if decoded.is_some() { 3 } else { 1 };
        if bytes.next() != Some(decoded.unwrap_or(byte)) {
            return false;
        }
    }
    bytes.next().is_none()
}

/// Whether an element labels what is below or beside it, so that a permalink in it is one.
fn names_a_place(page: &Page, index: Index) -> bool {
    matches!(
        page.name(index),
        Some(
            &(local_name!("dt")
                | local_name!("caption")
                | local_name!("figcaption")
                | local_name!("summary")
                | local_name!("legend")
                | local_name!("th"))
        )
    )
}

/// Resolves paths and URLs that need no normalisation, without a full URL parse: most links are of this kind. Returns
/// `None` for all others.
fn resolve_plain(origin: &str, link: &str) -> Option<String> {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"/_-~.?=&,;:@!$*+".contains(&b);
    if !link.bytes().all(is_plain) || link.contains("/.") {
        return None;
    }
    if link.starts_with('/') {
        return (!link.starts_with("//") && !origin.is_empty()).then(|| format!("{origin}{link}"));
    }
    let rest = link.strip_prefix("https://").or(link.strip_prefix("http://"))?;
    let (host, _) = rest.split_once('/')?;
    let labels = || host.split('.');
    let plain_label = |label: &str| {
        label.starts_with(|c: char| c.is_ascii_lowercase())
            && !label.starts_with("xn--")
            && label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    (labels().count() > 1 && labels().all(plain_label)).then(|| link.to_owned())
}

/// Returns the origin to put before an absolute path; empty if the base URL has credentials or another scheme.
pub(super) fn origin(base: &Url) -> String {
    let plain = matches!(base.scheme(), "http" | "https") && base.username().is_empty() && base.password().is_none();
    if plain { base.origin().ascii_serialization() } else { String::new() }
}

/// Whether following the link would run a script or open data embedded in the link.
fn runs_code(link: &str) -> bool {
    let scheme: String = link.chars().filter(|c| !c.is_ascii_whitespace() && !c.is_control()).take(11).collect();
    let scheme = scheme.to_ascii_lowercase();
    ["javascript:", "vbscript:", "data:", "blob:"].iter().any(|unsafe_scheme| scheme.starts_with(unsafe_scheme))
}

fn words(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    fold_spaces(&mut folded, 0, text);
    folded.trim().to_owned()
}

/// Returns the best source of an `<img>`: the largest of its `srcset`, the one for lazy loading, or `src`.
pub(crate) fn source(element: &Element) -> Option<String> {
    let set = ["srcset"].iter().chain(&LAZY_SETS).find_map(|name| largest(&element.attr(name)?).map(str::to_owned));
    let usable = |url: &StrTendril| !url.trim().is_empty() && !is_embedded(url);
    let lazy = || LAZY_SOURCES.iter().filter_map(|name| element.attr(name)).find(usable).map(String::from);
    let plain = || element.attr("src").map(String::from).filter(|src| !src.trim().is_empty());
    set.or_else(lazy).or_else(plain)
}

fn is_counting_pixel(element: &Element) -> bool {
    let tiny = |name| element.attr(name).is_some_and(|size| matches!(size.trim().trim_end_matches("px"), "0" | "1"));
    tiny("width") && tiny("height")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_links_are_resolved_as_the_url_standard_says() {
        let base = Url::parse("https://a.test:81/d/p?q").unwrap();
        let origin = origin(&base);
        for (link, plain) in [
            ("/x/y.html?a=b&c=d:e@f,;!$*+~", true),
            ("https://b.test/x", true),
            ("http://w3.b.test/", true),
            ("/a//b", true),
            ("/x/../y", false),
            ("/x/.hidden", false),
            ("//b.test/x", false),
            ("https://B.test/x", false),
            ("https://1.2/x", false),
            ("https://xn--a.test/x", false),
            ("https://b.test:443/x", false),
            ("https://u@b.test/x", false),
            ("https://b.test", false),
            ("/a b", false),
            ("/a'b", false),
            ("x", false),
        ] {
            let found = resolve_plain(&origin, link);
            assert_eq!(found.is_some(), plain, "{link}");
            if plain {
                assert_eq!(found, absolute(&base, link).map(String::from), "{link}");
            }
        }
    }

    #[test]
    fn links_that_run_code() {
        for link in ["JavaScript:x", "java\nscript:x", "\u{1}data:x", "vbscript:", "blob:a"] {
            assert!(runs_code(link), "{link}");
        }
        assert!(!runs_code("/javascript:x") && !runs_code("java script.html"));
    }
}
