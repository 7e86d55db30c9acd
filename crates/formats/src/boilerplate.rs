//! Which elements look like navigation, banners, sharing and the like: by tag, role, state, and the words in class and id.

use dom_query::{Element, local_name};

/// Why an element may not be content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Noise {
    /// Noise unless most of the page is in it; otherwise noise only when it is small beside the rest.
    pub(crate) certain: bool,
    /// The word, tag or role that says so. Elements are weighed together with all others of the same reason.
    pub(crate) reason: &'static str,
}

/// Bytes of class and id that are looked at.
const MAX_NAMES: usize = 400;

/// Words that say it alone.
#[rustfmt::skip]
const CERTAIN: [&str; 41] = [
    "nav", "navbar", "navigation", "navmenu", "subnav", "topnav", "sidenav", "megamenu", "breadcrumb", "breadcrumbs", "crumbs",
    "cookie", "cookies", "gdpr", "consent", "onetrust", "share", "sharing", "sharebar", "addthis", "addtoany", "sharedaddy",
    "newsletter", "mailchimp", "popup", "modal", "lightbox", "advert", "advertisement", "adsbygoogle", "sponsored", "taboola",
    "outbrain", "disqus", "skiplink", "colophon", "noprint", "related", "offcanvas", "paywall", "toolbar",
];

/// Words that are also used for what is not noise.
#[rustfmt::skip]
const LIKELY: [&str; 47] = [
    "menu", "sidebar", "footer", "foot", "masthead", "banner", "social", "follow", "subscribe", "subscription", "signup", "login",
    "promo", "ad", "ads", "sponsor", "sponsors", "widget", "pagination", "pager", "comments", "comment", "respond", "recommended",
    "recommendations", "recirc", "trending", "popular", "mostread", "morefrom", "readmore", "readnext", "byline", "bio", "tags",
    "tagcloud", "tools", "overlay", "dropdown", "search", "searchform", "copyright", "legal", "hidden", "print", "donate", "alert",
];

/// Judges an element by itself.
pub(crate) fn judge(element: &Element) -> Option<Noise> {
    if is_hidden(element) {
        return certain("hidden by the page");
    }
    let by_tag = match element.name.local {
        local_name!("html") | local_name!("body") | local_name!("main") | local_name!("article") => return None,
        local_name!("h1") | local_name!("pre") | local_name!("code") | local_name!("a") => return None,
        local_name!("td") | local_name!("tr") | local_name!("tbody") | local_name!("table") => return by_role(element),
        local_name!("nav") => certain("<nav>"),
        local_name!("dialog") => certain("<dialog>"),
        local_name!("footer") => likely("<footer>"),
        local_name!("aside") => likely("<aside>"),
        local_name!("header") => likely("<header>"),
        local_name!("button") => likely("<button>"),
        _ => None,
    };
    [by_tag, by_role(element), by_names(element)].into_iter().flatten().max()
}

fn certain(reason: &'static str) -> Option<Noise> {
    Some(Noise { certain: true, reason })
}

fn likely(reason: &'static str) -> Option<Noise> {
    Some(Noise { certain: false, reason })
}

fn by_role(element: &Element) -> Option<Noise> {
    let role = element.attr("role")?;
    let role = role.trim();
    ["navigation", "menu", "menubar", "dialog", "alertdialog", "search", "contentinfo"]
        .into_iter()
        .find(|noise| role.eq_ignore_ascii_case(noise))
        .and_then(certain)
        .or_else(|| {
            ["banner", "complementary"].into_iter().find(|noise| role.eq_ignore_ascii_case(noise)).and_then(likely)
        })
}

/// Not shown when the page is opened.
fn is_hidden(element: &Element) -> bool {
    element.has_attr("hidden")
        || element.attr("style").is_some_and(|style| {
            let style = style.to_ascii_lowercase().replace(' ', "");
            style.contains("display:none") || style.contains("visibility:hidden")
        })
}

fn by_names(element: &Element) -> Option<Noise> {
    let mut found = None;
    for name in ["id", "class"].iter().filter_map(|name| element.attr(name)) {
        let mut end = name.len().min(MAX_NAMES);
        while !name.is_char_boundary(end) {
            end -= 1;
        }
        for word in words(&name[..end]) {
            let listed = |list: &[&'static str]| list.iter().copied().find(|known| word.eq_ignore_ascii_case(known));
            if let Some(reason) = listed(&CERTAIN) {
                return certain(reason);
            }
            found = found.or_else(|| listed(&LIKELY).and_then(likely));
        }
    }
    found
}

/// `site-mainNav__item` → site, main, Nav, item. Utility classes (`md:hidden`) do not count.
fn words(names: &str) -> impl Iterator<Item = &str> {
    names
        .split_ascii_whitespace()
        .filter(|name| !name.contains(':'))
        .flat_map(|name| name.split(|c: char| !c.is_ascii_alphabetic()))
        .flat_map(|part| {
            let mut rest = part;
            std::iter::from_fn(move || {
                let hump = |pair: &[u8]| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
                let end = rest.as_bytes().windows(2).position(hump).map_or(rest.len(), |i| i + 1);
                let (word, after) = rest.split_at(end);
                rest = after;
                (!word.is_empty()).then_some(word)
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_into_words() {
        let check = |names: &str, expect: &str| assert_eq!(words(names).collect::<Vec<_>>().join(" "), expect);
        check("site-mainNav__item md:hidden", "site main Nav item");
        check("ABTest navBAR é-x", "ABTest nav BAR x");
    }

    #[test]
    fn elements_are_judged() {
        let check = |html: &str, expect: Option<bool>| {
            let document = dom_query::Document::from(html);
            let element = document.select("body > *");
            let noise = judge(&element.nodes()[0].element_ref().unwrap());
            assert_eq!(noise.map(|noise| noise.certain), expect, "{html}");
        };
        check("<nav>", Some(true));
        check("<div class='c-cookie-bar'>", Some(true));
        check("<div role=dialog>", Some(true));
        check("<p hidden>", Some(true));
        check("<p style='display : none'>", Some(true));
        check("<div id=sidebar>", Some(false));
        check("<footer>", Some(false));
        check("<footer class=nav>", Some(true));
        check("<div class='navy adhesive content'>", None);
        check("<main class=sidebar>", None);
    }
}
