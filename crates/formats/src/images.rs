//! The `images` format: every image that a page shows or names.

use page::{Element, Page, candidates, is_embedded, local_name};

use crate::hidden::Hidden;
use crate::links::UniqueUrls;
use crate::markdown::media::{LAZY_SETS, LAZY_SOURCES};

/// Returns the absolute URLs of all images, unique, in document order: `<img>` with lazy-loading attributes and all
/// sizes, `<picture>`, `<video poster>`, image buttons, SVG images, icons, preview images in `<meta>`, and inline
/// backgrounds. Embedded images (`data:`) are left out.
pub fn images(page: &Page) -> Vec<String> {
    images_without(page, &Hidden::default())
}

/// Returns the images of a page like [`images`], except those that readers do not see.
pub fn images_without(page: &Page, hidden: &Hidden) -> Vec<String> {
    let mut found = UniqueUrls::new(page.base());
    for index in page.positions().filter(|&index| !hidden.covers(page, index)) {
        if let Some(element) = page.element(index) {
            element_images(element, |url| {
                if !is_embedded(url) {
                    found.add(url);
                }
            });
        }
    }
    found.into_vec()
}

fn element_images(element: &Element, mut add: impl FnMut(&str)) {
    let mut add_all = |names: &[&str]| names.iter().filter_map(|name| element.attr(name)).for_each(|url| add(&url));
    match element.name.local {
        local_name!("img") => {
            add_all(&["src"]);
            add_all(&LAZY_SOURCES);
        }
        local_name!("input") if element.attr("type").is_some_and(|t| t.eq_ignore_ascii_case("image")) => {
            add_all(&["src"]);
        }
        local_name!("video") => add_all(&["poster"]),
        local_name!("image") => add_all(&["href", "xlink:href"]),
        local_name!("link") if names_picture(element) => add_all(&["href"]),
        local_name!("meta") if names_picture(element) => add_all(&["content"]),
        _ => {}
    }
    if matches!(element.name.local, local_name!("img") | local_name!("source")) {
        for set in ["srcset"].iter().chain(&LAZY_SETS).filter_map(|name| element.attr(name)) {
            candidates(&set).for_each(|(url, _)| add(url));
        }
    }
    for attribute in &element.attrs {
        match &*attribute.name.local {
            "style" => background_urls(&attribute.value, &mut add),
            "background" => add(&attribute.value),
            _ => {}
        }
    }
}

fn names_picture(element: &Element) -> bool {
    let has = |attribute: &str, test: fn(&str) -> bool| {
        element.attr(attribute).is_some_and(|value| value.split_ascii_whitespace().any(test))
    };
    has("rel", |rel| rel.to_ascii_lowercase().contains("icon") || rel.eq_ignore_ascii_case("image_src"))
        || has("itemprop", |prop| prop.eq_ignore_ascii_case("image"))
        || ["property", "name"].iter().any(|attribute| {
            has(attribute, |key| {
                ["og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src"]
                    .iter()
                    .any(|picture| key.eq_ignore_ascii_case(picture))
            })
        })
}

fn background_urls(style: &str, add: &mut impl FnMut(&str)) {
    if !style.contains('(') {
        return;
    }
    let lower = style.to_ascii_lowercase();
    if !lower.contains("background") {
        return;
    }
    let mut at = 0;
    while let Some(start) = lower[at..].find("url(").map(|i| at + i + 4) {
        let rest = style[start..].trim_start();
        let (url, end) = match rest.chars().next() {
            Some(quote @ ('"' | '\'')) => (&rest[1..], quote),
            _ => (rest, ')'),
        };
        // An unclosed `url(` is not a URL, and neither is anything after it.
        let Some((url, behind)) = url.split_once(end) else {
            return;
        };
        add(url.trim());
        at = style.len() - behind.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_in_document_order() {
        let url = url::Url::parse("https://a.test/d/").unwrap();
        let page = Page::parse(
            "<link rel='shortcut icon' href=/f.ico><meta property=og:image content=/og.png><meta name=x content=no.png>
             <picture><source srcset='p1.webp 1x, p2.webp 2x'><img src=p.jpg data-src=lazy.jpg></picture>
             <img src='data:image/gif;base64,R0' srcset='s.jpg 2x'><video poster=v.jpg></video><img src=p.jpg>
             <div style=\"background-image: url( 'b 1.png' ), url(c.png)\"></div><p style='background:url(open'><input type=image src=go.png>
             <svg><image href=s.svg /></svg><a style='color:url(no.png)'></a>
             <table background=t.png><tr><td></table>",
            &url,
        );
        let found: Vec<_> = images(&page).into_iter().map(|u| u.replace("https://a.test/", "/")).collect();
        assert_eq!(
            found.join(" "),
            "/f.ico /og.png /d/p1.webp /d/p2.webp /d/p.jpg /d/lazy.jpg /d/s.jpg /d/v.jpg /d/b%201.png /d/c.png /d/go.png /d/s.svg /d/t.png"
        );
    }
}
