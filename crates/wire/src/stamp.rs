//! Timestamps on the wire: RFC 3339 in UTC with milliseconds, the format that every client parses.

use base::Timestamp;
use chrono::SecondsFormat;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Formats a timestamp, such as `2026-01-02T03:04:05.678Z`.
#[must_use]
pub fn format_time(time: Timestamp) -> String {
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

pub(crate) fn serialize<S: Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&format_time(*time))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
    Timestamp::deserialize(deserializer)
}

/// Serde functions for an optional timestamp; `None` is null.
pub(crate) mod optional {
    use super::{Deserialize, Deserializer, Serialize, Serializer, Timestamp, format_time};

    #[expect(clippy::ref_option, reason = "the signature that serde calls")]
    pub(crate) fn serialize<S: Serializer>(time: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
        time.map(format_time).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
        Option::deserialize(deserializer)
    }
}
