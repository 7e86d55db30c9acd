//! Decodes a JSON body field by field and collects every fault with its path, instead of stopping at the first.
//!
//! Serde alone reports one error, loses the path inside tagged enums, and cannot refuse unknown keys next to flattened
//! options. Validation crates (garde, validator) run only after serde has accepted the body, so they do not help. A
//! `null` counts as an absent field everywhere.

use std::cell::RefCell;
use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use crate::error::{FieldError, Invalid};
use crate::near;
use crate::words::Word;

/// Maximum number of faults reported. Bounds the size of the response to a body with a million unknown keys.
pub(crate) const MAX_FAULTS: usize = 20;
/// Maximum length of a caller's key in an error message, in characters.
const MAX_KEY_CHARS: usize = 64;
const UNKNOWN_KEY: &str = "is not a known key";
/// Text between an unknown key and its suggestion.
const MEANT: &str = ", did you mean ";
/// Prefix of experimental keys of other servers. Accepted everywhere with any value, without effect.
const EXPERIMENTAL: &str = "__experimental_";

/// Faults collected so far.
#[derive(Default)]
pub(crate) struct Faults(RefCell<Vec<FieldError>>);

impl Faults {
    pub(crate) fn add(&self, path: &str, message: impl Into<String>) {
        self.push(FieldError::new(path, message));
    }

    fn push(&self, fault: FieldError) {
        let mut faults = self.0.borrow_mut();
        if faults.len() < MAX_FAULTS {
            faults.push(fault);
        }
    }

    /// Returns the decoded value, or all faults if there are any.
    pub(crate) fn verdict<T>(self, decoded: Option<T>) -> Result<T, Invalid> {
        let fields = self.0.into_inner();
        match decoded {
            Some(value) if fields.is_empty() => Ok(value),
            _ => Err(Invalid { message: summary(&fields), fields }),
        }
    }
}

/// Decodes a whole body with `read`.
pub(crate) fn body<T>(body: Value, read: impl FnOnce(&mut Fields<'_>) -> Option<T>) -> Result<T, Invalid> {
    let faults = Faults::default();
    let decoded = Field { path: String::new(), value: body, faults: &faults }.record(read).flatten();
    faults.verdict(decoded)
}

/// One JSON value and its path in the body.
pub(crate) struct Field<'a> {
    pub(crate) path: String,
    pub(crate) value: Value,
    faults: &'a Faults,
}

impl<'a> Field<'a> {
    /// Records a fault at this field. Always returns `None`, so that a reader can return it directly.
    pub(crate) fn refuse<T>(&self, reason: impl Into<String>) -> Option<T> {
        self.faults.add(&self.path, reason);
        None
    }

    pub(crate) fn flag(self) -> Option<bool> {
        self.value.as_bool().or_else(|| self.expected("true or false"))
    }

    /// Reads a whole number. Accepts `5000.0` (JSON has a single number type), but not `5000.5` or `"5000"`.
    pub(crate) fn whole(self, range: RangeInclusive<u64>) -> Option<u64> {
        let number = self.value.as_u64().or_else(|| whole_float(self.value.as_f64()?));
        match number {
            Some(number) if range.contains(&number) => Some(number),
            _ => self.expected(&format!("a whole number from {} to {}", range.start(), range.end())),
        }
    }

    /// Reads a whole number like [`Field::whole`], with 32-bit bounds.
    pub(crate) fn whole32(self, range: RangeInclusive<u32>) -> Option<u32> {
        let wide = u64::from(*range.start())..=u64::from(*range.end());
        self.whole(wide).and_then(|number| u32::try_from(number).ok())
    }

    pub(crate) fn number(self, range: RangeInclusive<f64>) -> Option<f64> {
        match self.value.as_f64() {
            Some(number) if range.contains(&number) => Some(number),
            _ => self.expected(&format!("a number from {} to {}", range.start(), range.end())),
        }
    }

    /// Reads a string. Its length is counted in characters, as in JSON Schema.
    pub(crate) fn text(mut self, length: RangeInclusive<usize>) -> Option<String> {
        match self.value.take() {
            Value::String(text) if length.contains(&text.chars().count()) => Some(text),
            Value::String(text) => {
                let count = text.chars().count();
                self.refuse(format!("must have {} to {} characters, has {count}", length.start(), length.end()))
            }
            other => {
                self.value = other;
                self.expected("a string")
            }
        }
    }

    /// Reads a string that will be stored or logged as a name: control characters are refused.
    pub(crate) fn name(self, length: RangeInclusive<usize>) -> Option<String> {
        let (path, faults) = (self.path.clone(), self.faults);
        let text = self.text(length)?;
        if text.chars().any(char::is_control) {
            faults.add(&path, "must not contain control characters");
            return None;
        }
        Some(text)
    }

    /// Reads a string with `parse`, which returns a value or the reason for a refusal.
    pub(crate) fn parse<T>(self, parse: impl FnOnce(&str) -> Result<T, String>) -> Option<T> {
        match self.value.as_str().map(parse) {
            Some(Ok(value)) => Some(value),
            Some(Err(reason)) => self.refuse(reason),
            None => self.expected("a string"),
        }
    }

    pub(crate) fn word<W: Word>(self) -> Option<W> {
        let found = self.value.as_str().and_then(W::parse);
        found.or_else(|| match self.value {
            // The unknown word is not echoed: it may be long, or a secret.
            Value::String(_) => self.refuse(format!("must be {}", W::choices())),
            _ => self.expected(&W::choices()),
        })
    }

    /// Splits an array into one field per element.
    pub(crate) fn items(mut self, count: RangeInclusive<usize>) -> Option<Vec<Field<'a>>> {
        let Value::Array(items) = self.value.take() else {
            return self.refuse("must be an array");
        };
        if !count.contains(&items.len()) {
            let (min, max, has) = (count.start(), count.end(), items.len());
            return self.refuse(format!("must have {min} to {max} entries, has {has}"));
        }
        let (path, faults) = (self.path, self.faults);
        let item = |(index, value)| Field { path: format!("{path}[{index}]"), value, faults };
        Some(items.into_iter().enumerate().map(item).collect())
    }

    /// Reads an array entry by entry. Entries with faults are skipped, because their faults are already recorded.
    pub(crate) fn list<T>(
        self,
        count: RangeInclusive<usize>,
        read: impl FnMut(Field<'a>) -> Option<T>,
    ) -> Option<Vec<T>> {
        Some(self.items(count)?.into_iter().filter_map(read).collect())
    }

    /// Reads an array like [`Field::list`], with at most one entry of each kind.
    pub(crate) fn one_of_each<T, K: PartialEq>(
        self,
        count: RangeInclusive<usize>,
        kind: impl Fn(&T) -> K,
        mut read: impl FnMut(Field<'a>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let faults = self.faults;
        let mut entries: Vec<T> = Vec::new();
        for item in self.items(count)? {
            let path = item.path.clone();
            let Some(entry) = read(item) else { continue };
            if entries.iter().any(|other| kind(other) == kind(&entry)) {
                faults.add(&path, "repeats the type of an earlier entry");
            }
            entries.push(entry);
        }
        Some(entries)
    }

    /// Reads an object. Keys that `read` does not take are refused as unknown.
    pub(crate) fn record<T>(mut self, read: impl FnOnce(&mut Fields<'a>) -> T) -> Option<T> {
        let map = match self.value.take() {
            Value::Object(map) => map,
            other => {
                self.value = other;
                return self.expected("an object");
            }
        };
        let mut fields = Fields { path: self.path, map, known: Vec::new(), faults: self.faults };
        let decoded = read(&mut fields);
        fields.refuse_unknown();
        Some(decoded)
    }

    /// Reads an object with arbitrary keys: a JSON Schema, a header map, tool options.
    pub(crate) fn map(mut self) -> Option<Map<String, Value>> {
        match self.value.take() {
            Value::Object(map) => Some(map),
            other => {
                self.value = other;
                self.expected("an object")
            }
        }
    }

    fn expected<T>(&self, what: &str) -> Option<T> {
        let got = match &self.value {
            // A number is short and says more than its type.
            Value::Number(number) => number.to_string(),
            other => kind(other).to_owned(),
        };
        self.refuse(format!("must be {what}, got {got}"))
    }
}

/// Keys of one object that have not been read yet.
pub(crate) struct Fields<'a> {
    path: String,
    map: Map<String, Value>,
    /// Keys that have been read; candidates for suggestions.
    known: Vec<&'static str>,
    faults: &'a Faults,
}

impl<'a> Fields<'a> {
    /// Takes the field of this name, unless it is absent or null.
    pub(crate) fn take(&mut self, key: &'static str) -> Option<Field<'a>> {
        self.known.push(key);
        match self.map.remove(key)? {
            Value::Null => None,
            value => Some(Field { path: self.path_of(key), value, faults: self.faults }),
        }
    }

    /// Takes a required field, and records a fault if it is missing.
    pub(crate) fn need(&mut self, key: &'static str) -> Option<Field<'a>> {
        let field = self.take(key);
        if field.is_none() {
            self.refuse(key, "is required");
        }
        field
    }

    /// Reads a field of a change with `read`: `None` if it is absent and the value stays, `Some(None)` if it is null
    /// and the value is removed.
    pub(crate) fn change<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(Field<'a>) -> Option<T>,
    ) -> Option<Option<T>> {
        let is_null = self.map.get(key).is_some_and(Value::is_null);
        match self.take(key) {
            None => is_null.then_some(None),
            Some(field) => read(field).map(Some),
        }
    }

    /// Reads a boolean with a default.
    pub(crate) fn flag(&mut self, key: &'static str, default: bool) -> bool {
        self.take(key).and_then(Field::flag).unwrap_or(default)
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.map.get(key).is_some_and(|value| !value.is_null())
    }

    /// Records a fault at a key of this object.
    pub(crate) fn refuse(&self, key: &str, reason: impl Into<String>) {
        self.faults.add(&self.path_of(key), reason);
    }

    /// Records a fault with advice on how to fix it.
    pub(crate) fn refuse_with_advice(&self, key: &str, reason: &str, advice: String) {
        let fault = FieldError::new(self.path_of(key), reason);
        self.faults.push(FieldError { advice: Some(advice), ..fault });
    }

    /// Refuses every remaining key with the same reason. Nulls and [`EXPERIMENTAL`] keys pass.
    pub(crate) fn leftovers(&mut self, reason: &str) {
        for key in self.left() {
            self.refuse(&key, reason);
        }
    }

    /// Refuses every remaining key as unknown, with a suggestion if one is close.
    fn refuse_unknown(&mut self) {
        for key in self.left() {
            match near::nearest(&key, &self.known) {
                Some(near) => self.refuse(&key, format!("{UNKNOWN_KEY}{MEANT}`{near}`?")),
                None => self.refuse(&key, UNKNOWN_KEY),
            }
        }
    }

    /// Takes the remaining keys, at most as many as are reported.
    fn left(&mut self) -> Vec<String> {
        let left = std::mem::take(&mut self.map).into_iter();
        let counts = |(key, value): &(String, Value)| !value.is_null() && !key.starts_with(EXPERIMENTAL);
        left.filter(counts).take(MAX_FAULTS).map(|(key, _)| key).collect()
    }

    /// Returns a copy of the keys that were not read yet, with their values, except nulls.
    pub(crate) fn given(&self) -> Map<String, Value> {
        self.map.iter().filter(|(_, value)| !value.is_null()).map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    /// Takes the remaining keys with their values, except nulls, where unknown keys are kept.
    pub(crate) fn rest(&mut self) -> Map<String, Value> {
        std::mem::take(&mut self.map).into_iter().filter(|(_, value)| !value.is_null()).collect()
    }

    /// Drops the remaining keys, if an earlier fault leaves their meaning unclear.
    pub(crate) fn ignore_rest(&mut self) {
        self.map.clear();
    }

    fn path_of(&self, key: &str) -> String {
        let key: String = key.chars().take(MAX_KEY_CHARS).flat_map(char::escape_debug).collect();
        if self.path.is_empty() { key } else { format!("{}.{key}", self.path) }
    }
}

fn whole_float(number: f64) -> Option<u64> {
    const EXACT: f64 = 9_007_199_254_740_992.0; // 2^53: whole floats below are exact
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "range and fraction are checked")]
    (number.fract() == 0.0 && (0.0..EXACT).contains(&number)).then_some(number as u64)
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Builds the message of the error body. Clients match its first words for unknown keys.
fn summary(faults: &[FieldError]) -> String {
    let unknown = faults.iter().filter_map(|fault| {
        let meant = fault
            .message
            .strip_prefix(UNKNOWN_KEY)?
            .strip_prefix(MEANT)
            .map(|meant| format!(" (did you mean {meant})"));
        Some(format!("`{}`{}", fault.path, meant.unwrap_or_default()))
    });
    let unknown: Vec<String> = unknown.collect();
    match unknown.len() {
        0 => faults.iter().take(3).map(ToString::to_string).collect::<Vec<_>>().join("; "),
        1 => format!("Unrecognized key in body: {}", unknown[0]),
        _ => format!("Unrecognized keys in body: {}", unknown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(value: Value, read: impl FnOnce(Field<'_>) -> Option<String>, want: Result<&str, &str>) {
        let got = body([("f".to_owned(), value)].into_iter().collect(), |fields| fields.need("f").and_then(read));
        let got = got.map_err(|invalid| invalid.message);
        assert_eq!(got.as_deref().map_err(String::as_str), want);
    }

    #[test]
    fn leaves_name_path_and_reason() {
        let whole = |field: Field<'_>| field.whole(1..=9).map(|number| number.to_string());
        check(json!(9), whole, Ok("9"));
        check(json!(9.0), whole, Ok("9"));
        check(json!(10), whole, Err("`f` must be a whole number from 1 to 9, got 10"));
        check(json!(-1), whole, Err("`f` must be a whole number from 1 to 9, got -1"));
        check(json!(1.5), whole, Err("`f` must be a whole number from 1 to 9, got 1.5"));
        check(json!("5"), whole, Err("`f` must be a whole number from 1 to 9, got a string"));
        check(json!(null), whole, Err("`f` is required"));
        let text = |field: Field<'_>| field.text(1..=3);
        check(json!("äöü"), text, Ok("äöü"));
        check(json!(""), text, Err("`f` must have 1 to 3 characters, has 0"));
        check(json!(["a"]), text, Err("`f` must be a string, got an array"));
        check(json!("a\u{0}"), |field| field.name(1..=3), Err("`f` must not contain control characters"));
        let flag = |field: Field<'_>| field.flag().map(|flag| flag.to_string());
        check(json!(true), flag, Ok("true"));
        check(json!("true"), flag, Err("`f` must be true or false, got a string"));
        check(
            json!(3),
            |field| field.number(0.5..=2.0).map(|n| n.to_string()),
            Err("`f` must be a number from 0.5 to 2, got 3"),
        );
    }

    #[test]
    fn all_faults_are_collected_with_their_paths() {
        let read = |fields: &mut Fields<'_>| {
            fields
                .take("a")
                .and_then(|field| field.list(1..=9, |item| item.record(|f| f.need("b").and_then(Field::flag))))
        };
        let invalid = body(json!({ "a": [{ "b": 1 }, { "b": true, "c": 2 }], "x": 1 }), read).unwrap_err();
        let paths: Vec<&str> = invalid.fields.iter().map(|fault| fault.path.as_str()).collect();
        assert_eq!(paths, ["a[0].b", "a[1].c", "x"]);
        assert_eq!(invalid.message, "Unrecognized keys in body: `a[1].c`, `x`");
    }

    #[test]
    fn an_unknown_key_names_the_one_that_was_meant() {
        let read = |fields: &mut Fields<'_>| {
            let _ = (fields.take("maxAge"), fields.flag("mobile", false));
            fields.take("a").and_then(|field| field.record(|f| f.need("onlyMainContent").and_then(Field::flag)))
        };
        let invalid =
            body(json!({ "max_age": 1, "zzz": 2, "a": { "onlyMainContents": true, "onlyMainContent": true } }), read);
        let invalid = invalid.unwrap_err();
        assert_eq!(
            invalid.message,
            "Unrecognized keys in body: `a.onlyMainContents` (did you mean `onlyMainContent`?), \
             `max_age` (did you mean `maxAge`?), `zzz`"
        );
        let messages: Vec<&str> = invalid.fields.iter().map(|fault| fault.message.as_str()).collect();
        let want =
            ["is not a known key, did you mean `onlyMainContent`?", "is not a known key, did you mean `maxAge`?"];
        assert_eq!(messages, [want[0], want[1], UNKNOWN_KEY]);
    }

    #[test]
    fn the_answer_stays_small() {
        let many: Map<String, Value> = (0..100_000).map(|i| (format!("{i}{}", "k".repeat(90)), json!(1))).collect();
        let invalid = body(Value::Object(many), |_| Some(())).unwrap_err();
        assert_eq!(invalid.fields.len(), MAX_FAULTS);
        assert!(invalid.message.len() < 2000);
    }

    #[test]
    fn a_body_that_is_no_object() {
        let invalid = body(json!([1]), |_| Some(())).unwrap_err();
        assert_eq!(invalid.message, "the body must be an object, got an array");
    }
}
