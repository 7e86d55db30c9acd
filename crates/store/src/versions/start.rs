//! Pages that crawls from one start have found.

use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::error::Result;
use crate::schema::page_version;

/// Pages that the last crawls from a start have found, for a later one.
#[derive(Debug, Clone, Copy)]
pub struct FromStart<'a> {
    /// Id of the team.
    pub team: &'a str,
    /// Key of the start URL.
    pub start: &'a str,
    /// Tag of the series; empty for none.
    pub tag: &'a str,
    /// Id of the crawl that asks: what it has scraped itself is left out.
    pub run: &'a str,
}

/// Page of [`of_start`].
#[derive(Debug, Clone, PartialEq, Eq, Queryable)]
pub struct PageOfStart {
    /// Id of its series.
    pub id: String,
    /// Its address as it was asked for.
    pub url: String,
}

/// Returns pages that earlier crawls from a start have scraped and that were not removed since, by id after `after`,
/// `limit` at most.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn of_start(conn: &mut Conn, from: &FromStart<'_>, after: &str, limit: i64) -> Result<Vec<PageOfStart>> {
    let rows = page_version::table
        .filter(page_version::team_id.eq(from.team))
        .filter(page_version::start.eq(from.start))
        .filter(page_version::tag.eq(from.tag))
        .filter(page_version::id.gt(after))
        .filter(page_version::run_id.ne(from.run))
        .filter(page_version::body_digest.is_not_null())
        .order(page_version::id)
        .limit(limit)
        .select((page_version::id, page_version::url));
    Ok(on!(conn, |c| rows.load(c).await)?)
}
