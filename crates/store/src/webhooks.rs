//! Webhooks: the signing secrets of teams, and one row per delivery, which serves as log and as queue entry.

mod attempt;
mod log;
mod secret;

use std::fmt;

use base::Timestamp;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::{Result, StoreError};
use crate::schema::{webhook_delivery, webhook_secret};

pub use attempt::{Attempt, record};
pub use log::{Logged, drop_bodies, find, forget, list};
use secret::SecretRow;
pub use secret::{Secrets, add_secret, rotate, secrets};

/// Delivery state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// An attempt is due or running.
    Pending,
    /// The receiver accepted it.
    Delivered,
    /// No further attempt will be made.
    Failed,
}

/// Delivery to be made.
#[derive(Clone, PartialEq, Eq)]
pub struct NewDelivery {
    /// Id, a UUIDv7, so that the log is in the order of time.
    pub id: String,
    /// Id of the team.
    pub team_id: String,
    /// Id of the crawl or batch.
    pub job_id: String,
    /// Name of the event.
    pub event: String,
    /// Target URL, without user name and password.
    pub url: String,
    /// Additional headers set by the team, as a JSON object.
    pub headers: String,
    /// Exact bytes of the body.
    pub body: Vec<u8>,
    /// SHA-256 of the body in hexadecimal digits; kept when the body is removed.
    pub digest: String,
    /// Whether the row is kept after the delivery has ended.
    pub keep: bool,
    /// Time of creation.
    pub created_at: Timestamp,
}

/// Delivery, with what an attempt needs.
#[derive(Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// Id of the team.
    pub team_id: String,
    /// Id of the crawl or batch.
    pub job_id: String,
    /// Name of the event.
    pub event: String,
    /// Target URL.
    pub url: String,
    /// Additional headers, as a JSON object.
    pub headers: String,
    /// Exact bytes of the body.
    pub body: Vec<u8>,
    /// Delivery state.
    pub state: State,
    /// Number of attempts so far.
    pub attempts: i32,
}

#[derive(Insertable)]
#[diesel(table_name = webhook_delivery)]
struct Row<'a> {
    id: &'a str,
    team_id: &'a str,
    job_id: &'a str,
    event: &'a str,
    url: &'a str,
    headers: &'a str,
    body: &'a [u8],
    keep: bool,
    state: &'static str,
    attempts: i32,
    created_at: DbTime,
    next_at: Option<DbTime>,
    has_body: bool,
    body_bytes: i64,
    body_digest: &'a str,
}

/// Columns of [`Outgoing`].
#[derive(Queryable, Selectable)]
#[diesel(table_name = webhook_delivery)]
struct OutgoingRow {
    team_id: String,
    job_id: String,
    event: String,
    url: String,
    headers: String,
    body: Vec<u8>,
    state: String,
    attempts: i32,
}

impl TryFrom<OutgoingRow> for Outgoing {
    type Error = StoreError;

    fn try_from(row: OutgoingRow) -> Result<Self> {
        let OutgoingRow { team_id, job_id, event, url, headers, body, state, attempts } = row;
        Ok(Self { team_id, job_id, event, url, headers, body, state: State::parse(&state)?, attempts })
    }
}

/// Rows of one statement: SQLite accepts 32 766 bound values.
const CHUNK: usize = 500;

/// Adds deliveries, all pending and due at once.
///
/// # Errors
/// [`StoreError::is_duplicate`] when an id is taken; [`StoreError::Query`] when the team is unknown. Nothing was added
/// then.
#[crate::boxed]
pub async fn insert(conn: &mut Conn, deliveries: &[NewDelivery]) -> Result<()> {
    conn.atomic(async |conn: &mut Conn| {
        for chunk in deliveries.chunks(CHUNK) {
            let rows: Vec<Row<'_>> = chunk.iter().map(row).collect();
            on!(
                conn,
                pg | c | diesel::insert_into(webhook_delivery::table).values(&rows).execute(c).await,
                // diesel's batch insert for SQLite opens a transaction of its own, but one is open already.
                sqlite | c | {
                    let mut done = Ok(0);
                    for row in &rows {
                        done = diesel::insert_into(webhook_delivery::table).values(row).execute(c).await;
                        if done.is_err() {
                            break;
                        }
                    }
                    done
                }
            )?;
        }
        Ok(())
    })
    .await
}

/// Returns what an attempt at this delivery needs, with the secrets of its team that are valid at `now`; `None` if it
/// is gone.
///
/// # Errors
/// [`Query`](crate::StoreError::Query), and [`StoreError::Inconsistent`] for a row whose state cannot be read.
#[crate::boxed]
pub async fn for_attempt(conn: &mut Conn, id: &str, now: Timestamp) -> Result<Option<(Outgoing, Option<Secrets>)>> {
    use webhook_delivery::columns as c;
    // One query for delivery and secrets: thousands of attempts may be due at once.
    let secret = webhook_secret::table.on(webhook_secret::team_id.eq(c::team_id));
    let query = webhook_delivery::table.left_join(secret).filter(c::id.eq(id));
    let found: Option<(OutgoingRow, Option<SecretRow>)> = on!(conn, |c| {
        query.select(<(OutgoingRow, Option<SecretRow>)>::as_select()).get_result(c).await.optional()
    })?;
    let Some((outgoing, secrets)) = found else { return Ok(None) };
    Ok(Some((outgoing.try_into()?, secrets.map(|row| row.valid(now)))))
}

/// Makes an ended delivery pending again with all its attempts; says whether it had ended and still had its body.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); nothing was changed then.
#[crate::boxed]
pub async fn reopen(conn: &mut Conn, id: &str, now: Timestamp) -> Result<bool> {
    use webhook_delivery::columns as c;
    // The state is checked in the statement: if two operators ask at once, only one of them enqueues a job.
    let ended = webhook_delivery::table.find(id).filter(c::state.ne(State::Pending.as_str())).filter(c::has_body);
    let set = (c::state.eq(State::Pending.as_str()), c::attempts.eq(0), c::next_at.eq(Some(DbTime::from(now))));
    let query = diesel::update(ended).set(set);
    let mut conn = conn.turn().await?;
    Ok(on!(conn, |c| query.execute(c).await)? == 1)
}

impl State {
    /// Returns the value of the column.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            State::Pending => "pending",
            State::Delivered => "delivered",
            State::Failed => "failed",
        }
    }

    fn parse(word: &str) -> Result<State> {
        let all = [State::Pending, State::Delivered, State::Failed];
        let found = all.into_iter().find(|state| state.as_str() == word);
        found.ok_or_else(|| StoreError::Inconsistent("webhook delivery with an unknown state".to_owned()))
    }
}

fn row(delivery: &NewDelivery) -> Row<'_> {
    let NewDelivery { id, team_id, job_id, event, url, headers, body, digest, keep, created_at } = delivery;
    let created_at = DbTime::from(*created_at);
    Row {
        id,
        team_id,
        job_id,
        event,
        url,
        headers,
        body,
        keep: *keep,
        state: State::Pending.as_str(),
        attempts: 0,
        created_at,
        next_at: Some(created_at),
        has_body: true,
        body_bytes: i64::try_from(body.len()).unwrap_or(i64::MAX),
        body_digest: digest,
    }
}

/// Omits the body, which is page content, and the headers, which may hold the receiver's password.
impl fmt::Debug for NewDelivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewDelivery").field("id", &self.id).field("event", &self.event).finish_non_exhaustive()
    }
}

impl fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outgoing").field("job_id", &self.job_id).field("event", &self.event).finish_non_exhaustive()
    }
}
