//! Spent credits by day and API key, summed by month. Written by the ledger in the transaction that spends them.

use std::collections::BTreeMap;

use base::Timestamp;
use chrono::{Months, NaiveDate};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use diesel::sqlite::Sqlite;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::error::{Result, StoreError};
use crate::schema::usage_day;
use crate::sql::Sql;
use crate::sqlite::AsyncSqlite;

/// Credits that a team spent in a calendar month (UTC).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Period {
    /// First day of the month.
    pub start: NaiveDate,
    /// First day of the next month.
    pub end: NaiveDate,
    /// Id of the API key; `None` without a split by key, and for calls without a key.
    pub api_key: Option<String>,
    /// Credits spent.
    pub credits: i64,
}

/// Returns the months in which a team spent credits, oldest first; with `by_key`, one item for each month and key.
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
        // Days are text, `2026-01-31`. Truncated here, because the SQL for months differs between the databases.
        day.truncate("2026-01".len());
        let key = Some(key).filter(|key| by_key && !key.is_empty());
        *months.entry((day, key)).or_default() += credits;
    }
    months.into_iter().map(|((month, api_key), credits)| period(&month, api_key, credits)).collect()
}

/// Returns the day under which usage at this time is counted.
pub(crate) fn day(at: Timestamp) -> String {
    at.format("%Y-%m-%d").to_string()
}

/// Adds credits to the usage of a day, on SQLite. On PostgreSQL the ledger's statement does it.
pub(crate) async fn record(
    conn: &mut AsyncSqlite,
    team: &str,
    api_key: Option<&str>,
    at: Timestamp,
    credits: i64,
) -> Result<()> {
    // Calls without a key use the empty id, because a primary key column cannot be NULL.
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
        _ => Err(StoreError::Inconsistent(format!("usage_day holds the invalid month {month}"))),
    }
}
