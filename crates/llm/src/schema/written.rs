//! JSON text of schemas with their members in a sensible order.
//!
//! A model writes the members of its answer in the order of the schema. Callers put an `id` before the `children`, and
//! an explanation before the verdict, but a [`Value`] has forgotten that. What is left of it is the order of `required`,
//! which generators of schemas write like that of `properties`.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Writes a value; `properties` beside a list `required` come in the order of that list, and the rest after them.
pub(crate) fn written(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Object(members) => {
            let order = members.get("required").and_then(Value::as_array);
            write_members(members, text, |name, member, text| match (name, member, order) {
                ("properties", Value::Object(properties), Some(order)) => write_properties(properties, order, text),
                _ => write(member, text),
            });
        }
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write(item, text);
            }
            text.push(']');
        }
        other => text.push_str(&other.to_string()),
    }
}

fn write_properties(properties: &Map<String, Value>, order: &[Value], text: &mut String) {
    let names = order.iter().enumerate().filter_map(|(place, name)| Some((name.as_str()?, place)));
    let places: HashMap<&str, usize> = names.collect();
    let mut sorted: Vec<(&String, &Value)> = properties.iter().collect();
    sorted.sort_by_key(|(name, _)| places.get(name.as_str()).copied().unwrap_or(order.len()));
    write_members(sorted, text, |_, member, text| write(member, text));
}

fn write_members<'a>(
    members: impl IntoIterator<Item = (&'a String, &'a Value)>,
    text: &mut String,
    mut write: impl FnMut(&str, &Value, &mut String),
) {
    text.push('{');
    for (index, (name, member)) in members.into_iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        text.push_str(&Value::from(name.as_str()).to_string());
        text.push(':');
        write(name, member, text);
    }
    text.push('}');
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn properties_come_in_the_order_of_required() {
        let item = json!({ "properties": { "children": {}, "id": {} }, "required": ["id", "children"] });
        let schema = json!({ "properties": { "a": { "items": item }, "b": {}, "why": {}, "z\"": {} }, "required": ["why", "a", "gone"] });
        let text = written(&schema);
        assert_eq!(
            text,
            "{\"properties\":{\"why\":{},\"a\":{\"items\":{\"properties\":{\"id\":{},\"children\":{}},\
             \"required\":[\"id\",\"children\"]}},\"b\":{},\"z\\\"\":{}},\"required\":[\"why\",\"a\",\"gone\"]}"
        );
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), schema);
    }

    #[test]
    fn what_is_no_schema_is_written_as_always() {
        for value in
            [json!({ "b": [1, "x\n", null], "a": { "properties": [1], "required": ["x"] } }), json!([]), json!({})]
        {
            assert_eq!(written(&value), value.to_string());
        }
    }

    #[test]
    fn many_properties_are_written_soon() {
        let names: Vec<String> = (0..5000).map(|number| format!("p{number:05}")).rev().collect();
        let properties: Map<String, Value> = names.iter().map(|name| (name.clone(), json!({}))).collect();
        let text = written(&json!({ "properties": properties, "required": names }));
        assert!(text.starts_with("{\"properties\":{\"p04999\":{},\"p04998\""));
    }
}
