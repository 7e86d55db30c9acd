//! Images of a page that have a description.

use page::{Element, Page, absolute, is_embedded, local_name};
use page_index::{MOST_IMAGES, PageImage};
use serde_json::{Map, Value};

use super::{cut, word};

/// Most bytes of an alternative text.
const MAX_ALT: usize = 300;
/// Width or height below which an image is a sign or counts visits, in CSS pixels.
const MIN_SIDE: u32 = 50;
/// Attributes with the address of an image, the ones that scripts read first.
const SOURCES: [&str; 4] = ["data-src", "data-lazy-src", "data-original", "src"];

/// Returns the images with an alternative text, in the order of the page, and first the preview of the page, which its
/// title describes.
pub(super) fn of(page: &Page, metadata: &Map<String, Value>, title: &str) -> Vec<PageImage> {
    let mut images: Vec<PageImage> = Vec::new();
    let preview = absolute(page.base(), &word(metadata, "ogImage")).filter(|url| is_web(url.as_str()));
    if let Some(url) = preview.filter(|_| metadata.contains_key("ogImage")) {
        let side = |key| word(metadata, key).parse().ok();
        let (width, height) = (side("og:image:width"), side("og:image:height"));
        images.push(PageImage { url: url.into(), alt: cut(title, MAX_ALT), width, height });
    }
    for index in page.positions().filter(|&index| page.is(index, &local_name!("img"))) {
        if images.len() >= MOST_IMAGES {
            break;
        }
        let image = page.element(index).and_then(|element| image(page, element));
        images.extend(image.filter(|image| images.iter().all(|other| other.url != image.url)));
    }
    images
}

fn image(page: &Page, element: &Element) -> Option<PageImage> {
    let alt = element.attr("alt")?;
    let alt = alt.split_whitespace().collect::<Vec<_>>().join(" ");
    let sources = SOURCES.iter().filter_map(|name| element.attr(name));
    let source = sources.into_iter().find(|source| !source.trim().is_empty() && !is_embedded(source))?;
    let url = absolute(page.base(), &source).filter(|url| is_web(url.as_str()))?;
    let side = |name: &str| element.attr(name)?.trim().trim_end_matches("px").parse::<u32>().ok();
    let (width, height) = (side("width"), side("height"));
    let is_small = [width, height].into_iter().flatten().any(|side| side < MIN_SIDE);
    (!alt.is_empty() && !is_small).then(|| PageImage { url: url.into(), alt: cut(&alt, MAX_ALT), width, height })
}

fn is_web(url: &str) -> bool {
    url.starts_with("http://") || url.starts_with("https://")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_that_can_be_found() {
        let html =
            "<title>Saws</title><meta property=og:image content=/og.png><meta property=og:image:width content=1200>
            <img src=a.jpg alt='A  saw' width=300px height=200><img src=b.jpg><img src=c.gif alt=dot width=1 height=1>
            <img src='data:image/gif;base64,R0' data-src=d.jpg alt=Blade><img src=a.jpg alt=Again>";
        let page = Page::parse(html, &url::Url::parse("https://a.test/x/").unwrap());
        let found = of(&page, &formats::metadata(&page), "Saws");
        let image = |url: &str, alt: &str, width, height| PageImage { url: url.into(), alt: alt.into(), width, height };
        assert_eq!(
            found,
            [
                image("https://a.test/og.png", "Saws", Some(1200), None),
                image("https://a.test/x/a.jpg", "A saw", Some(300), Some(200)),
                image("https://a.test/x/d.jpg", "Blade", None, None),
            ]
        );
    }
}
