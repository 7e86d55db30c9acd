//! CSS selectors that come from a caller: checked before use, never a panic.

use dom_query::Matcher;

use crate::page::{Index, Page};

/// Longest selector that is accepted, in bytes.
const MAX_LENGTH: usize = 2000;
/// Deepest nesting of parentheses that is accepted: the selector parser calls itself for each.
const MAX_NESTING: usize = 16;

/// Children of one element up to which `a ~ b` is searched: every one is compared with all before it.
const MAX_SIBLINGS: usize = 20_000;

/// Why a selector cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectorError {
    /// Nothing but white space.
    #[error("the selector is empty")]
    Empty,
    /// More than 2000 bytes, or more than 16 parentheses inside each other.
    #[error("the selector is too long or too deeply nested")]
    TooLarge,
    /// Not CSS, or CSS that cannot be matched against a page at rest.
    #[error("`{0}` is not a CSS selector that can be used here")]
    Invalid(String),
}

/// Whether `selector` can be used in `includeTags`, `excludeTags` or `attributes`.
///
/// # Errors
/// The reason why not, for the caller to read.
pub fn check_selector(selector: &str) -> Result<(), SelectorError> {
    compile(selector).map(drop)
}

pub(crate) fn compile(selector: &str) -> Result<Matcher, SelectorError> {
    if selector.trim().is_empty() {
        return Err(SelectorError::Empty);
    }
    if selector.len() > MAX_LENGTH || nesting(selector) > MAX_NESTING {
        return Err(SelectorError::TooLarge);
    }
    Matcher::new(selector).map_err(|_| SelectorError::Invalid(selector.to_owned()))
}

/// Elements that match any of `selectors`, in document order. Selectors that cannot be used match nothing, and neither
/// do those with `~` on a page where one element has more than 20 000 children.
pub(crate) fn matches(page: &Page, selectors: &[String]) -> Vec<Index> {
    let crowded = selectors.iter().any(|selector| has_sibling_search(selector)) && most_children(page) > MAX_SIBLINGS;
    let mut found: Vec<Index> = selectors
        .iter()
        .filter(|selector| !crowded || !has_sibling_search(selector))
        .filter_map(|selector| compile(selector).ok())
        .flat_map(|matcher| {
            let nodes = page.document().select_matcher(&matcher);
            let ids: Vec<_> = nodes.nodes().iter().map(|node| node.id).collect();
            page.positions(&ids)
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// `a ~ b`, but not `[class~=b]`.
fn has_sibling_search(selector: &str) -> bool {
    selector.match_indices('~').any(|(i, _)| !selector[i + 1..].starts_with('='))
}

fn most_children(page: &Page) -> usize {
    let mut children = vec![0; page.len()];
    (0..page.len()).filter_map(|index| page.parent(index)).for_each(|parent| children[parent] += 1);
    children.into_iter().max().unwrap_or(0)
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
    fn sibling_searches_are_bounded() {
        let url = url::Url::parse("https://a.test/").unwrap();
        let count = |html: &str, selector: &str| matches(&Page::parse(html, &url), &[selector.to_owned()]).len();
        assert_eq!(count("<b></b><i></i><i class='x y'></i>", "b ~ i"), 2);
        let crowd = format!("<i class='x y'></i>{}", "<i></i>".repeat(20_000));
        assert_eq!(count(&crowd, "b ~ i"), 0);
        assert_eq!(count(&crowd, "[class~=y]"), 1);
    }
}
