//! CSS selectors from callers: untrusted input, checked before use; matching never panics.

mod dialect;
mod element;

use selectors::context::{
    MatchingContext, MatchingForInvalidation, MatchingMode, NeedsSelectorFlags, QuirksMode, SelectorCaches,
};
use selectors::matching::matches_selector_list;

use crate::page::{Index, Page};
use dialect::SelectorList;
use element::{Element, Tree};

/// Length limit of a selector, in bytes.
const MAX_LENGTH: usize = 2000;
/// Nesting limit of brackets: the selector parser recurses into each.
const MAX_NESTING: usize = 16;
/// Bytes of a selector that count as at least one part.
const PART_BYTES: usize = 16;

/// Recommended limit on the parts of all selectors of one request, as counted by [`selector_parts`].
pub const MAX_SELECTOR_PARTS: usize = 5000;

/// Reason for refusing a selector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectorError {
    /// The selector is blank.
    #[error("the selector is empty")]
    Empty,
    /// The selector has more than 2000 bytes, or more than 16 levels of nested brackets.
    #[error("the selector is longer than 2000 bytes or nests brackets more than 16 levels deep")]
    TooLarge,
    /// The selector is not valid CSS, or cannot be matched against a static page.
    #[error("`{0}` is not a supported CSS selector")]
    Invalid(String),
}

/// Checks that `selector` can be used in `includeTags`, `excludeTags` or `attributes`.
///
/// # Errors
/// The reason for refusing it, worded for the caller.
pub fn check_selector(selector: &str) -> Result<(), SelectorError> {
    compile(selector).map(drop)
}

/// Estimates the number of names, attributes, pseudo-classes and combinators in a selector, for a limit that is checked
/// before parsing: `div.a > p` has 4. Long names count more than once.
///
/// ```
/// assert_eq!(page::selector_parts("div.a > p"), 4);
/// ```
pub fn selector_parts(selector: &str) -> usize {
    let mut parts = 0;
    let mut in_name = false;
    for byte in selector.bytes() {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' | b',' | b'(' | b')' | b']' => in_name = false,
            b'>' | b'+' | b'~' | b'*' => (parts, in_name) = (parts + 1, false),
            b'.' | b'#' | b':' | b'[' => (parts, in_name) = (parts + 1, true),
            _ if in_name => {}
            _ => (parts, in_name) = (parts + 1, true),
        }
    }
    parts.max(selector.len() / PART_BYTES)
}

fn compile(selector: &str) -> Result<SelectorList, SelectorError> {
    if selector.trim().is_empty() {
        return Err(SelectorError::Empty);
    }
    if selector.len() > MAX_LENGTH || nesting(selector) > MAX_NESTING {
        return Err(SelectorError::TooLarge);
    }
    dialect::parse(selector).ok_or_else(|| SelectorError::Invalid(selector.to_owned()))
}

impl Page {
    /// Returns the elements that match any of `selectors`, in document order. Selectors that [`check_selector`]
    /// refuses match nothing. Once the page's budget for selectors is spent, the result is wrong (elements may be
    /// missing or surplus), and [`Page::is_out_of_steps`] is true.
    pub fn select(&self, selectors: &[String]) -> Vec<Index> {
        matches(self, selectors)
    }
}

fn matches(page: &Page, selectors: &[String]) -> Vec<Index> {
    if selectors.is_empty() {
        return Vec::new();
    }
    let tree = Tree::new(page);
    let (mut left, mut found) = (tree.elements(), Vec::new());
    for list in selectors.iter().filter_map(|selector| compile(selector).ok()) {
        if tree.is_over() {
            return Vec::new();
        }
        // The matcher's caches are keyed by the selector's address, so they must not outlive one list.
        let mut caches = SelectorCaches::default();
        left.retain(|&index| {
            let is_match = tree.element(index).is_some_and(|element| is_match(&list, &element, &mut caches));
            found.extend(is_match.then_some(index));
            !is_match
        });
    }
    found.sort_unstable();
    found
}

fn is_match(list: &SelectorList, element: &Element, caches: &mut SelectorCaches) -> bool {
    let mut context = MatchingContext::new(
        MatchingMode::Normal,
        None,
        caches,
        QuirksMode::NoQuirks,
        NeedsSelectorFlags::No,
        MatchingForInvalidation::No,
    );
    element.is_affordable() && matches_selector_list(list, element, &mut context)
}

fn nesting(selector: &str) -> usize {
    let mut depth = 0_usize;
    let mut deepest = 0;
    for byte in selector.bytes() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_checked() {
        for good in ["p", "#main > .a:not(.b)", "a[href^='http']", "article, .x", "h1:has(+ p)"] {
            assert_eq!(check_selector(good), Ok(()), "{good}");
        }
        for bad in ["p >", "..x", "[", "p::before", "*text*", ":nope", "a[", "\u{0}("] {
            assert!(matches!(check_selector(bad), Err(SelectorError::Invalid(_))), "{bad}");
        }
        assert_eq!(check_selector(" "), Err(SelectorError::Empty));
        assert_eq!(check_selector(&":not(".repeat(500)), Err(SelectorError::TooLarge));
    }

    #[test]
    fn text_is_not_searched() {
        for text in ["p:contains('x')", "p:has-text('x')", "*:is(:contains('x'))", "div:not(:has(p:CONTAINS('x')))"] {
            assert!(matches!(check_selector(text), Err(SelectorError::Invalid(_))), "{text}");
        }
    }

    fn page(html: &str) -> Page {
        Page::parse(html, &url::Url::parse("https://a.test/").unwrap())
    }

    fn found(page: &Page, selector: &str) -> Vec<String> {
        let name = |index| page.element(index).and_then(|e| e.attr("id")).map_or_else(String::new, String::from);
        matches(page, &[selector.to_owned()]).into_iter().map(name).collect()
    }

    #[test]
    fn elements_are_found_as_in_browsers() {
        let html = "<html id=h><body id=b><ul id=u class='x y'><li id=1>a<li id=2 title=Éa><b id=c>t</b><li id=3> </ul>\
                    <p id=p>q</p><a id=a href=x>r</a><svg id=s><foreignObject id=f></svg>";
        let page = page(html);
        let check = |selector: &str, expect: &[&str]| assert_eq!(found(&page, selector), expect, "{selector}");
        check("li", &["1", "2", "3"]);
        check("LI:nth-child(2n+1)", &["1", "3"]);
        check("li:nth-last-child(1), li:first-of-type", &["1", "3"]);
        check("li ~ li", &["2", "3"]);
        check("li + li > b", &["c"]);
        check("ul:has(b)", &["u"]);
        check("li:has(+ li b)", &["1"]);
        check("li:not(:has(b)):not(:last-child)", &["1"]);
        check(":is(p, a):only-text, li:only-text", &["1", "p", "a"]);
        check("li:empty", &["3"]);
        check(":root, :root > body", &["h", "b"]);
        check("[class~=y], #p, .X", &["u", "p"]);
        check("[title$=a], [title^='é' i]", &["2"]);
        check("a:link, a:hover", &["a"]);
        check("foreignObject, svg > *", &["f"]);
    }

    #[test]
    fn a_search_that_costs_too_much_is_given_up() {
        let crowd = page(&"<i></i>".repeat(60_000));
        assert_eq!(found(&crowd, "b ~ i:nth-child(3)").len(), 0);
        assert!(!crowd.is_out_of_steps());
        assert_eq!(found(&crowd, "b ~ i").len(), 0);
        assert!(crowd.is_out_of_steps());
        // Nothing more is searched on this page.
        assert_eq!(found(&crowd, "body").len(), 0);
    }

    #[test]
    fn long_values_are_paid_by_their_length() {
        let page = page(&format!("<i class='{0}' title='{0}'>x", "a ".repeat(1 << 20)));
        for selector in ["[title*='aaaa' i]", ".b"] {
            found(&page, selector);
        }
        assert!(!page.is_out_of_steps());
        found(&page, &format!("[title*='{}b' i]", "a ".repeat(900)));
        assert!(page.is_out_of_steps());
    }

    #[test]
    fn parts_are_counted() {
        for (selector, parts) in [("p", 1), ("a, b", 2), ("*:not(.a)[href^='x']", 4), ("a   >   b", 3)] {
            assert_eq!(selector_parts(selector), parts, "{selector}");
        }
        assert_eq!(selector_parts(&"x".repeat(1600)), 100);
    }
}
