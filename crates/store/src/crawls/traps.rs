//! Counters against sites without end, shared by all workers of a crawl. The crawl's row is locked meanwhile.

use std::collections::{HashMap, HashSet};

use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::error::Result;
use crate::schema::{crawl_family, crawl_run};

/// Counts addresses of families: for each (hash of the family, most addresses that it may have), says whether it is still
/// within, and counts it then.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn enter_families(conn: &mut Conn, crawl: &str, families: &[(u64, u32)]) -> Result<Vec<bool>> {
    let hashes: HashSet<i64> = families.iter().map(|(hash, _)| hash.cast_signed()).collect();
    if hashes.is_empty() {
        return Ok(Vec::new());
    }
    let query = crawl_family::table
        .filter(crawl_family::crawl_id.eq(crawl))
        .filter(crawl_family::hash.eq_any(hashes))
        .select((crawl_family::hash, crawl_family::known));
    let rows: Vec<(i64, i64)> = on!(conn, |c| query.load(c).await)?;
    let before: HashMap<i64, i64> = rows.into_iter().collect();
    let mut now = before.clone();
    let mut within = Vec::with_capacity(families.len());
    for (hash, most) in families {
        let known = now.entry(hash.cast_signed()).or_default();
        within.push(*known < i64::from(*most));
        *known = (*known + 1).min(i64::from(*most));
    }
    for (hash, known) in now.into_iter().filter(|(hash, known)| before.get(hash) != Some(known)) {
        let row = (crawl_family::crawl_id.eq(crawl), crawl_family::hash.eq(hash), crawl_family::known.eq(known));
        let key = (crawl_family::crawl_id, crawl_family::hash);
        let set = || diesel::insert_into(crawl_family::table).values(row).on_conflict(key).do_update();
        on!(conn, |c| set().set(crawl_family::known.eq(known)).execute(c).await)?;
    }
    Ok(within)
}

/// Counts pages that were fetched, given as (template of the address, hash of the content): `step` makes the new run out of
/// (hash, length) of the old one and the hash of the page.
///
/// # Errors
/// Those of the database.
pub async fn enter_runs(
    conn: &mut Conn,
    crawl: &str,
    pages: &[(u64, u64)],
    step: impl Fn((u64, u32), u64) -> (u64, u32),
) -> Result<()> {
    let templates: HashSet<i64> = pages.iter().map(|(template, _)| template.cast_signed()).collect();
    if templates.is_empty() {
        return Ok(());
    }
    let query = crawl_run::table
        .filter(crawl_run::crawl_id.eq(crawl))
        .filter(crawl_run::template.eq_any(templates))
        .select((crawl_run::template, crawl_run::hash, crawl_run::length));
    let rows: Vec<(i64, i64, i64)> = on!(conn, |c| query.load(c).await)?;
    let run = |(template, hash, length): (i64, i64, i64)| {
        (template.cast_unsigned(), (hash.cast_unsigned(), u32::try_from(length).unwrap_or(u32::MAX)))
    };
    let before: HashMap<u64, (u64, u32)> = rows.into_iter().map(run).collect();
    let mut now = before.clone();
    for (template, content) in pages {
        let run = now.entry(*template).or_default();
        *run = step(*run, *content);
    }
    for (template, (hash, length)) in now.into_iter().filter(|(template, run)| before.get(template) != Some(run)) {
        let set = (crawl_run::hash.eq(hash.cast_signed()), crawl_run::length.eq(i64::from(length)));
        let row = (crawl_run::crawl_id.eq(crawl), crawl_run::template.eq(template.cast_signed()), set.0, set.1);
        let key = (crawl_run::crawl_id, crawl_run::template);
        let insert = || diesel::insert_into(crawl_run::table).values(row).on_conflict(key).do_update();
        on!(conn, |c| insert().set(set).execute(c).await)?;
    }
    Ok(())
}

/// Those of the templates whose pages have all been the same for `length` pages.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn trapped_templates(
    conn: &mut Conn,
    crawl: &str,
    templates: &HashSet<u64>,
    length: u32,
) -> Result<HashSet<u64>> {
    if templates.is_empty() {
        return Ok(HashSet::new());
    }
    let templates: Vec<i64> = templates.iter().map(|template| template.cast_signed()).collect();
    let query = crawl_run::table
        .filter(crawl_run::crawl_id.eq(crawl))
        .filter(crawl_run::template.eq_any(templates))
        .filter(crawl_run::length.ge(i64::from(length)))
        .select(crawl_run::template);
    let rows: Vec<i64> = on!(conn, |c| query.load(c).await)?;
    Ok(rows.into_iter().map(i64::cast_unsigned).collect())
}
