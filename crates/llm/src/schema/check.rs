//! Limits of schemas: size, depth, and references.

use std::collections::HashMap;

use serde_json::Value;

use super::shapes::Shapes;
use super::walk::{self, Place, children};
use super::{MAX_BYTES, MAX_DEPTH, SchemaError};

/// Number of schemas that may apply to one value. Alternatives of alternatives multiply, and so does the time of
/// validation.
const MAX_APPLIED: usize = 10_000;
/// Number of these that may lie within each other. Compiler and validator use the stack for each.
const MAX_CHAIN: usize = 64;
/// Limit of levels when references are followed. The compiler uses the stack for each.
const MAX_LEVELS: usize = 256;

fn error(path: &str, reason: impl Into<String>) -> SchemaError {
    SchemaError { path: path.to_owned(), reason: reason.into() }
}

/// Checks the size of a schema.
pub(super) fn size(text: &str) -> Result<(), SchemaError> {
    if text.len() > MAX_BYTES {
        return Err(error("", format!("larger than {} KiB", MAX_BYTES >> 10)));
    }
    if base::json::size(text.as_bytes()).depth > MAX_DEPTH {
        return Err(error("", format!("nested deeper than {MAX_DEPTH} levels")));
    }
    Ok(())
}

/// Checks that every reference stays inside the schema, and that no value is described without end.
pub(super) fn references(source: &Value) -> Result<(), SchemaError> {
    if !matches!(source, Value::Object(_) | Value::Bool(_)) {
        return Err(error("", "not a JSON Schema: expected an object"));
    }
    let shapes = Shapes::new(source);
    local(&shapes)?;
    let mut levels = Levels { shapes: &shapes, known: HashMap::new() };
    if levels.of(source, 0).is_none_or(|levels| levels > MAX_LEVELS) {
        return Err(error("", format!("nested deeper than {MAX_LEVELS} levels by its references")));
    }
    let mut counter = Counter { shapes: &shapes, counts: HashMap::new() };
    every(source, "", &mut |schema, path| {
        let count = counter.count(schema, 0).ok_or_else(|| error(path, "refers to itself without end"))?;
        if count > MAX_APPLIED {
            return Err(error(path, format!("more than {MAX_APPLIED} alternatives for one value")));
        }
        Ok(())
    })
}

/// Calls `visit` for each schema within a schema, itself included.
fn every(
    schema: &Value,
    path: &str,
    visit: &mut impl FnMut(&Value, &str) -> Result<(), SchemaError>,
) -> Result<(), SchemaError> {
    visit(schema, path)?;
    children(schema).iter().try_for_each(|child| every(child.schema, &format!("{path}{}", child.path), visit))
}

fn local(shapes: &Shapes<'_>) -> Result<(), SchemaError> {
    let mut has_inner_id = false;
    walk::each(shapes.root, &mut |schema| {
        has_inner_id |= schema.get("$id").is_some() && !std::ptr::eq(schema, shapes.root);
    });
    every(shapes.root, "", &mut |schema, path| {
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            let Some(target) = schema.get(keyword).and_then(Value::as_str) else { continue };
            if !target.starts_with('#') {
                return Err(error(&format!("{path}/{keyword}"), "only references inside the schema are followed"));
            }
            // Below an inner `$id` references count from there, which only the compiler knows.
            if shapes.target(schema).is_none() && !has_inner_id {
                return Err(error(&format!("{path}/{keyword}"), "refers to nothing"));
            }
        }
        Ok(())
    })
}

/// Counts the levels of a schema with what it refers to. A circle counts once, as the compiler follows it once.
struct Levels<'a> {
    shapes: &'a Shapes<'a>,
    /// Levels by address; 0 while they are being counted.
    known: HashMap<*const Value, usize>,
}

impl Levels<'_> {
    /// Returns the levels; `None` when they are too many.
    fn of(&mut self, schema: &Value, depth: usize) -> Option<usize> {
        if let Some(known) = self.known.get(&std::ptr::from_ref(schema)) {
            return Some(*known);
        }
        if depth > MAX_LEVELS {
            return None;
        }
        self.known.insert(std::ptr::from_ref(schema), 0);
        let mut levels = 0;
        if let Some(target) = self.shapes.target(schema) {
            levels = self.of(target, depth + 1)?;
        }
        for child in children(schema).iter().filter(|child| child.place != Place::Definition) {
            levels = levels.max(self.of(child.schema, depth + 1)?);
        }
        self.known.insert(std::ptr::from_ref(schema), levels + 1);
        Some(levels + 1)
    }
}

/// Counts the schemas that apply to a value together with a schema.
struct Counter<'a> {
    shapes: &'a Shapes<'a>,
    /// Counts by address; `None` while a schema is being counted.
    counts: HashMap<*const Value, Option<usize>>,
}

impl Counter<'_> {
    /// Returns the count; `None` when a schema applies to the same value again.
    fn count(&mut self, schema: &Value, depth: usize) -> Option<usize> {
        if let Some(known) = self.counts.get(&std::ptr::from_ref(schema)) {
            return *known;
        }
        self.counts.insert(std::ptr::from_ref(schema), None);
        let mut count = if depth > MAX_CHAIN { MAX_APPLIED + 1 } else { 1 };
        if let Some(target) = self.shapes.target(schema).filter(|_| count == 1) {
            count = count.saturating_add(self.count(target, depth + 1)?);
        }
        for child in children(schema).iter().filter(|child| child.place == Place::Same) {
            count = count.saturating_add(self.count(child.schema, depth + 1)?);
        }
        self.counts.insert(std::ptr::from_ref(schema), Some(count));
        Some(count)
    }
}
