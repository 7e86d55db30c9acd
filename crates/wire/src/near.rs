//! Suggestions for misspelled keys.

use strsim::osa_distance;

/// Maximum length of a key that gets a suggestion, in characters. Longer keys are not typing errors.
const MAX_CHARS: usize = 64;

/// Returns the known key closest to an unknown one: equal apart from case and separators (`max_age` for `maxAge`), or
/// at most two edits away.
pub(crate) fn nearest(key: &str, known: &[&'static str]) -> Option<&'static str> {
    if key.chars().count() > MAX_CHARS {
        return None;
    }
    let key = plain(key);
    let distance = |name: &&'static str| (osa_distance(&key, &plain(name)), *name);
    let (distance, near) = known.iter().map(distance).min()?;
    // In a short key, two edits would match nearly any other key.
    let most = if key.len() < 5 { 1 } else { 2 };
    (distance <= most && distance < key.len()).then_some(near)
}

fn plain(key: &str) -> String {
    key.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_other_words_are_not() {
        let known = ["url", "formats", "maxAge", "onlyMainContent", "waitFor", "limit", "headers", "includeTags"];
        let check = |key: &str, want: Option<&str>| assert_eq!(nearest(key, &known), want, "{key}");
        check("fromats", Some("formats"));
        check("format", Some("formats"));
        check("max_age", Some("maxAge"));
        check("MAXAGE", Some("maxAge"));
        check("only-main-content", Some("onlyMainContent"));
        check("wait_fro", Some("waitFor"));
        check("limits", Some("limit"));
        check("uri", Some("url"));
        check("u", None);
        check("", None);
        check("x", None);
        check("pageOptions", None);
        check("excludeTags", Some("includeTags"));
        check(&"formats".repeat(10), None);
        assert_eq!(nearest("formats", &[]), None);
    }
}
