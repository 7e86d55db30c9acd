//! Recording the results of attempts, many in one statement.

use std::collections::HashSet;

use base::Timestamp;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Bool, Integer, Nullable, Text, Timestamp as SqlTimestamp};
use diesel_async::RunQueryDsl;

use super::State;
use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::schema::webhook_delivery;
use crate::sql::Sql;

/// Result of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt<'a> {
    /// Id of the delivery.
    pub id: &'a str,
    /// State of the delivery after it.
    pub state: State,
    /// Number of this attempt, from 1.
    pub attempts: i32,
    /// HTTP status of the response, if there was one.
    pub status: Option<i32>,
    /// Error, if it failed.
    pub error: Option<&'a str>,
    /// Duration, in milliseconds.
    pub duration_ms: i64,
    /// End time.
    pub at: Timestamp,
    /// Due time of the next attempt, if there is one.
    pub next_at: Option<Timestamp>,
}

/// Records results of attempts, at most one for each delivery, and returns the ids of the deliveries that were still
/// pending. A delivered one loses its body and headers; an ended one that must not be kept is removed.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); no attempt was recorded then.
#[crate::boxed]
pub async fn record(conn: &mut Conn, attempts: &[Attempt<'_>]) -> Result<HashSet<String>> {
    if attempts.is_empty() {
        return Ok(HashSet::new());
    }
    conn.atomic(async |conn: &mut Conn| {
        let pending: Vec<(String, bool)> = on!(
            conn,
            pg | c | to_postgres(attempts).load(c).await,
            sqlite | c | {
                let mut pending = Vec::with_capacity(attempts.len());
                for attempt in attempts {
                    let row: Option<(String, bool)> = update(attempt).get_result(c).await.optional()?;
                    pending.extend(row);
                }
                Ok(pending)
            }
        )?;
        let ended: HashSet<&str> =
            attempts.iter().filter(|attempt| attempt.state != State::Pending).map(|attempt| attempt.id).collect();
        // Deliveries with zero retention leave no row after their end.
        let gone: Vec<&str> = pending
            .iter()
            .filter(|(id, keep)| !keep && ended.contains(id.as_str()))
            .map(|(id, _)| id.as_str())
            .collect();
        if !gone.is_empty() {
            let query = diesel::delete(webhook_delivery::table.filter(webhook_delivery::id.eq_any(&gone)));
            on!(conn, |c| query.execute(c).await)?;
        }
        Ok(pending.into_iter().map(|(id, _)| id).collect())
    })
    .await
}

// `unnest` turns eight arrays ($1 to $8, named in `u`) into rows, so the text and its plan are the same for any number
// of attempts. Only pending deliveries change: an ended one stays ended, even if a late attempt is reported.
// `json_build_object()` is the empty object, because `{}` in the text marks a bound value.
const POSTGRES: &str = "UPDATE webhook_delivery AS d SET state = u.state, attempts = u.attempts, status = u.status,
        error = u.error, duration_ms = u.duration_ms, next_at = u.next_at, delivered_at = u.delivered_at,
        has_body = u.state <> 'delivered', body = CASE u.state WHEN 'delivered' THEN '' ELSE d.body END,
        headers = CASE u.state WHEN 'delivered' THEN json_build_object()::text ELSE d.headers END
    FROM unnest({}, {}, {}, {}, {}, {}, {}, {})
        AS u(id, state, attempts, status, error, duration_ms, next_at, delivered_at)
    WHERE d.id = u.id AND d.state = 'pending' RETURNING d.id, d.keep";

fn to_postgres<'a>(attempts: &'a [Attempt<'_>]) -> Sql<'a, Pg, (Text, Bool)> {
    fn column<'r, T>(attempts: &'r [Attempt<'_>], value: impl Fn(&'r Attempt<'_>) -> T) -> Vec<T> {
        attempts.iter().map(value).collect()
    }
    Sql::new(POSTGRES)
        .bind::<Array<Text>, _>(column(attempts, |attempt| attempt.id))
        .bind::<Array<Text>, _>(column(attempts, |attempt| attempt.state.as_str()))
        .bind::<Array<Integer>, _>(column(attempts, |attempt| attempt.attempts))
        .bind::<Array<Nullable<Integer>>, _>(column(attempts, |attempt| attempt.status))
        .bind::<Array<Nullable<Text>>, _>(column(attempts, |attempt| attempt.error))
        .bind::<Array<BigInt>, _>(column(attempts, |attempt| attempt.duration_ms))
        .bind::<Array<Nullable<SqlTimestamp>>, _>(column(attempts, |attempt| attempt.next_at.map(DbTime::from)))
        .bind::<Array<Nullable<SqlTimestamp>>, _>(column(attempts, delivered_at))
}

/// Updates one delivery. SQLite runs in this process, so several rows in one statement would save nothing.
fn update<'a>(attempt: &'a Attempt<'_>) -> Sql<'a, diesel::sqlite::Sqlite, (Text, Bool)> {
    Sql::new(
        "UPDATE webhook_delivery SET state = {}, attempts = {}, status = {}, error = {}, duration_ms = {}, next_at = {},
            delivered_at = {}, has_body = ?1 <> 'delivered', body = CASE ?1 WHEN 'delivered' THEN x'' ELSE body END,
            headers = CASE ?1 WHEN 'delivered' THEN json_object() ELSE headers END WHERE id = {} AND state = 'pending' RETURNING id, keep",
    )
    .bind::<Text, _>(attempt.state.as_str())
    .bind::<Integer, _>(attempt.attempts)
    .bind::<Nullable<Integer>, _>(attempt.status)
    .bind::<Nullable<Text>, _>(attempt.error)
    .bind::<BigInt, _>(attempt.duration_ms)
    .bind::<Nullable<SqlTimestamp>, _>(attempt.next_at.map(DbTime::from))
    .bind::<Nullable<SqlTimestamp>, _>(delivered_at(attempt))
    .bind::<Text, _>(attempt.id)
}

fn delivered_at(attempt: &Attempt<'_>) -> Option<DbTime> {
    (attempt.state == State::Delivered).then(|| attempt.at.into())
}
