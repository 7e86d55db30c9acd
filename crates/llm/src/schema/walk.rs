//! The places in a schema that are schemas themselves. Names of properties and values of `enum` look like keywords and
//! are none.

use serde_json::Value;

/// A schema within a schema.
pub(super) struct Child<'a> {
    /// Path from the outer schema, as a JSON Pointer.
    pub(super) path: String,
    pub(super) schema: &'a Value,
    pub(super) place: Place,
}

/// What an inner schema applies to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Value that the outer schema applies to.
    Same,
    /// A part of that value.
    Part,
    /// Nothing, until something refers to it.
    Definition,
}

const ONE: &[(&str, Place)] = &[
    ("not", Place::Same),
    ("if", Place::Same),
    ("then", Place::Same),
    ("else", Place::Same),
    ("additionalProperties", Place::Part),
    ("additionalItems", Place::Part),
    ("items", Place::Part),
    ("contains", Place::Part),
    ("propertyNames", Place::Part),
    ("unevaluatedItems", Place::Part),
    ("unevaluatedProperties", Place::Part),
    ("contentSchema", Place::Part),
];
const LIST: &[(&str, Place)] = &[
    ("allOf", Place::Same),
    ("anyOf", Place::Same),
    ("oneOf", Place::Same),
    ("prefixItems", Place::Part),
    // Before draft 2020-12.
    ("items", Place::Part),
];
const MAP: &[(&str, Place)] = &[
    ("dependentSchemas", Place::Same),
    ("dependencies", Place::Same),
    ("properties", Place::Part),
    ("patternProperties", Place::Part),
    ("$defs", Place::Definition),
    ("definitions", Place::Definition),
];

/// Returns the schemas directly within a schema.
pub(super) fn children(schema: &Value) -> Vec<Child<'_>> {
    let mut found = Vec::new();
    for (keyword, place) in ONE {
        if let Some(schema @ (Value::Object(_) | Value::Bool(_))) = schema.get(keyword) {
            found.push(Child { path: format!("/{keyword}"), schema, place: *place });
        }
    }
    for (keyword, place) in LIST {
        let list = schema.get(keyword).and_then(Value::as_array).into_iter().flatten();
        let child = |(index, schema)| Child { path: format!("/{keyword}/{index}"), schema, place: *place };
        found.extend(list.enumerate().map(child));
    }
    for (keyword, place) in MAP {
        let map = schema.get(keyword).and_then(Value::as_object).into_iter().flatten();
        // `dependencies` may also hold lists of names.
        for (name, schema) in map.filter(|(_, schema)| !schema.is_array()) {
            found.push(Child { path: format!("/{keyword}/{}", escaped(name)), schema, place: *place });
        }
    }
    found
}

/// Escapes a name for a JSON Pointer (RFC 6901 section 3).
pub(crate) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Calls `visit` for each schema within a schema, itself included.
pub(super) fn each(schema: &Value, visit: &mut impl FnMut(&Value)) {
    visit(schema);
    for child in children(schema) {
        each(child.schema, visit);
    }
}
