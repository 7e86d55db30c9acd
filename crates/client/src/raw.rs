//! An answer as it came.

use bytes::Bytes;
use http::HeaderMap;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Error, Refusal, Result};

/// An answer of any status.
#[derive(Debug, Clone, Default)]
pub struct Raw {
    /// The HTTP status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Bytes,
}

impl Raw {
    /// The body as text; what is not UTF-8 is replaced.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON; null when it is not JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The body of a 200.
    ///
    /// # Errors
    /// [`Error::Refused`] for another status, [`Error::Unexpected`] for a body that the contract does not know.
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
