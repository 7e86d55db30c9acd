//! Which elements look like navigation, banners, sharing and the like: by tag, role, state, and the words in class and id.

use dom_query::{Element, local_name};

/// How sure an element is not content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Noise {
    /// Nothing speaks against it.
    None,
    /// Only noise when it is small beside the rest of the page.
    Likely,
    /// Noise unless most of the page is in it.
    Certain,
}

/// Bytes of class and id that are looked at.
const MAX_NAMES: usize = 400;

/// Words that say it alone.
const CERTAIN: [&str; 44] = [
    "nav", "navbar", "navigation", "navmenu", "subnav", "topnav", "sidenav", "megamenu", "breadcrumb", "breadcrumbs", "crumbs", "cookie",
    "cookies", "gdpr", "consent", "cmp", "onetrust", "share", "sharing", "sharebar", "addthis", "addtoany", "sharedaddy", "newsletter", "mailchimp",
    "popup", "modal", "lightbox", "advert", "advertisement", "adsbygoogle", "adslot", "sponsored", "taboola", "outbrain", "disqus",
    "skiplink", "colophon", "noprint", "screenreader", "related", "offcanvas", "paywall", "toolbar",
];

/// Words that are also used for what is not noise.
const LIKELY: [&str; 50] = [
    "menu", "sidebar", "footer", "foot", "masthead", "banner", "social", "follow", "subscribe", "subscription", "signup", "login", "promo",
    "ad", "ads", "sponsor", "sponsors", "widget", "widgets", "pagination", "pager", "paging", "comments", "comment", "respond", "recommended",
    "recommendations", "recirc", "trending", "popular", "mostread", "morefrom", "readmore", "readnext", "upnext", "byline", "bio", "tags", "tagcloud", "tools", "overlay",
    "dropdown", "search", "searchform", "copyright", "legal", "hidden", "print", "donate", "alert",
];

/// Judges an element by itself.
pub(crate) fn judge(element: &Element) -> Noise {
    if is_hidden(element) {
        return Noise::Certain;
    }
    let by_tag = match element.name.local {
        local_name!("nav") | local_name!("dialog") | local_name!("select") => Noise::Certain,
        local_name!("footer") | local_name!("aside") | local_name!("header") | local_name!("menu") => Noise::Likely,
        local_name!("html") | local_name!("body") | local_name!("main") | local_name!("article") => return Noise::None,
        local_name!("h1") | local_name!("pre") | local_name!("code") => return Noise::None,
        local_name!("td") | local_name!("tr") | local_name!("tbody") | local_name!("table") => return by_role(element),
        _ => Noise::None,
    };
    by_tag.max(by_role(element)).max(by_names(element))
}

fn by_role(element: &Element) -> Noise {
    match element.attr("role").as_deref().map(|role| role.trim().to_ascii_lowercase()).as_deref() {
        Some("navigation" | "menu" | "menubar" | "dialog" | "alertdialog" | "search" | "contentinfo") => Noise::Certain,
        Some("banner" | "complementary" | "toolbar") => Noise::Likely,
        _ => Noise::None,
    }
}

/// Not shown when the page is opened.
fn is_hidden(element: &Element) -> bool {
    let style = || element.attr("style").map(|style| style.to_ascii_lowercase().replace(' ', ""));
    element.has_attr("hidden")
        || style().is_some_and(|style| style.contains("display:none") || style.contains("visibility:hidden"))
}

fn by_names(element: &Element) -> Noise {
    let mut noise = Noise::None;
    for name in ["id", "class"].iter().filter_map(|name| element.attr(name)) {
        let mut end = name.len().min(MAX_NAMES);
        while !name.is_char_boundary(end) {
            end -= 1;
        }
        for word in words(&name[..end]) {
            if CERTAIN.contains(&word.as_str()) {
                return Noise::Certain;
            }
            if LIKELY.contains(&word.as_str()) {
                noise = Noise::Likely;
            }
        }
    }
    noise
}

/// `site-mainNav__item` → site, main, nav, item. Utility classes (`md:hidden`) do not count.
fn words(names: &str) -> impl Iterator<Item = String> {
    names
        .split_ascii_whitespace()
        .filter(|name| !name.contains(':'))
        .flat_map(|name| name.split(|c: char| !c.is_ascii_alphabetic()))
        .flat_map(|part| {
            let mut words: Vec<String> = Vec::new();
            let mut after_lower = false;
            for c in part.chars() {
                if words.is_empty() || c.is_ascii_uppercase() && after_lower {
                    words.push(String::new());
                }
                after_lower = c.is_ascii_lowercase();
                words.iter_mut().last().into_iter().for_each(|word| word.push(c.to_ascii_lowercase()));
            }
            words
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_into_words() {
        let check = |names: &str, expect: &str| assert_eq!(words(names).collect::<Vec<_>>().join(" "), expect);
        check("site-mainNav__item md:hidden", "site main nav item");
        check("ABTest navBAR", "abtest nav bar");
    }

    #[test]
    fn elements_are_judged() {
        let check = |html: &str, expect: Noise| {
            let document = dom_query::Document::from(html);
            let element = document.select("body > *");
            assert_eq!(judge(&element.nodes()[0].element_ref().unwrap()), expect, "{html}");
        };
        check("<nav>", Noise::Certain);
        check("<div class='c-cookie-bar'>", Noise::Certain);
        check("<div role=dialog>", Noise::Certain);
        check("<p hidden>", Noise::Certain);
        check("<p style='display : none'>", Noise::Certain);
        check("<div id=sidebar>", Noise::Likely);
        check("<footer>", Noise::Likely);
        check("<div class='navy adhesive content'>", Noise::None);
        check("<main class=sidebar>", Noise::None);
    }
}
