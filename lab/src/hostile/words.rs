//! The placeholders of the case file: `{ORIGIN}`, and `{c*n}` for the character c repeated n times.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use serde_json::Value;

use super::case::Object;

/// Values of the placeholders in this run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Words {
    names: BTreeMap<&'static str, String>,
    /// Texts of the file with other values in this run, such as a busy port.
    moved: Vec<(String, String)>,
}

impl Words {
    /// Sets `{name}`.
    pub(crate) fn set(&mut self, name: &'static str, value: impl Into<String>) {
        self.names.insert(name, value.into());
    }

    /// Replaces every `from` in the file by `to` from now on.
    pub(crate) fn moved(&mut self, from: &str, to: &str) {
        if from != to {
            self.moved.push((from.to_owned(), to.to_owned()));
        }
    }

    /// Replaces every placeholder of the text; other braces stay. An unknown name is an error.
    pub(crate) fn expand(&self, text: &str) -> Result<String> {
        let mut text = text.to_owned();
        for (from, to) in &self.moved {
            text = text.replace(from, to);
        }
        let mut out = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(at) = rest.find('{') {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            let end = rest.find('}').unwrap_or(0);
            let inner = rest.get(1..end).unwrap_or_default();
            if let Some((unit, times)) = repeat(inner) {
                out.extend(std::iter::repeat_n(unit, times));
            } else if is_name(inner) {
                let Some(value) = self.names.get(inner) else { bail!("the placeholder {{{inner}}} is not known") };
                out.push_str(value);
            } else {
                out.push('{');
                rest = &rest[1..];
                continue;
            }
            rest = &rest[end + 1..];
        }
        out.push_str(rest);
        Ok(out)
    }

    /// Replaces the placeholders in every text inside a value.
    pub(crate) fn expand_value(&self, value: &Value) -> Result<Value> {
        Ok(match value {
            Value::String(text) => Value::String(self.expand(text)?),
            Value::Array(items) => {
                Value::Array(items.iter().map(|item| self.expand_value(item)).collect::<Result<_>>()?)
            }
            Value::Object(object) => Value::Object(self.expand_object(object)?),
            other => other.clone(),
        })
    }

    /// Replaces the known placeholders in every text inside an object, and leaves everything else unchanged.
    pub(crate) fn put_into(&self, object: &Object) -> Object {
        object.iter().map(|(key, value)| (key.clone(), put(self, value))).collect()
    }

    /// Replaces the placeholders in every text inside an object.
    pub(crate) fn expand_object(&self, object: &Object) -> Result<Object> {
        object.iter().map(|(key, value)| Ok((key.clone(), self.expand_value(value)?))).collect()
    }
}

fn put(words: &Words, value: &Value) -> Value {
    match value {
        Value::String(text) => {
            let known =
                words.names.iter().fold(text.clone(), |text, (name, own)| text.replace(&format!("{{{name}}}"), own));
            Value::String(known)
        }
        Value::Array(items) => items.iter().map(|item| put(words, item)).collect(),
        Value::Object(object) => Value::Object(words.put_into(object)),
        other => other.clone(),
    }
}

fn repeat(inner: &str) -> Option<(char, usize)> {
    let mut chars = inner.chars();
    let unit = chars.next()?;
    let times = chars.as_str().strip_prefix('*')?;
    Some((unit, times.parse().ok()?))
}

fn is_name(inner: &str) -> bool {
    inner.starts_with(|first: char| first.is_ascii_uppercase())
        && inner.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let mut words = Words::default();
        words.set("ORIGIN", "http://origin.test:7");
        words.set("CANARY_PORT", "9");
        words.moved("origin.test:18100", "origin.test:7");
        assert_eq!(words.expand(text).unwrap(), expect, "{text}");
    }

    #[test]
    fn replaces_names_and_repeats() {
        check("{ORIGIN}/a?x={CANARY_PORT}", "http://origin.test:7/a?x=9");
        check("{ORIGIN}{ORIGIN}", "http://origin.test:7http://origin.test:7");
        check("x{A*3}y{b*0}", "xAAAy");
        check("http://origin.test:18100/", "http://origin.test:7/");
    }

    #[test]
    fn other_braces_stay() {
        for text in ["fetch('/x',{mode:'no-cors'})", "a{0,100000}", "{", "{}", "}{", "{\"a\":[{\"b\":1}]}", "{ab*3}"] {
            check(text, text);
        }
        check("{\"url\":\"{ORIGIN}/\"}", "{\"url\":\"http://origin.test:7/\"}");
        check("{{CANARY_PORT}}", "{9}");
    }

    #[test]
    fn known_names_are_put_in_late() {
        let mut words = Words::default();
        words.set("JOB", "7");
        let input = serde_json::json!({"path": "/x/{JOB}", "json": {"a": ["{JOB}", "{MOON}", 1]}});
        let expect = serde_json::json!({"path": "/x/7", "json": {"a": ["7", "{MOON}", 1]}});
        assert_eq!(Value::Object(words.put_into(input.as_object().unwrap())), expect);
    }

    #[test]
    fn an_unknown_name_is_an_error() {
        assert!(Words::default().expand("{BIG_JOB}").unwrap_err().to_string().contains("BIG_JOB"));
    }
}
