//! Parsers for the units and ranges of settings, for `#[serde(deserialize_with = "…")]`. Every crate decodes its own
//! settings, with the same meaning of numbers in all of them.
//!
//! ```
//! use std::time::Duration;
//!
//! #[derive(serde::Deserialize)]
//! #[serde(deny_unknown_fields)]
//! struct Settings {
//!     #[serde(rename = "keep_days", deserialize_with = "base::setting::days")]
//!     keep: Duration,
//! }
//!
//! let settings: Settings = serde_json::from_str(r#"{"keep_days": 2}"#)?;
//! assert_eq!(settings.keep, Duration::from_secs(2 * 24 * 60 * 60));
//! let refused = serde_json::from_str::<Settings>(r#"{"keep_days": 0}"#).err().unwrap();
//! assert!(refused.to_string().contains("must be at least 1"));
//! # Ok::<(), serde_json::Error>(())
//! ```

use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use url::Url;

/// Parses a number of at least 1.
///
/// # Errors
/// Errors of the input, and values out of range, with a message that tells what is expected.
pub fn positive<'de, D, N>(input: D) -> Result<N, D::Error>
where
    D: Deserializer<'de>,
    N: Deserialize<'de> + PartialOrd + From<u8>,
{
    let number = N::deserialize(input)?;
    if number < N::from(1) { Err(D::Error::custom("must be at least 1")) } else { Ok(number) }
}

/// Parses whole seconds, including 0.
///
/// # Errors
/// Errors of the input, and values out of range, with a message that tells what is expected.
pub fn seconds<'de, D: Deserializer<'de>>(input: D) -> Result<Duration, D::Error> {
    u32::deserialize(input).map(|seconds| Duration::from_secs(seconds.into()))
}

/// Parses whole seconds, at least 1.
///
/// # Errors
/// Errors of the input, and values out of range, with a message that tells what is expected.
pub fn some_seconds<'de, D: Deserializer<'de>>(input: D) -> Result<Duration, D::Error> {
    positive::<D, u32>(input).map(|seconds| Duration::from_secs(seconds.into()))
}

/// Parses whole days, at least 1.
///
/// # Errors
/// Errors of the input, and values out of range, with a message that tells what is expected.
pub fn days<'de, D: Deserializer<'de>>(input: D) -> Result<Duration, D::Error> {
    Ok(Duration::from_secs(u64::from(positive::<D, u32>(input)?) * 86_400))
}

/// Parses MiB from 1 to 1024 and returns bytes.
///
/// # Errors
/// Errors of the input, and values out of range, with a message that tells what is expected.
pub fn mib<'de, D: Deserializer<'de>, N: TryFrom<u32>>(input: D) -> Result<N, D::Error> {
    let mib = u32::deserialize(input)?;
    let bytes = (1..=1024).contains(&mib).then(|| N::try_from(mib * 1024 * 1024).ok()).flatten();
    bytes.ok_or_else(|| D::Error::custom("must be between 1 and 1024"))
}

/// Parses MiB and returns bytes.
///
/// # Errors
/// Errors of the input, and values out of range, with a message that tells what is expected.
pub fn any_mib<'de, D: Deserializer<'de>>(input: D) -> Result<u64, D::Error> {
    u32::deserialize(input).map(|mib| u64::from(mib) << 20)
}

/// Parses GiB and returns bytes; `None` for 0, which means no limit.
///
/// # Errors
/// Errors of the input, and values out of range, with a message that tells what is expected.
pub fn gib<'de, D: Deserializer<'de>>(input: D) -> Result<Option<u64>, D::Error> {
    u32::deserialize(input).map(|gib| Some(u64::from(gib) << 30).filter(|bytes| *bytes > 0))
}

/// Parses a path; an empty text means none.
///
/// # Errors
/// Errors of the input.
pub fn path<'de, D: Deserializer<'de>>(input: D) -> Result<Option<PathBuf>, D::Error> {
    let text = String::deserialize(input)?;
    Ok(Some(text.trim()).filter(|text| !text.is_empty()).map(PathBuf::from))
}

/// Parses the base of addresses: an http or https URL that a path can be appended to. An empty text means none.
///
/// # Errors
/// Errors of the input, and other URLs, with a message that tells what is expected.
pub fn base_url<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Url>, D::Error> {
    let text = String::deserialize(input)?;
    if text.trim().is_empty() {
        return Ok(None);
    }
    let is_base = |url: &Url| {
        matches!(url.scheme(), "http" | "https")
            && url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none()
    };
    let url = Url::parse(text.trim()).ok().filter(is_base);
    url.map(Some).ok_or_else(|| D::Error::custom("expected an address such as https://quarry.example.com, or nothing"))
}

/// Parses a list of strings by their `FromStr`.
///
/// # Errors
/// Errors of the input, and values out of range, with a message that tells what is expected.
pub fn list<'de, D, T>(input: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display>,
{
    each(input, |item| {
        item.parse().map_err(|error: T::Err| match error.to_string() {
            error if error.contains(item) => error,
            error => format!("{item}: {error}"),
        })
    })
}

/// Parses a list of strings by `parse`.
///
/// # Errors
/// Errors of the input, and values out of range, with a message that tells what is expected.
pub fn each<'de, D: Deserializer<'de>, T>(
    input: D,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, D::Error> {
    let items = Vec::<String>::deserialize(input)?;
    items.iter().map(|item| parse(item).map_err(D::Error::custom)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_empty_path_is_none() {
        assert_eq!(
            (path(json!(" ")).unwrap(), path(json!(" /etc/lists ")).unwrap()),
            (None, Some("/etc/lists".into()))
        );
    }

    #[test]
    fn addresses_that_a_path_can_follow() {
        let check = |text: &str, expect: Result<Option<&str>, ()>| {
            let found = base_url(json!(text)).map_err(drop);
            assert_eq!(found.as_ref().map(|url| url.as_ref().map(Url::as_str)), expect.as_ref().copied(), "{text}");
        };
        check("", Ok(None));
        check(" https://quarry.example ", Ok(Some("https://quarry.example/")));
        check("http://10.0.0.1:3002/quarry/", Ok(Some("http://10.0.0.1:3002/quarry/")));
        for bad in ["quarry.example", "ftp://h/", "https://u:p@h/", "https://h/?a", "https://h/#a", "//h", "/files"] {
            check(bad, Err(()));
        }
    }
}
