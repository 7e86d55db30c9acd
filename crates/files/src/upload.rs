//! Uploads: a place is created first, its content is sent to a signed URL, and then it is read once.

use std::time::Duration;

use base::{Timestamp, new_id};
use bytes::Bytes;
use store::files::{self as rows, File as Row, OfKind, Unread};
use store::{Conn, StoreError};
use uuid::Uuid;

use crate::{Files, FilesError, NewFile, UploadLink, blob_key};

/// Lifetime of an upload URL and of the uploaded file.
pub const UPLOAD_LIFE: Duration = Duration::from_secs(15 * 60);

/// Kind of uploads among the files.
const KIND: &str = "upload";
/// Limit of rows that are read to check the limits of a team.
const MAX_ROWS: i64 = 10_000;

/// Announced upload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// Id of the team that may read it.
    pub team: String,
    /// File name. Unsafe characters become `_`.
    pub name: String,
    /// Content type. An invalid one becomes `application/octet-stream`.
    pub content_type: String,
    /// Byte limit.
    pub max_bytes: u64,
}

/// Place for an upload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Id by which the file is read.
    pub id: Uuid,
    /// Signed upload URL, which works for anybody.
    pub url: String,
    /// Time of expiry.
    pub expires_at: Timestamp,
}

/// Result of looking up an upload URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Slot {
    /// The place is free.
    Free {
        /// Byte limit.
        max_bytes: u64,
        /// Id of the team.
        team: String,
    },
    /// The URL has a valid signature, but it has expired or was used.
    Gone,
    /// The signature of the URL is invalid.
    Unknown,
}

/// Uploaded file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// File name.
    pub name: String,
    /// Content type, as announced.
    pub content_type: String,
    /// Content.
    pub bytes: Bytes,
}

impl Files {
    /// Creates a place for an upload of at most [`Settings::max_bytes`](crate::Settings::max_bytes), which is kept for
    /// [`UPLOAD_LIFE`]. `address` is the address at which the client reached the service.
    ///
    /// # Errors
    /// [`FilesError::TooLarge`], [`FilesError::Store`], and [`FilesError::Unread`] when the team has reached a limit.
    pub async fn expect(&self, expected: Expected, address: &str) -> Result<Place, FilesError> {
        let limit = self.0.settings.max_bytes;
        let Expected { team, name, content_type, max_bytes } = expected;
        if max_bytes > limit {
            return Err(FilesError::TooLarge { limit });
        }
        let (id, expires_at) = (new_id(), self.0.clock.now() + UPLOAD_LIFE);
        // A place is its own owner, which tells it from the rows of content that is being received.
        let new = NewFile { team, owner: id.to_string(), kind: KIND, name, content_type, expires_at };
        let row = self.row(id, new, 0);
        let path = self.key().await?.sign_upload(id, &row.name, row.expires_at.timestamp(), max_bytes);
        self.add(&row).await?;
        Ok(Place { id, url: self.at(address, &path), expires_at: row.expires_at })
    }

    /// Adds the row of a place, or of content that is being received, unless the team has reached a limit.
    async fn add(&self, row: &Row) -> Result<(), FilesError> {
        let mut conn = self.conn().await?;
        let added = conn.tx(async |conn: &mut Conn| {
            let unread = self.unread(conn, &row.team_id).await?;
            let full = self.lacks_room(&unread, row);
            if full.is_none() {
                rows::insert(conn, row).await?;
            }
            Ok::<_, StoreError>(full)
        });
        added.await?.map_or(Ok(()), Err)
    }

    async fn unread(&self, conn: &mut Conn, team: &str) -> Result<Vec<Unread>, StoreError> {
        let now = self.0.clock.now();
        rows::unread(conn, &OfKind { team, kind: KIND, last: now + UPLOAD_LIFE }, now, MAX_ROWS).await
    }

    /// Returns the limit that another row would exceed, if any.
    fn lacks_room(&self, unread: &[Unread], another: &Row) -> Option<FilesError> {
        let settings = &self.0.settings;
        let places = unread.iter().filter(|one| one.id == one.owner).count();
        let bytes = unread.iter().map(|one| one.bytes).fold(another.bytes, i64::saturating_add);
        let most = i64::try_from(settings.max_unread_bytes).unwrap_or(i64::MAX);
        let why = if another.id == another.owner && places as u64 >= u64::from(settings.max_unread_uploads) {
            format!(
                "this team has {places} upload URLs that are unused or hold a file that has not been parsed, the limit \
                 of files.max_unread_uploads; parse the files with POST /v2/parse, or wait until the oldest expires"
            )
        } else if bytes > most || (another.bytes == 0 && bytes == most) {
            format!(
                "the uploads of this team that have not been parsed would exceed the limit of files.max_unread_mib, \
                 {} MiB; parse them with POST /v2/parse, or wait until the oldest expires",
                settings.max_unread_bytes >> 20
            )
        } else {
            return None;
        };
        let first = unread.first().map(|one| one.expires_at - self.0.clock.now());
        let wait = first.and_then(|wait| wait.to_std().ok()).unwrap_or_default();
        Some(FilesError::Unread { why, wait })
    }

    /// Looks up an upload URL. One with an invalid signature costs no database access.
    ///
    /// # Errors
    /// [`FilesError::Store`].
    pub async fn slot(&self, link: &UploadLink<'_>) -> Result<Slot, FilesError> {
        if !self.key().await?.verify_upload(link) {
            return Ok(Slot::Unknown);
        }
        let row = rows::find(&mut self.conn().await?, &link.link.id.to_string(), self.0.clock.now()).await?;
        // The URL expires at a full second, its row up to a second later.
        let is_over = link.link.until <= self.0.clock.now().timestamp();
        let free = row.filter(|row| row.bytes == 0 && !is_over);
        Ok(free.map_or(Slot::Gone, |row| Slot::Free { max_bytes: link.size, team: row.team_id }))
    }

    /// Stores the content of an upload, which must not be empty; `false` if the place has content already or is gone.
    /// The caller has checked the URL with [`Files::slot`].
    ///
    /// # Errors
    /// [`FilesError`]; the place may then be free or have the file. [`FilesError::Unread`] when the team would exceed
    /// its byte limit.
    pub async fn receive(&self, id: Uuid, body: Bytes) -> Result<bool, FilesError> {
        let now = self.0.clock.now();
        let Some(place) = rows::find(&mut self.conn().await?, &id.to_string(), now).await? else { return Ok(false) };
        let bytes = i64::try_from(body.len()).unwrap_or(i64::MAX);
        // Concurrent uploads to one place are allowed: each has its own blob and row, which expires with the place.
        let own = new_id();
        let (owner, blob) = (place.id.clone(), blob_key(own));
        let sent = Row { id: own.to_string(), owner, blob, bytes, created_at: now, ..place };
        self.add(&sent).await?;
        if let Err(error) = self.0.blobs.put(&sent.blob, body).await {
            // Removed content no longer counts towards the limit; what cannot be removed expires with the place.
            self.forget(&sent).await.ok();
            return Err(error.into());
        }
        // One transaction, so that the bytes are never counted twice.
        let mut conn = self.conn().await?;
        let filled = conn.tx(async |conn: &mut Conn| {
            let is_ours = rows::fill(conn, &sent.owner, &sent.blob, bytes).await?;
            if is_ours {
                rows::remove(conn, std::slice::from_ref(&sent.id)).await?;
            }
            Ok::<_, StoreError>(is_ours)
        });
        let is_ours = filled.await?;
        drop(conn);
        if !is_ours {
            self.forget(&sent).await?;
        }
        Ok(is_ours)
    }

    async fn forget(&self, sent: &Row) -> Result<(), FilesError> {
        self.0.blobs.delete(&sent.blob).await?;
        Ok(rows::remove(&mut self.conn().await?, std::slice::from_ref(&sent.id)).await?)
    }

    /// Returns the size of an upload that can be read; `None` if there is none for this team and id.
    ///
    /// # Errors
    /// [`FilesError::Store`].
    pub async fn sent(&self, team: &str, id: Uuid) -> Result<Option<u64>, FilesError> {
        let row = self.row_of_sent(team, id).await?;
        Ok(row.map(|row| u64::try_from(row.bytes).unwrap_or(0)))
    }

    /// Takes an upload: returns it and removes it, so that it is read only once. `None` if there is none for this team
    /// and id.
    ///
    /// # Errors
    /// [`FilesError`].
    pub async fn take(&self, team: &str, id: Uuid) -> Result<Option<Sent>, FilesError> {
        let Some(row) = self.row_of_sent(team, id).await? else { return Ok(None) };
        let limit = usize::try_from(self.0.settings.max_bytes).unwrap_or(usize::MAX);
        let bytes = self.0.blobs.get_up_to(&row.blob, limit).await?;
        // If several callers read it at once, only the one that expires the file gets it.
        if self.erase(team, &row.owner).await? == 0 {
            return Ok(None);
        }
        Ok(bytes.map(|bytes| Sent { name: row.name, content_type: row.content_type, bytes }))
    }

    async fn row_of_sent(&self, team: &str, id: Uuid) -> Result<Option<Row>, FilesError> {
        let found = rows::find(&mut self.conn().await?, &id.to_string(), self.0.clock.now()).await?;
        // Other files have an owner that differs from their id.
        Ok(found.filter(|row| row.team_id == team && row.owner == row.id && row.bytes > 0))
    }
}
