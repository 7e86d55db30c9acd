//! Both versions of a value as nodes, numbered so that equal ones have the same number.

use std::borrow::Cow;
use std::collections::HashMap;
use std::iter::from_fn;

use base::Stop;
use serde_json::Value;

use super::number::Number;
use super::text::canonical;
use crate::GaveUp;

/// Maximum number of nodes of both versions together.
const MAX_VALUES: usize = 1_000_000;

/// Place of a node in [`Values`].
pub(super) type Id = usize;

/// Nodes of both versions. Children come after their parents.
pub(super) struct Values<'v> {
    nodes: Vec<Node<'v>>,
}

/// A value.
pub(super) struct Node<'v> {
    pub(super) value: &'v Value,
    /// Same number, same value.
    pub(super) class: u32,
    pub(super) shape: Shape<'v>,
}

/// Parts of a value.
pub(super) enum Shape<'v> {
    Scalar,
    List(Vec<Id>),
    /// Members that are not null, by key.
    Object(Vec<(&'v str, Id)>),
}

/// Canonical form of a value. Equal values have equal forms.
#[derive(PartialEq, Eq, Hash)]
enum CanonicalValue<'v> {
    Null,
    Bool(bool),
    Number(Number),
    Text(Cow<'v, str>),
    /// Classes of the items that are not null.
    List(Vec<u32>),
    Object(Vec<(&'v str, u32)>),
}

impl<'v> Values<'v> {
    /// Reads both versions and returns their roots as well. Does not recurse: values may be nested to any depth.
    pub(super) fn read(previous: &'v Value, current: &'v Value, stop: &Stop) -> Result<(Self, Id, Id), GaveUp> {
        let mut nodes = vec![Node::new(previous), Node::new(current)];
        let mut next = 0;
        while next < nodes.len() {
            let shape = Shape::read(nodes[next].value, &mut nodes)?;
            nodes[next].shape = shape;
            next += 1;
        }
        let mut values = Self { nodes };
        values.classify();
        if stop.is_set() { Err(GaveUp::Stopped) } else { Ok((values, 0, 1)) }
    }

    fn classify(&mut self) {
        let mut classes: HashMap<CanonicalValue<'v>, u32> = HashMap::from([(CanonicalValue::Null, 0)]);
        for id in (0..self.nodes.len()).rev() {
            let meaning = self.meaning(id);
            let next = classes.len() as u32;
            self.nodes[id].class = *classes.entry(meaning).or_insert(next);
        }
    }

    /// Returns the meaning of a node whose children have their classes.
    fn meaning(&self, id: Id) -> CanonicalValue<'v> {
        let node = &self.nodes[id];
        match (&node.shape, node.value) {
            (Shape::List(items), _) => CanonicalValue::List(
                items.iter().map(|&item| self.nodes[item].class).filter(|&class| class != 0).collect(),
            ),
            (Shape::Object(members), _) => {
                CanonicalValue::Object(members.iter().map(|&(key, member)| (key, self.nodes[member].class)).collect())
            }
            (Shape::Scalar, Value::Bool(value)) => CanonicalValue::Bool(*value),
            (Shape::Scalar, Value::Number(number)) => CanonicalValue::Number(Number::of(number)),
            (Shape::Scalar, Value::String(text)) => CanonicalValue::Text(canonical(text)),
            (Shape::Scalar, _) => CanonicalValue::Null,
        }
    }

    pub(super) fn get(&self, id: Id) -> &Node<'v> {
        &self.nodes[id]
    }

    pub(super) fn are_equal(&self, one: Id, other: Id) -> bool {
        self.nodes[one].class == self.nodes[other].class
    }

    /// Whether a member has the same value on both sides, or is absent from both.
    pub(super) fn same_member(&self, one: Option<Id>, other: Option<Id>) -> bool {
        match (one, other) {
            (Some(one), Some(other)) => self.are_equal(one, other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }
}

impl<'v> Node<'v> {
    fn new(value: &'v Value) -> Self {
        Self { value, class: 0, shape: Shape::Scalar }
    }
}

impl<'v> Shape<'v> {
    fn read(value: &'v Value, nodes: &mut Vec<Node<'v>>) -> Result<Self, GaveUp> {
        let children = value.as_array().map_or(0, Vec::len) + value.as_object().map_or(0, serde_json::Map::len);
        if nodes.len() + children > MAX_VALUES {
            return Err(GaveUp::TooLarge);
        }
        let mut add = |value| {
            nodes.push(Node::new(value));
            nodes.len() - 1
        };
        Ok(match value {
            Value::Array(items) => Self::List(items.iter().map(add).collect()),
            Value::Object(members) => {
                let known = members.iter().filter(|(_, value)| !value.is_null());
                let mut members: Vec<_> = known.map(|(key, value)| (key.as_str(), add(value))).collect();
                members.sort_unstable_by_key(|&(key, _)| key);
                Self::Object(members)
            }
            _ => Self::Scalar,
        })
    }
}

/// Returns the keys of two objects in order, each with its node on both sides.
pub(super) fn union<'a, 'v>(
    one: &'a [(&'v str, Id)],
    other: &'a [(&'v str, Id)],
) -> impl Iterator<Item = (&'v str, Option<Id>, Option<Id>)> + 'a {
    let (mut left, mut right) = (one.iter().peekable(), other.iter().peekable());
    from_fn(move || {
        let key = match (left.peek(), right.peek()) {
            (Some((one, _)), Some((other, _))) => *one.min(other),
            (Some((key, _)), None) | (None, Some((key, _))) => key,
            (None, None) => return None,
        };
        let previous = left.next_if(|(found, _)| *found == key).map(|&(_, id)| id);
        let current = right.next_if(|(found, _)| *found == key).map(|&(_, id)| id);
        Some((key, previous, current))
    })
}
