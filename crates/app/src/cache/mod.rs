//! Pages that were fetched before: rows in the database, large bodies in the blob store, every format is made again on each
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

use crate::{App, AppError, room};

pub(crate) use copy::{NewCopy, PageCopy, write_copies};
pub(crate) use policy::{OnMiss, Policy, Situation, Window, policy};

/// Up to this many bytes, packed, a body is kept in the database: a file takes longer to make than a row.
const MAX_IN_ROW: usize = 64 << 10;
/// A body that may be as small as that once it is packed.
const MAX_TO_TRY: usize = 8 * MAX_IN_ROW;

/// Packing so many bytes takes no longer than asking whether they are there.
const QUICK_TO_PACK: usize = 32 << 10;

/// Scope of a cache that all teams share.
const EVERYBODY: &str = "*";

/// Which copies may answer a request: whose, of which page, and fetched how.
#[derive(Debug, Clone)]
pub(crate) struct CacheSlot {
    scope: String,
    key: String,
    variant: String,
    /// The variant of answers in markdown, where they do.
    markdown: Option<String>,
    /// Whose turn it is, where large copies wait for room in memory.
    owner: Owner,
}

/// A page from the cache, as if it had just been fetched.
pub(crate) struct Copy {
    /// By which [`by_id`] finds it again.
    pub(crate) id: String,
    pub(crate) fetched: Fetched,
    pub(crate) fetched_at: Timestamp,
}

impl CacheSlot {
    /// Where copies of the page belong, for its team and options.
    pub(crate) fn of(app: &App, target: &Target) -> Self {
        let Target { url, options, owner, .. } = target;
        let scope = if app.settings.cache.shared { EVERYBODY.to_owned() } else { owner.team.to_string() };
        let variant = key::variant(url, options);
        let markdown = target.takes_markdown().then(|| key::in_markdown(&variant));
        Self { scope, key: key::key(url), variant, markdown, owner: owner.clone() }
    }

    /// Where a page belongs that was fetched.
    fn variant_of(&self, fetched: &Fetched) -> &str {
        // Some sites call the markdown that they were asked for plain text.
        let is_text = matches!(fetched.kind, BodyKind::Markdown | BodyKind::Text);
        let markdown = self.markdown.as_ref().filter(|_| is_text);
        markdown.unwrap_or(&self.variant)
    }
}

/// Which copies are looked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Search {
    /// When one was fetched that answers.
    pub(crate) window: Window,
    /// Whether one that was fetched before is wanted if none answers.
    pub(crate) revalidates: bool,
    pub(crate) wants: Wants,
}

/// What a look into the cache brought.
#[derive(Default)]
pub(crate) struct Look {
    /// The copy that answers.
    pub(crate) copy: Option<Copy>,
    /// Where none does: the newest one, if it can be revalidated.
    pub(crate) outdated: Option<CacheEntry>,
}

/// Looks for a copy. A site's own markdown comes first for those who take it.
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

/// The URL and validators for a conditional request.
pub(crate) fn outdated(entry: &CacheEntry) -> Option<Outdated> {
    let url = Url::parse(&entry.final_url).ok()?;
    Some(Outdated { url, validators: validators(entry), proxy: proxy(entry) })
}

/// The copy that a 304 has confirmed. `None` when its body cannot be read: the page is fetched then.
pub(crate) async fn revalidated(app: &App, slot: &CacheSlot, entry: CacheEntry) -> Option<Fetched> {
    match read(app, entry, &slot.owner).await {
        Ok(copy) => copy.map(|copy| copy.fetched),
        Err(error) => {
            if !error.is_outage() {
                tracing::warn!(?error, "copy not readable, the page is fetched");
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

/// The copy with this id, unless it has left the cache.
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

/// Keeps a page if it says something lasting. A failure is logged and costs nothing but the copy.
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
            tracing::warn!(error = error.source().map(tracing::field::display), "page not kept in the cache");
            None
        }
    }
}

/// What left the cache in one round.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Swept {
    /// Copies.
    pub(crate) rows: usize,
    /// Bodies that no copy used any more.
    pub(crate) bodies: usize,
}

/// Rows that one transaction removes: few enough that other writers do not wait for long.
const BATCH: i64 = 500;

/// Removes every expired copy, the oldest ones of a cache that is too large, and the bodies that no copy uses any more.
///
/// # Errors
/// [`AppError::Internal`] when the database or the blob store fails. What was not done is done the next time.
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
            content::delete(&app.blobs, &digest).await?;
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

/// Makes a cache that is over its size a tenth smaller than it may be, so that this is not to be done every time.
async fn evict(app: &App) -> Result<usize, AppError> {
    let Some(most) = app.settings.cache.max_bytes else { return Ok(0) };
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

/// Less than a batch means that nothing is left.
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
    let room = app.client.in_flight().room(owner);
    room.grow(size as u64).await;
    let body =
        if entry.in_row { in_row(app, &digest, size).await? } else { content::get(&app.blobs, &digest, size).await? };
    let Some(body) = body else { return Ok(None) };
    Ok(Some(copy(entry, url, body, room)))
}

/// The page that an entry stands for, as if it had just been fetched.
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

/// What is kept of a page: what its scripts have made of it serves everybody, the body before them is of use to nobody then.
fn kept_body(fetched: &Fetched) -> &Bytes {
    fetched.dom().unwrap_or(&fetched.body)
}

async fn in_row(app: &App, digest: &Digest, size: usize) -> Result<Option<Bytes>, AppError> {
    let Some(packed) = rows::packed(&mut app.conn().await?, &digest.to_string()).await? else { return Ok(None) };
    match content::open(packed.into(), digest, size).await {
        Ok(body) => Ok(Some(body)),
        Err(error) => {
            tracing::error!(error = &error as &dyn StdError, "a cached body is damaged, its page is fetched again");
            Ok(None)
        }
    }
}

/// `None` when the copy could not rely on the body that is there.
async fn write(app: &App, slot: &CacheSlot, fetched: &Fetched) -> Result<Option<PageCopy>, AppError> {
    let now = app.now();
    let retention = TimeDelta::from_std(app.settings.cache.retention).unwrap_or(TimeDelta::MAX);
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
        // Most pages that are fetched again have not changed: packing them once more would be for nothing.
        let asks = bytes.len() > QUICK_TO_PACK;
        let is_there = asks && rows::has_body(&mut app.conn().await?, &entry.body_digest).await?;
        let packed = if is_there { None } else { Some(body.pack().await?) };
        if packed.as_ref().is_none_or(|packed| packed.len() <= MAX_IN_ROW) {
            return Ok(Some(PageCopy::New(Box::new(NewCopy { entry, packed }))));
        }
        entry.in_row = false;
    }
    // The row first: a body without a row would never be removed, a row without a body is a miss until it expires. A body
    // that is there is not written again, so it must not be one that is being deleted: then this copy is not kept.
    let mut conn = app.conn().await?;
    rows::insert(&mut conn, &entry).await?;
    if !rows::rely_on(&mut conn, &entry.body_digest).await? {
        rows::remove(&mut conn, &entry.id).await?;
        return Ok(None);
    }
    drop(conn);
    body.put(&app.blobs).await?;
    Ok(Some(PageCopy::Kept(entry.id)))
}
