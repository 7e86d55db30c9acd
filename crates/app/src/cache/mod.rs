//! Pages that were fetched before: rows in the database, bodies in the blob store, every format made anew on each hit.

mod key;
mod policy;

use std::error::Error as StdError;

use base::{Timestamp, new_id};
use blobs::content::{self, Digest, Hashed};
use chrono::TimeDelta;
use fetch::Fetched;
use store::cache::{self as rows, CacheEntry, Wanted};
use url::Url;
use wire::{ProxyUsed, ScrapeOptions};

use crate::auth::Caller;
use crate::{App, AppError};

pub(crate) use policy::{OnMiss, Policy, Situation, Window, policy};

/// Scope of a cache that all teams share.
const EVERYBODY: &str = "*";

/// Where the copies for a request are.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    scope: String,
    key: String,
    variant: String,
}

/// A page from the cache, as if it had just been fetched.
pub(crate) struct Copy {
    pub(crate) fetched: Fetched,
    pub(crate) fetched_at: Timestamp,
}

impl Place {
    /// Where copies for this caller, page and options belong.
    pub(crate) fn of(app: &App, caller: &Caller, url: &Url, options: &ScrapeOptions) -> Self {
        let scope = if app.settings.cache.shared { EVERYBODY.to_owned() } else { caller.team.id.clone() };
        Self { scope, key: key::key(url), variant: key::variant(url, options) }
    }
}

/// The copy that answers, if there is one.
///
/// # Errors
/// [`AppError::Internal`] when the database or the blob store fails.
pub(crate) async fn find(app: &App, place: &Place, window: Window) -> Result<Option<Copy>, AppError> {
    let Window { not_before, not_after } = window;
    let Place { scope, key, variant } = place;
    let wanted = Wanted { scope, key, variant, not_before, not_after };
    let mut entries = rows::find(&mut app.conn().await?, &wanted).await?;
    loop {
        let statuses: Vec<u16> = entries.iter().map(status).collect();
        let Some(index) = policy::pick(&statuses) else {
            return Ok(None);
        };
        let entry = entries.remove(index);
        match read(app, entry).await? {
            Some(copy) => return Ok(Some(copy)),
            // The body is gone or not written yet: an older copy may still do.
            None => continue,
        }
    }
}

/// Keeps a page if it says something lasting. A failure is logged and costs nothing but the copy.
pub(crate) async fn keep(app: &App, place: &Place, fetched: &Fetched) {
    if !policy::storable(fetched.status, fetched.kind, fetched.body.len()) {
        return;
    }
    if let Err(error) = write(app, place, fetched).await {
        tracing::warn!(error = error.source().map(tracing::field::display), "page not kept in the cache");
    }
}

/// What left the cache in one round.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Copies.
    pub rows: usize,
    /// Bodies that no copy used any more.
    pub bodies: usize,
}

/// Rows that one transaction removes: few enough that other writers do not wait for long.
const BATCH: i64 = 500;

/// Removes every expired copy, and the bodies that no copy uses any more.
///
/// # Errors
/// [`AppError::Internal`] when the database or the blob store fails.
pub(crate) async fn sweep(app: &App) -> Result<Swept, AppError> {
    let mut swept = Swept::default();
    loop {
        let gone = rows::expired(&mut app.conn().await?, app.now(), BATCH).await?;
        for body in &gone.bodies {
            let digest: Digest = body.parse()?;
            content::delete(&app.blobs, &digest).await?;
        }
        swept.rows += gone.rows;
        swept.bodies += gone.bodies.len();
        if i64::try_from(gone.rows).unwrap_or(BATCH) < BATCH {
            return Ok(swept);
        }
    }
}

fn status(entry: &CacheEntry) -> u16 {
    u16::try_from(entry.status_code).unwrap_or(0)
}

async fn read(app: &App, entry: CacheEntry) -> Result<Option<Copy>, AppError> {
    let (Ok(digest), Ok(url)) = (entry.body_digest.parse::<Digest>(), Url::parse(&entry.final_url)) else {
        return Ok(None);
    };
    let size = usize::try_from(entry.body_bytes).unwrap_or(0);
    let room = app.web.in_flight().room();
    room.grow(size as u64).await;
    let Some(body) = content::get(&app.blobs, &digest, size).await? else {
        return Ok(None);
    };
    let proxy = if entry.proxy == ProxyUsed::Stealth.as_str() { ProxyUsed::Stealth } else { ProxyUsed::Basic };
    let fetched = Fetched {
        url,
        status: status(&entry),
        kind: fetch::detect(entry.content_type.as_deref(), &body),
        content_type: entry.content_type,
        body,
        charset: entry.charset,
        proxy,
        retry_after: None,
        warnings: Vec::new(),
        room,
    };
    Ok(Some(Copy { fetched, fetched_at: entry.fetched_at }))
}

async fn write(app: &App, place: &Place, fetched: &Fetched) -> Result<(), AppError> {
    let now = app.now();
    let retention = TimeDelta::from_std(app.settings.cache.retention).unwrap_or(TimeDelta::MAX);
    let body = Hashed::of(fetched.body.clone()).await;
    let entry = CacheEntry {
        id: new_id().to_string(),
        scope: place.scope.clone(),
        key: place.key.clone(),
        variant: place.variant.clone(),
        final_url: fetched.url.to_string(),
        status_code: i32::from(fetched.status),
        content_type: fetched.content_type.clone(),
        charset: fetched.charset.clone(),
        body_digest: body.digest().to_string(),
        body_bytes: i64::try_from(fetched.body.len()).unwrap_or(i64::MAX),
        proxy: fetched.proxy.as_str().to_owned(),
        fetched_at: now,
        expires_at: now.checked_add_signed(retention).unwrap_or(Timestamp::MAX_UTC),
    };
    // The row first: a body without a row would never be removed, a row without a body is a miss until it expires.
    rows::insert(&mut app.conn().await?, &entry).await?;
    body.put(&app.blobs).await?;
    Ok(())
}
