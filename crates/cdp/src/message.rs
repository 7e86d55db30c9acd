//! Messages from Chromium. Only the envelope is parsed; parameters and results stay text until a reader parses them
//! with a limit of its own.

use std::borrow::Cow;

use base::json::{self, JsonError};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Size in bytes above which texts are parsed on a blocking thread.
pub(crate) const LARGE: usize = 1 << 20;
/// Size in bytes up to which a message is copied out of its buffer; parts of larger ones share the buffer.
const SHARED: usize = 64 << 10;

/// Unparsed text of a JSON value. Clones share it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raw(Bytes);

/// A message from Chromium.
#[derive(Debug, Default)]
pub(crate) struct Message {
    /// Id of the call that it answers.
    pub(crate) id: Option<u64>,
    /// Name of the event.
    pub(crate) method: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) params: Option<Raw>,
    pub(crate) result: Option<Raw>,
    pub(crate) error: Option<Raw>,
    /// Length in bytes.
    pub(crate) size: usize,
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
    /// Parses the envelope of a message. Returns `None` for invalid JSON; the call concerned then times out.
    pub(crate) fn parse(text: &Bytes) -> Option<Self> {
        let Frame { id, method, session_id, params, result, error } = serde_json::from_slice(text).ok()?;
        let raw = |part: Option<&RawValue>| part.map(|part| Raw::part_of(text, part));
        let (params, result, error) = (raw(params), raw(result), raw(error));
        Some(Self { id, method, session: session_id, params, result, error, size: text.len() })
    }

    /// Parses the envelope, on a blocking thread if the message is large.
    pub(crate) async fn read_apart(text: Bytes) -> Option<Self> {
        if text.len() <= LARGE {
            return Self::parse(&text);
        }
        tokio::task::spawn_blocking(move || Self::parse(&text)).await.ok().flatten()
    }
}

impl Raw {
    fn part_of(text: &Bytes, part: &RawValue) -> Self {
        let part = part.get().as_bytes();
        Self(if text.len() > SHARED { text.slice_ref(part) } else { Bytes::copy_from_slice(part) })
    }

    /// Returns the text.
    pub fn text(&self) -> Cow<'_, str> {
        // Parsed as JSON before, so it is valid UTF-8.
        String::from_utf8_lossy(&self.0)
    }

    /// Returns the length in bytes.
    pub fn size(&self) -> usize {
        self.0.len()
    }

    /// Returns the number of JSON values.
    pub(crate) fn values(&self) -> usize {
        json::size(&self.0).values
    }

    /// Deserializes the text if it holds at most `most` values.
    ///
    /// # Errors
    /// [`JsonError`].
    pub fn read<'a, T: Deserialize<'a>>(&'a self, most: usize) -> Result<T, JsonError> {
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
        let read = |text: &str| Message::parse(&Bytes::copy_from_slice(text.as_bytes()));
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
        let result = Message::parse(&text).unwrap().result.unwrap();
        assert!(text.as_ptr_range().contains(&result.0.as_ptr()));
        assert_eq!(result.size(), SHARED + 2);
    }
}
