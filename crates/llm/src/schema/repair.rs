//! Repair of an answer by its schema, without a model: what strict mode has changed is undone, and slips that have one
//! plain reading are corrected. Nothing is invented.

use serde_json::{Map, Value};

use super::shapes::{Shapes, Types};
use super::walk::escaped;
use super::{Accepted, date, number};

/// Depth of answers that are repaired; deeper parts stay as they are.
const MAX_DEPTH: usize = 100;
/// Number of repairs that are listed.
const MAX_LISTED: usize = 50;

/// Repairs an answer as far as its schema says how.
pub(super) fn repair(shapes: &Shapes<'_>, answer: Value) -> Accepted {
    let mut repair = Repair { shapes, repairs: Vec::new() };
    let answer = repair.unnested(answer);
    let value = repair.value(answer, &[shapes.root], &Path::Root, 0);
    Accepted { value, repairs: repair.repairs }
}

struct Repair<'a> {
    shapes: &'a Shapes<'a>,
    repairs: Vec<String>,
}

/// Place in the answer, written out only when it is needed.
enum Path<'a> {
    Root,
    Member(&'a Path<'a>, &'a str),
    Item(&'a Path<'a>, usize),
}

impl std::fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Path::Root => Ok(()),
            Path::Member(parent, name) => write!(f, "{parent}/{}", escaped(name)),
            Path::Item(parent, index) => write!(f, "{parent}/{index}"),
        }
    }
}

impl<'a> Repair<'a> {
    fn note(&mut self, path: &Path<'_>, what: &str) {
        if self.repairs.len() < MAX_LISTED {
            self.repairs.push(format!("{path}: {what}"));
        }
    }

    /// Removes or adds the one level by which answers are often wrong: `{"result": {…}}`, or a bare list for an object
    /// with one list.
    fn unnested(&mut self, answer: Value) -> Value {
        let facets = self.shapes.facets(&[self.shapes.root], &answer);
        let types = types(&facets);
        let properties = properties(&facets);
        match answer {
            Value::Object(members) if members.len() == 1 => {
                let is_level = |name: &str, inner: &Value| match inner {
                    _ if properties.contains_key(name) => false,
                    Value::Object(inner) => types.object && inner.keys().any(|key| properties.contains_key(key)),
                    Value::Array(_) => types.array && !types.object,
                    _ => false,
                };
                if !members.iter().all(|(name, inner)| is_level(name, inner)) {
                    return Value::Object(members);
                }
                self.note(&Path::Root, "one level removed");
                members.into_iter().next().map(|(_, inner)| inner).unwrap_or_default()
            }
            Value::Array(items) if types.object && !types.array && items.len() != 1 => {
                let is_list = |schemas: &&Vec<&Value>| self.types_of(schemas, &Value::Null).array;
                let mut lists = properties.iter().filter(|(_, schemas)| is_list(schemas)).map(|(name, _)| name.clone());
                match (lists.next(), lists.next()) {
                    (Some(name), None) => {
                        self.note(&Path::Root, "list put into its member");
                        Value::Object(Map::from_iter([(name, Value::Array(items))]))
                    }
                    _ => Value::Array(items),
                }
            }
            other => other,
        }
    }

    fn types_of(&self, schemas: &[&Value], value: &Value) -> Types {
        types(&self.shapes.facets(schemas, value))
    }

    fn value(&mut self, value: Value, schemas: &[&'a Value], path: &Path<'_>, depth: usize) -> Value {
        if depth > MAX_DEPTH {
            return value;
        }
        let facets = self.shapes.facets(schemas, &value);
        let types = types(&facets);
        if !types.admits(&value) || is_whole_float(&value, types) {
            let Some(changed) = coerced(&value, types, &facets) else { return value };
            self.note(path, "type");
            // A list around a value, or a value out of its list, is repaired in turn.
            let is_list = changed.is_array() || value.is_array();
            return if is_list {
                self.value(changed, schemas, path, depth + 1)
            } else {
                self.scalar(changed, &facets, path)
            };
        }
        match value {
            Value::Object(members) => Value::Object(self.members(members, &facets, path, depth)),
            Value::Array(items) => Value::Array(self.items(items, &facets, path, depth)),
            scalar => self.scalar(scalar, &facets, path),
        }
    }

    /// Corrects a scalar of the right type: the spelling of allowed values, and dates.
    fn scalar(&mut self, value: Value, facets: &[&Value], path: &Path<'_>) -> Value {
        if let Some(same) = same_in(facets, &value) {
            if same != value {
                self.note(path, "spelling of an allowed value");
            }
            return same;
        }
        let Value::String(text) = &value else { return value };
        let format = facets.iter().find_map(|facet| facet.get("format")?.as_str()).unwrap_or_default();
        let changed = match format {
            "date" | "date-time" if date::is_valid(text, format) => None,
            "date" => date::date(text),
            "date-time" => date::date_time(text),
            _ => None,
        };
        match changed {
            Some(changed) => {
                self.note(path, "form of a date");
                Value::String(changed)
            }
            None => value,
        }
    }

    fn items(&mut self, items: Vec<Value>, facets: &[&'a Value], path: &Path<'_>, depth: usize) -> Vec<Value> {
        let mut kept = Vec::with_capacity(items.len());
        for (index, item) in items.into_iter().enumerate() {
            let schemas = item_schemas(facets, index);
            if item.is_null() && !self.admit_null(&schemas) {
                self.note(path, "empty item removed");
                continue;
            }
            let place = Path::Item(path, index);
            kept.push(if schemas.is_empty() { item } else { self.value(item, &schemas, &place, depth + 1) });
        }
        kept
    }

    fn members(
        &mut self,
        members: Map<String, Value>,
        facets: &[&'a Value],
        path: &Path<'_>,
        depth: usize,
    ) -> Map<String, Value> {
        let known = Members::of(facets);
        let names: Vec<String> = members.keys().cloned().collect();
        let mut kept = Map::new();
        for (name, value) in members {
            let renamed = known.renamed(&name, &names);
            if renamed.is_some() {
                self.note(&Path::Member(path, &name), "spelling of a name");
            }
            let name = renamed.unwrap_or(name);
            let place = Path::Member(path, &name);
            let Some(schemas) = known.schemas_of(&name) else {
                self.note(&place, "unknown member removed");
                continue;
            };
            // Strict mode requires each member, so that one that the page does not have is null.
            if value.is_null() && !known.required.contains(&name.as_str()) && !self.admit_null(schemas) {
                continue;
            }
            let value = if schemas.is_empty() { value } else { self.value(value, schemas, &place, depth + 1) };
            kept.insert(name, value);
        }
        for name in &known.required {
            let schemas = known.properties.get(*name);
            if !kept.contains_key(*name) && schemas.is_some_and(|schemas| self.admit_null(schemas)) {
                self.note(&Path::Member(path, name), "missing member is null");
                kept.insert((*name).to_owned(), Value::Null);
            }
        }
        kept
    }

    fn admit_null(&self, schemas: &[&Value]) -> bool {
        schemas.iter().all(|schema| self.shapes.admits_null(schema, 16))
    }
}

/// What a schema says of the members of an object.
struct Members<'a> {
    properties: Properties<'a>,
    required: Vec<&'a str>,
    /// Schemas of all other members; `None` when these are forbidden.
    others: Option<Vec<&'a Value>>,
}

impl<'a> Members<'a> {
    fn of(facets: &[&'a Value]) -> Self {
        let others = || facets.iter().filter_map(|facet| facet.get("additionalProperties")).collect();
        let lists = facets.iter().filter_map(|facet| facet.get("required")?.as_array());
        let required = lists.flatten().filter_map(Value::as_str).collect();
        Self { properties: properties(facets), required, others: (!is_closed(facets)).then(others) }
    }

    /// Returns the schemas of a member; `None` when it is forbidden.
    fn schemas_of(&self, name: &str) -> Option<&[&'a Value]> {
        self.properties.get(name).or(self.others.as_ref()).map(Vec::as_slice)
    }

    /// Returns the name that a forbidden name means: the same letters and digits in another spelling, if it is free.
    fn renamed(&self, name: &str, names: &[String]) -> Option<String> {
        if self.schemas_of(name).is_some() {
            return None;
        }
        let plain = plain(name);
        let mut same = self.properties.keys().filter(|known| self::plain(known) == plain && !names.contains(known));
        match (same.next(), same.next()) {
            (Some(one), None) if !plain.is_empty() => Some(one.clone()),
            _ => None,
        }
    }
}

/// Returns a value of another type that has the same meaning, if a plain one exists.
fn coerced(value: &Value, types: Types, facets: &[&Value]) -> Option<Value> {
    let changed = match value {
        Value::String(text) => of_text(text, types),
        Value::Number(number) if types.integer && number.is_f64() => whole(number),
        Value::Number(number) if types.string => Some(Value::String(number.to_string())),
        Value::Bool(flag) if types.string => Some(Value::String(flag.to_string())),
        Value::Array(items) => match items.as_slice() {
            [] if types.null => Some(Value::Null),
            [one] => Some(one.clone()),
            _ => None,
        },
        Value::Null if types.array => return Some(Value::Array(Vec::new())),
        _ => None,
    };
    let single = || (types.array && !value.is_null() && !value.is_array()).then(|| Value::Array(vec![value.clone()]));
    changed.or_else(|| same_in(facets, value)).or_else(single)
}

type Properties<'a> = std::collections::BTreeMap<String, Vec<&'a Value>>;

fn properties<'a>(facets: &[&'a Value]) -> Properties<'a> {
    let mut found = Properties::new();
    for facet in facets {
        for (name, schema) in facet.get("properties").and_then(Value::as_object).into_iter().flatten() {
            found.entry(name.clone()).or_default().push(schema);
        }
    }
    found
}

/// Returns whether other members than the named ones are forbidden.
fn is_closed(facets: &[&Value]) -> bool {
    let forbids = |facet: &&Value| {
        facet.get("additionalProperties") == Some(&Value::Bool(false))
            || facet.get("unevaluatedProperties") == Some(&Value::Bool(false))
    };
    facets.iter().any(forbids) && !facets.iter().any(|facet| facet.get("patternProperties").is_some())
}

fn item_schemas<'a>(facets: &[&'a Value], index: usize) -> Vec<&'a Value> {
    let mut found = Vec::new();
    for facet in facets {
        let prefix = facet.get("prefixItems").or_else(|| facet.get("items").filter(|items| items.is_array()));
        let prefix = prefix.and_then(Value::as_array);
        match prefix.and_then(|prefix| prefix.get(index)) {
            Some(schema) => found.push(schema),
            None => found.extend(facet.get("items").filter(|items| items.is_object())),
        }
    }
    found
}

fn types(facets: &[&Value]) -> Types {
    let mut types = facets.iter().filter_map(|facet| facet.get("type")).map(Types::read).fold(Types::ALL, Types::and);
    for facet in facets {
        let allowed = facet.get("enum").and_then(Value::as_array).cloned();
        if let Some(allowed) = allowed.or_else(|| facet.get("const").map(|allowed| vec![allowed.clone()])) {
            types = types.and(types_of_values(&allowed));
        }
    }
    types
}

fn types_of_values(values: &[Value]) -> Types {
    let has = |test: fn(&Value) -> bool| values.iter().any(test);
    Types {
        null: has(Value::is_null),
        boolean: has(Value::is_boolean),
        integer: has(Value::is_number),
        number: has(Value::is_f64),
        string: has(Value::is_string),
        array: has(Value::is_array),
        object: has(Value::is_object),
    }
}

/// Returns the allowed value that a value means: the same letters and digits in another spelling.
fn same_in(facets: &[&Value], value: &Value) -> Option<Value> {
    let mut lists = facets.iter().filter_map(|facet| facet.get("enum")?.as_array().map(Vec::as_slice));
    let constants = || facets.iter().find_map(|facet| facet.get("const")).map(std::slice::from_ref);
    let allowed = lists.next().or_else(constants)?;
    if allowed.contains(value) {
        return Some(value.clone());
    }
    let text = plain(&text_of(value)?);
    let mut same = allowed.iter().filter(|allowed| text_of(allowed).is_some_and(|allowed| plain(&allowed) == text));
    match (same.next(), same.next()) {
        (Some(one), None) if !text.is_empty() => Some(one.clone()),
        _ => None,
    }
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

fn plain(text: &str) -> String {
    text.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn of_text(text: &str, types: Types) -> Option<Value> {
    let text = text.trim();
    if types.null && (text.is_empty() || text.eq_ignore_ascii_case("null")) {
        return Some(Value::Null);
    }
    if types.boolean
        && let Some(flag) = flag(text)
    {
        return Some(Value::Bool(flag));
    }
    let read = if types.integer { number::read(text) } else { None }?;
    if types.number || !read.is_f64() { Some(read) } else { whole(read.as_number()?) }
}

fn flag(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" => Some(true),
        "false" | "no" => Some(false),
        _ => None,
    }
}

/// Returns whether a value is a number such as 12.0 where an integer is wanted.
fn is_whole_float(value: &Value, types: Types) -> bool {
    types.integer && !types.number && value.as_number().and_then(whole).is_some()
}

/// Returns a number such as 12.0 as the integer 12; `None` for others.
fn whole(number: &serde_json::Number) -> Option<Value> {
    let float = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0 && float.abs() < 9e15)?;
    #[expect(clippy::cast_possible_truncation, reason = "checked above")]
    Some(Value::from(float as i64))
}
