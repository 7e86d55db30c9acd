//! Files that are sent to us: a place for one first, then its bytes by a signed URL, then somebody who takes it away, once.

use base::{Timestamp, new_id};
use bytes::Bytes;
use store::files::{self as rows, File as Row};
use uuid::Uuid;

use crate::{Files, FilesError, NewFile, UploadLink, blob_key};

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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// A place without a file.
    Free {
        /// The most bytes that it takes.
        max_bytes: u64,
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
    /// Makes a place for a file of at most `max_bytes`, which are no more than [`Settings::max_bytes`](crate::Settings::max_bytes).
    /// Its owner is the place itself.
    ///
    /// # Errors
    /// [`FilesError::TooLarge`], [`FilesError::Store`].
    pub async fn expect(&self, new: NewFile, max_bytes: u64, address: &str) -> Result<Place, FilesError> {
        let limit = self.0.settings.max_bytes;
        if max_bytes > limit {
            return Err(FilesError::TooLarge { limit });
        }
        let id = new_id();
        let row = self.row(id, NewFile { owner: id.to_string(), ..new }, 0);
        let path = self.key().await?.sign_upload(id, &row.name, row.expires_at.timestamp(), max_bytes);
        rows::insert(&mut self.conn().await?, &row).await?;
        Ok(Place { id, url: self.at(address, &path), expires_at: row.expires_at })
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
        let is_free = row.is_some_and(|row| row.bytes == 0) && !is_over;
        Ok(if is_free { Slot::Free { max_bytes: link.size } } else { Slot::Gone })
    }

    /// Puts the bytes of a file, which are not none, into its place; false when another file is there, or the place is gone. The
    /// caller has asked [`Files::slot`].
    ///
    /// # Errors
    /// [`FilesError`]; then the place may be used again, or has the file.
    pub async fn receive(&self, id: Uuid, body: Bytes) -> Result<bool, FilesError> {
        let now = self.0.clock.now();
        let Some(place) = rows::find(&mut self.conn().await?, &id.to_string(), now).await? else { return Ok(false) };
        let bytes = i64::try_from(body.len()).unwrap_or(i64::MAX);
        // Several may send at once: each has bytes of its own, and a row for them that ends with the place.
        let own = new_id();
        let sent = Row { id: own.to_string(), owner: place.id.clone(), blob: blob_key(own), created_at: now, ..place };
        rows::insert(&mut self.conn().await?, &sent).await?;
        self.0.blobs.put(&sent.blob, body).await?;
        let is_ours = rows::fill(&mut self.conn().await?, &sent.owner, &sent.blob, bytes).await?;
        if !is_ours {
            self.0.blobs.delete(&sent.blob).await?;
        }
        rows::remove(&mut self.conn().await?, &[sent.id]).await?;
        Ok(is_ours)
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
