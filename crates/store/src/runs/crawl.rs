//! Data that only crawls have: the redirect target of their start URL.

use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::error::Result;
use crate::schema::crawl;

/// Returns the redirect target of a crawl's start URL; `None` without a redirect, and before it is known.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn landed(conn: &mut Conn, run: &str) -> Result<Option<String>> {
    let query = crawl::table.find(run).select(crawl::landed_url);
    Ok(on!(conn, |c| query.get_result(c).await.optional())?)
}

/// Stores the redirect target of a crawl's start URL.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn set_landed(conn: &mut Conn, run: &str, url: &str) -> Result<()> {
    let row = (crawl::run_id.eq(run), crawl::landed_url.eq(url));
    let set = || diesel::insert_into(crawl::table).values(row).on_conflict(crawl::run_id).do_update();
    on!(conn, |c| set().set(crawl::landed_url.eq(url)).execute(c).await)?;
    Ok(())
}

pub(super) async fn forget_landed(conn: &mut Conn, run: &str) -> Result<()> {
    on!(conn, |c| diesel::delete(crawl::table.find(run)).execute(c).await)?;
    Ok(())
}
