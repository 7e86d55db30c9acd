//! Values compared field by field.

mod gap;
mod likeness;
mod list;
mod number;
mod path;
mod text;
mod values;

use base::Stop;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::GaveUp;
use likeness::Budget;
use values::{Id, Shape, Values};

/// Maximum length of all paths of a comparison together, in bytes.
const MAX_PATH_BYTES: usize = 64 << 20;

/// Changed fields, in the order of keys and indices. Serializes as `{path: {previous, current}}`; no path occurs twice.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fields<'v> {
    /// Changes of single fields, items and subtrees.
    pub changes: Vec<FieldChange<'v>>,
}

/// Change of one field.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FieldChange<'v> {
    /// Place of the field, such as `plans[0].price`.
    #[serde(skip)]
    pub path: String,
    /// Previous value; null if the field is new.
    pub previous: &'v Value,
    /// Current value; null if the field is gone.
    pub current: &'v Value,
}

impl Fields<'_> {
    /// Whether the values are the same.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.changes.len()))?;
        for change in &self.changes {
            map.serialize_entry(&change.path, change)?;
        }
        map.end()
    }
}

/// Place where the versions differ, with its nodes. A missing side is absent or null.
struct Difference {
    path: String,
    previous: Option<Id>,
    current: Option<Id>,
    /// Whether both sides are compared further, if they have the same type.
    inside: bool,
}

/// Compares two values by field.
///
/// Values are the same by their meaning: the order of keys, 12 and 12.0, null and absent, and in strings NFC, runs of
/// white space and characters without width make no difference. Numbers are compared exactly. A change of type, an added
/// and a removed subtree are one change each.
///
/// Items of lists are aligned: first equal ones in order, then those with the same `id`, `key`, `sku`, `url`, `slug`,
/// `name` or `title`, then those that are alike. Indices are those of the current version, and of removed items those of
/// the previous one. An item that has moved is removed at one place and added at the other.
///
/// A path joins keys with dots; a key that is empty or contains `.`, `[`, `]`, `"` or `\` is written `["a.b"]`, as a JSON
/// string. The path of the whole value is empty.
///
/// # Errors
///
/// [`GaveUp`] when `stop` is set, or when the values are too large.
pub fn fields<'v>(previous: &'v Value, current: &'v Value, stop: &Stop) -> Result<Fields<'v>, GaveUp> {
    let (values, previous, current) = Values::read(previous, current, stop)?;
    let mut found = Fields::default();
    let mut budget = Budget::default();
    let mut path_bytes = 0;
    let root = Difference { path: String::new(), previous: Some(previous), current: Some(current), inside: true };
    let mut open = if values.are_equal(previous, current) { vec![] } else { vec![root] };
    while let Some(difference) = open.pop() {
        path_bytes += difference.path.len();
        if path_bytes > MAX_PATH_BYTES {
            return Err(GaveUp::TooLarge);
        }
        let mut inner = match difference {
            Difference { ref path, previous: Some(one), current: Some(other), inside: true } => {
                match (&values.get(one).shape, &values.get(other).shape) {
                    (Shape::Object(one), Shape::Object(other)) => members(&values, path, one, other),
                    (Shape::List(one), Shape::List(other)) => {
                        list::Lists { values: &values, old: one, new: other, stop }.differences(path, &mut budget)?
                    }
                    _ => vec![],
                }
            }
            _ => vec![],
        };
        if inner.is_empty() {
            let value = |side: Option<Id>| side.map_or(&Value::Null, |id| values.get(id).value);
            let (previous, current) = (value(difference.previous), value(difference.current));
            found.changes.push(FieldChange { path: difference.path, previous, current });
        }
        inner.reverse();
        open.append(&mut inner);
    }
    Ok(found)
}

/// Compares two values by the keys of the outermost object. The paths are the keys as they are.
///
/// # Errors
///
/// [`GaveUp`] when `stop` is set, or when the values are too large.
pub fn top_level<'v>(previous: &'v Value, current: &'v Value, stop: &Stop) -> Result<Fields<'v>, GaveUp> {
    let (values, one, other) = Values::read(previous, current, stop)?;
    if values.are_equal(one, other) {
        return Ok(Fields::default());
    }
    let changes = match (&values.get(one).shape, &values.get(other).shape) {
        (Shape::Object(one), Shape::Object(other)) => values::union(one, other)
            .filter(|(_, one, other)| !values.same_member(*one, *other))
            .map(|(key, one, other)| {
                let value = |side: Option<Id>| side.map_or(&Value::Null, |id| values.get(id).value);
                FieldChange { path: key.to_owned(), previous: value(one), current: value(other) }
            })
            .collect(),
        _ => vec![FieldChange { path: String::new(), previous, current }],
    };
    Ok(Fields { changes })
}

/// Returns the keys whose values differ.
fn members(values: &Values<'_>, path: &str, one: &[(&str, Id)], other: &[(&str, Id)]) -> Vec<Difference> {
    values::union(one, other)
        .filter(|(_, one, other)| !values.same_member(*one, *other))
        .map(|(key, previous, current)| Difference { path: path::member(path, key), previous, current, inside: true })
        .collect()
}
