//! Opening a store by its address.

use std::sync::Arc;
use std::time::Duration;

use base::Secret;
use object_store::aws::AmazonS3Builder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{BackoffConfig, ClientOptions, RetryConfig};
use url::Url;

use crate::condition::{Condition, StoreLocation};
use crate::{BlobError, Blobs};

/// Connect timeout of an S3 store.
const MAX_CONNECT: Duration = Duration::from_millis(1200);
/// Timeout of one request, including the body.
const MAX_REQUEST: Duration = Duration::from_secs(30);

/// Options of an S3-compatible store. The defaults are those of Amazon S3.
#[derive(Debug, Clone, Default)]
pub struct S3 {
    /// Endpoint of another vendor, such as `http://minio:9000`. Plain HTTP is used only if it is given here.
    pub endpoint: Option<String>,
    /// Region. Default: `us-east-1`.
    pub region: Option<String>,
    /// Access key. Without one, the credentials of the machine's role are used.
    pub access_key_id: Option<String>,
    /// Secret of the access key.
    pub secret_access_key: Option<Secret>,
    /// Session token of temporary credentials.
    pub session_token: Option<Secret>,
    /// Whether the bucket is part of the host name instead of the path.
    pub virtual_hosted: bool,
}

impl Blobs {
    /// Opens `file:///absolute/folder` (created if missing) or `s3://bucket/prefix` with the settings of
    /// [`S3::default`]. A bucket needs the permission `s3:ListBucket` for the prefix in addition to those for objects,
    /// because blobs are listed.
    ///
    /// # Errors
    /// [`BlobError::Address`] for an invalid address. An S3 store is not contacted here.
    pub fn open(url: &str) -> Result<Self, BlobError> {
        Self::open_with(url, &S3::default())
    }

    /// Opens a store like [`Blobs::open`], with options for `s3://` addresses.
    ///
    /// # Errors
    /// Those of [`Blobs::open`].
    pub fn open_with(url: &str, s3: &S3) -> Result<Self, BlobError> {
        let refused = |reason: String| BlobError::Address { url: url.to_owned(), reason };
        let parsed = Url::parse(url).map_err(|error| refused(error.to_string()))?;
        match parsed.scheme() {
            "file" => local(&parsed).map_err(refused),
            "s3" => bucket(&parsed, s3).map_err(refused),
            other => Err(refused(format!("scheme {other} is neither file nor s3"))),
        }
    }
}

/// Opens a folder. Writes go to a temporary file that is renamed. They are not synced to the disk: `content` verifies
/// every body, so a write torn by a power failure counts as missing and the page is fetched again.
fn local(url: &Url) -> Result<Blobs, String> {
    let folder = url.to_file_path().map_err(|()| "it is not an absolute folder".to_owned())?;
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let store = LocalFileSystem::new_with_prefix(&folder).map_err(|error| error.to_string())?;
    let condition = Condition::new(StoreLocation::Folder(folder));
    Ok(Blobs { store: Arc::new(store), signer: None, prefix: Path::default(), is_ordered: false, condition })
}

fn bucket(url: &Url, s3: &S3) -> Result<Blobs, String> {
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
        return Err("credentials and options go into the settings, not into the address".to_owned());
    }
    let name = url.host_str().filter(|host| !host.is_empty()).ok_or("the bucket is missing")?;
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(name)
        .with_region(s3.region.as_deref().unwrap_or("us-east-1"))
        .with_virtual_hosted_style_request(s3.virtual_hosted)
        .with_retry(retries())
        // Blobs are deleted one at a time, and not every compatible store supports bulk deletes.
        .with_disable_bulk_delete(true);
    if let Some(endpoint) = &s3.endpoint {
        builder = builder.with_endpoint(endpoint.trim_end_matches('/'));
    }
    let allow_http = s3.endpoint.as_ref().is_some_and(|endpoint| endpoint.starts_with("http://"));
    builder = builder.with_client_options(
        ClientOptions::new().with_allow_http(allow_http).with_connect_timeout(MAX_CONNECT).with_timeout(MAX_REQUEST),
    );
    if let Some(id) = &s3.access_key_id {
        builder = builder.with_access_key_id(id);
    }
    if let Some(secret) = &s3.secret_access_key {
        builder = builder.with_secret_access_key(secret.expose());
    }
    if let Some(token) = &s3.session_token {
        builder = builder.with_token(token.expose());
    }
    let prefix = Path::from_url_path(url.path()).map_err(|error| error.to_string())?;
    let store = Arc::new(builder.build().map_err(|error| error.to_string())?);
    let endpoint = s3.endpoint.clone().unwrap_or_else(|| "Amazon S3".to_owned());
    let condition = Condition::new(StoreLocation::Bucket { name: name.to_owned(), endpoint });
    Ok(Blobs { store: store.clone(), signer: Some(store), prefix, is_ordered: true, condition })
}

/// Returns a short back-off for throttled requests, within the two seconds after which a caller must learn that the
/// store is away.
fn retries() -> RetryConfig {
    let backoff =
        BackoffConfig { init_backoff: Duration::from_millis(100), max_backoff: Duration::from_millis(400), base: 2.0 };
    RetryConfig { backoff, max_retries: 3, retry_timeout: Duration::from_secs(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_cannot_be_used_say_why() {
        let check = |url: &str, part: &str| {
            let message = Blobs::open(url).unwrap_err().to_string();
            assert!(message.contains(part), "{url}: {message}");
        };
        check("", "relative URL");
        check("./blobs", "relative URL");
        check("ftp://host/x", "neither file nor s3");
        check("file://host/x", "not an absolute folder");
        check("s3://key:secret@bucket/x", "go into the settings");
        check("s3:///x", "bucket is missing");
    }

    #[test]
    fn settings_do_not_print_secrets() {
        let s3 = S3 { secret_access_key: Some(Secret::new("hush")), ..S3::default() };
        assert!(!format!("{s3:?}").contains("hush"));
    }
}
