//! What a schema says of a value: references followed, alternatives chosen by the value.

use std::collections::HashMap;

use serde_json::Value;

use super::walk::children;
use crate::json_text::Kind;

/// Number of schemas that are considered for one value.
const MAX_FACETS: usize = 256;

/// A schema with its references.
pub(super) struct Shapes<'a> {
    pub(super) root: &'a Value,
    anchors: HashMap<&'a str, &'a Value>,
}

impl<'a> Shapes<'a> {
    pub(super) fn new(root: &'a Value) -> Self {
        let mut shapes = Self { root, anchors: HashMap::new() };
        shapes.collect_anchors(root);
        shapes
    }

    fn collect_anchors(&mut self, schema: &'a Value) {
        for keyword in ["$anchor", "$dynamicAnchor"] {
            if let Some(name) = schema.get(keyword).and_then(Value::as_str) {
                self.anchors.insert(name, schema);
            }
        }
        for child in children(schema) {
            self.collect_anchors(child.schema);
        }
    }

    /// Returns the schema that a schema refers to, if it does.
    pub(super) fn target(&self, schema: &Value) -> Option<&'a Value> {
        let keywords = ["$ref", "$dynamicRef", "$recursiveRef"];
        let reference = keywords.iter().find_map(|keyword| schema.get(*keyword)?.as_str())?;
        let fragment = reference.strip_prefix('#')?;
        if fragment.is_empty() {
            return Some(self.root);
        }
        if fragment.starts_with('/') {
            return self.root.pointer(&percent_decoded(fragment));
        }
        self.anchors.get(fragment).copied()
    }

    /// Follows the references of a schema that says nothing else. Ends also where references form a circle.
    pub(super) fn resolved<'b>(&self, schema: &'b Value) -> &'b Value
    where
        'a: 'b,
    {
        let mut schema = schema;
        for _ in 0..64 {
            match self.target(schema) {
                Some(target) => schema = target,
                None => break,
            }
        }
        schema
    }

    /// Returns every schema that applies to a value: referred ones, all of `allOf`, and of alternatives the one that fits
    /// best.
    pub(super) fn facets<'b>(&self, schemas: &[&'b Value], value: &Value) -> Vec<&'b Value>
    where
        'a: 'b,
    {
        let mut found: Vec<&'b Value> = Vec::new();
        let mut open: Vec<&'b Value> = schemas.iter().rev().copied().collect();
        while let Some(schema) = open.pop() {
            if found.len() >= MAX_FACETS || found.iter().any(|known| std::ptr::eq(*known, schema)) {
                continue;
            }
            found.push(schema);
            open.extend(self.target(schema));
            open.extend(schema.get("allOf").and_then(Value::as_array).into_iter().flatten());
            for keyword in ["anyOf", "oneOf"] {
                let branches = schema.get(keyword).and_then(Value::as_array).into_iter().flatten();
                // The first of equals: `max_by_key` would take the last.
                open.extend(branches.rev().max_by_key(|branch| self.score(branch, value, 8)));
            }
        }
        found
    }

    /// Returns how well a value fits an alternative, by what is on its surface.
    fn score(&self, schema: &Value, value: &Value, depth: usize) -> i64 {
        let schema = self.resolved(schema);
        let mut score = 0;
        if let Some(kinds) = schema.get("type") {
            score += if Types::read(kinds).admits(value) { 8 } else { -16 };
        }
        if let Some(allowed) = schema.get("const") {
            score += if allowed == value { 16 } else { -16 };
        }
        if let Some(allowed) = schema.get("enum").and_then(Value::as_array) {
            score += if allowed.contains(value) { 16 } else { -16 };
        }
        for keyword in ["anyOf", "oneOf", "allOf"] {
            let branches = schema.get(keyword).and_then(Value::as_array).into_iter().flatten();
            if depth > 0 {
                score += branches.map(|branch| self.score(branch, value, depth - 1)).max().unwrap_or(0);
            }
        }
        if let Value::Object(members) = value {
            score += self.score_of_members(schema, members);
        }
        score
    }

    fn score_of_members(&self, schema: &Value, members: &serde_json::Map<String, Value>) -> i64 {
        let properties = schema.get("properties").and_then(Value::as_object);
        let mut score = 0;
        for (name, value) in members {
            let Some(member) = properties.and_then(|properties| properties.get(name)) else {
                score -= i64::from(schema.get("additionalProperties") == Some(&Value::Bool(false)));
                continue;
            };
            let member = self.resolved(member);
            let is_fixed = member.get("const").is_some() || member.get("enum").is_some();
            let is_equal = member.get("const") == Some(value)
                || member.get("enum").and_then(Value::as_array).is_some_and(|allowed| allowed.contains(value));
            score += match (is_fixed, is_equal) {
                (true, true) => 16,
                (true, false) => -16,
                _ => 2 * i64::from(!value.is_null()),
            };
        }
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let missing = required.filter_map(Value::as_str).filter(|name| members.get(*name).is_none_or(Value::is_null));
        score - 3 * i64::try_from(missing.count()).unwrap_or(i64::MAX / 4)
    }

    /// Returns whether a schema allows null.
    pub(super) fn admits_null(&self, schema: &Value, depth: usize) -> bool {
        if schema == &Value::Bool(false) || depth == 0 {
            return false;
        }
        if let Some(target) = self.target(schema)
            && !self.admits_null(target, depth - 1)
        {
            return false;
        }
        let list = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
        let any = |keyword: &str| {
            list(keyword).is_none_or(|branches| branches.iter().any(|branch| self.admits_null(branch, depth - 1)))
        };
        let all =
            list("allOf").is_none_or(|branches| branches.iter().all(|branch| self.admits_null(branch, depth - 1)));
        schema.get("type").is_none_or(|kinds| Types::read(kinds).null)
            && list("enum").is_none_or(|allowed| allowed.contains(&Value::Null))
            && schema.get("const").is_none_or(Value::is_null)
            && all
            && any("anyOf")
            && any("oneOf")
    }

    /// Returns the kind of value that the root describes.
    pub(super) fn kind(&self) -> Kind {
        let root = self.resolved(self.root);
        let types = root.get("type").map(Types::read);
        match types {
            Some(types) if types == Types::only_object() => Kind::Object,
            Some(types) if types == Types::only_array() => Kind::Array,
            None if root.get("properties").is_some() => Kind::Object,
            _ => Kind::Any,
        }
    }
}

/// The types of a `type` keyword.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Types {
    pub(super) null: bool,
    pub(super) boolean: bool,
    pub(super) integer: bool,
    pub(super) number: bool,
    pub(super) string: bool,
    pub(super) array: bool,
    pub(super) object: bool,
}

impl Types {
    pub(super) const ALL: Self =
        Self { null: true, boolean: true, integer: true, number: true, string: true, array: true, object: true };

    fn only_object() -> Self {
        Self { object: true, ..Self::default() }
    }

    fn only_array() -> Self {
        Self { array: true, ..Self::default() }
    }

    pub(super) fn read(kinds: &Value) -> Self {
        let names = kinds.as_array().map_or(std::slice::from_ref(kinds), Vec::as_slice);
        let has = |name: &str| names.iter().any(|kind| kind == name);
        Self {
            null: has("null"),
            boolean: has("boolean"),
            integer: has("integer") || has("number"),
            number: has("number"),
            string: has("string"),
            array: has("array"),
            object: has("object"),
        }
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self {
            null: self.null && other.null,
            boolean: self.boolean && other.boolean,
            integer: self.integer && other.integer,
            number: self.number && other.number,
            string: self.string && other.string,
            array: self.array && other.array,
            object: self.object && other.object,
        }
    }

    pub(super) fn admits(self, value: &Value) -> bool {
        match value {
            Value::Null => self.null,
            Value::Bool(_) => self.boolean,
            Value::Number(number) => self.number || (self.integer && !number.is_f64()),
            Value::String(_) => self.string,
            Value::Array(_) => self.array,
            Value::Object(_) => self.object,
        }
    }
}

fn percent_decoded(fragment: &str) -> String {
    let mut decoded = Vec::with_capacity(fragment.len());
    let bytes = fragment.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let hex = bytes.get(at + 1..at + 3).and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = hex.filter(|_| *byte == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        decoded.push(escaped.unwrap_or(*byte));
        at += if escaped.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&decoded).into_owned()
}
