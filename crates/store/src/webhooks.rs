//! Webhooks: the secret of each team, and one row per delivery, which is the log and the source of every attempt.

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
pub use secret::{Secrets, add_secret, rotate, secrets};

/// What came of a delivery so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// An attempt is to come, or under way.
    Pending,
    /// The receiver has it.
    Delivered,
    /// Nothing more is tried.
    Failed,
}

/// A delivery to be made.
#[derive(Clone, PartialEq, Eq)]
pub struct NewDelivery {
    /// Its id; a UUIDv7, so that the log is in the order of time.
    pub id: String,
    /// The team whose event it tells of.
    pub team_id: String,
    /// The crawl or batch that it tells of.
    pub job_id: String,
    /// The event's name.
    pub event: String,
    /// Where it goes; without user name and password.
    pub url: String,
    /// What the hook's owner wants to be sent along, as a JSON object.
    pub headers: String,
    /// The exact bytes of the body.
    pub body: Vec<u8>,
    /// SHA-256 of the body in hexadecimal digits: it stays when the body goes.
    pub digest: String,
    /// Whether the row may stay when the delivery has ended; otherwise it is removed then.
    pub keep: bool,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A delivery on its way, as an attempt needs it.
#[derive(Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// See [`NewDelivery::team_id`].
    pub team_id: String,
    /// See [`NewDelivery::job_id`].
    pub job_id: String,
    /// See [`NewDelivery::event`].
    pub event: String,
    /// See [`NewDelivery::url`].
    pub url: String,
    /// See [`NewDelivery::headers`].
    pub headers: String,
    /// See [`NewDelivery::body`].
    pub body: Vec<u8>,
    /// What came of it so far.
    pub state: State,
    /// How many attempts were made.
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

/// Rows of one statement: SQLite takes 32 766 values.
const CHUNK: usize = 500;

/// Adds deliveries, all pending and due at once.
///
/// # Errors
/// [`StoreError::is_duplicate`] when an id is taken; [`StoreError::Query`] when the team is unknown. None is added then.
#[crate::boxed]
pub async fn insert(conn: &mut Conn, deliveries: &[NewDelivery]) -> Result<()> {
    conn.atomic(async |conn: &mut Conn| {
        for chunk in deliveries.chunks(CHUNK) {
            let rows: Vec<Row<'_>> = chunk.iter().map(row).collect();
            on!(
                conn,
                pg | c | diesel::insert_into(webhook_delivery::table).values(&rows).execute(c).await,
                // Diesel's batches for SQLite are one statement per row in a transaction of their own: there is one.
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

/// What an attempt at this delivery needs, and the secrets of its team that are valid at `now`; `None` when it is gone.
///
/// # Errors
/// [`Query`](crate::StoreError::Query), and [`StoreError::Inconsistent`] for a row whose state cannot be read.
#[crate::boxed]
pub async fn for_attempt(conn: &mut Conn, id: &str, now: Timestamp) -> Result<Option<(Outgoing, Option<Secrets>)>> {
    use webhook_delivery::columns as c;
    type Columns = (String, String, String, String, String, Vec<u8>, String, i32);
    let columns = (c::team_id, c::job_id, c::event, c::url, c::headers, c::body, c::state, c::attempts);
    // Delivery and secrets in one query: thousands of attempts may be due at once.
    let secret = webhook_secret::table.on(webhook_secret::team_id.eq(c::team_id));
    let query =
        webhook_delivery::table.left_join(secret).filter(c::id.eq(id)).select((columns, secret::columns().nullable()));
    let found: Option<(Columns, Option<secret::Columns>)> = on!(conn, |c| query.get_result(c).await.optional())?;
    let Some((columns, secrets)) = found else { return Ok(None) };
    let (team_id, job_id, event, url, headers, body, state, attempts) = columns;
    let outgoing = Outgoing { team_id, job_id, event, url, headers, body, state: State::read(&state)?, attempts };
    Ok(Some((outgoing, secrets.map(|row| secret::valid(row, now)))))
}

/// Makes a delivery that has ended pending again, with all its attempts before it; says whether it had ended and still has
/// its body.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); nothing has changed then.
#[crate::boxed]
pub async fn reopen(conn: &mut Conn, id: &str, now: Timestamp) -> Result<bool> {
    use webhook_delivery::columns as c;
    // The state is asked in the statement: when two operators ask at once, only one of them may enqueue a job.
    let ended = webhook_delivery::table.find(id).filter(c::state.ne(State::Pending.as_str())).filter(c::has_body);
    let set = (c::state.eq(State::Pending.as_str()), c::attempts.eq(0), c::next_at.eq(Some(DbTime::from(now))));
    let query = diesel::update(ended).set(set);
    let mut conn = conn.turn().await?;
    Ok(on!(conn, |c| query.execute(c).await)? == 1)
}

impl State {
    /// Its word in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            State::Pending => "pending",
            State::Delivered => "delivered",
            State::Failed => "failed",
        }
    }

    fn read(word: &str) -> Result<State> {
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

/// Bodies are pages, and headers may hold the receiver's password: neither is printed.
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
