//! Copies in the order in which they were made, with their bodies, for an index of what was read; and which of its
//! copies still stand.

use std::collections::{HashMap, HashSet};

use base::Owner;
use blobs::content::{self, Digest};
use bytes::Bytes;
use fetch::Fetched;
use store::cache::{self as rows, CacheEntry};
use url::Url;

use crate::{Cache, CacheError, Copy, EVERYBODY, Parts, copy};

/// Copy whose body is still packed, so that a thread for such work can open it.
pub struct PackedCopy {
    entry: CacheEntry,
    body: PackedBody,
    room: net::Room,
}

enum PackedBody {
    /// As it is in the database.
    Packed(Bytes),
    /// Body from the blob store.
    Open(Bytes),
}

impl PackedCopy {
    /// Returns the row of the copy.
    #[must_use]
    pub fn entry(&self) -> &CacheEntry {
        &self.entry
    }

    /// Opens the body; `None` if it is damaged. Busy for about a millisecond per MiB.
    #[must_use]
    pub fn open(self) -> Option<Fetched> {
        let Self { entry, body, room } = self;
        let (url, digest) = (Url::parse(&entry.final_url).ok()?, entry.body_digest.parse::<Digest>().ok()?);
        let size = usize::try_from(entry.body_bytes).ok()?;
        let body = match body {
            PackedBody::Open(body) => body,
            PackedBody::Packed(packed) => content::open_here(&packed, &digest, size).ok()?,
        };
        let Copy { fetched, .. } = copy(entry, url, body, room);
        Some(fetched)
    }
}

impl Cache {
    /// Waits until this process has stored a page since the last call. Its row may be written a moment later.
    pub async fn kept(&self) {
        self.0.kept.notified().await;
    }

    /// Returns the id of the newest copy.
    ///
    /// # Errors
    /// [`CacheError`] when the database fails.
    #[crate::boxed]
    pub async fn newest(&self) -> Result<Option<String>, CacheError> {
        Ok(rows::newest(&mut self.conn().await?).await?)
    }

    /// Returns the copies with ids after this one in the order of their ids, at most `limit`.
    ///
    /// # Errors
    /// [`CacheError`] when the database fails.
    #[crate::boxed]
    pub async fn after(&self, id: &str, limit: i64) -> Result<Vec<CacheEntry>, CacheError> {
        Ok(rows::after(&mut self.conn().await?, id, limit).await?)
    }

    /// Returns the ids after the first and up to the last in ascending order, at most `limit`.
    ///
    /// # Errors
    /// [`CacheError`] when the database fails.
    #[crate::boxed]
    pub async fn ids_between(&self, first: &str, last: &str, limit: i64) -> Result<Vec<String>, CacheError> {
        Ok(rows::ids_between(&mut self.conn().await?, first, last, limit).await?)
    }

    /// Returns the copies with these ids, in the order of their ids.
    ///
    /// # Errors
    /// [`CacheError`] when the database fails.
    #[crate::boxed]
    pub async fn entries(&self, ids: &[String]) -> Result<Vec<CacheEntry>, CacheError> {
        Ok(rows::by_ids(&mut self.conn().await?, ids).await?)
    }

    /// Returns these copies with their bodies, without those whose body is gone. Bodies in the database are read with one
    /// statement. All of them share the memory budget of the process, for which `owner` waits.
    ///
    /// # Errors
    /// [`CacheError`] when the database or the blob store fails.
    #[crate::boxed]
    pub async fn packed(&self, entries: Vec<CacheEntry>, owner: &Owner) -> Result<Vec<PackedCopy>, CacheError> {
        let Parts { blobs, client, .. } = &self.0.parts;
        let room = client.in_flight().room(owner);
        room.grow(entries.iter().map(|entry| u64::try_from(entry.body_bytes).unwrap_or(0)).sum()).await;
        let mut digests: Vec<String> =
            entries.iter().filter(|entry| entry.in_row).map(|entry| entry.body_digest.clone()).collect();
        digests.sort_unstable();
        digests.dedup();
        let mut packed = HashMap::new();
        if !digests.is_empty() {
            let found = rows::all_packed(&mut self.conn().await?, &digests).await?;
            packed.extend(found.into_iter().map(|(digest, packed)| (digest, Bytes::from(packed))));
        }
        let mut copies = Vec::with_capacity(entries.len());
        for entry in entries {
            let body = match (entry.in_row, entry.body_digest.parse::<Digest>()) {
                (true, _) => packed.get(&entry.body_digest).cloned().map(PackedBody::Packed),
                (false, Ok(digest)) => {
                    let size = usize::try_from(entry.body_bytes).unwrap_or(0);
                    match content::get(blobs, &digest, size).await.map_err(CacheError::from) {
                        Ok(body) => body.map(PackedBody::Open),
                        Err(error) if error.is_outage() => return Err(error),
                        Err(error) => {
                            tracing::warn!(error = &error as &dyn std::error::Error, "could not read a cached body");
                            None
                        }
                    }
                }
                (false, Err(_)) => None,
            };
            copies.extend(body.map(|body| PackedCopy { entry, body, room: room.clone() }));
        }
        Ok(copies)
    }

    /// Returns the ids among these whose copies a team may see now: its own, or shared with all teams, and not expired.
    ///
    /// # Errors
    /// [`CacheError`] when the database fails.
    #[crate::boxed]
    pub async fn standing(&self, ids: &[String], team: &str) -> Result<HashSet<String>, CacheError> {
        let found = rows::standing(&mut self.conn().await?, ids, self.0.parts.clock.now()).await?;
        let seen_by_team = found.into_iter().filter(|(_, scope)| scope == team || scope == EVERYBODY);
        Ok(seen_by_team.map(|(id, _)| id).collect())
    }

    /// Returns the ids among these whose copies stand in the cache, for whichever team.
    ///
    /// # Errors
    /// [`CacheError`] when the database fails.
    #[crate::boxed]
    pub async fn all_standing(&self, ids: &[String]) -> Result<HashSet<String>, CacheError> {
        let found = rows::standing(&mut self.conn().await?, ids, self.0.parts.clock.now()).await?;
        Ok(found.into_keys().collect())
    }
}
