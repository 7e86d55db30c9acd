//! URLs in attributes: resolution against the base, checks, and the choice among the candidates of a `srcset`.

use url::Url;

/// Limit on the candidates of one `srcset`.
const MAX_CANDIDATES: usize = 64;

/// Resolves `link` against `base`. `None` if it is empty, is not a URL, or has a scheme that runs code or carries data.
pub fn absolute(base: &Url, link: &str) -> Option<Url> {
    let link = link.trim_matches(|c: char| c.is_ascii_whitespace() || c.is_control());
    if link.is_empty() {
        return None;
    }
    let url = base.join(link).ok()?;
    (!matches!(url.scheme(), "javascript" | "vbscript" | "data" | "blob" | "about")).then_some(url)
}

/// Returns the candidates of a `srcset` with their size; a missing width or density counts as 1.
///
/// Source: HTML standard, "parsing a srcset attribute".
pub fn candidates(srcset: &str) -> impl Iterator<Item = (&str, f64)> {
    let mut rest = srcset;
    let next = move || {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ',');
        let url_end = rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len());
        let (url, tail) = rest.split_at(url_end);
        // A comma directly after the URL ends the candidate; commas inside (data:, resizing services) do not.
        let bare = url.trim_end_matches(',');
        let descriptor_end = if bare.len() < url.len() { 0 } else { tail.find(',').unwrap_or(tail.len()) };
        let (descriptor, after) = tail.split_at(descriptor_end);
        rest = after;
        (!bare.is_empty()).then(|| (bare, size(descriptor)))
    };
    std::iter::from_fn(next).take(MAX_CANDIDATES)
}

/// Returns the largest candidate that is not embedded data; the first among equals.
pub fn largest(srcset: &str) -> Option<&str> {
    let mut best: Option<(&str, f64)> = None;
    for (url, size) in candidates(srcset).filter(|(url, _)| !is_embedded(url)) {
        if best.is_none_or(|(_, other)| size > other) {
            best = Some((url, size));
        }
    }
    best.map(|(url, _)| url)
}

/// Whether the URL carries its own content (`data:`).
#[inline]
pub fn is_embedded(url: &str) -> bool {
    url.trim_start().get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}

fn size(descriptor: &str) -> f64 {
    descriptor
        .split_ascii_whitespace()
        .find_map(|part| part.strip_suffix(['w', 'x'])?.parse().ok())
        .filter(|size: &f64| size.is_finite())
        .unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn srcset_largest() {
        let check = |srcset: &str, expect: Option<&str>| assert_eq!(largest(srcset), expect, "{srcset}");
        check("a.jpg 1x, b.jpg 2x", Some("b.jpg"));
        check("a.jpg 320w,b.jpg 1280w , c.jpg 640w", Some("b.jpg"));
        check("a.jpg", Some("a.jpg"));
        check("a.jpg, b.jpg 1.5x", Some("b.jpg"));
        check("w_100,h_50/a.jpg 100w, w_200,h_90/a.jpg 200w", Some("w_200,h_90/a.jpg"));
        check("data:image/gif;base64,R0l= 2x, a.jpg 1x", Some("a.jpg"));
        check("a.jpg NaNx, b.jpg 1e999w", Some("a.jpg"));
        check(" , ,", None);
        check("", None);
    }

    #[test]
    fn absolute_refuses_code_and_keeps_the_rest() {
        let base = Url::parse("https://a.test/d/p?q#f").unwrap();
        let check = |link: &str, expect: Option<&str>| {
            assert_eq!(absolute(&base, link).as_ref().map(Url::as_str), expect, "{link}");
        };
        check("x y", Some("https://a.test/d/x%20y"));
        check(" /a\n", Some("https://a.test/a"));
        check("//b.test", Some("https://b.test/"));
        check("#s", Some("https://a.test/d/p?q#s"));
        check("mailto:a@b.c", Some("mailto:a@b.c"));
        check("JavaScript:alert(1)", None);
        check("java\nscript:alert(1)", None);
        check("\u{1}javascript:alert(1)", None);
        check("data:text/html,x", None);
        check("http://[", None);
        check("  ", None);
    }
}
