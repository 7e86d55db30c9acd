//! Values of structured data, independent of their syntax.

use std::borrow::Cow;

/// A value of JSON, of an object literal or of a microdata item. Text is borrowed from the page where it can be.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) enum Value<'a> {
    /// Null, undefined, and everything that is not a literal.
    #[default]
    Null,
    Bool(bool),
    /// A number as written: `12.50` is not `12.5`, and `007` may be an article number.
    Number(Cow<'a, str>),
    Text(Cow<'a, str>),
    List(Vec<Value<'a>>),
    Object(Vec<Member<'a>>),
}

/// A member of an object.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Member<'a> {
    pub(crate) name: Cow<'a, str>,
    pub(crate) value: Value<'a>,
}

static NULL: Value<'static> = Value::Null;

impl<'a> Value<'a> {
    /// Returns the member called `name`; null if there is none. The last of several counts, as in JSON.
    pub(crate) fn get(&self, name: &str) -> &Value<'a> {
        self.members().iter().rev().find(|member| member.name == name).map_or(&NULL, |member| &member.value)
    }

    /// Returns the first of the members called `names` that is not null.
    pub(crate) fn first_of(&self, names: &[&str]) -> &Value<'a> {
        names.iter().map(|name| self.get(name)).find(|value| !value.is_null()).unwrap_or(&NULL)
    }

    /// Returns the members of an object; empty for all other values.
    pub(crate) fn members(&self) -> &[Member<'a>] {
        match self {
            Value::Object(members) => members,
            _ => &[],
        }
    }

    /// Returns the items of a list, or the value itself as its only item; empty for null.
    pub(crate) fn items(&self) -> &[Value<'a>] {
        match self {
            Value::List(items) => items,
            Value::Null => &[],
            one => std::slice::from_ref(one),
        }
    }

    /// Returns the text of a text, or of a number as it is written.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Value::Text(text) | Value::Number(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    pub(crate) fn is_object(&self) -> bool {
        matches!(self, Value::Object(_))
    }

    /// Copies what is borrowed.
    pub(crate) fn into_owned(self) -> Value<'static> {
        let own = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        match self {
            Value::Null => Value::Null,
            Value::Bool(flag) => Value::Bool(flag),
            Value::Number(text) => Value::Number(own(text)),
            Value::Text(text) => Value::Text(own(text)),
            Value::List(items) => Value::List(items.into_iter().map(Value::into_owned).collect()),
            Value::Object(members) => {
                let owned = |member: Member<'_>| Member { name: own(member.name), value: member.value.into_owned() };
                Value::Object(members.into_iter().map(owned).collect())
            }
        }
    }
}

#[cfg(test)]
impl Value<'_> {
    /// The value as JSON, to compare it in tests.
    pub(crate) fn json(&self) -> serde_json::Value {
        match self {
            Value::Null => serde_json::Value::Null,
            Value::Bool(flag) => (*flag).into(),
            Value::Number(text) => serde_json::from_str(text).unwrap_or_else(|_| format!("#{text}").into()),
            Value::Text(text) => text.as_ref().into(),
            Value::List(items) => items.iter().map(Value::json).collect(),
            Value::Object(members) => {
                let pairs = members.iter().map(|member| (member.name.to_string(), member.value.json()));
                serde_json::Value::Object(pairs.collect())
            }
        }
    }
}
