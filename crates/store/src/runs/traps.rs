//! Counters against crawler traps (sites with endless pages), shared by all workers of a crawl. Its progress must be
//! locked.

use std::collections::{HashMap, HashSet};

use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Text};
use diesel::sqlite::Sqlite;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::error::Result;
use crate::schema::{crawl_family, crawl_template};
use crate::sql::{Sql, json};

/// Counts URLs of families, each given as (hash of the family, limit of its URLs). Says for each whether it is within
/// the limit, and counts it only then.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn enter_families(conn: &mut Conn, run: &str, families: &[(u64, u32)]) -> Result<Vec<bool>> {
    let hashes: HashSet<i64> = families.iter().map(|(hash, _)| hash.cast_signed()).collect();
    if hashes.is_empty() {
        return Ok(Vec::new());
    }
    let hashes: Vec<i64> = hashes.into_iter().collect();
    let query = |hashes| {
        let of_run = crawl_family::table.filter(crawl_family::run_id.eq(run));
        of_run.filter(crawl_family::hash.eq_any(hashes)).select((crawl_family::hash, crawl_family::known))
    };
    let rows: Vec<(i64, i64)> = on!(
        conn,
        pg | c | query(hashes).load(c).await,
        sqlite | c | {
            let query = Sql::<Sqlite, (BigInt, BigInt)>::new(SQLITE_FAMILIES_OF).bind::<Text, _>(run);
            query.bind::<Text, _>(json(&hashes)).load(c).await
        }
    )?;
    let before: HashMap<i64, i64> = rows.into_iter().collect();
    let mut now = before.clone();
    let mut within = Vec::with_capacity(families.len());
    for (hash, most) in families {
        let known = now.entry(hash.cast_signed()).or_default();
        within.push(*known < i64::from(*most));
        *known = (*known + 1).min(i64::from(*most));
    }
    let changed = now.into_iter().filter(|(hash, known)| before.get(hash) != Some(known));
    put_families(conn, run, changed.collect()).await?;
    Ok(within)
}

const SQLITE_FAMILIES_OF: &str = "SELECT hash, known FROM crawl_family
    WHERE run_id = {} AND hash IN (SELECT value FROM json_each({}))";

// $1 run, $2 hashes, $3 counters.
const POSTGRES_FAMILIES: &str = "INSERT INTO crawl_family (run_id, hash, known)
    SELECT {}, v.hash, v.known FROM unnest({}, {}) AS v(hash, known)
    ON CONFLICT (run_id, hash) DO UPDATE SET known = excluded.known";

// `WHERE true`: otherwise SQLite parses ON as part of a join. ?1 run, ?2 [hash, counter] pairs as JSON.
const SQLITE_FAMILIES: &str = "INSERT INTO crawl_family (run_id, hash, known)
    SELECT {}, value ->> 0, value ->> 1 FROM json_each({}) WHERE true
    ON CONFLICT (run_id, hash) DO UPDATE SET known = excluded.known";

async fn put_families(conn: &mut Conn, run: &str, rows: Vec<(i64, i64)>) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    on!(
        conn,
        pg | c | {
            let (hashes, known): (Vec<i64>, Vec<i64>) = rows.into_iter().unzip();
            Sql::<Pg>::new(POSTGRES_FAMILIES)
                .bind::<Text, _>(run)
                .bind::<Array<BigInt>, _>(hashes)
                .bind::<Array<BigInt>, _>(known)
                .execute(c)
                .await
        },
        sqlite | c | {
            let rows = json(&rows);
            Sql::<Sqlite>::new(SQLITE_FAMILIES).bind::<Text, _>(run).bind::<Text, _>(rows).execute(c).await
        }
    )?;
    Ok(())
}

/// Counts fetched pages, each given as (template of the URL, hash of the content). A streak is the hash of the last
/// page of a template and the number of pages in a row that had it; `step` computes the new one from the old one and
/// the hash of the next page.
///
/// # Errors
/// Those of the database.
pub async fn enter_templates(
    conn: &mut Conn,
    run: &str,
    pages: &[(u64, u64)],
    step: impl Fn((u64, u32), u64) -> (u64, u32),
) -> Result<()> {
    let templates: HashSet<i64> = pages.iter().map(|(template, _)| template.cast_signed()).collect();
    if templates.is_empty() {
        return Ok(());
    }
    let rows = streaks(conn, run, templates.into_iter().collect()).await?;
    let streak = |(template, hash, length): (i64, i64, i64)| {
        (template.cast_unsigned(), (hash.cast_unsigned(), u32::try_from(length).unwrap_or(u32::MAX)))
    };
    let before: HashMap<u64, (u64, u32)> = rows.into_iter().map(streak).collect();
    let mut now = before.clone();
    for (template, content) in pages {
        let streak = now.entry(*template).or_default();
        *streak = step(*streak, *content);
    }
    let changed = now.into_iter().filter(|(template, streak)| before.get(template) != Some(streak));
    let rows: Vec<(i64, i64, i64)> = changed
        .map(|(template, (hash, length))| (template.cast_signed(), hash.cast_signed(), i64::from(length)))
        .collect();
    put_templates(conn, run, rows).await
}

const POSTGRES_TEMPLATES: &str = "INSERT INTO crawl_template (run_id, template, hash, length)
    SELECT {}, v.template, v.hash, v.length FROM unnest({}, {}, {}) AS v(template, hash, length)
    ON CONFLICT (run_id, template) DO UPDATE SET hash = excluded.hash, length = excluded.length";

// `WHERE true`: otherwise SQLite parses ON as part of a join. ?1 run, ?2 [template, hash, length] rows as JSON.
const SQLITE_TEMPLATES: &str = "INSERT INTO crawl_template (run_id, template, hash, length)
    SELECT {}, value ->> 0, value ->> 1, value ->> 2 FROM json_each({}) WHERE true
    ON CONFLICT (run_id, template) DO UPDATE SET hash = excluded.hash, length = excluded.length";

async fn put_templates(conn: &mut Conn, run: &str, rows: Vec<(i64, i64, i64)>) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    on!(
        conn,
        pg | c | {
            let column = |of: fn(&(i64, i64, i64)) -> i64| rows.iter().map(of).collect::<Vec<i64>>();
            Sql::<Pg>::new(POSTGRES_TEMPLATES)
                .bind::<Text, _>(run)
                .bind::<Array<BigInt>, _>(column(|row| row.0))
                .bind::<Array<BigInt>, _>(column(|row| row.1))
                .bind::<Array<BigInt>, _>(column(|row| row.2))
                .execute(c)
                .await
        },
        sqlite | c | {
            let rows = json(&rows);
            Sql::<Sqlite>::new(SQLITE_TEMPLATES).bind::<Text, _>(run).bind::<Text, _>(rows).execute(c).await
        }
    )?;
    Ok(())
}

/// Returns the templates whose last `length` pages or more had the same content.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn trapped_templates(
    conn: &mut Conn,
    run: &str,
    templates: &HashSet<u64>,
    length: u32,
) -> Result<HashSet<u64>> {
    if templates.is_empty() {
        return Ok(HashSet::new());
    }
    let rows = streaks(conn, run, templates.iter().map(|template| template.cast_signed()).collect()).await?;
    let trapped = rows.into_iter().filter(|(_, _, known)| *known >= i64::from(length));
    Ok(trapped.map(|(template, ..)| template.cast_unsigned()).collect())
}

const SQLITE_STREAKS: &str = "SELECT template, hash, length FROM crawl_template
    WHERE run_id = {} AND template IN (SELECT value FROM json_each({}))";

/// Returns (template, hash of the last page, number of pages in a row that had it) for these templates.
async fn streaks(conn: &mut Conn, run: &str, templates: Vec<i64>) -> Result<Vec<(i64, i64, i64)>> {
    let query = |templates| {
        let of_run = crawl_template::table.filter(crawl_template::run_id.eq(run));
        let found = of_run.filter(crawl_template::template.eq_any(templates));
        found.select((crawl_template::template, crawl_template::hash, crawl_template::length))
    };
    Ok(on!(
        conn,
        pg | c | query(templates).load(c).await,
        sqlite | c | {
            let query = Sql::<Sqlite, (BigInt, BigInt, BigInt)>::new(SQLITE_STREAKS).bind::<Text, _>(run);
            query.bind::<Text, _>(json(&templates)).load(c).await
        }
    )?)
}
