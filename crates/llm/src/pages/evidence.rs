//! Whether the values of an answer stand on the page.

use std::collections::HashSet;

use serde_json::Value;

use crate::schema::{Schema, escaped};

/// Number of values that are reported.
const MAX_REPORTED: usize = 20;
/// Number of searches through the whole text, for words that are not separated as on the page.
const MAX_SEARCHES: usize = 2000;

/// The words and numbers of a page.
///
/// ```
/// use llm::pages::Evidence;
/// use serde_json::json;
///
/// let page = Evidence::of(&["Chair, 1.299,00 €, delivered on 3 November 2026"]);
/// assert!(page.has(&json!("chair")) && page.has(&json!(1299)) && page.has(&json!("2026-11-03")));
/// assert!(!page.has(&json!("Table")) && !page.has(&json!(1298)));
/// ```
pub struct Evidence {
    words: HashSet<String>,
    /// Digits of all numbers, without separators and without zeros at both ends.
    numbers: HashSet<String>,
    /// All letters and digits.
    plain: String,
}

impl Evidence {
    /// Reads the texts of a page.
    #[must_use]
    pub fn of(texts: &[&str]) -> Self {
        let mut found = Self { words: HashSet::new(), numbers: HashSet::new(), plain: String::new() };
        for text in texts {
            for word in words(text) {
                found.plain.push_str(&word);
                found.words.insert(word);
            }
            found.add_numbers(text);
        }
        found
    }

    fn add_numbers(&mut self, text: &str) {
        let is_inner = |character: char| {
            character.is_ascii_digit() || matches!(character, '.' | ',' | '\'' | ' ' | '\u{a0}' | '\u{202f}')
        };
        for run in
            text.split(|character| !is_inner(character)).filter(|run| run.bytes().any(|byte| byte.is_ascii_digit()))
        {
            // Both readings of a space: it groups thousands, or it stands between two numbers.
            self.numbers.insert(significant(run));
            for part in run.split([' ', '\u{a0}', '\u{202f}']) {
                self.numbers.insert(significant(part));
                for group in part.split(['.', ',', '\'']) {
                    self.numbers.insert(significant(group));
                }
            }
        }
    }

    /// Returns whether the letters or digits of a value stand on the page: its number, or most of its words and every
    /// number among them. Values without letters and digits do.
    #[must_use]
    pub fn has(&self, value: &Value) -> bool {
        let mut searches = MAX_SEARCHES;
        self.has_counted(value, &mut searches)
    }

    fn has_counted(&self, value: &Value, searches: &mut usize) -> bool {
        match value {
            Value::Number(number) => self.numbers.contains(&significant(&number.to_string())),
            Value::String(text) => self.has_text(text, searches),
            Value::Array(items) => items.iter().all(|item| self.has_counted(item, searches)),
            Value::Object(members) => members.values().all(|member| self.has_counted(member, searches)),
            Value::Null | Value::Bool(_) => true,
        }
    }

    fn has_text(&self, text: &str, searches: &mut usize) -> bool {
        if let Some(date) = date_of(text) {
            return date.iter().all(|part| self.numbers.contains(&significant(part)));
        }
        let (mut count, mut seen) = (0, 0);
        for word in words(text) {
            let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
            let is_known = self.words.contains(&word) || (is_number && self.numbers.contains(&significant(&word)));
            let is_seen = is_known || self.contains(&word, searches);
            if !is_seen && word.bytes().any(|byte| byte.is_ascii_digit()) {
                return false;
            }
            count += 1;
            seen += usize::from(is_seen);
        }
        2 * seen >= count
    }

    fn contains(&self, word: &str, searches: &mut usize) -> bool {
        // When too many words are missing, the rest counts as seen: a warning less, not a minute more.
        let may_search = searches.checked_sub(1).inspect(|left| *searches = *left).is_some();
        !may_search || self.plain.contains(word)
    }

    /// Returns the paths of values that stand nowhere on the page, at most 20. Values that the schema itself names are
    /// labels, and need not.
    #[must_use]
    pub fn missing(&self, answer: &Value, schema: Option<&Schema>) -> Vec<String> {
        let labels = schema.map(Schema::labels).unwrap_or_default();
        let mut search = Search { evidence: self, labels, found: Vec::new(), searches: MAX_SEARCHES };
        search.visit(answer, &mut String::new());
        search.found
    }
}

struct Search<'a> {
    evidence: &'a Evidence,
    labels: HashSet<String>,
    found: Vec<String>,
    searches: usize,
}

impl Search<'_> {
    fn visit(&mut self, value: &Value, path: &mut String) {
        let length = path.len();
        match value {
            _ if self.found.len() >= MAX_REPORTED => {}
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    path.push_str(&format!("/{index}"));
                    self.visit(item, path);
                    path.truncate(length);
                }
            }
            Value::Object(members) => {
                for (name, member) in members {
                    path.push('/');
                    path.push_str(&escaped(name));
                    self.visit(member, path);
                    path.truncate(length);
                }
            }
            Value::String(text) if self.labels.contains(text) => {}
            scalar => {
                if !self.evidence.has_counted(scalar, &mut self.searches) {
                    self.found.push(path.clone());
                }
            }
        }
    }
}

/// Returns the words of a text in lower case.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Returns the digits of a number without zeros at both ends; `0` for zero.
fn significant(number: &str) -> String {
    // The exponent of large numbers only moves the mark.
    let number = number.split(['e', 'E']).next().unwrap_or_default();
    let digits: String = number.chars().filter(char::is_ascii_digit).collect();
    let digits = digits.trim_matches('0');
    if digits.is_empty() { "0".to_owned() } else { digits.to_owned() }
}

/// Returns year and day of a date as schemas want it. The page may have its month as a word.
fn date_of(text: &str) -> Option<[&str; 2]> {
    let date = text.split(['T', ' ']).next()?;
    let mut parts = date.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let is = |part: &str, length| part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit());
    (parts.next().is_none() && is(year, 4) && is(month, 2) && is(day, 2)).then_some([year, day])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PAGE: &str = "# Lamp JX002\n\nPrice: 49 EUR, was 1 249.50. Weight 0.8 kg. 場所：大阪 日時：2026年11月22日. 1.3 million sold. Ada O'Brandt";

    #[test]
    fn what_stands_on_the_page_is_found_in_any_form() {
        let page = Evidence::of(&[PAGE]);
        for value in [
            json!("Lamp JX002"),
            json!("lamp jx002"),
            json!(49),
            json!(49.0),
            json!(1249.5),
            json!(0.8),
            json!(1_300_000),
            json!("大阪"),
            json!("2026年11月22日"),
            json!("2026-11-22"),
            json!("Ada O’Brandt"),
            json!(true),
            json!(null),
            json!("–"),
            json!({ "a": ["Lamp", 49] }),
        ] {
            assert!(page.has(&value), "{value}");
        }
    }

    #[test]
    fn what_does_not_stand_there_is_reported_by_its_path() {
        let page = Evidence::of(&[PAGE]);
        let answer = json!({
            "name": "Chair", "price": 48, "code": "JX003", "city": "東京", "when": "2026-11-23", "rows": [{ "a/b": "Lamp" }, { "a/b": 7 }],
        });
        let mut missing = page.missing(&answer, None);
        missing.sort_unstable();
        assert_eq!(missing, ["/city", "/code", "/name", "/price", "/rows/1/a~1b", "/when"]);
    }

    #[test]
    fn labels_of_the_schema_need_no_evidence() {
        let schema = json!({ "type": "object", "properties": { "state": { "enum": ["in_stock", "sold_out"] } } });
        let schema = Schema::read(schema).unwrap();
        assert!(Evidence::of(&[PAGE]).missing(&json!({ "state": "sold_out" }), Some(&schema)).is_empty());
    }

    #[test]
    fn an_answer_without_evidence_is_searched_for_a_bounded_time() {
        let page = Evidence::of(&[&"word ".repeat(200_000)]);
        let answer: Vec<Value> = (0..100_000).map(|number| json!(format!("none{}", "x".repeat(number % 7)))).collect();
        assert_eq!(page.missing(&Value::Array(answer), None).len(), MAX_REPORTED);
    }
}
