//! Documents of crawls and batches as they are kept: JSON, compressed, small ones in their row and large ones among the
//! blobs.

use bytes::Bytes;
use serde_json::value::RawValue;
use store::crawls::{NewDocument, StoredDocument};
use tokio::task::spawn_blocking;
use url::Url;
use wire::Document;

use super::host_of;
use crate::{App, AppError};

/// Compressed size from which a document is kept among the blobs.
const LARGE: usize = 64 << 10;
/// Fast, and most of the gain.
const LEVEL: i32 = 1;
/// Longest JSON of one document.
const LONGEST: usize = 1 << 30;

/// A document that is ready to be written down.
pub(crate) struct Packed {
    /// For the webhook.
    pub(crate) json: Box<RawValue>,
    body: Option<Vec<u8>>,
    blob: Option<String>,
    url: String,
    title: Option<String>,
    description: Option<String>,
    /// The share of the budget for bodies in memory, as long as `json` is there.
    _room: net::Room,
}

impl Packed {
    /// Writes the document as JSON and compresses it.
    pub(crate) fn of(document: &Document, room: net::Room) -> Result<Self, AppError> {
        let text = |key: &str| document.metadata.page.get(key).and_then(|value| value.as_str()).map(str::to_owned);
        let json = serde_json::value::to_raw_value(document).map_err(AppError::internal)?;
        let body = zstd::bulk::compress(json.get().as_bytes(), LEVEL).map_err(AppError::internal)?;
        room.shrink((json.get().len() + body.len()) as u64);
        let (url, title, description) = (document.metadata.url.clone(), text("title"), text("description"));
        Ok(Self { json, body: Some(body), blob: None, url, title, description, _room: room })
    }

    /// Puts a large one among the blobs, under a key of its own.
    pub(crate) async fn put_away(&mut self, app: &App, page: &str) -> Result<(), AppError> {
        if let Some(body) = self.body.take_if(|body| body.len() > LARGE) {
            let key = format!("documents/{page}");
            app.blobs.put(&key, Bytes::from(body)).await.map_err(AppError::internal)?;
            self.blob = Some(key);
        }
        Ok(())
    }

    /// The host that it was found at.
    pub(crate) fn site(&self) -> Option<String> {
        Url::parse(&self.url).ok().as_ref().and_then(host_of)
    }

    /// The row of it.
    pub(crate) fn row(&self, place: Place<'_>) -> NewDocument {
        NewDocument {
            crawl_id: place.crawl.to_owned(),
            seq: place.seq,
            page_id: place.page.to_owned(),
            team_id: place.team.to_owned(),
            site: place.site,
            url: self.url.clone(),
            title: self.title.clone(),
            description: self.description.clone(),
            bytes: i64::try_from(self.json.get().len()).unwrap_or(i64::MAX),
            body: self.body.clone(),
            blob: self.blob.clone(),
        }
    }
}

/// Where a document belongs.
pub(crate) struct Place<'a> {
    pub(crate) crawl: &'a str,
    pub(crate) seq: i64,
    pub(crate) page: &'a str,
    pub(crate) team: &'a str,
    /// The host under which later operations may find it.
    pub(crate) site: Option<String>,
}

/// The JSON of documents that were kept, in the same order.
pub(crate) async fn unpack(app: &App, rows: Vec<StoredDocument>) -> Result<Vec<Box<RawValue>>, AppError> {
    let mut bodies = Vec::with_capacity(rows.len());
    for row in rows {
        let limit = usize::try_from(row.bytes).unwrap_or(LONGEST).min(LONGEST);
        let body = match (row.body, row.blob) {
            (Some(body), _) => Bytes::from(body),
            (None, Some(key)) => app.blobs.get(&key).await.map_err(AppError::internal)?.unwrap_or_default(),
            (None, None) => Bytes::new(),
        };
        bodies.push((body, limit));
    }
    let work = move || bodies.into_iter().map(|(body, limit)| read(&body, limit)).collect();
    spawn_blocking(work).await.map_err(AppError::internal)?
}

fn read(body: &[u8], limit: usize) -> Result<Box<RawValue>, AppError> {
    let json = zstd::bulk::decompress(body, limit).map_err(AppError::internal)?;
    let json = String::from_utf8(json).map_err(AppError::internal)?;
    RawValue::from_string(json).map_err(AppError::internal)
}
