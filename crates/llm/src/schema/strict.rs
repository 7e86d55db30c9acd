//! Strict mode: schemas as endpoints enforce them. Every member is required, and one that may be missing may be null
//! instead; `repair` takes these nulls out again. Constraints that strict mode does not know are left out and checked in
//! the answer.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::shapes::{Shapes, Types};
use crate::json_text::Kind;

/// Limits of strict mode at OpenAI, which other endpoints follow: levels, properties, allowed values.
const MAX_LEVELS: usize = 10;
const MAX_PROPERTIES: usize = 5000;
const MAX_ALLOWED: usize = 1000;
/// Total length of the allowed values of one list, for lists of more than 250.
const MAX_ALLOWED_BYTES: usize = 15_000;
/// Formats that strict mode knows.
const FORMATS: &[&str] = &["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];
/// Member that holds an answer that is no object.
const WRAPPED: &str = "value";

/// A schema for strict mode.
pub(super) struct Strict {
    pub(super) schema: Value,
    /// Whether the answer is a member of an object, because it is no object itself.
    pub(super) is_wrapped: bool,
}

/// Returns a schema for strict mode; `None` when it cannot say the same: it has members or items of any kind, or is too
/// large.
pub(super) fn build(shapes: &Shapes<'_>) -> Option<Strict> {
    let mut builder = Builder { shapes, names: HashMap::new(), open: Vec::new(), properties: 0, allowed: 0 };
    let root = shapes.resolved(shapes.root);
    let is_wrapped = shapes.kind() != Kind::Object || root.get("anyOf").is_some() || root.get("oneOf").is_some();
    let mut schema = if is_wrapped {
        let inner = builder.schema(shapes.root, 1)?;
        object(&Map::from_iter([(WRAPPED.to_owned(), inner)]), None)
    } else {
        builder.schema(root, 0)?
    };
    let mut definitions = Map::new();
    while let Some(open) = builder.open.pop() {
        let definition = builder.schema(open.target, 1)?;
        definitions.insert(open.name, definition);
    }
    if !definitions.is_empty() {
        schema["$defs"] = Value::Object(definitions);
    }
    Some(Strict { schema, is_wrapped })
}

/// Returns a schema of an object with the caller's schema as its member, for endpoints that want an object.
pub(super) fn wrapped(source: &Value) -> Value {
    let mut inner = source.clone();
    let mut outer = object(&Map::new(), None);
    // References count from the root, where definitions have to stay.
    for keyword in ["$defs", "definitions", "$schema"] {
        if let Some(kept) = inner.as_object_mut().and_then(|members| members.remove(keyword)) {
            outer[keyword] = kept;
        }
    }
    outer["properties"] = json!({ WRAPPED: inner });
    outer["required"] = json!([WRAPPED]);
    outer
}

/// Takes an answer out of its object. One that came without the object stays as it is.
pub(super) fn unwrap(answer: Value) -> Value {
    match answer {
        Value::Object(mut members) if members.len() == 1 && members.contains_key(WRAPPED) => {
            members.remove(WRAPPED).unwrap_or_default()
        }
        other => other,
    }
}

/// Returns the schema of an object with these members, those that the caller requires first and in the caller's order.
fn object(properties: &Map<String, Value>, required: Option<&Vec<Value>>) -> Value {
    let first = required.into_iter().flatten().filter_map(Value::as_str).filter(|name| properties.contains_key(*name));
    let mut seen = HashSet::new();
    let all = first.chain(properties.keys().map(String::as_str));
    let required: Vec<&str> = all.filter(|name| seen.insert(*name)).collect();
    json!({ "type": "object", "required": required, "additionalProperties": false, "properties": properties })
}

struct Builder<'a> {
    shapes: &'a Shapes<'a>,
    /// Names of the definitions, by the address of what they define.
    names: HashMap<*const Value, String>,
    /// Definitions that are named and not built.
    open: Vec<Open<'a>>,
    properties: usize,
    allowed: usize,
}

struct Open<'a> {
    name: String,
    target: &'a Value,
}

impl<'a> Builder<'a> {
    fn schema(&mut self, schema: &Value, level: usize) -> Option<Value> {
        if level > MAX_LEVELS {
            return None;
        }
        if let Some(target) = self.shapes.target(schema) {
            return Some(json!({ "$ref": format!("#/$defs/{}", self.name(target)) }));
        }
        let members = schema.as_object()?;
        if LIMITLESS.iter().any(|keyword| members.contains_key(*keyword)) {
            return None;
        }
        let mut built = match (members.get("allOf"), members.get("anyOf").or(members.get("oneOf"))) {
            (Some(all), None) => self.only_one_of(all, level)?,
            (None, Some(branches)) => self.alternatives(members, branches, level)?,
            (Some(_), Some(_)) => return None,
            (None, None) => self.plain(members, level)?,
        };
        if let Some(text) = members.get("description").filter(|text| text.is_string()) {
            built["description"] = text.clone();
        }
        Some(built)
    }

    fn name(&mut self, target: &'a Value) -> String {
        let count = self.names.len();
        let name = self.names.entry(std::ptr::from_ref(target)).or_insert_with(|| {
            let name = format!("d{count}");
            self.open.push(Open { name: name.clone(), target });
            name
        });
        name.clone()
    }

    /// `allOf` with one member is how generators add a description to a reference.
    fn only_one_of(&mut self, all: &Value, level: usize) -> Option<Value> {
        match all.as_array()?.as_slice() {
            [one] => {
                let built = self.schema(one, level)?;
                // A reference may have no keywords beside it, so a description needs a level of its own.
                Some(if built.get("$ref").is_some() { json!({ "anyOf": [built] }) } else { built })
            }
            _ => None,
        }
    }

    fn alternatives(&mut self, members: &Map<String, Value>, branches: &Value, level: usize) -> Option<Value> {
        // Members beside the alternatives would have to be part of each of them.
        if members.contains_key("properties") || members.contains_key("items") {
            return None;
        }
        let built: Option<Vec<_>> = branches.as_array()?.iter().map(|branch| self.schema(branch, level)).collect();
        Some(json!({ "anyOf": built? }))
    }

    fn plain(&mut self, members: &Map<String, Value>, level: usize) -> Option<Value> {
        let mut built = Map::new();
        let kinds = self.kinds(members)?;
        let types = Types::read(&kinds);
        built.insert("type".to_owned(), kinds);
        let constant = members.get("const").map(|constant| vec![constant.clone()]);
        if let Some(allowed) = constant.or_else(|| members.get("enum")?.as_array().cloned()) {
            self.allow(&mut built, allowed);
        }
        if types.object {
            self.object(members, &mut built, level)?;
        }
        if types.array {
            let items = self.schema(members.get("items")?, level + 1)?;
            built.insert("items".to_owned(), items);
        }
        if let Some(format) = members.get("format").filter(|format| FORMATS.iter().any(|known| format == known)) {
            built.insert("format".to_owned(), format.clone());
        }
        Some(Value::Object(built))
    }

    /// Returns the types of a schema, from what it allows if it does not say.
    fn kinds(&self, members: &Map<String, Value>) -> Option<Value> {
        if let Some(kinds) = members.get("type") {
            return Some(kinds.clone());
        }
        let constant = members.get("const").map(std::slice::from_ref);
        if let Some(allowed) = constant.or_else(|| members.get("enum")?.as_array().map(Vec::as_slice)) {
            let mut kinds: Vec<&str> = allowed.iter().map(kind_of).collect();
            kinds.sort_unstable();
            kinds.dedup();
            return Some(if let [one] = kinds.as_slice() { json!(one) } else { json!(kinds) });
        }
        if members.contains_key("properties") {
            return Some(json!("object"));
        }
        members.contains_key("items").then(|| json!("array"))
    }

    /// Adds allowed values, unless there are too many of them.
    fn allow(&mut self, built: &mut Map<String, Value>, allowed: Vec<Value>) {
        let bytes: usize = allowed.iter().map(|value| value.as_str().map_or(8, str::len)).sum();
        if self.allowed + allowed.len() > MAX_ALLOWED || (allowed.len() > 250 && bytes > MAX_ALLOWED_BYTES) {
            return;
        }
        self.allowed += allowed.len();
        built.insert("enum".to_owned(), Value::Array(allowed));
    }

    fn object(&mut self, members: &Map<String, Value>, built: &mut Map<String, Value>, level: usize) -> Option<()> {
        let properties = members.get("properties").and_then(Value::as_object).filter(|found| !found.is_empty())?;
        self.properties += properties.len();
        let is_open = members.get("additionalProperties").is_some_and(|other| other != &Value::Bool(false));
        if is_open || self.properties > MAX_PROPERTIES {
            return None;
        }
        let required = members.get("required").and_then(Value::as_array);
        let mut strict = Map::new();
        for (name, schema) in properties {
            let is_required = required.is_some_and(|required| required.iter().any(|known| known == name));
            let built = self.schema(schema, level + 1)?;
            strict.insert(name.clone(), if is_required { built } else { nullable(built) });
        }
        if let Value::Object(object) = object(&strict, required) {
            let kept = object.into_iter().filter(|(keyword, _)| keyword != "type");
            built.extend(kept);
        }
        Some(())
    }
}

/// Keywords of schemas whose members or items strict mode cannot name.
const LIMITLESS: &[&str] = &[
    "patternProperties",
    "prefixItems",
    "additionalItems",
    "dependentSchemas",
    "unevaluatedProperties",
    "unevaluatedItems",
];

/// Allows null in addition.
fn nullable(mut schema: Value) -> Value {
    if let Some(branches) = schema.get_mut("anyOf").and_then(Value::as_array_mut) {
        if !branches.iter().any(|branch| branch["type"] == "null") {
            branches.push(json!({ "type": "null" }));
        }
        return schema;
    }
    let Some(kinds) = schema.get("type").cloned() else {
        return json!({ "anyOf": [schema, { "type": "null" }] });
    };
    if Types::read(&kinds).null {
        return schema;
    }
    let mut kinds = match kinds {
        Value::Array(kinds) => kinds,
        one => vec![one],
    };
    kinds.push(json!("null"));
    schema["type"] = Value::Array(kinds);
    if let Some(allowed) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        allowed.push(Value::Null);
    }
    schema
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
