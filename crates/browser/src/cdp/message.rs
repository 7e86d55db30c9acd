//! What Chromium writes into the pipe. Only the frame of a message is read by us; what is in it stays text until somebody
//! wants to know, who says then how much of it may be.

use std::borrow::Cow;

use base::json::{self, JsonError};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Larger texts are read beside the network threads.
pub(super) const LARGE: usize = 1 << 20;
/// What a message shares with others: smaller ones are copied out of the buffer that they came in.
const SHARED: usize = 64 << 10;

/// A JSON value as its text. Clones share it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Raw(Bytes);

/// A message of Chromium.
#[derive(Debug, Default)]
pub(super) struct Message {
    /// The number of the call that it answers.
    pub(super) id: Option<u64>,
    /// The name of an event.
    pub(super) method: Option<String>,
    pub(super) session: Option<String>,
    pub(super) params: Option<Raw>,
    pub(super) result: Option<Raw>,
    pub(super) error: Option<Raw>,
    /// Its length in bytes.
    pub(super) size: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Frame<'a> {
    id: Option<u64>,
    method: Option<String>,
    session_id: Option<String>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl Message {
    /// Reads the frame of a message. None for what is no JSON: it concerns nobody, and its call ends with its deadline.
    pub(super) fn read(text: &Bytes) -> Option<Self> {
        let Frame { id, method, session_id, params, result, error } = serde_json::from_slice(text).ok()?;
        let raw = |part: Option<&RawValue>| part.map(|part| Raw::part_of(text, part));
        let (params, result, error) = (raw(params), raw(result), raw(error));
        Some(Self { id, method, session: session_id, params, result, error, size: text.len() })
    }

    /// As [`Message::read`]; a large one is read beside the network threads.
    pub(super) async fn read_apart(text: Bytes) -> Option<Self> {
        if text.len() <= LARGE {
            return Self::read(&text);
        }
        tokio::task::spawn_blocking(move || Self::read(&text)).await.ok().flatten()
    }
}

impl Raw {
    fn part_of(text: &Bytes, part: &RawValue) -> Self {
        let part = part.get().as_bytes();
        Self(if text.len() > SHARED { text.slice_ref(part) } else { Bytes::copy_from_slice(part) })
    }

    /// Its text.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        // It was read as JSON, and so is UTF-8.
        String::from_utf8_lossy(&self.0)
    }

    /// Its length in bytes.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// How many values it holds.
    pub(super) fn values(&self) -> usize {
        json::size(&self.0).values
    }

    /// Reads it, if it holds no more than so many values.
    ///
    /// # Errors
    /// See [`JsonError`].
    pub(crate) fn read<'a, T: Deserialize<'a>>(&'a self, most: usize) -> Result<T, JsonError> {
        json::read(&self.0, most)
    }
}

impl From<serde_json::Value> for Raw {
    fn from(value: serde_json::Value) -> Self {
        Self(value.to_string().into())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn only_the_frame_is_read() {
        let read = |text: &str| Message::read(&Bytes::copy_from_slice(text.as_bytes()));
        let answer = read(r#"{"id":7,"result":{"x": [1,  "\ud800"]},"sessionId":"s"}"#).unwrap();
        assert_eq!((answer.id, answer.session.as_deref()), (Some(7), Some("s")));
        assert_eq!(answer.result.unwrap().text(), r#"{"x": [1,  "\ud800"]}"#);
        let event = read(r#"{"method":"A.b","params":{"y":1}}"#).unwrap();
        assert_eq!((event.id, event.method.as_deref()), (None, Some("A.b")));
        assert_eq!(event.params.unwrap().read::<Value>(2).unwrap(), json!({"y": 1}));
        assert!(read("{").is_none() && read("[]").is_none() && read("{\"id\":-1}").is_none());
    }

    #[test]
    fn a_large_part_is_not_copied() {
        let text = Bytes::from(json!({"id": 1, "result": "x".repeat(SHARED)}).to_string());
        let result = Message::read(&text).unwrap().result.unwrap();
        assert!(text.as_ptr_range().contains(&result.0.as_ptr()));
        assert_eq!(result.len(), SHARED + 2);
    }
}
