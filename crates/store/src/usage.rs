//! How many credits were spent, by day, month and API key. Written by the ledger in the transaction that spends them.

use std::collections::BTreeMap;

use base::Timestamp;
use chrono::{Months, NaiveDate};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use diesel::sqlite::Sqlite;
use diesel_async::RunQueryDsl;

use crate::conn::{AsyncSqlite, Conn, on};
use crate::error::{Result, StoreError};
use crate::schema::usage_day;
use crate::sql::Sql;

/// What a team spent in a calendar month (UTC).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Period {
    /// The first day.
    pub start: NaiveDate,
    /// The first day of the next month.
    pub end: NaiveDate,
    /// The id of the API key, when asked for by key; `None` also for calls without one.
    pub api_key: Option<String>,
    /// The credits.
    pub credits: i64,
}

/// The months in which a team spent anything, oldest first; within a month one for each key when `by_key`.
///
/// # Errors
/// [`Query`](crate::StoreError::Query), and [`StoreError::Inconsistent`] for a row whose day cannot be read.
#[crate::boxed]
pub async fn periods(conn: &mut Conn, team: &str, by_key: bool) -> Result<Vec<Period>> {
    let query = usage_day::table.filter(usage_day::team_id.eq(team)).select((
        usage_day::day,
        usage_day::api_key_id,
        usage_day::credits,
    ));
    let days: Vec<(String, String, i64)> = on!(conn, |c| query.load(c).await)?;
    let mut months: BTreeMap<(String, Option<String>), i64> = BTreeMap::new();
    for (mut day, key, credits) in days {
        // Days are text, `2026-01-31`. Months are cut off here because the two databases spell that differently.
        day.truncate("2026-01".len());
        let key = Some(key).filter(|key| by_key && !key.is_empty());
        *months.entry((day, key)).or_default() += credits;
    }
    months.into_iter().map(|((month, api_key), credits)| period(&month, api_key, credits)).collect()
}

/// The day under which something is counted.
pub(crate) fn day(at: Timestamp) -> String {
    at.format("%Y-%m-%d").to_string()
}

/// Adds to the day of `at`, on SQLite. On PostgreSQL the ledger does it with the rest.
pub(crate) async fn record(
    conn: &mut AsyncSqlite,
    team: &str,
    api_key: Option<&str>,
    at: Timestamp,
    credits: i64,
) -> Result<()> {
    // Calls without a key count under the empty id: a column of a primary key cannot be NULL.
    let query = Sql::<Sqlite>::new(
        "INSERT INTO usage_day (team_id, day, api_key_id, credits) VALUES ({}, {}, {}, {})
         ON CONFLICT (team_id, day, api_key_id) DO UPDATE SET credits = credits + excluded.credits",
    );
    let query = query
        .bind::<Text, _>(team)
        .bind::<Text, _>(day(at))
        .bind::<Text, _>(api_key.unwrap_or_default())
        .bind::<BigInt, _>(credits);
    query.execute(conn).await?;
    Ok(())
}

fn period(month: &str, api_key: Option<String>, credits: i64) -> Result<Period> {
    let start = NaiveDate::parse_from_str(&format!("{month}-01"), "%Y-%m-%d").ok();
    let end = start.and_then(|start| start.checked_add_months(Months::new(1)));
    match (start, end) {
        (Some(start), Some(end)) => Ok(Period { start, end, api_key, credits }),
        _ => Err(StoreError::Inconsistent(format!("usage_day has the month {month}"))),
    }
}
