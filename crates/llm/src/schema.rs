//! JSON Schemas as callers send them: checked before a page is fetched, made fit for endpoints, and applied to answers.

mod check;
mod date;
mod number;
mod repair;
mod shapes;
mod strict;
mod walk;
mod written;

use std::borrow::Cow;
use std::collections::HashSet;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value};

use crate::json_text::Kind;
use shapes::Shapes;
pub(crate) use walk::escaped;
pub(crate) use written::written;

/// Byte limit of a schema.
pub const MAX_BYTES: usize = 256 << 10;
/// Limit of nested arrays and objects of a schema.
pub const MAX_DEPTH: usize = 64;
/// Levels of objects that are relaxed for a part.
const RELAXED_LEVELS: usize = 16;
/// Bytes of referred schemas that are copied into the schema of a part.
const COPIED_BYTES: usize = 64 << 10;
/// Number of errors that are listed of one answer.
const MAX_FAULTS: usize = 20;
/// Length of one error in characters.
const FAULT_CHARACTERS: usize = 200;

/// A schema, ready for use.
///
/// ```
/// use llm::schema::Schema;
/// use serde_json::json;
///
/// let schema = Schema::read(json!({
///     "type": "object",
///     "properties": { "name": { "type": "string" }, "price": { "type": "number" }, "colour": { "type": "string" } },
///     "required": ["name", "price"],
/// }))?;
/// let accepted = schema.accept(json!({ "name": "Chair", "price": "80.00", "colour": null })).unwrap();
/// assert_eq!(accepted.value, json!({ "name": "Chair", "price": 80.0 }));
/// assert!(schema.accept(json!({ "name": "Chair" })).is_err());
/// # Ok::<(), llm::schema::SchemaError>(())
/// ```
pub struct Schema {
    source: Value,
    shown: String,
    validator: Validator,
    wire: WireSchema,
    is_wrapped: bool,
    kind: Kind,
}

/// A schema as endpoints take it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WireSchema {
    pub(crate) schema: Value,
    /// Whether the schema follows the rules of strict mode.
    pub(crate) is_strict: bool,
}

/// A schema that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("schema{path}: {reason}")]
pub struct SchemaError {
    /// Place in the schema, as a JSON Pointer; empty for the whole schema.
    pub path: String,
    /// What is wrong.
    pub reason: String,
}

/// An answer that is valid by its schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Accepted {
    /// The answer.
    pub value: Value,
    /// What was repaired, for logs and tests: one short line each, without values.
    pub repairs: Vec<String>,
}

/// An error of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Place in the answer, as a JSON Pointer.
    pub path: String,
    /// What is wrong.
    pub reason: String,
}

impl Schema {
    /// Checks and compiles a schema.
    ///
    /// # Errors
    /// When it is larger than [`MAX_BYTES`], nests deeper than [`MAX_DEPTH`], refers to something outside itself or
    /// endlessly to itself, or does not compile.
    pub fn read(source: Value) -> Result<Self, SchemaError> {
        let shown = written(&source);
        check::size(&shown)?;
        check::references(&source)?;
        let validator = compile(&source)?;
        let shapes = Shapes::new(&source);
        let built = strict::build(&shapes);
        let kind = shapes.kind();
        // Endpoints want an object at the root, in strict mode or not.
        let (schema, is_strict, is_wrapped) = match built {
            Some(built) => (built.schema, true, built.is_wrapped),
            None if kind == Kind::Object => (source.clone(), false, false),
            None => (strict::wrapped(&source), false, true),
        };
        let wire = WireSchema { schema, is_strict };
        Ok(Self { source, shown, validator, wire, is_wrapped, kind })
    }

    /// Returns the schema as the caller has sent it.
    #[must_use]
    pub fn source(&self) -> &Value {
        &self.source
    }

    /// Returns the schema as text, as the model sees it.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// Returns the schema as endpoints get it.
    pub(crate) fn wire(&self) -> &WireSchema {
        &self.wire
    }

    /// Returns the kind of value that answers have in the text.
    pub(crate) fn kind(&self) -> Kind {
        if self.is_wrapped { Kind::Any } else { self.kind }
    }

    /// Returns an answer with what needs no model repaired, valid or not.
    pub(crate) fn repaired(&self, answer: Value) -> Value {
        repair::repair(&Shapes::new(&self.source), answer).value
    }

    /// Returns whether an answer is valid as it is.
    pub(crate) fn is_valid(&self, answer: &Value) -> bool {
        self.validator.is_valid(answer)
    }

    /// Returns the members that an answer lacks.
    pub(crate) fn missing(&self, answer: &Value) -> Vec<Missing> {
        let errors = self.validator.iter_errors(answer).take(1000);
        errors.filter_map(|error| Missing::of(&error)).collect()
    }

    /// Adds an empty list for each list that an answer from parts of a page lacks: no part has an item of it.
    pub(crate) fn with_empty_lists(&self, mut answer: Value) -> Value {
        let shapes = Shapes::new(&self.source);
        let root = shapes.resolved(&self.source);
        for missing in self.missing(&answer).into_iter().filter(|missing| missing.path.is_empty()) {
            let member = shapes.resolved(&root["properties"][&missing.name]);
            if member["type"] == "array"
                && let Some(members) = answer.as_object_mut()
            {
                members.insert(missing.name, Value::Array(Vec::new()));
            }
        }
        answer
    }

    /// Returns the texts that the schema itself allows: values of `enum` and `const`.
    pub(crate) fn labels(&self) -> HashSet<String> {
        let mut labels = HashSet::new();
        walk::each(&self.source, &mut |schema| {
            let allowed = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
            labels.extend(allowed.chain(schema.get("const")).filter_map(Value::as_str).map(str::to_owned));
        });
        labels
    }

    /// Returns the schema for a part of a page, in which nothing is required: what this part does not say, another may.
    ///
    /// # Errors
    /// Those of [`Schema::read`].
    pub fn of_part(&self) -> Result<Self, SchemaError> {
        let shapes = Shapes::new(&self.source);
        let mut relaxing = Relaxing { shapes: &shapes, bytes: (MAX_BYTES - self.shown.len()).min(COPIED_BYTES) };
        let mut source = relaxing.relaxed(shapes.resolved(&self.source), RELAXED_LEVELS);
        if let (Value::Object(part), Value::Object(whole)) = (&mut source, &self.source) {
            for defs in ["$defs", "definitions", "$schema"] {
                if let Some(kept) = whole.get(defs) {
                    part.insert(defs.to_owned(), kept.clone());
                }
            }
        }
        Self::read(source)
    }

    /// Takes an answer: undoes what strict mode has changed, repairs what needs no model, and validates.
    ///
    /// # Errors
    /// The errors that remain, at most 20.
    pub fn accept(&self, answer: Value) -> Result<Accepted, Vec<Fault>> {
        let answer = if self.is_wrapped { strict::unwrap(answer) } else { answer };
        let shapes = Shapes::new(&self.source);
        let Accepted { value, repairs } = repair::repair(&shapes, answer.clone());
        let faults: Vec<Fault> =
            self.validator.iter_errors(&value).take(MAX_FAULTS).map(|error| fault(&error)).collect();
        if faults.is_empty() {
            return Ok(Accepted { value, repairs });
        }
        // A level that was removed may have been meant: nearly everything is valid where a schema names no type.
        if self.validator.is_valid(&answer) {
            return Ok(Accepted { value: answer, repairs: Vec::new() });
        }
        Err(faults)
    }
}

/// A required member that an answer lacks.
pub(crate) struct Missing {
    /// Place of the object, as a JSON Pointer.
    pub(crate) path: String,
    pub(crate) name: String,
}

impl Missing {
    fn of(error: &jsonschema::ValidationError<'_>) -> Option<Self> {
        match error.kind() {
            ValidationErrorKind::Required { property } => {
                Some(Self { path: error.instance_path().to_string(), name: property.as_str()?.to_owned() })
            }
            _ => None,
        }
    }
}

impl std::fmt::Debug for Schema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Schema").field("source", &self.source).finish_non_exhaustive()
    }
}

fn compile(source: &Value) -> Result<Validator, SchemaError> {
    // Formats are annotations, as the standard has it: a wrong one does not make an answer useless.
    let patterns = PatternOptions::fancy_regex().backtrack_limit(100_000).size_limit(1 << 20).dfa_size_limit(1 << 20);
    jsonschema::options().should_validate_formats(false).with_pattern_options(patterns).offline().build(source).map_err(
        |error| {
            // An error found while compiling has its place in the schema path, others have it in the instance: the schema.
            let found = [error.instance_path(), error.schema_path()].map(ToString::to_string);
            let is_pattern = matches!(error.kind(), ValidationErrorKind::Format { .. }) && found[0].is_empty();
            let [instance, place] = found;
            SchemaError { path: if is_pattern { place } else { instance }, reason: short(&error.to_string()) }
        },
    )
}

fn fault(error: &jsonschema::ValidationError<'_>) -> Fault {
    Fault { path: error.instance_path().to_string(), reason: short(&error.to_string()) }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(FAULT_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Makes schemas in which no member is required, and no list needs items.
struct Relaxing<'a> {
    shapes: &'a Shapes<'a>,
    /// Bytes of referred schemas that may still be copied. The rest stays as it is: circles would have no end.
    bytes: usize,
}

impl Relaxing<'_> {
    /// Relaxes a schema, and its members that are objects or lists. Items of lists stay whole.
    fn relaxed(&mut self, schema: &Value, depth: usize) -> Value {
        let Value::Object(members) = schema else { return schema.clone() };
        let mut part: Map<String, Value> = members.clone();
        for keyword in DEMANDS {
            part.remove(*keyword);
        }
        if let Some(Value::Object(properties)) = part.get_mut("properties").filter(|_| depth > 0) {
            for member in properties.values_mut() {
                // References are followed at the root only: further down their copies multiply.
                let target = if depth == RELAXED_LEVELS { self.copied(member) } else { member.clone() };
                if target.get("properties").is_some() || target.get("type").is_some_and(|kind| kind == "array") {
                    *member = self.relaxed(&target, depth - 1);
                }
            }
        }
        Value::Object(part)
    }

    /// Returns what a member refers to, as far as it may be copied.
    fn copied(&mut self, member: &Value) -> Value {
        let target = self.shapes.resolved(member);
        if std::ptr::eq(target, member) {
            return member.clone();
        }
        match self.bytes.checked_sub(target.to_string().len()) {
            Some(left) => {
                self.bytes = left;
                target.clone()
            }
            None => member.clone(),
        }
    }
}

/// Keywords that demand something to be there.
const DEMANDS: &[&str] =
    &["required", "minItems", "minProperties", "dependentRequired", "dependencies", "minContains", "contains"];

/// Formats errors for a model or a log, one line each.
#[must_use]
pub fn list(faults: &[Fault]) -> String {
    let line = |fault: &Fault| {
        let path: Cow<'_, str> = if fault.path.is_empty() { "the answer".into() } else { (&*fault.path).into() };
        format!("{path}: {}", fault.reason)
    };
    faults.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
