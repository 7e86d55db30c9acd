//! The answers of the chunks of a page in one.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::evidence::Evidence;
use crate::schema::escaped;

/// Names of members that identify an item, in small letters without separators. Names that end with `Id` do too.
const IDENTITIES: &[&str] =
    &["id", "uuid", "sku", "gtin", "ean", "isbn", "mpn", "url", "link", "href", "key", "code", "slug"];
/// Number of items of the same identity that a further one is compared with.
const MAX_COMPARED: usize = 8;
/// Number of values that are kept for a conflict.
const MAX_CANDIDATES: usize = 8;

/// The answer to one chunk.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// The answer.
    pub answer: &'a Value,
    /// The chunk.
    pub text: &'a str,
}

/// Merged answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// The answer. For a conflict it has the first candidate.
    pub value: Value,
    /// Values that chunks disagree about.
    pub conflicts: Vec<Conflict>,
}

/// A value that chunks disagree about.
#[derive(Debug, Clone, PartialEq)]
pub struct Conflict {
    /// Place in the answer, as a JSON Pointer.
    pub path: String,
    /// The different values, in page order.
    pub candidates: Vec<Candidate>,
}

/// One of several values.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Index of the part that says so first.
    pub part: usize,
    /// The value.
    pub value: Value,
}

/// Merges the answers of the chunks of a page: lists are joined in page order without duplicates, objects member by
/// member, and of other values the one that stands in its chunk is taken.
///
/// ```
/// use llm::pages::{Part, merge};
/// use serde_json::json;
///
/// let one = json!({ "operator": "North", "rows": [{ "id": 1 }, { "id": 2 }] });
/// let two = json!({ "operator": null, "rows": [{ "id": 2 }, { "id": 3 }] });
/// let merged = merge(&[Part { answer: &one, text: "North 1 2" }, Part { answer: &two, text: "2 3" }]);
/// assert_eq!(merged.value, json!({ "operator": "North", "rows": [{ "id": 1 }, { "id": 2 }, { "id": 3 }] }));
/// assert!(merged.conflicts.is_empty());
/// ```
#[must_use]
pub fn merge(parts: &[Part<'_>]) -> Merged {
    let mut merger =
        Merger { texts: parts.iter().map(|part| part.text).collect(), evidence: HashMap::new(), conflicts: Vec::new() };
    let values = parts.iter().enumerate().map(|(part, found)| Said { part, value: found.answer }).collect();
    let value = merger.merge(values, "");
    Merged { value, conflicts: merger.conflicts }
}

/// A value with the part that says so.
#[derive(Clone, Copy)]
struct Said<'a> {
    part: usize,
    value: &'a Value,
}

struct Merger<'a> {
    texts: Vec<&'a str>,
    /// The evidence of parts, made when it is needed.
    evidence: HashMap<usize, Evidence>,
    conflicts: Vec<Conflict>,
}

impl Merger<'_> {
    fn merge(&mut self, mut said: Vec<Said<'_>>, path: &str) -> Value {
        let is_nothing = |value: &Value| value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty());
        let nothing = said.first().map(|first| first.value.clone()).unwrap_or_default();
        said.retain(|said| !is_nothing(said.value));
        if said.is_empty() {
            return nothing;
        }
        if said.iter().all(|said| said.value.is_object()) {
            return self.members(&said, path);
        }
        if said.iter().all(|said| said.value.is_array()) {
            return Value::Array(joined(&said));
        }
        self.one_of(&said, path)
    }

    fn members(&mut self, said: &[Said<'_>], path: &str) -> Value {
        let mut names: Vec<&String> = Vec::new();
        let mut seen = HashSet::new();
        for name in said.iter().filter_map(|said| said.value.as_object()).flat_map(Map::keys) {
            if seen.insert(name) {
                names.push(name);
            }
        }
        let mut merged = Map::new();
        for name in names {
            let of_name = said.iter().filter_map(|said| Some(Said { part: said.part, value: said.value.get(name)? }));
            let value = self.merge(of_name.collect(), &format!("{path}/{}", escaped(name)));
            merged.insert(name.clone(), value);
        }
        Value::Object(merged)
    }

    fn one_of(&mut self, said: &[Said<'_>], path: &str) -> Value {
        let mut different: Vec<Said<'_>> = Vec::new();
        for said in said {
            if !different.iter().any(|known| is_same(known.value, said.value)) {
                different.push(*said);
            }
        }
        if different.len() > 1 {
            let proven: Vec<Said<'_>> = different.iter().filter(|said| self.is_proven(**said)).copied().collect();
            if !proven.is_empty() {
                different = proven;
            }
        }
        let first = different[0].value.clone();
        if different.len() > 1 {
            let candidate = |said: &Said<'_>| Candidate { part: said.part, value: said.value.clone() };
            let candidates = different.iter().take(MAX_CANDIDATES).map(candidate).collect();
            self.conflicts.push(Conflict { path: path.to_owned(), candidates });
        }
        first
    }

    fn is_proven(&mut self, said: Said<'_>) -> bool {
        let text = self.texts[said.part];
        self.evidence.entry(said.part).or_insert_with(|| Evidence::of(&[text])).has(said.value)
    }
}

/// Joins lists in page order. An item that came before is left out: one with the same identity that says nothing else,
/// or the same item in another part.
fn joined(said: &[Said<'_>]) -> Vec<Value> {
    let mut joined: Vec<Value> = Vec::new();
    let mut by_identity: HashMap<String, Vec<usize>> = HashMap::new();
    let mut earlier: HashSet<String> = HashSet::new();
    for said in said {
        let mut here = Vec::new();
        for item in said.value.as_array().into_iter().flatten() {
            if let Some(identity) = identity(item) {
                let known = by_identity.entry(identity).or_default();
                let same =
                    known.iter().rev().take(MAX_COMPARED).copied().find(|index| is_compatible(&joined[*index], item));
                match same {
                    Some(index) => fill(&mut joined[index], item),
                    None => {
                        known.push(joined.len());
                        joined.push(item.clone());
                    }
                }
                continue;
            }
            // Numbers repeat by chance, and so do short lists of them.
            let text = (item.is_string() || item.is_object()).then(|| item.to_string());
            if text.as_ref().is_some_and(|text| earlier.contains(text)) {
                continue;
            }
            here.extend(text);
            joined.push(item.clone());
        }
        earlier.extend(here);
    }
    joined
}

/// Returns the member that identifies an item, with its value.
fn identity(item: &Value) -> Option<String> {
    let members = item.as_object()?;
    let plain = |name: &str| name.replace(['_', '-'], "").to_ascii_lowercase();
    let rank = |name: &str| {
        let known = IDENTITIES.iter().position(|identity| *identity == plain(name));
        known.or_else(|| {
            (name.ends_with("Id") || name.ends_with("_id") || name.ends_with("ID")).then_some(IDENTITIES.len())
        })
    };
    let is_plain = |value: &Value| value.is_number() || value.as_str().is_some_and(|text| !text.trim().is_empty());
    let named = members
        .iter()
        .filter(|(_, value)| is_plain(value))
        .filter_map(|(name, value)| Some((rank(name)?, name, value)));
    named.min_by_key(|(rank, ..)| *rank).map(|(_, name, value)| format!("{name}={value}"))
}

/// Returns whether two items can be the same: no member has two values.
fn is_compatible(one: &Value, other: &Value) -> bool {
    let (Some(one), Some(other)) = (one.as_object(), other.as_object()) else { return is_same(one, other) };
    other.iter().all(|(name, value)| {
        value.is_null() || one.get(name).is_none_or(|known| known.is_null() || is_same(known, value))
    })
}

/// Adds what an item says and the known one does not.
fn fill(known: &mut Value, item: &Value) {
    let (Some(known), Some(item)) = (known.as_object_mut(), item.as_object()) else { return };
    for (name, value) in item.iter().filter(|(_, value)| !value.is_null()) {
        match known.get_mut(name) {
            Some(old) if old.is_null() => *old = value.clone(),
            Some(_) => {}
            None => {
                known.insert(name.clone(), value.clone());
            }
        }
    }
}

/// Compares two values; texts without regard to case and white space, numbers by their value.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::String(one), Value::String(other)) => {
            let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
            one == other || plain(one) == plain(other)
        }
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn merged(answers: &[Value], texts: &[&str]) -> Merged {
        let parts: Vec<Part<'_>> = answers
            .iter()
            .enumerate()
            .map(|(index, answer)| Part { answer, text: texts.get(index).copied().unwrap_or_default() })
            .collect();
        merge(&parts)
    }

    fn value(answers: &Value) -> Value {
        let merged = merged(answers.as_array().unwrap(), &[]);
        assert!(merged.conflicts.is_empty(), "{:?}", merged.conflicts);
        merged.value
    }

    #[test]
    fn lists_are_joined_in_page_order_without_duplicates() {
        let rows = json!([{ "rows": [{ "id": "a", "n": 1 }, { "id": "b", "n": 2 }, { "id": "a", "n": 1 }] }, { "rows": [{ "id": "c", "n": null }, { "id": "b", "n": 2 }] }, { "rows": [{ "id": "c", "n": 3 }] }]);
        assert_eq!(
            value(&rows),
            json!({ "rows": [{ "id": "a", "n": 1 }, { "id": "b", "n": 2 }, { "id": "c", "n": 3 }] })
        );
        // The same identity with other values is another item.
        let rows = json!([[{ "code": "N/A", "n": 1 }], [{ "code": "N/A", "n": 2 }]]);
        assert_eq!(value(&rows), json!([{ "code": "N/A", "n": 1 }, { "code": "N/A", "n": 2 }]));
        // Without an identity: the same in another part is one, twice in one part are two, and numbers are as they are.
        assert_eq!(value(&json!([["a", "a", "b"], ["b", "c"]])), json!(["a", "a", "b", "c"]));
        assert_eq!(
            value(&json!([[{ "name": "A" }, { "name": "A" }], [{ "name": "A" }]])),
            json!([{ "name": "A" }, { "name": "A" }])
        );
        assert_eq!(value(&json!([[5, 5], [5]])), json!([5, 5, 5]));
        assert_eq!(
            value(&json!([[{ "product_id": 1, "x": 1 }], [{ "product_id": 1, "y": 2 }]])),
            json!([{ "product_id": 1, "x": 1, "y": 2 }])
        );
    }

    #[test]
    fn objects_are_merged_member_by_member() {
        let answers = json!([{ "a": { "x": 1 }, "b": null }, { "a": { "y": 2, "x": null }, "b": "" }, { "b": "text" }]);
        assert_eq!(value(&answers), json!({ "a": { "x": 1, "y": 2 }, "b": "text" }));
        assert_eq!(value(&json!([{ "b": null }, { "b": null }])), json!({ "b": null }));
        assert_eq!(merge(&[]).value, Value::Null);
    }

    #[test]
    fn evidence_decides_and_what_it_leaves_open_is_a_conflict() {
        let answers = [json!({ "total": 100 }), json!({ "total": 120 }), json!({ "total": 7 })];
        let texts = ["Provisional total: 100", "Final total: 120", "Nothing here"];
        let found = merged(&answers[1..], &texts[1..]);
        assert_eq!((found.value, found.conflicts.len()), (json!({ "total": 120 }), 0));
        let found = merged(&answers, &texts);
        let candidates = vec![Candidate { part: 0, value: json!(100) }, Candidate { part: 1, value: json!(120) }];
        assert_eq!(found.conflicts, [Conflict { path: "/total".to_owned(), candidates }]);
        assert_eq!(
            value(&json!([{ "n": "North  Grid" }, { "n": "north grid" }, { "n": "North  Grid" }])),
            json!({ "n": "North  Grid" })
        );
    }

    #[test]
    fn many_items_of_one_identity_take_no_time() {
        let items: Vec<Value> = (0..20_000).map(|number| json!({ "id": "none", "n": number })).collect();
        assert_eq!(value(&json!([items])).as_array().unwrap().len(), 20_000);
    }
}
