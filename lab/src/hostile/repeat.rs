//! Expansion of repeated items: inside an array `{"$repeat": 250, "of": X}` means 250 copies of X, each with its number
//! for `{i}`, or for `{n}` with `"as": "n"`.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::case::Object;

/// Maximum length of a list of a case.
const MAX_REPEATS: u64 = 100_000;

/// Expands every repetition inside an object.
pub(crate) fn expand_object(object: &Object) -> Result<Object> {
    object.iter().map(|(key, value)| Ok((key.clone(), expand(value)?))).collect()
}

fn expand(value: &Value) -> Result<Value> {
    let Value::Array(items) = value else {
        return match value {
            Value::Object(object) => expand_object(object).map(Value::Object),
            other => Ok(other.clone()),
        };
    };
    let mut out = Vec::with_capacity(items.len());
    for item in items {
        match item.get("$repeat") {
            None => out.push(expand(item)?),
            Some(times) => {
                let times = times.as_u64().context("$repeat is no number")?;
                ensure!(times <= MAX_REPEATS, "$repeat is more than {MAX_REPEATS}");
                let of = item.get("of").context("$repeat needs `of`")?;
                let name = item.get("as").map_or(Some("i"), Value::as_str).context("$repeat.as is no name")?;
                let place = format!("{{{name}}}");
                for number in 0..times {
                    out.push(expand(&numbered(of, &place, &number.to_string()))?);
                }
            }
        }
    }
    Ok(Value::Array(out))
}

fn numbered(value: &Value, place: &str, number: &str) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace(place, number)),
        Value::Array(items) => items.iter().map(|item| numbered(item, place, number)).collect(),
        Value::Object(object) => {
            object.iter().map(|(key, value)| (key.clone(), numbered(value, place, number))).collect::<Object>().into()
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_are_written_out() {
        let short = json!({"a": ["x", {"$repeat": 2, "of": "p{i}"}, {"$repeat": 1, "of": {"b": ["{i}"]}}], "c": 1});
        let long = json!({"a": ["x", "p0", "p1", {"b": ["0"]}], "c": 1});
        assert_eq!(Value::Object(expand_object(short.as_object().unwrap()).unwrap()), long);
        let inner = json!({"$repeat": 2, "of": "{n}-{i}"});
        let nested = json!({"a": [{"$repeat": 2, "as": "n", "of": {"b": [inner]}}]});
        let long = json!({"a": [{"b": ["0-0", "0-1"]}, {"b": ["1-0", "1-1"]}]});
        assert_eq!(Value::Object(expand_object(nested.as_object().unwrap()).unwrap()), long);
        for odd in [json!({"a": [{"$repeat": 200_000, "of": 1}]}), json!({"a": [{"$repeat": 2}]})] {
            assert!(expand_object(odd.as_object().unwrap()).is_err(), "{odd}");
        }
    }
}
