//! Patterns of texts that do not count.

use std::borrow::Cow;

use base::Stop;
use regex::{Regex, RegexBuilder};
use serde_json::Value;
use wire::Invalid;

/// Maximum length of a pattern, in characters.
const MAX_CHARS: usize = 500;
/// Maximum size of a compiled pattern, in bytes.
const MAX_COMPILED: usize = 256 << 10;
/// Maximum nesting of a pattern.
const MAX_NESTING: u32 = 50;
/// Mark in the place of a match, until lines without other text are removed. A noncharacter, which texts do not have.
const HOLE: char = '\u{fdd0}';

/// Compiled patterns.
#[derive(Debug, Clone, Default)]
pub(super) struct Patterns(Vec<Regex>);

impl Patterns {
    /// Compiles patterns.
    ///
    /// # Errors
    /// [`Invalid`] with the path of the first that is refused, below the target.
    pub(super) fn read(patterns: &[&str]) -> Result<Self, Invalid> {
        let compile = |(index, pattern): (usize, &&str)| {
            compile(pattern).map_err(|why| Invalid::at(format!("ignore.patterns[{index}]"), why))
        };
        patterns.iter().enumerate().map(compile).collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the text without what the patterns match. A line that has nothing else goes whole.
    pub(super) fn removed_from<'t>(&self, text: &'t str, stop: &Stop) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for pattern in &self.0 {
            if let Some(rest) = without(pattern, &text, stop) {
                text = Cow::Owned(rest);
            }
        }
        text
    }

    /// Removes what the patterns match from all texts of a value.
    pub(super) fn remove_from(&self, value: &mut Value, stop: &Stop) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(rest) = self.removed_from(text, stop) {
                    *text = rest;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.remove_from(item, stop)),
            Value::Object(members) => members.values_mut().for_each(|member| self.remove_from(member, stop)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Compiles a pattern. `^` and `$` are the ends of lines.
fn compile(pattern: &str) -> Result<Regex, String> {
    if pattern.is_empty() || pattern.chars().count() > MAX_CHARS {
        return Err(format!("must be a regular expression of 1 to {MAX_CHARS} characters"));
    }
    let mut builder = RegexBuilder::new(pattern);
    builder.multi_line(true).size_limit(MAX_COMPILED).dfa_size_limit(4 * MAX_COMPILED).nest_limit(MAX_NESTING);
    builder.build().map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => "is too large when compiled; use smaller repetitions".to_owned(),
        // The last line says what is wrong; those before show where.
        error => {
            let text = error.to_string();
            let reason = text.lines().last().unwrap_or_default().trim_start_matches("error: ");
            format!("must be a regular expression: {reason}")
        }
    })
}

/// Returns the text without the matches of a pattern; `None` if there is none.
fn without(pattern: &Regex, text: &str, stop: &Stop) -> Option<String> {
    let (mut kept, mut end) = (String::new(), 0);
    // Each match takes time linear in the text, so the search ends at the deadline.
    for found in pattern.find_iter(text).filter(|found| !found.is_empty()).take_while(|_| !stop.is_set()) {
        kept.push_str(&text[end..found.start()]);
        kept.push(HOLE);
        end = found.end();
    }
    if end == 0 {
        return None;
    }
    kept.push_str(&text[end..]);
    let has_text =
        |line: &&str| !line.contains(HOLE) || line.chars().any(|letter| letter != HOLE && !letter.is_whitespace());
    Some(kept.split_inclusive('\n').filter(has_text).collect::<String>().replace(HOLE, ""))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn removed(patterns: &[&str], text: &str) -> String {
        Patterns::read(patterns).unwrap().removed_from(text, &Stop::new()).into_owned()
    }

    #[test]
    fn matches_go_and_lines_of_nothing_else() {
        assert_eq!(removed(&[r"\d+ visitors"], "Tea, 12 visitors\n\n7 visitors\n"), "Tea, \n\n");
        assert_eq!(removed(&["^Advert: .*$"], "a\nAdvert: figs\nb"), "a\nb");
        assert_eq!(removed(&["(?s)<ad>.*?</ad>"], "a <ad>x\ny</ad> b\n<ad>z</ad>\nc"), "a  b\nc");
        assert_eq!(removed(&["x*"], "axxb"), "ab");
        assert_eq!(removed(&["a", "c"], "abc"), "b");
        assert_eq!(removed(&[], "abc"), "abc");
    }

    #[test]
    fn values_lose_what_their_texts_match() {
        let mut value = json!({ "at": "12:30", "plans": [{ "name": "Pro 12:31", "price": 12 }], "none": null });
        Patterns::read(&[r"\d+:\d+"]).unwrap().remove_from(&mut value, &Stop::new());
        assert_eq!(value, json!({ "at": "", "plans": [{ "name": "Pro ", "price": 12 }], "none": null }));
    }

    #[test]
    fn a_refusal_says_why() {
        assert_eq!(compile("(b").unwrap_err(), "must be a regular expression: unclosed group");
        assert!(compile(r"\w{2000}").unwrap_err().starts_with("is too large"));
        assert!(compile(&"(".repeat(99)).unwrap_err().starts_with("must be a regular expression"));
    }

    #[test]
    fn a_hostile_pattern_ends_with_the_time() {
        // Quadratic in the text: every match looks at all of it.
        let text = "a".repeat(1 << 20);
        let stop = Stop::new();
        let later = stop.clone();
        std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(100));
            later.set();
        });
        let started = std::time::Instant::now();
        Patterns::read(&[".*b|a"]).unwrap().removed_from(&text, &stop);
        assert!(started.elapsed() < std::time::Duration::from_secs(10));
    }
}
