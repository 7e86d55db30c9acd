//! Undecoded responses.

use bytes::Bytes;
use http::HeaderMap;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Error, Refusal, Result};

/// Response of any status.
#[derive(Debug, Clone, Default)]
pub struct Raw {
    /// HTTP status.
    pub status: u16,
    /// Response headers.
    pub headers: HeaderMap,
    /// Complete response body.
    pub body: Bytes,
}

impl Raw {
    /// Returns the body as text; invalid UTF-8 is replaced.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Returns the body as JSON, or null if it is not JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Decodes the body of a 200.
    ///
    /// # Errors
    /// [`Error::Refused`] for any other status, [`Error::Unexpected`] for a body outside the contract.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T> {
        let status = self.status;
        let unexpected = |source| Error::Unexpected { status, source };
        if status == 200 {
            return serde_json::from_slice(&self.body).map_err(unexpected);
        }
        let body = serde_json::from_slice(&self.body).map_err(unexpected)?;
        Err(Error::Refused(Box::new(Refusal { status, body })))
    }
}
