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
    /// URL that it was about; `None` if there is none or it must not be shown.
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
    let part = Part { team, after: wanted.after.map(|place| (DbTime::from(place.created_at), place.id)), limit };
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
struct Part<'a> {
    team: &'a str,
    after: Option<(DbTime, &'a str)>,
    limit: i64,
}

/// Loads the newest rows of one table. The first condition on the time lets the index bound the scan; the second one is
/// exact.
macro_rules! newest {
    ($part:expr, $conn:expr, $table:ident, $rows:expr, $columns:expr) => {{
        let mut query = $rows.filter($table::team_id.eq($part.team)).into_boxed();
        if let Some((at, id)) = $part.after {
            let is_behind = $table::created_at.lt(at).or($table::id.lt(id));
            query = query.filter($table::created_at.le(at)).filter(is_behind);
        }
        let query = query.order(($table::created_at.desc(), $table::id.desc())).limit($part.limit).select($columns);
        query.load($conn).await
    }};
}

type ScrapeRow = (String, Option<String>, DbTime);

impl Part<'_> {
    /// Returns scrapes of pages, or of files.
    async fn scrapes(&self, conn: &mut Conn, of_pages: bool) -> Result<Vec<Entry>> {
        let columns = (scrape::id, scrape::url, scrape::created_at);
        let rows: Vec<ScrapeRow> = on!(conn, |c| match of_pages {
            true => newest!(self, c, scrape, scrape::table.filter(scrape::url.is_not_null()), columns),
            false => newest!(self, c, scrape, scrape::table.filter(scrape::url.is_null()), columns),
        })?;
        Ok(rows.into_iter().map(scraped).collect())
    }

    async fn runs(&self, conn: &mut Conn, kind: Option<&str>) -> Result<Vec<Entry>> {
        let columns = (run::id, run::kind, run::subject, run::private, run::created_at);
        let rows: Vec<(String, String, Option<String>, bool, DbTime)> = on!(conn, |c| match kind {
            Some(kind) => newest!(self, c, run, run::table.filter(run::kind.eq(kind)), columns),
            None => newest!(self, c, run, run::table, columns),
        })?;
        let entry = |(id, kind, subject, is_private, at): (String, String, Option<String>, bool, DbTime)| {
            let target = subject.filter(|_| !is_private);
            Entry { id, kind: Kind::Run(kind), target, created_at: at.into() }
        };
        Ok(rows.into_iter().map(entry).collect())
    }

    async fn sessions(&self, conn: &mut Conn, of_scrapes: Option<bool>) -> Result<Vec<Entry>> {
        let columns = (browser_session::id, browser_session::scrape_id, browser_session::created_at);
        let all = browser_session::table;
        let rows: Vec<(String, Option<String>, DbTime)> = on!(conn, |c| match of_scrapes {
            Some(true) => {
                newest!(self, c, browser_session, all.filter(browser_session::scrape_id.is_not_null()), columns)
            }
            Some(false) => newest!(self, c, browser_session, all.filter(browser_session::scrape_id.is_null()), columns),
            None => newest!(self, c, browser_session, all, columns),
        })?;
        let entry = |(id, scrape, at): (String, Option<String>, DbTime)| {
            let kind = if scrape.is_some() { Kind::PageSession } else { Kind::Session };
            Entry { id, kind, target: None, created_at: at.into() }
        };
        Ok(rows.into_iter().map(entry).collect())
    }
}

fn scraped(row: ScrapeRow) -> Entry {
    let (id, url, at) = row;
    let kind = if url.is_some() { Kind::Scrape } else { Kind::File };
    Entry { id, kind, target: url, created_at: at.into() }
}
