//! Comparisons of what was seen with what the case file wants.

use serde_json::Value;

use super::evidence::Evidence;

/// Result of an expectation: the reason if it was violated.
pub(crate) type Verdict = Result<(), String>;

pub(crate) fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice)
}

pub(crate) fn words(value: &Value) -> impl Iterator<Item = &str> {
    items(value).iter().filter_map(Value::as_str)
}

pub(crate) fn said(fine: bool, failure: &str) -> Verdict {
    if fine { Ok(()) } else { Err(failure.to_owned()) }
}

pub(crate) fn matches_value(have: &Value, want: &Value) -> Verdict {
    said(have == want, &format!("it is {have}, expected {want}"))
}

pub(crate) fn exactly(have: usize, want: &Value) -> Verdict {
    matches_value(&have.into(), want)
}

/// Adds the checked text to a failure.
pub(crate) fn named(verdict: Verdict, text: &str) -> Verdict {
    verdict.map_err(|failure| format!("{failure} in {:?}", text.chars().take(200).collect::<String>()))
}

pub(crate) fn at_most(have: impl TryInto<Number>, want: &Value, unit: &str) -> Verdict {
    let have = have.try_into().map_or(f64::INFINITY, |number| number.0);
    let most = want.as_f64().unwrap_or(f64::NEG_INFINITY);
    said(have <= most, &format!("it is {have:.2} {unit}, expected at most {most} {unit}"))
}

/// A number to compare; larger than any limit of the case file if it does not fit.
pub(crate) struct Number(f64);

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self(value)
    }
}

impl TryFrom<usize> for Number {
    type Error = std::num::TryFromIntError;

    fn try_from(value: usize) -> Result<Self, Self::Error> {
        u32::try_from(value).map(|value| Self(value.into()))
    }
}

impl TryFrom<u64> for Number {
    type Error = std::num::TryFromIntError;

    fn try_from(value: u64) -> Result<Self, Self::Error> {
        u32::try_from(value).map(|value| Self(value.into()))
    }
}

pub(crate) fn lacks(text: &str, needles: &Value, place: &str) -> Verdict {
    match words(needles).find(|needle| text.contains(needle)) {
        Some(needle) => Err(format!("{place} holds {needle:?}")),
        None => Ok(()),
    }
}

pub(crate) fn traceless<'a>(seen: &Evidence, mut needles: impl Iterator<Item = &'a str>, places: &[&str]) -> Verdict {
    let found = needles.find_map(|needle| seen.find(needle, places).map(|place| (needle, place)));
    found.map_or(Ok(()), |(needle, place)| Err(format!("{place} holds {needle:?}")))
}
