//! Latest versions of pages for change tracking, one for each series: a team, an address and a tag.
//!
//! A scrape holds its series from the look-up ([`claim`]) until its version is written ([`write()`]) or given up
//! ([`release`]), so that of two scrapes of a series the second compares with the version of the first. The hold is a
//! lease in the row of the series. A lock of the database would have to last as long as the comparison, and two groups
//! of bookings could wait for each other's rows; no transaction ever waits for a lease, so leases cannot deadlock on
//! either database. When a process dies, its leases expire.
//!
//! Bodies are shared with the page cache and are stored in the same way ([`crate::cache`]): a version is a user of its
//! body, and of the text that a reader has made of it.

mod expire;
mod start;
mod statements;

use base::Timestamp;
use chrono::TimeDelta;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::cache::{self, BodyPlace};
use crate::conn::{Conn, on};
use crate::db_time::{DbTime, MaybeDbTime};
use crate::error::Result;
use crate::schema::{page_version, version_body};

pub(crate) use self::expire::remove;
pub use self::expire::{abandoned, forget};
pub use self::start::{FromStart, PageOfStart, of_start};

/// Age at which the time of the last use is written again. PostgreSQL updates a row without touching its indexes if no
/// indexed column changes; that of the last use is one, and series are claimed at every scrape.
pub const USE_PRECISION: TimeDelta = TimeDelta::hours(1);

/// Series of versions of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Series<'a> {
    /// Id of the team.
    pub team: &'a str,
    /// Key of the address, which all its spellings share.
    pub key: &'a str,
    /// Name of the series; empty for none.
    pub tag: &'a str,
}

/// Look-up of a series by a scrape that will write its next version.
#[derive(Debug, Clone, Copy)]
pub struct Claim<'a> {
    /// Series.
    pub series: Series<'a>,
    /// Address of the page as asked for; written with the first version only.
    pub url: &'a str,
    /// Id of the row if the series is new.
    pub id: &'a str,
    /// Scrape that holds the series. The same holder may claim it again.
    pub holder: &'a str,
    /// Current time, written as the last use if that is older than [`USE_PRECISION`].
    pub now: Timestamp,
    /// Time at which the hold expires.
    pub until: Timestamp,
}

/// Series that is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimed {
    /// Id of its row.
    pub id: String,
    /// Latest version; `None` for a new series.
    pub version: Option<Version>,
}

/// Version of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// Time of the scrape.
    pub scraped_at: Timestamp,
    /// HTTP status.
    pub status_code: i32,
    /// URL after redirects.
    pub final_url: String,
    /// `Content-Type` as sent.
    pub content_type: Option<String>,
    /// Character set, if known.
    pub charset: Option<String>,
    /// Whether the body is the page after its scripts ran, not the response of the server.
    pub rendered: bool,
    /// Body; `None` for a page that was removed.
    pub body: Option<StoredBody>,
    /// Text that a reader has made of the body.
    pub text: Option<StoredBody>,
    /// Extracted values.
    pub extraction: Option<Extraction>,
    /// Crawl that has scraped the page. When a version is written without one, the series keeps its last one.
    pub crawl: Option<CrawlOf>,
}

/// Body of a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredBody {
    /// Place.
    pub place: BodyPlace,
    /// Size in bytes before compression.
    pub bytes: i64,
}

/// Values that were extracted from a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extraction {
    /// Digest of the schema and the prompt.
    pub key: String,
    /// Values as JSON.
    pub value: String,
}

/// Crawl that a page belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrawlOf {
    /// Key of the start URL.
    pub start: String,
    /// Id of the run.
    pub run: String,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = page_version)]
struct Row {
    id: String,
    #[diesel(deserialize_as = MaybeDbTime)]
    scraped_at: Option<Timestamp>,
    status_code: i32,
    final_url: String,
    content_type: Option<String>,
    charset: Option<String>,
    rendered: bool,
    body_digest: Option<String>,
    body_bytes: i64,
    body_in_row: bool,
    text_digest: Option<String>,
    text_bytes: i64,
    text_in_row: bool,
    extraction: Option<String>,
    extraction_key: Option<String>,
    start: Option<String>,
    run_id: Option<String>,
}

impl Row {
    fn claimed(self) -> Claimed {
        let body = |digest: Option<String>, bytes, in_row| {
            digest.map(|digest| StoredBody { place: BodyPlace { digest, in_row }, bytes })
        };
        let extraction = self.extraction_key.zip(self.extraction).map(|(key, value)| Extraction { key, value });
        let version = self.scraped_at.map(|scraped_at| Version {
            scraped_at,
            status_code: self.status_code,
            final_url: self.final_url,
            content_type: self.content_type,
            charset: self.charset,
            rendered: self.rendered,
            body: body(self.body_digest, self.body_bytes, self.body_in_row),
            text: body(self.text_digest, self.text_bytes, self.text_in_row),
            extraction,
            crawl: self.start.zip(self.run_id).map(|(start, run)| CrawlOf { start, run }),
        });
        Claimed { id: self.id, version }
    }
}

impl Version {
    /// Returns the places of the bodies that it uses.
    fn places(&self) -> Vec<BodyPlace> {
        self.body.iter().chain(&self.text).map(|body| body.place.clone()).collect()
    }
}

/// Row of a series without a version.
#[derive(Insertable)]
#[diesel(table_name = page_version)]
struct NewRow {
    id: String,
    team_id: String,
    key: String,
    tag: String,
    url: String,
    holder: String,
    held_until: DbTime,
    used_at: DbTime,
    status_code: i32,
    final_url: String,
    rendered: bool,
    body_bytes: i64,
    body_in_row: bool,
    text_bytes: i64,
    text_in_row: bool,
}

impl NewRow {
    fn of(claim: &Claim<'_>) -> Self {
        let Claim { series, url, id, holder, now, until } = *claim;
        Self {
            id: id.to_owned(),
            team_id: series.team.to_owned(),
            key: series.key.to_owned(),
            tag: series.tag.to_owned(),
            url: url.to_owned(),
            holder: holder.to_owned(),
            held_until: until.into(),
            used_at: now.into(),
            status_code: 0,
            final_url: String::new(),
            rendered: false,
            body_bytes: 0,
            body_in_row: false,
            text_bytes: 0,
            text_in_row: false,
        }
    }
}

/// Takes the hold on a series and returns its latest version; `None` while another scrape holds it.
///
/// # Errors
/// [`Query`](crate::StoreError::Query), also when the team is unknown.
#[crate::boxed]
pub async fn claim(conn: &mut Conn, claim: &Claim<'_>) -> Result<Option<Claimed>> {
    let mut conn = conn.turn().await?;
    // The update comes first: most series exist.
    let row = statements::claim(&mut conn, claim).await?;
    if let Some(row) = row {
        return Ok(Some(row.claimed()));
    }
    // Two scrapes may get here at once: the unique index decides. The row of another scrape is left alone.
    let insert = diesel::insert_into(page_version::table).values(NewRow::of(claim)).on_conflict_do_nothing();
    let is_new = on!(conn, |c| insert.execute(c).await)? == 1;
    Ok(is_new.then(|| Claimed { id: claim.id.to_owned(), version: None }))
}

/// Ends the hold on a series without a version. Does nothing if `holder` has lost it.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); the hold expires.
#[crate::boxed]
pub async fn release(conn: &mut Conn, id: &str, holder: &str) -> Result<()> {
    conn.atomic(async |conn: &mut Conn| {
        if lock_held(conn, id, holder).await? {
            give_back(conn, &[id.to_owned()]).await?;
        }
        Ok(())
    })
    .await
}

/// Prepares a body in the blob store as that of the next version: from then on the body has a user, even if the process
/// dies. Must be followed by [`cache::rely_on`], and then by the body itself. Returns `false` if `holder` has lost the
/// series.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn expect_body(conn: &mut Conn, id: &str, holder: &str, digest: &str) -> Result<bool> {
    conn.atomic(async |conn: &mut Conn| {
        let is_held = lock_held(conn, id, holder).await?;
        if is_held {
            let place = BodyPlace { digest: digest.to_owned(), in_row: false };
            add_users(conn, id, &[place], true).await?;
        }
        Ok(is_held)
    })
    .await
}

/// Withdraws [`expect_body`], for a body that is being deleted.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); the body is withdrawn when the hold ends.
#[crate::boxed]
pub async fn withdraw_body(conn: &mut Conn, id: &str, digest: &str) -> Result<()> {
    let coming = version_body::table.find((id, digest, false)).filter(version_body::coming.eq(true));
    let mut conn = conn.turn().await?;
    on!(conn, |c| diesel::delete(coming).execute(c).await)?;
    Ok(())
}

/// Writes the next version of a series and ends the hold. Returns the bodies that the series does not use any more, for
/// [`cache::let_go`] at the end of the transaction; `None` if nothing was written because `holder` has lost the series.
/// Must be called in the transaction that adds the bodies of the version to the database.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); the transaction has to be rolled back.
#[crate::boxed]
pub async fn write(conn: &mut Conn, id: &str, holder: &str, version: &Version) -> Result<Option<Vec<BodyPlace>>> {
    if !statements::write(conn, id, holder, version).await? {
        return Ok(None);
    }
    let rows = version_body::table.filter(version_body::version_id.eq(id));
    let rows = rows.select(((version_body::digest, version_body::in_row), version_body::coming));
    let users: Vec<(BodyPlace, bool)> = on!(conn, |c| rows.load(c).await)?;
    let wanted = version.places();
    // Most versions have the body of the last one.
    if users.len() == wanted.len() && users.iter().all(|(place, coming)| !coming && wanted.contains(place)) {
        return Ok(Some(Vec::new()));
    }
    on!(conn, |c| diesel::delete(version_body::table.filter(version_body::version_id.eq(id))).execute(c).await)?;
    add_users(conn, id, &wanted, false).await?;
    Ok(Some(users.into_iter().map(|(place, _)| place).filter(|place| !wanted.contains(place)).collect()))
}

/// Whether `holder` holds a series; locks the row until the transaction ends.
async fn lock_held(conn: &mut Conn, id: &str, holder: &str) -> Result<bool> {
    let row = page_version::table.find(id).filter(page_version::holder.eq(holder)).select(page_version::id);
    let held: Option<String> = on!(
        conn,
        pg | c | row.for_update().get_result(c).await.optional(),
        sqlite | c | row.get_result(c).await.optional()
    )?;
    Ok(held.is_some())
}

/// Adds a series as a user of bodies.
async fn add_users(conn: &mut Conn, id: &str, places: &[BodyPlace], coming: bool) -> Result<()> {
    for BodyPlace { digest, in_row } in places {
        let user = (
            version_body::version_id.eq(id),
            version_body::digest.eq(digest),
            version_body::in_row.eq(in_row),
            version_body::coming.eq(coming),
        );
        // The version may use the body already, and its text may equal its body.
        let insert = diesel::insert_into(version_body::table).values(user).on_conflict_do_nothing();
        on!(conn, |c| insert.execute(c).await)?;
    }
    Ok(())
}

/// Ends the holds on series, whose rows are locked, and lets the bodies go that were stored for their next versions. Rows
/// without a version are removed.
async fn give_back(conn: &mut Conn, ids: &[String]) -> Result<()> {
    let first = page_version::table.filter(page_version::id.eq_any(ids)).filter(page_version::scraped_at.is_null());
    on!(conn, |c| diesel::delete(first).execute(c).await)?;
    let free = (page_version::holder.eq(None::<String>), page_version::held_until.eq(None::<DbTime>));
    let others = diesel::update(page_version::table.filter(page_version::id.eq_any(ids))).set(free);
    on!(conn, |c| others.execute(c).await)?;
    let coming =
        || version_body::table.filter(version_body::version_id.eq_any(ids)).filter(version_body::coming.eq(true));
    let places = coming().select((version_body::digest, version_body::in_row));
    let places: Vec<BodyPlace> = on!(conn, |c| places.load(c).await)?;
    if places.is_empty() {
        return Ok(());
    }
    on!(conn, |c| diesel::delete(coming()).execute(c).await)?;
    cache::let_go(conn, places).await
}
