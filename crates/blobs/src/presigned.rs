//! Presigned URLs.

use std::time::Duration;

use object_store::signer::{Method, SignedUrlOptions};
use url::Url;

use crate::{BlobError, Blobs, failed};

impl Blobs {
    /// Returns a presigned URL at which anybody can GET the blob for this time; `None` for a folder. `headers` are
    /// response headers that S3 can set by URL: `content-type`, `content-disposition`, `cache-control`. The store is
    /// not contacted, so the blob may be missing.
    ///
    /// # Errors
    /// [`BlobError::Key`], and [`BlobError::Store`] when there are no credentials to sign with.
    pub async fn presigned(
        &self,
        key: &str,
        valid: Duration,
        headers: &[(&str, &str)],
    ) -> Result<Option<Url>, BlobError> {
        let path = self.path(key)?;
        let Some(signer) = &self.signer else { return Ok(None) };
        let query = headers.iter().map(|(name, value)| (format!("response-{name}"), *value));
        let options = SignedUrlOptions::new().with_query(query);
        let url = signer.signed_url_opts(Method::GET, &path, valid, &options).await;
        url.map(Some).map_err(|source| failed("sign the address of", key, source))
    }
}
