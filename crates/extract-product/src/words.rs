//! Texts of fields, and the words of names.

use std::collections::HashSet;

use crate::tags::squeezed;

/// Limit on a name, in bytes.
const MAX_NAME: usize = 1000;
/// Limit on a description, in bytes.
const MAX_DESCRIPTION: usize = 20_000;

/// Returns a name as a person would read it: without tags, references and surplus blanks. `None` if nothing is left.
pub(crate) fn name(text: &str) -> Option<String> {
    let text = text.get(..text.floor_char_boundary(4 * MAX_NAME)).unwrap_or_default();
    bounded(cleaned(text), MAX_NAME)
}

/// Returns a description without tags, references and surplus blanks. `None` if nothing is left.
pub(crate) fn description(text: &str) -> Option<String> {
    let text = text.get(..text.floor_char_boundary(4 * MAX_DESCRIPTION)).unwrap_or_default();
    bounded(cleaned(text), MAX_DESCRIPTION)
}

fn bounded(mut text: String, length: usize) -> Option<String> {
    text.truncate(text.floor_char_boundary(length));
    (!text.is_empty()).then_some(text)
}

/// Returns a code such as an article number: without blanks around it, and not a word that says there is none.
pub(crate) fn code(text: &str) -> Option<String> {
    let text = squeezed(text);
    let is_none = ["null", "undefined", "n/a", "none", "0", "-", "false", "true", "na"]
        .contains(&text.to_ascii_lowercase().as_str());
    (!text.is_empty() && text.len() <= 80 && !is_none && text.chars().any(char::is_alphanumeric)).then_some(text)
}

fn cleaned(text: &str) -> String {
    let text = page::decoded(text);
    // `&amp;quot;`: encoded twice.
    let text = page::decoded(&text);
    if !text.contains('<') { squeezed(&text) } else { squeezed(&without_tags(&text)) }
}

fn without_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        out.push_str(&rest[..start]);
        let is_tag = rest[start + 1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '!');
        let end = rest[start..].find('>').filter(|_| is_tag);
        out.push(if end.is_some() { ' ' } else { '<' });
        rest = &rest[start + end.unwrap_or(0) + 1..];
    }
    out.push_str(rest);
    out
}

/// The words of a name in lower case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Words(HashSet<String>);

impl Words {
    pub(crate) fn of(text: &str) -> Words {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        Words(words.take(64).map(str::to_lowercase).collect())
    }

    /// Whether each name has a word with a digit that the other lacks: two models, however alike.
    pub(crate) fn contradicts(&self, other: &Words) -> bool {
        let has_own = |a: &Words, b: &Words| {
            a.0.iter().any(|word| word.bytes().any(|b| b.is_ascii_digit()) && !b.0.contains(word))
        };
        has_own(self, other) && has_own(other, self)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the number of words that both have.
    pub(crate) fn common(&self, other: &Words) -> usize {
        self.0.intersection(&other.0).count()
    }

    /// Returns the share of the words that the other name has too, from 0 to 1.
    pub(crate) fn share_in(&self, other: &Words) -> f64 {
        if self.0.is_empty() { 0.0 } else { self.common(other) as f64 / self.len() as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        assert_eq!(name(" A &amp;quot;big&amp;quot;\n <b>kettle</b> ").as_deref(), Some("A \"big\" kettle"));
        assert_eq!(name("3 < 4 &lt;b&gt;").as_deref(), Some("3 < 4"));
        assert_eq!(name("  "), None);
        assert_eq!(code(" 12-A "), Some("12-A".into()));
        assert_eq!(code("null"), None);
        assert_eq!(code("---"), None);
    }

    #[test]
    fn shares() {
        let kettle = Words::of("Kettle, red");
        assert_eq!(kettle.share_in(&Words::of("The red Kettle – Shop")), 1.0);
        assert!(Words::of("Phone A10 red").contradicts(&Words::of("Phone A01 red")));
        assert!(!Words::of("Phone A10 red").contradicts(&Words::of("Phone A10")));
        assert_eq!(Words::of("The red kettle Shop").share_in(&kettle), 0.5);
    }
}
