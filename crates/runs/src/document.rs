//! Documents of runs, packed to be stored: compressed JSON, in the row when small and as a blob when large.

use kernel::{App, AppError};
use serde_json::value::RawValue;
use store::runs::NewDocument;
use url::Url;
use wire::Document;

use super::deposit::Deposit;
use super::host_of;

/// Compressed size above which a document is stored as a blob, in bytes.
const LARGE: usize = 64 << 10;
/// Zstandard level 1: fast, and most of the gain.
const LEVEL: i32 = 1;

/// Document that is packed and ready to be stored.
pub struct Packed {
    /// JSON for the webhook event.
    pub json: Box<RawValue>,
    body: Option<Vec<u8>>,
    /// Body, when it is stored as a blob.
    pub(super) deposit: Option<Deposit>,
    url: String,
    title: Option<String>,
    description: Option<String>,
    /// Share of the memory budget for bodies, held as long as `json` is.
    room: net::Room,
}

/// Place of a document among the others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) team: &'a str,
    pub(crate) run: &'a str,
    /// Number of the document in its run, from 1.
    pub(crate) seq: i64,
    /// Id of its page.
    pub(crate) page: &'a str,
}

impl Packed {
    /// Serialises the document as JSON and compresses it.
    ///
    /// # Errors
    /// [`AppError::Internal`] when it cannot be serialised or compressed.
    pub fn of(document: &Document, room: net::Room) -> Result<Self, AppError> {
        let text = |key: &str| document.metadata.page.get(key).and_then(|value| value.as_str()).map(str::to_owned);
        let json = serde_json::value::to_raw_value(document).map_err(AppError::internal)?;
        let body = blobs::compress(json.get().as_bytes(), LEVEL).map_err(AppError::internal)?;
        let (url, title, description) = (document.metadata.url.clone(), text("title"), text("description"));
        Ok(Self { json, body: Some(body), deposit: None, url, title, description, room })
    }

    /// Shrinks the reserved memory to what the packed document needs.
    pub(crate) fn shrink_room(&self) {
        self.room.shrink((self.json.get().len() + self.body.as_ref().map_or(0, Vec::len)) as u64);
    }

    /// Stores a large body as a blob. A private one stays in its row: deleting the row erases it at once, and a killed
    /// process leaves nothing behind.
    pub(crate) async fn put_away(&mut self, app: &App, is_private: bool) -> Result<(), AppError> {
        if let Some(body) = self.body.take_if(|body| body.len() > LARGE && !is_private) {
            self.deposit = Some(Deposit::put(app, body).await?);
        }
        Ok(())
    }

    /// Returns the host of the document's URL.
    pub(crate) fn site(&self) -> Option<String> {
        Url::parse(&self.url).ok().as_ref().and_then(host_of)
    }

    /// Builds the row; `site` is the host under which later operations may find the document.
    pub(crate) fn row(&self, place: Place<'_>, site: Option<String>) -> NewDocument {
        NewDocument {
            run_id: place.run.to_owned(),
            seq: place.seq,
            page_id: place.page.to_owned(),
            team_id: place.team.to_owned(),
            site,
            url: self.url.clone(),
            title: self.title.clone(),
            description: self.description.clone(),
            bytes: i64::try_from(self.json.get().len()).unwrap_or(i64::MAX),
            body: self.body.clone(),
            blob: self.deposit.as_ref().map(|deposit| deposit.key().to_owned()),
        }
    }
}
