//! Calls from clients. Only the envelope is parsed; parameters are passed on as the client wrote them unless a check
//! has to read them.

use std::borrow::Cow;

use base::json::{self, JsonError, MAX_VALUES};
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

/// First id of the relay's own calls; clients must use smaller ones.
pub(super) const FIRST_OWN_CALL: u64 = 1 << 53;

/// A call from a client.
pub(super) struct Call<'a> {
    pub(super) id: u64,
    pub(super) method: String,
    pub(super) params: Params<'a>,
    /// Session; `None` is the browser itself.
    pub(super) session: Option<String>,
}

/// Parameters of a call.
pub(super) struct Params<'a> {
    text: Option<&'a RawValue>,
    /// Parsed parameters, once a check has read them.
    read: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Frame<'a> {
    id: u64,
    method: String,
    session_id: Option<String>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

impl<'a> Call<'a> {
    /// Parses a call; `None` if it does not follow the protocol.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let Frame { id, method, session_id, params } = serde_json::from_str(text).ok()?;
        let params = params.filter(|params| params.get() != "null");
        let is_object = params.is_none_or(|params| params.get().starts_with('{'));
        let session = session_id.filter(|id| !id.is_empty());
        (id < FIRST_OWN_CALL && is_object).then_some(Self { id, method, params: params.into(), session })
    }
}

impl<'a> From<Option<&'a RawValue>> for Params<'a> {
    fn from(text: Option<&'a RawValue>) -> Self {
        Self { text, read: None }
    }
}

impl Params<'_> {
    /// Parses the parameters. From then on the call is sent with the parsed parameters, including changes.
    ///
    /// # Errors
    /// A message for the client if they are invalid or have too many values.
    pub(super) fn read(&mut self) -> Result<&mut Map<String, Value>, String> {
        let read = match self.read.take() {
            Some(read) => read,
            None => self.text.map_or(Ok(Map::new()), parse)?,
        };
        Ok(self.read.insert(read))
    }

    /// Returns a string parameter.
    ///
    /// # Errors
    /// Errors of [`Params::read`].
    pub(super) fn text(&mut self, key: &str) -> Result<Option<&str>, String> {
        Ok(self.read()?.get(key).and_then(Value::as_str))
    }

    /// Returns the parameters to send.
    pub(super) fn written(&self) -> Cow<'_, RawValue> {
        match (&self.read, self.text) {
            (None, Some(text)) => Cow::Borrowed(text),
            // Serializing a map cannot fail.
            (read, _) => Cow::Owned(to_raw_value(read.as_ref().unwrap_or(&Map::new())).unwrap_or_default()),
        }
    }

    /// Returns the length of the client's text, in bytes.
    pub(super) fn len(&self) -> usize {
        self.text.map_or(0, |text| text.get().len())
    }
}

fn parse(text: &RawValue) -> Result<Map<String, Value>, String> {
    json::read(text.get().as_bytes(), MAX_VALUES).map_err(|error| match error {
        JsonError::Values(_) | JsonError::Depth => format!("the parameters of this call hold {error}"),
        JsonError::Malformed(_) => "the parameters of this call are not an object in Unicode".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_are_read() {
        let call = Call::read(r#"{"id":1,"method":"Page.enable","sessionId":"s"}"#).unwrap();
        assert_eq!((call.id, call.method.as_str(), call.session.as_deref()), (1, "Page.enable", Some("s")));
        let mut call = Call::read(r#"{"id":2,"method":"A.b","params":{"x":1},"sessionId":""}"#).unwrap();
        assert_eq!((call.params.read().unwrap().len(), call.session), (1, None));
        assert!(Call::read(r#"{"id":2,"method":"A.b","params":null,"sessionId":null}"#).is_some());
        for garbled in
            ["", "1", "[]", "{}", r#"{"id":1}"#, r#"{"id":-1,"method":"A.b"}"#, r#"{"id":1,"method":"A","params":[]}"#]
        {
            assert!(Call::read(garbled).is_none(), "{garbled}");
        }
        assert!(Call::read(&format!(r#"{{"id":{FIRST_OWN_CALL},"method":"A.b"}}"#)).is_none());
    }

    #[test]
    fn what_nobody_looks_at_is_passed_as_it_is() {
        let passed = |params: &Params<'_>| params.written().get().to_owned();
        let text = r#"{"id":1,"method":"A.b","params":{ "a" : 1.0, "a": "\ud800", "b": [ ] }}"#;
        let mut call = Call::read(text).unwrap();
        assert_eq!(passed(&call.params), r#"{ "a" : 1.0, "a": "\ud800", "b": [ ] }"#);
        assert_eq!(call.params.read().unwrap_err(), "the parameters of this call are not an object in Unicode");
        let mut call = Call::read(r#"{"id":1,"method":"A.b","params":{"a":1,"a":2}}"#).unwrap();
        assert_eq!(call.params.read().unwrap().insert("c".to_owned(), json!(3)), None);
        assert_eq!(passed(&call.params), r#"{"a":2,"c":3}"#);
        assert_eq!(passed(&Call::read(r#"{"id":1,"method":"A.b"}"#).unwrap().params), "{}");
    }

    #[test]
    fn parameters_with_too_many_values_can_be_passed_but_not_read() {
        let text = json!({ "id": 1, "method": "A.b", "params": { "a": vec![0; MAX_VALUES] } }).to_string();
        let mut call = Call::read(&text).unwrap();
        assert!(call.params.written().get().len() > MAX_VALUES);
        assert_eq!(call.params.read().unwrap_err(), "the parameters of this call hold more than 120000 JSON values");
    }
}
