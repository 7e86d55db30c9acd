//! Cache of fetched pages: rows in the database, large bodies in the blob store. All formats are derived again on each
//! hit.

mod copy;
mod key;
mod policy;

use std::error::Error as StdError;

use base::{Owner, Timestamp, new_id};
use blobs::content::{self, Digest, Hashed};
use bytes::Bytes;
use chrono::TimeDelta;
use fetch::{BodyKind, Fetched, Rendered, Validators};
use scrape::{Outdated, Target, Wants};
use store::cache::{self as rows, CacheEntry, Wanted};
use url::Url;
use wire::ProxyUsed;

use crate::{App, AppError, Refusal as _, room};

pub(crate) use copy::{NewCopy, PageCopy, write_copies};
pub(crate) use policy::{OnMiss, Policy, Situation, Window, policy};

/// Maximum compressed size of a body kept in the database, in bytes: writing a row is faster than creating a file.
const MAX_IN_ROW: usize = 64 << 10;
/// Maximum size of a body that is compressed to see whether it fits in a row.
const MAX_TO_TRY: usize = 8 * MAX_IN_ROW;

/// Size up to which compressing a body takes no longer than asking whether it is stored already.
const QUICK_TO_PACK: usize = 32 << 10;

/// Scope of a cache shared by all teams.
const EVERYBODY: &str = "*";

/// Location of copies in the cache: their scope, page and variant.
#[derive(Debug, Clone)]
pub(crate) struct CacheSlot {
    scope: String,
    key: String,
    variant: String,
    /// Variant of answers in Markdown, where the request accepts them.
    markdown: Option<String>,
    /// Owner, for a fair share of memory when large copies wait for it.
    owner: Owner,
}

/// Page from the cache, in the form of a fetched page.
pub(crate) struct Copy {
    /// Id for [`by_id`].
    pub(crate) id: String,
    pub(crate) fetched: Fetched,
    pub(crate) fetched_at: Timestamp,
}

impl CacheSlot {
    /// Returns the slot of a page for its team and options.
    pub(crate) fn of(app: &App, target: &Target) -> Self {
        let Target { url, options, owner, .. } = target;
        let scope = if app.settings().cache.shared { EVERYBODY.to_owned() } else { owner.team.to_string() };
        let variant = key::variant(url, options);
        let markdown = target.takes_markdown().then(|| key::in_markdown(&variant));
        Self { scope, key: key::key(url), variant, markdown, owner: owner.clone() }
    }

    /// Returns the variant of a fetched page.
    fn variant_of(&self, fetched: &Fetched) -> &str {
        // Some sites label the Markdown that was requested as plain text.
        let is_text = matches!(fetched.kind, BodyKind::Markdown | BodyKind::Text);
        let markdown = self.markdown.as_ref().filter(|_| is_text);
        markdown.unwrap_or(&self.variant)
    }
}

/// Criteria of a lookup.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Search {
    /// Accepted fetch time of a copy.
    pub(crate) window: Window,
    /// Whether an older copy is wanted for revalidation if none answers.
    pub(crate) revalidates: bool,
    pub(crate) wants: Wants,
}

/// Result of a lookup.
#[derive(Default)]
pub(crate) struct Look {
    /// Copy that answers the request.
    pub(crate) copy: Option<Copy>,
    /// Newest stale copy that can be revalidated, if no copy answers.
    pub(crate) outdated: Option<CacheEntry>,
}

/// Looks up a copy. A site's own Markdown has priority for requests that accept it.
///
/// # Errors
/// [`AppError::Internal`] when the database or the blob store fails.
pub(crate) async fn find(app: &App, slot: &CacheSlot, search: Search) -> Result<Look, AppError> {
    let mut outdated: Option<CacheEntry> = None;
    for variant in slot.markdown.iter().chain([&slot.variant]) {
        let look = find_variant(app, slot, variant, search).await?;
        if look.copy.is_some() {
            return Ok(look);
        }
        outdated = outdated.into_iter().chain(look.outdated).max_by_key(|entry| entry.fetched_at);
    }
    Ok(Look { copy: None, outdated })
}

async fn find_variant(app: &App, slot: &CacheSlot, variant: &str, search: Search) -> Result<Look, AppError> {
    let CacheSlot { scope, key, owner, .. } = slot;
    let rendered = match search.wants {
        Wants::Any => None,
        Wants::Rendered => Some(true),
        Wants::Sent => Some(false),
    };
    let Window { not_before: since, not_after } = search.window;
    let not_before = if search.revalidates { Timestamp::UNIX_EPOCH } else { since };
    let wanted = Wanted { scope, key, variant, not_before, not_after, rendered };
    let entries = rows::find(&mut app.conn().await?, &wanted).await?;
    let (mut young, old): (Vec<_>, Vec<_>) = entries.into_iter().partition(|entry| entry.fetched_at >= since);
    loop {
        let known: Vec<(u16, bool)> = young.iter().map(|entry| (status(entry), entry.rendered)).collect();
        let Some(index) = policy::pick(&known) else { break };
        let entry = young.remove(index);
        match read(app, entry, owner).await? {
            Some(copy) => return Ok(Look { copy: Some(copy), outdated: None }),
            // The body is gone or not written yet: an older copy may still do.
            None => continue,
        }
    }
    let newest = young.into_iter().chain(old).next();
    Ok(Look { copy: None, outdated: newest.filter(|entry| search.revalidates && has_validators(entry)) })
}

/// Whether a copy can be revalidated: it is the page as the site sent it, with a validator.
fn has_validators(entry: &CacheEntry) -> bool {
    !entry.rendered && status(entry) == 200 && (entry.etag.is_some() || entry.last_modified.is_some())
}

/// Returns the URL and validators for a conditional request.
pub(crate) fn outdated(entry: &CacheEntry) -> Option<Outdated> {
    let url = Url::parse(&entry.final_url).ok()?;
    Some(Outdated { url, validators: validators(entry), proxy: proxy(entry) })
}

/// Returns the copy that a 304 has confirmed; `None` when its body cannot be read and the page has to be fetched.
pub(crate) async fn revalidated(app: &App, slot: &CacheSlot, entry: CacheEntry) -> Option<Fetched> {
    match read(app, entry, &slot.owner).await {
        Ok(copy) => copy.map(|copy| copy.fetched),
        Err(error) => {
            if !error.is_outage() {
                tracing::warn!(?error, "could not read a cached copy; fetching the page");
            }
            None
        }
    }
}

fn validators(entry: &CacheEntry) -> Validators {
    Validators { etag: entry.etag.clone(), last_modified: entry.last_modified.clone() }
}

fn proxy(entry: &CacheEntry) -> ProxyUsed {
    if entry.proxy == ProxyUsed::Stealth.as_str() { ProxyUsed::Stealth } else { ProxyUsed::Basic }
}

/// Returns the copy with this id, unless it has left the cache.
///
/// # Errors
/// [`AppError::Internal`] when the database or the blob store fails.
pub(crate) async fn by_id(app: &App, id: &str, owner: &Owner) -> Result<Option<Copy>, AppError> {
    let entry = rows::by_id(&mut app.conn().await?, id).await?;
    match entry {
        Some(entry) => read(app, entry, owner).await,
        None => Ok(None),
    }
}

/// Caches a page if its status and type allow it. A failure is logged; the scrape itself goes on.
pub(crate) async fn keep(app: &App, slot: &CacheSlot, fetched: &Fetched) -> Option<PageCopy> {
    let bytes = kept_body(fetched).len();
    let is_document = fetched.kind == BodyKind::Other && scrape::is_document(fetched);
    if !policy::storable(fetched.status, fetched.kind, is_document, bytes) || !room::admits(app, bytes).await {
        return None;
    }
    match write(app, slot, fetched).await {
        Ok(copy) => copy,
        Err(error) if error.is_outage() => None,
        Err(error) => {
            tracing::warn!(error = error.source().map(tracing::field::display), "could not store a page in the cache");
            None
        }
    }
}

/// Numbers of items removed from the cache in one sweep.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Swept {
    /// Number of copies.
    pub(crate) rows: usize,
    /// Number of bodies that no copy referred to.
    pub(crate) bodies: usize,
}

/// Maximum number of rows that one transaction removes, so that other writers never wait long.
const BATCH: i64 = 500;

/// Removes expired copies, the oldest copies of a cache over its size limit, and bodies without copies.
///
/// # Errors
/// [`AppError::Internal`] when the database or the blob store fails. The next sweep does the rest.
pub(crate) async fn sweep(app: &App) -> Result<Swept, AppError> {
    let mut swept = Swept::default();
    loop {
        let rows = rows::expired(&mut app.conn().await?, app.now(), BATCH).await?.rows;
        swept.rows += rows;
        if is_last(rows) {
            break;
        }
    }
    swept.rows += evict(app).await?;
    loop {
        let bodies = rows::delete_next(&mut app.conn().await?, BATCH).await?;
        for body in &bodies {
            let digest: Digest = body.parse()?;
            content::delete(app.blobs(), &digest).await?;
        }
        if !bodies.is_empty() {
            rows::deleted(&mut app.conn().await?, &bodies).await?;
        }
        swept.bodies += bodies.len();
        if is_last(bodies.len()) {
            return Ok(swept);
        }
    }
}

/// Shrinks a cache over its size limit to nine tenths of it, so that eviction does not run on every sweep.
async fn evict(app: &App) -> Result<usize, AppError> {
    let Some(most) = app.settings().cache.max_bytes else { return Ok(0) };
    let mut bytes = room::measure(app).await?;
    let goal = i64::try_from(most - most / 10).unwrap_or(i64::MAX);
    if u64::try_from(bytes).unwrap_or(0) <= most {
        return Ok(0);
    }
    let mut rows = 0;
    while bytes > goal {
        let gone = rows::oldest(&mut app.conn().await?, bytes - goal, BATCH).await?;
        if gone.rows == 0 {
            break;
        }
        rows += gone.rows;
        bytes -= gone.bytes;
    }
    room::measure(app).await?;
    Ok(rows)
}

/// Whether this was the last batch: it was not full.
fn is_last(done: usize) -> bool {
    i64::try_from(done).unwrap_or(BATCH) < BATCH
}

fn status(entry: &CacheEntry) -> u16 {
    u16::try_from(entry.status_code).unwrap_or(0)
}

async fn read(app: &App, entry: CacheEntry, owner: &Owner) -> Result<Option<Copy>, AppError> {
    let (Ok(digest), Ok(url)) = (entry.body_digest.parse::<Digest>(), Url::parse(&entry.final_url)) else {
        return Ok(None);
    };
    let size = usize::try_from(entry.body_bytes).unwrap_or(0);
    let room = app.client().in_flight().room(owner);
    room.grow(size as u64).await;
    let body =
        if entry.in_row { in_row(app, &digest, size).await? } else { content::get(app.blobs(), &digest, size).await? };
    let Some(body) = body else { return Ok(None) };
    Ok(Some(copy(entry, url, body, room)))
}

/// Builds the page of a cache entry, in the form of a fetched page.
fn copy(entry: CacheEntry, url: Url, body: Bytes, room: net::Room) -> Copy {
    let (status, validators, proxy) = (status(&entry), validators(&entry), proxy(&entry));
    let (body, rendered) = match entry.rendered {
        true => (Bytes::new(), Some(Box::new(Rendered { dom: Some(body), ..Rendered::default() }))),
        false => (body, None),
    };
    let kind = match rendered {
        Some(_) => BodyKind::Html,
        None => fetch::detect(entry.content_type.as_deref(), &body),
    };
    let fetched = Fetched {
        url,
        status,
        kind,
        content_type: entry.content_type,
        body,
        charset: entry.charset,
        proxy,
        retry_after: None,
        validators,
        not_modified: false,
        warnings: Vec::new(),
        room,
        rendered,
    };
    Copy { id: entry.id, fetched, fetched_at: entry.fetched_at }
}

/// Returns the body to cache: the DOM after scripts where there is one, because it makes the original body useless.
fn kept_body(fetched: &Fetched) -> &Bytes {
    fetched.dom().unwrap_or(&fetched.body)
}

async fn in_row(app: &App, digest: &Digest, size: usize) -> Result<Option<Bytes>, AppError> {
    let Some(packed) = rows::packed(&mut app.conn().await?, &digest.to_string()).await? else { return Ok(None) };
    match content::open(packed.into(), digest, size).await {
        Ok(body) => Ok(Some(body)),
        Err(error) => {
            tracing::error!(error = &error as &dyn StdError, "cached body is damaged; fetching its page again");
            Ok(None)
        }
    }
}

/// Writes a copy; `None` when the body that is stored already is about to be removed.
async fn write(app: &App, slot: &CacheSlot, fetched: &Fetched) -> Result<Option<PageCopy>, AppError> {
    let now = app.now();
    let retention = TimeDelta::from_std(app.settings().cache.retention).unwrap_or(TimeDelta::MAX);
    let bytes = kept_body(fetched);
    let body = Hashed::of(bytes.clone()).await;
    let mut entry = CacheEntry {
        id: new_id().to_string(),
        scope: slot.scope.clone(),
        key: slot.key.clone(),
        variant: slot.variant_of(fetched).to_owned(),
        final_url: fetched.url.to_string(),
        status_code: i32::from(fetched.status),
        content_type: fetched.content_type.clone(),
        charset: fetched.charset.clone(),
        body_digest: body.digest().to_string(),
        body_bytes: i64::try_from(bytes.len()).unwrap_or(i64::MAX),
        proxy: fetched.proxy.as_str().to_owned(),
        fetched_at: now,
        expires_at: now.checked_add_signed(retention).unwrap_or(Timestamp::MAX_UTC),
        in_row: false,
        rendered: fetched.dom().is_some(),
        etag: fetched.validators.etag.clone(),
        last_modified: fetched.validators.last_modified.clone(),
    };
    if bytes.len() <= MAX_TO_TRY {
        entry.in_row = true;
        // Most refetched pages have not changed, so compressing their bodies again would be wasted.
        let asks = bytes.len() > QUICK_TO_PACK;
        let is_there = asks && rows::has_body(&mut app.conn().await?, &entry.body_digest).await?;
        let packed = if is_there { None } else { Some(body.pack().await?) };
        if packed.as_ref().is_none_or(|packed| packed.len() <= MAX_IN_ROW) {
            return Ok(Some(PageCopy::New(Box::new(NewCopy { entry, packed }))));
        }
        entry.in_row = false;
    }
    // The row comes first: a body without a row would never be removed, a row without a body is a cache miss until it
    // expires. An existing body is not written again, so it must not be one that is being deleted: then this copy is
    // dropped.
    let mut conn = app.conn().await?;
    rows::insert(&mut conn, &entry).await?;
    if !rows::rely_on(&mut conn, &entry.body_digest).await? {
        rows::remove(&mut conn, &entry.id).await?;
        return Ok(None);
    }
    drop(conn);
    body.put(app.blobs()).await?;
    Ok(Some(PageCopy::Kept(entry.id)))
}
