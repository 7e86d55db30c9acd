//! Units and bounds of settings, for `#[serde(deserialize_with = "…")]`: every crate reads its own settings, and a number
//! means the same in all of them.
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
use std::str::FromStr;
use std::time::Duration;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// A number of at least 1.
///
/// # Errors
/// Those of the input, and a refusal that says what is expected.
pub fn positive<'de, D, N>(input: D) -> Result<N, D::Error>
where
    D: Deserializer<'de>,
    N: Deserialize<'de> + PartialOrd + From<u8>,
{
    let number = N::deserialize(input)?;
    if number < N::from(1) { Err(D::Error::custom("must be at least 1")) } else { Ok(number) }
}

/// Whole seconds, 0 included.
///
/// # Errors
/// Those of the input, and a refusal that says what is expected.
pub fn seconds<'de, D: Deserializer<'de>>(input: D) -> Result<Duration, D::Error> {
    u32::deserialize(input).map(|seconds| Duration::from_secs(seconds.into()))
}

/// Whole seconds, at least 1.
///
/// # Errors
/// Those of the input, and a refusal that says what is expected.
pub fn some_seconds<'de, D: Deserializer<'de>>(input: D) -> Result<Duration, D::Error> {
    positive::<D, u32>(input).map(|seconds| Duration::from_secs(seconds.into()))
}

/// Whole days, at least 1.
///
/// # Errors
/// Those of the input, and a refusal that says what is expected.
pub fn days<'de, D: Deserializer<'de>>(input: D) -> Result<Duration, D::Error> {
    Ok(Duration::from_secs(u64::from(positive::<D, u32>(input)?) * 86_400))
}

/// MiB, from 1 to 1024; in bytes.
///
/// # Errors
/// Those of the input, and a refusal that says what is expected.
pub fn mib<'de, D: Deserializer<'de>, N: TryFrom<u32>>(input: D) -> Result<N, D::Error> {
    let mib = u32::deserialize(input)?;
    let bytes = (1..=1024).contains(&mib).then(|| N::try_from(mib * 1024 * 1024).ok()).flatten();
    bytes.ok_or_else(|| D::Error::custom("must be between 1 and 1024"))
}

/// MiB; in bytes.
///
/// # Errors
/// Those of the input, and a refusal that says what is expected.
pub fn any_mib<'de, D: Deserializer<'de>>(input: D) -> Result<u64, D::Error> {
    u32::deserialize(input).map(|mib| u64::from(mib) << 20)
}

/// GiB; in bytes, and none for 0, which means no bound.
///
/// # Errors
/// Those of the input, and a refusal that says what is expected.
pub fn gib<'de, D: Deserializer<'de>>(input: D) -> Result<Option<u64>, D::Error> {
    u32::deserialize(input).map(|gib| Some(u64::from(gib) << 30).filter(|bytes| *bytes > 0))
}

/// A list of texts, each read by its `FromStr`.
///
/// # Errors
/// Those of the input, and a refusal that says what is expected.
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

/// A list of texts, each read by `parse`.
///
/// # Errors
/// Those of the input, and a refusal that says what is expected.
pub fn each<'de, D: Deserializer<'de>, T>(
    input: D,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, D::Error> {
    let items = Vec::<String>::deserialize(input)?;
    items.iter().map(|item| parse(item).map_err(D::Error::custom)).collect()
}
