//! Activity of a team, newest first: scrapes, parsed files, runs and browser sessions, as long as their rows are kept.
//! Operations with zero data retention have no row, or one that does not say what it was about.

use base::Timestamp;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::schema::{browser_session, run, scrape};

/// Entry of the activity list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Id, as known to the client.
    pub id: String,
    /// Kind of operation.
    pub kind: Kind,
    /// URL of the call; `None` if it has none or must not be shown.
    pub target: Option<String>,
    /// Start time.
    pub created_at: Timestamp,
}

/// Kind of operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Scrape of a page.
    Scrape,
    /// Parse of an uploaded file.
    File,
    /// Run of this kind.
    Run(String),
    /// Stand-alone browser session.
    Session,
    /// Browser session of the page of a scrape.
    PageSession,
}

/// Filter of [`list`].
#[derive(Debug, Clone, Default)]
pub struct Wanted<'a> {
    /// Only entries of this kind.
    pub kind: Option<Kind>,
    /// Only entries after this place.
    pub after: Option<Place<'a>>,
}

/// Place in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'a> {
    /// Start time of the entry.
    pub created_at: Timestamp,
    /// Id of the entry.
    pub id: &'a str,
}

/// Returns up to `limit` entries of a team, newest first; entries with equal times are ordered by id.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn list(conn: &mut Conn, team: &str, wanted: &Wanted<'_>, limit: i64) -> Result<Vec<Entry>> {
    let part = IndexRange { team, after: wanted.after.map(|place| (DbTime::from(place.created_at), place.id)), limit };
    let mut entries = match &wanted.kind {
        Some(Kind::Scrape) => part.scrapes(conn, true).await?,
        Some(Kind::File) => part.scrapes(conn, false).await?,
        Some(Kind::Run(kind)) => part.runs(conn, Some(kind)).await?,
        Some(Kind::Session) => part.sessions(conn, Some(false)).await?,
        Some(Kind::PageSession) => part.sessions(conn, Some(true)).await?,
        None => {
            let scrapes = [part.scrapes(conn, true).await?, part.scrapes(conn, false).await?].concat();
            [scrapes, part.runs(conn, None).await?, part.sessions(conn, None).await?].concat()
        }
    };
    entries.sort_by(|a, b| (b.created_at, &b.id).cmp(&(a.created_at, &a.id)));
    entries.truncate(usize::try_from(limit).unwrap_or(0));
    Ok(entries)
}

/// Part of the list that one index returns in order.
struct IndexRange<'a> {
    team: &'a str,
    after: Option<(DbTime, &'a str)>,
    limit: i64,
}

/// Loads the newest rows of one table. The first condition on the time lets the index bound the scan; the second one is
/// exact.
macro_rules! newest {
    ($part:expr, $conn:expr, $table:ident, $rows:expr, $row:ty) => {{
        let mut query = $rows.filter($table::team_id.eq($part.team)).into_boxed();
        if let Some((at, id)) = $part.after {
            let is_behind = $table::created_at.lt(at).or($table::id.lt(id));
            query = query.filter($table::created_at.le(at)).filter(is_behind);
        }
        let query = query.order(($table::created_at.desc(), $table::id.desc())).limit($part.limit);
        query.select(<$row>::as_select()).load($conn).await
    }};
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = scrape)]
struct ScrapeRow {
    id: String,
    url: Option<String>,
    created_at: DbTime,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = run)]
struct RunRow {
    id: String,
    kind: String,
    subject: Option<String>,
    private: bool,
    created_at: DbTime,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = browser_session)]
struct SessionRow {
    id: String,
    scrape_id: Option<String>,
    created_at: DbTime,
}

impl IndexRange<'_> {
    /// Returns scrapes of pages, or of files.
    async fn scrapes(&self, conn: &mut Conn, of_pages: bool) -> Result<Vec<Entry>> {
        let rows: Vec<ScrapeRow> = on!(conn, |c| match of_pages {
            true => newest!(self, c, scrape, scrape::table.filter(scrape::url.is_not_null()), ScrapeRow),
            false => newest!(self, c, scrape, scrape::table.filter(scrape::url.is_null()), ScrapeRow),
        })?;
        Ok(rows.into_iter().map(Entry::from).collect())
    }

    async fn runs(&self, conn: &mut Conn, kind: Option<&str>) -> Result<Vec<Entry>> {
        let rows: Vec<RunRow> = on!(conn, |c| match kind {
            Some(kind) => newest!(self, c, run, run::table.filter(run::kind.eq(kind)), RunRow),
            None => newest!(self, c, run, run::table, RunRow),
        })?;
        Ok(rows.into_iter().map(Entry::from).collect())
    }

    async fn sessions(&self, conn: &mut Conn, of_scrapes: Option<bool>) -> Result<Vec<Entry>> {
        let all = browser_session::table;
        let rows: Vec<SessionRow> = on!(conn, |c| match of_scrapes {
            Some(true) =>
                newest!(self, c, browser_session, all.filter(browser_session::scrape_id.is_not_null()), SessionRow),
            Some(false) =>
                newest!(self, c, browser_session, all.filter(browser_session::scrape_id.is_null()), SessionRow),
            None => newest!(self, c, browser_session, all, SessionRow),
        })?;
        Ok(rows.into_iter().map(Entry::from).collect())
    }
}

impl From<ScrapeRow> for Entry {
    fn from(row: ScrapeRow) -> Self {
        let kind = if row.url.is_some() { Kind::Scrape } else { Kind::File };
        Self { id: row.id, kind, target: row.url, created_at: row.created_at.into() }
    }
}

impl From<RunRow> for Entry {
    fn from(row: RunRow) -> Self {
        let target = row.subject.filter(|_| !row.private);
        Self { id: row.id, kind: Kind::Run(row.kind), target, created_at: row.created_at.into() }
    }
}

impl From<SessionRow> for Entry {
    fn from(row: SessionRow) -> Self {
        let kind = if row.scrape_id.is_some() { Kind::PageSession } else { Kind::Session };
        Self { id: row.id, kind, target: None, created_at: row.created_at.into() }
    }
}
