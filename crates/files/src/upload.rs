//! Files that are sent to us: a place for one first, then its bytes by a signed URL, then somebody who takes it away, once.

use std::time::Duration;

use base::{Timestamp, new_id};
use bytes::Bytes;
use store::files::{self as rows, File as Row, OfKind, Unread};
use store::{Conn, StoreError};
use uuid::Uuid;

use crate::{Files, FilesError, NewFile, UploadLink, blob_key};

/// How long an upload URL, and the file that was sent there, are kept.
pub const UPLOAD_LIFE: Duration = Duration::from_secs(15 * 60);

/// What such a file is, among the files.
const KIND: &str = "upload";
/// Most rows that are looked at to know what a team has.
const MAX_ROWS: i64 = 10_000;

/// A file that can be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// The id of the team that may read it.
    pub team: String,
    /// What it is called. Characters that are unsafe in names of files become `_`.
    pub name: String,
    /// Its content type. Anything that is not one becomes `application/octet-stream`.
    pub content_type: String,
    /// The most bytes that it may have.
    pub max_bytes: u64,
}

/// A place that a file can be sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// What names the file when it is taken.
    pub id: Uuid,
    /// Where whoever knows the URL sends it.
    pub url: String,
    /// Until when.
    pub expires_at: Timestamp,
}

/// What an upload URL leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Slot {
    /// A place without a file.
    Free {
        /// The most bytes that it takes.
        max_bytes: u64,
        /// The id of the team that it was made for.
        team: String,
    },
    /// The URL is one of ours, but its time is over, or the file has been sent.
    Gone,
    /// We have not signed this URL.
    Unknown,
}

/// A file that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// What it is called.
    pub name: String,
    /// What it was said to be.
    pub content_type: String,
    /// The file.
    pub bytes: Bytes,
}

impl Files {
    /// Makes a place for a file of at most [`Settings::max_bytes`](crate::Settings::max_bytes), which is kept for
    /// [`UPLOAD_LIFE`]. `address` is where the client has reached us.
    ///
    /// # Errors
    /// [`FilesError::TooLarge`], [`FilesError::Store`], and [`FilesError::Unread`] when the team has as many as it may.
    pub async fn expect(&self, expected: Expected, address: &str) -> Result<Place, FilesError> {
        let limit = self.0.settings.max_bytes;
        let Expected { team, name, content_type, max_bytes } = expected;
        if max_bytes > limit {
            return Err(FilesError::TooLarge { limit });
        }
        let (id, expires_at) = (new_id(), self.0.clock.now() + UPLOAD_LIFE);
        // Its owner is the place itself.
        let new = NewFile { team, owner: id.to_string(), kind: KIND, name, content_type, expires_at };
        let row = self.row(id, new, 0);
        let path = self.key().await?.sign_upload(id, &row.name, row.expires_at.timestamp(), max_bytes);
        self.add(&row).await?;
        Ok(Place { id, url: self.at(address, &path), expires_at: row.expires_at })
    }

    /// Adds a place, or the row of a file that is being sent, unless the team has too much already.
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

    /// Why there is no room for another one beside what the team has, if there is none.
    fn lacks_room(&self, unread: &[Unread], another: &Row) -> Option<FilesError> {
        let settings = &self.0.settings;
        let places = unread.iter().filter(|one| one.id == one.owner).count();
        let bytes = unread.iter().map(|one| one.bytes).fold(another.bytes, i64::saturating_add);
        let most = i64::try_from(settings.max_unread_bytes).unwrap_or(i64::MAX);
        let why = if another.id == another.owner && places as u64 >= u64::from(settings.max_unread_uploads) {
            format!(
                "this team has {places} upload URLs whose files nobody has read yet, as many as files.max_unread_uploads \
                 allows; read them with POST /v2/parse, or wait until the oldest ends"
            )
        } else if bytes > most || (another.bytes == 0 && bytes == most) {
            format!(
                "files that were sent to upload URLs of this team and not read yet have as many bytes as \
                 files.max_unread_mib allows, {} MiB; read them with POST /v2/parse, or wait until the oldest ends",
                settings.max_unread_bytes >> 20
            )
        } else {
            return None;
        };
        let first = unread.first().map(|one| one.expires_at - self.0.clock.now());
        let wait = first.and_then(|wait| wait.to_std().ok()).unwrap_or_default();
        Some(FilesError::Unread { why, wait })
    }

    /// What an upload URL leads to. One that we have not signed costs nothing but the look at its signature.
    ///
    /// # Errors
    /// [`FilesError::Store`].
    pub async fn slot(&self, link: &UploadLink<'_>) -> Result<Slot, FilesError> {
        if !self.key().await?.verify_upload(link) {
            return Ok(Slot::Unknown);
        }
        let row = rows::find(&mut self.conn().await?, &link.link.id.to_string(), self.0.clock.now()).await?;
        // A URL ends at a full second, its row a little later.
        let is_over = link.link.until <= self.0.clock.now().timestamp();
        let free = row.filter(|row| row.bytes == 0 && !is_over);
        Ok(free.map_or(Slot::Gone, |row| Slot::Free { max_bytes: link.size, team: row.team_id }))
    }

    /// Puts the bytes of a file, which are not none, into its place; false when another file is there, or the place is gone. The
    /// caller has asked [`Files::slot`].
    ///
    /// # Errors
    /// [`FilesError`]; then the place may be used again, or has the file. [`FilesError::Unread`] when the team has too many
    /// bytes with it.
    pub async fn receive(&self, id: Uuid, body: Bytes) -> Result<bool, FilesError> {
        let now = self.0.clock.now();
        let Some(place) = rows::find(&mut self.conn().await?, &id.to_string(), now).await? else { return Ok(false) };
        let bytes = i64::try_from(body.len()).unwrap_or(i64::MAX);
        // Several may send at once: each has bytes of its own, and a row for them that ends with the place.
        let own = new_id();
        let (owner, blob) = (place.id.clone(), blob_key(own));
        let sent = Row { id: own.to_string(), owner, blob, bytes, created_at: now, ..place };
        self.add(&sent).await?;
        if let Err(error) = self.0.blobs.put(&sent.blob, body).await {
            // What can be removed does not count any more; the rest ends with the place.
            self.forget(&sent).await.ok();
            return Err(error.into());
        }
        // In one step, so that its bytes never count twice.
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

    /// How many bytes a file has that was sent to a place of the team, and can be taken. `None` when there is none.
    ///
    /// # Errors
    /// [`FilesError::Store`].
    pub async fn sent(&self, team: &str, id: Uuid) -> Result<Option<u64>, FilesError> {
        let row = self.row_of_sent(team, id).await?;
        Ok(row.map(|row| u64::try_from(row.bytes).unwrap_or(0)))
    }

    /// Takes a file away that was sent to a place of the team: it cannot be had again. `None` when there is none.
    ///
    /// # Errors
    /// [`FilesError`].
    pub async fn take(&self, team: &str, id: Uuid) -> Result<Option<Sent>, FilesError> {
        let Some(row) = self.row_of_sent(team, id).await? else { return Ok(None) };
        let limit = usize::try_from(self.0.settings.max_bytes).unwrap_or(usize::MAX);
        let bytes = self.0.blobs.get_up_to(&row.blob, limit).await?;
        // Of several who have read it, whoever ends its time has it.
        if self.erase(team, &row.owner).await? == 0 {
            return Ok(None);
        }
        Ok(bytes.map(|bytes| Sent { name: row.name, content_type: row.content_type, bytes }))
    }

    async fn row_of_sent(&self, team: &str, id: Uuid) -> Result<Option<Row>, FilesError> {
        let found = rows::find(&mut self.conn().await?, &id.to_string(), self.0.clock.now()).await?;
        // Every other file has an owner that is not itself.
        Ok(found.filter(|row| row.team_id == team && row.owner == row.id && row.bytes > 0))
    }
}
