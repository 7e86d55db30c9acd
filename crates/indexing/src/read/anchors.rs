//! Texts of the links of a page, which say what other pages are about.

use std::collections::BTreeSet;

use page::{Page, absolute, local_name};
use page_index::AnchorText;

use super::cut;

/// Most links of a page that are taken.
const MAX_LINKS: usize = 200;
/// Most bytes of the text of a link.
const MAX_TEXT: usize = 120;

/// Returns the links to other pages with their texts, the first to each page, in the order of the page.
pub(super) fn of(page: &Page) -> Vec<AnchorText> {
    let (mut links, mut seen) = (Vec::new(), BTreeSet::new());
    let own = cache::page_key(page.url());
    for index in page.positions().filter(|&index| page.is(index, &local_name!("a"))) {
        if links.len() >= MAX_LINKS {
            break;
        }
        let Some(href) = page.attr(index, "href").filter(|href| !href.starts_with('#')) else { continue };
        let text = page.text_of(index);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if !(2..=MAX_TEXT * 2).contains(&text.len()) {
            continue;
        }
        let target = absolute(page.base(), &href).filter(|url| matches!(url.scheme(), "http" | "https"));
        let Some(target) = target.map(|url| cache::page_key(&url)).filter(|target| *target != own) else { continue };
        if seen.insert(target.clone()) {
            links.push(AnchorText { target, text: cut(&text, MAX_TEXT) });
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_other_pages_with_words() {
        let url = url::Url::parse("https://a.test/p").unwrap();
        let html = "<a href=x>The\n <b>saw</b></a><a href=/x/>again</a><a href='#y'>here</a><a href=/p#z>itself</a>
            <a href=v><img src=i></a><a href='mailto:a@b.c'>mail us</a>";
        let links = of(&Page::parse(html, &url));
        let target = cache::page_key(&url.join("x").unwrap());
        assert_eq!(links, [AnchorText { target, text: "The saw".to_owned() }]);
        let many: String = (0..1000).map(|number| format!("<a href=/{number}>page {number}</a>")).collect();
        assert_eq!(of(&Page::parse(&many, &url)).len(), MAX_LINKS);
    }
}
