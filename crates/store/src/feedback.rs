//! Feedback of teams on their calls: once for each call, bounded per day, with credits given back up to a daily cap.

use base::Timestamp;
use chrono::{NaiveTime, TimeDelta};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::ledger::{self, Booking};
use crate::schema::feedback;
use crate::teams;

/// Feedback on one call.
#[derive(Debug, Clone, PartialEq, Eq, Queryable, Selectable, Insertable)]
#[diesel(table_name = feedback, treat_none_as_default_value = false)]
pub struct Feedback {
    /// Id.
    pub id: String,
    /// Id of the team.
    pub team_id: String,
    /// Id of the call as the client gave it, which need not be known here; `None` for feedback on no single call.
    pub job_id: Option<String>,
    /// Endpoint of the call.
    pub endpoint: String,
    /// Rating.
    pub rating: String,
    /// Everything else that was said, as a JSON object.
    pub content: String,
    /// Credits given back.
    pub credits: i64,
    /// Time at which it was given.
    #[diesel(serialize_as = DbTime, deserialize_as = DbTime)]
    pub created_at: Timestamp,
}

/// Limits of a team for one day (UTC).
#[derive(Debug, Clone, Copy)]
pub struct DailyLimits {
    /// Maximum number of feedbacks.
    pub most: i64,
    /// Maximum number of credits given back.
    pub credits: i64,
}

/// Outcome of giving feedback.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Given {
    /// Stored, with the credits that were given back.
    Stored(Feedback),
    /// Feedback that the team gave on this call before; the new one was not stored.
    Before(Feedback),
    /// Daily limit reached; nothing was stored.
    TooMany,
}

/// Stores feedback, unless the team has given some on this call or has reached its daily limit, and gives back up to
/// `new.credits` of credits, as far as the daily cap allows. Also returns the credits given back today.
///
/// # Errors
/// [`Query`](crate::StoreError::Query), [`StoreError::Ledger`](crate::StoreError::Ledger); nothing was stored then.
#[crate::boxed]
pub async fn give(conn: &mut Conn, new: Feedback, limits: DailyLimits) -> Result<(Given, i64)> {
    conn.atomic(async |conn: &mut Conn| {
        // Locked, so that two feedbacks cannot both be the last one that a limit allows.
        teams::lock(conn, &new.team_id).await?;
        let (count, refunded) = today(conn, &new.team_id, new.created_at).await?;
        if let Some(before) = before(conn, &new).await? {
            return Ok((Given::Before(before), refunded));
        }
        if count >= limits.most {
            return Ok((Given::TooMany, refunded));
        }
        let mut new = new.clone();
        new.credits = new.credits.min(limits.credits - refunded).max(0);
        on!(conn, |c| diesel::insert_into(feedback::table).values(new.clone()).execute(c).await)?;
        if new.credits > 0 {
            let key = format!("feedback:{}", new.id);
            let booking = Booking { key: &key, team: &new.team_id, api_key: None, at: new.created_at };
            ledger::grant(conn, &booking, new.credits).await?;
        }
        let refunded = refunded + new.credits;
        Ok((Given::Stored(new), refunded))
    })
    .await
}

/// Returns the team's earlier feedback on the same call.
async fn before(conn: &mut Conn, new: &Feedback) -> Result<Option<Feedback>> {
    let Some(job) = &new.job_id else { return Ok(None) };
    let query = feedback::table.filter(feedback::team_id.eq(&new.team_id)).filter(feedback::job_id.eq(job));
    Ok(on!(conn, |c| query.select(Feedback::as_select()).get_result(c).await.optional())?)
}

/// Returns the number of the team's feedbacks on the day of `at`, and the credits given back for them.
async fn today(conn: &mut Conn, team: &str, at: Timestamp) -> Result<(i64, i64)> {
    let start = at.date_naive().and_time(NaiveTime::MIN).and_utc();
    let of_day = feedback::table
        .filter(feedback::team_id.eq(team))
        .filter(feedback::created_at.ge(DbTime::from(start)))
        .filter(feedback::created_at.lt(DbTime::from(start + TimeDelta::days(1))));
    // The daily limit bounds the number of rows.
    let credits: Vec<i64> = on!(conn, |c| of_day.select(feedback::credits).load(c).await)?;
    Ok((i64::try_from(credits.len()).unwrap_or(i64::MAX), credits.into_iter().sum()))
}

/// Removes up to `limit` feedbacks given before `before`, and returns their number.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); nothing was removed then.
#[crate::boxed]
pub async fn forget(conn: &mut Conn, before: Timestamp, limit: i64) -> Result<usize> {
    conn.atomic(async |conn: &mut Conn| {
        let old =
            feedback::table.filter(feedback::created_at.lt(DbTime::from(before))).limit(limit).select(feedback::id);
        let ids: Vec<String> = on!(conn, |c| old.load(c).await)?;
        Ok(on!(conn, |c| diesel::delete(feedback::table.filter(feedback::id.eq_any(&ids))).execute(c).await)?)
    })
    .await
}
