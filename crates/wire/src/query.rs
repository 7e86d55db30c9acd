//! Decoding of query strings. Faults are collected with the names of their parameters, as in bodies.

use std::fmt::Display;
use std::ops::{Bound, RangeBounds};
use std::str::FromStr;

use serde_json::{Map, Value};
use url::form_urlencoded;
use uuid::Uuid;

use crate::error::Invalid;
use crate::read::{self, Field, Fields};

/// Query parameters of an endpoint.
///
/// ```
/// use wire::{QueryParams as _, ResultsQuery};
///
/// let query = ResultsQuery::decode("skip=20&utm_source=x")?;
/// assert_eq!(query, ResultsQuery { skip: Some(20), limit: None });
/// let invalid = ResultsQuery::decode("skip=x&limit=0").unwrap_err();
/// assert_eq!(invalid.message, "`skip` must be a whole number; `limit` must be a whole number of at least 1");
/// # Ok::<(), wire::Invalid>(())
/// ```
pub trait QueryParams: Sized {
    /// Decodes a query string without its question mark. The first value of a repeated parameter counts; unknown
    /// parameters are ignored.
    ///
    /// # Errors
    /// [`Invalid`] with every fault, each with the name of its parameter.
    fn decode(query: &str) -> Result<Self, Invalid>;
}

/// Decodes a query string with `read`; every value is a string.
pub(crate) fn decode<T>(query: &str, read: impl FnOnce(&mut Fields<'_>) -> Option<T>) -> Result<T, Invalid> {
    let mut values = Map::new();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        values.entry(name).or_insert_with(|| Value::String(value.into_owned()));
    }
    read::body(Value::Object(values), |fields| {
        let decoded = read(fields);
        fields.ignore_rest();
        decoded
    })
}

impl Field<'_> {
    /// Returns the field, or `None` for an empty string: some parameters may be present without a value.
    pub(crate) fn filled(self) -> Option<Self> {
        (self.value != "").then_some(self)
    }

    /// Reads a whole number from a string.
    pub(crate) fn digits<N: FromStr + PartialOrd + Display>(self, range: impl RangeBounds<N>) -> Option<N> {
        self.parse(|text| match text.parse() {
            Ok(number) if range.contains(&number) => Ok(number),
            _ => Err(format!("must be a whole number{}", bounds(&range))),
        })
    }

    /// Reads an id from a string.
    pub(crate) fn id(self) -> Option<Uuid> {
        self.parse(|text| text.parse().map_err(|_| "must be an id".to_owned()))
    }
}

fn bounds<N: Display>(range: &impl RangeBounds<N>) -> String {
    match (range.start_bound(), range.end_bound()) {
        (Bound::Included(least), Bound::Included(most)) => format!(" from {least} to {most}"),
        (Bound::Included(least), _) => format!(" of at least {least}"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_decoded_and_the_first_counts() {
        let check = |query: &str, want: Option<&str>| {
            let got = decode(query, |fields| Some(fields.take("a").and_then(|field| field.text(0..=9))));
            assert_eq!(got.unwrap().as_deref(), want, "{query}");
        };
        check("a=1&a=2", Some("1"));
        check("b=0&%61=x%20y+z", Some("x y z"));
        check("a", Some(""));
        check("", None);
        check("A=1&a.b=2", None);
    }

    #[test]
    fn numbers_ids_and_empty_values() {
        let check = |query: &str, want: Result<Option<u32>, &str>| {
            let got = decode(query, |fields| Some(fields.take("n").and_then(|field| field.digits(1..=9))));
            assert_eq!(got.map_err(|invalid| invalid.message), want.map_err(str::to_owned), "{query}");
        };
        check("n=9", Ok(Some(9)));
        check("", Ok(None));
        for bad in ["n=0", "n=10", "n=-1", "n=1.0", "n=x", "n=", "n=99999999999"] {
            check(bad, Err("`n` must be a whole number from 1 to 9"));
        }
        let filled = decode("n=", |fields| Some(fields.take("n").and_then(Field::filled).is_none()));
        assert_eq!(filled, Ok(true));
        let id = decode("n=1", |fields| fields.need("n").and_then(Field::id)).unwrap_err();
        assert_eq!(id.message, "`n` must be an id");
    }

    #[test]
    fn every_fault_is_reported() {
        let invalid = decode("a=x", |fields| {
            let first: Option<u8> = fields.need("a").and_then(|field| field.digits(..));
            let second: Option<u8> = fields.need("b").and_then(|field| field.digits(..));
            Some((first?, second?))
        });
        assert_eq!(invalid.unwrap_err().message, "`a` must be a whole number; `b` is required");
    }
}
