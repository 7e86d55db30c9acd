//! Values of a sample, bounded during deserialization: they are untrusted input from the page.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use serde::de::{DeserializeOwned, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::color::Color;

/// Limit on one text, in bytes; the rest is cut off.
const MAX_TEXT: usize = 20_000;
/// Limit on lengths and other numbers, in either direction.
const MAX_LENGTH: f64 = 1e6;

/// A text; values of other types are read as empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text(String);

/// A length in CSS pixels, or another number; values of other types are read as 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd)]
pub struct Number(f64);

/// A colour, or `None` if the value is not a visible colour.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Paint(pub Option<Color>);

/// The first `MAX` valid members of a list; invalid ones are skipped.
#[derive(Debug, Clone, PartialEq)]
pub struct List<T, const MAX: usize>(Vec<T>);

impl Number {
    /// Returns the value: finite, between minus and plus one million.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(text[..text.floor_char_boundary(MAX_TEXT)].to_owned())
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<T, const MAX: usize> Deref for List<T, MAX> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T, const MAX: usize> Default for List<T, MAX> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Value::deserialize(from)?.as_str().map(Self::from).unwrap_or_default())
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let number = Value::deserialize(from)?.as_f64().filter(|number| number.is_finite());
        Ok(Self(number.unwrap_or_default().clamp(-MAX_LENGTH, MAX_LENGTH)))
    }
}

impl<'de> Deserialize<'de> for Paint {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self(Value::deserialize(from)?.as_str().and_then(Color::parse)))
    }
}

impl<'de, T: DeserializeOwned, const MAX: usize> Deserialize<'de> for List<T, MAX> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(Members(PhantomData))
    }
}

struct Members<T, const MAX: usize>(PhantomData<T>);

impl<'de, T: DeserializeOwned, const MAX: usize> Visitor<'de> for Members<T, MAX> {
    type Value = List<T, MAX>;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
        let mut found = Vec::new();
        while let Some(value) = from.next_element::<Value>()? {
            if found.len() < MAX
                && let Ok(member) = T::deserialize(value)
            {
                found.push(member);
            }
        }
        Ok(List(found))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn bounds() {
        let list: List<Number, 3> = serde_json::from_value(json!([1.5, "x", -1e300, 4])).unwrap();
        assert_eq!(list.iter().map(|number| number.get()).collect::<Vec<_>>(), [1.5, 0.0, -1e6]);
        let text: Text = serde_json::from_value(json!("ö".repeat(MAX_TEXT))).unwrap();
        assert_eq!(text.len(), MAX_TEXT);
        assert_eq!(serde_json::from_value::<Text>(json!([1])).unwrap(), Text::default());
        assert_eq!(serde_json::from_value::<Paint>(json!("#12345")).unwrap(), Paint(None));
        assert_eq!(serde_json::from_value::<Paint>(json!({})).unwrap(), Paint(None));
    }
}
