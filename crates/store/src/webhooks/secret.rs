//! Signing secrets of webhooks and their rotation.

use base::{Secret, Timestamp};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::db_time::DbTime;
use crate::error::Result;
use crate::schema::webhook_secret;

/// Signing secrets of a team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secrets {
    /// Current secret.
    pub current: Secret,
    /// Previous secret, and the time until which it is valid.
    pub previous: Option<(Secret, Timestamp)>,
    /// Time at which the current secret was set.
    pub created_at: Timestamp,
}

/// Returns the secrets of a team, if it has any; the previous one only while it is valid at `now`.
///
/// # Errors
/// [`Query`](crate::StoreError::Query).
#[crate::boxed]
pub async fn secrets(conn: &mut Conn, team: &str, now: Timestamp) -> Result<Option<Secrets>> {
    let query = webhook_secret::table.find(team).select(columns());
    let found: Option<Columns> = on!(conn, |c| query.get_result(c).await.optional())?;
    Ok(found.map(|row| valid(row, now)))
}

/// Sets the first secret of a team, unless it has one.
///
/// # Errors
/// [`Query`](crate::StoreError::Query), also when the team is unknown.
#[crate::boxed]
pub async fn add_secret(conn: &mut Conn, team: &str, secret: &Secret, now: Timestamp) -> Result<()> {
    use webhook_secret::columns as c;
    let row = (c::team_id.eq(team), c::secret.eq(secret.expose()), c::created_at.eq(DbTime::from(now)));
    let query = diesel::insert_into(webhook_secret::table).values(row).on_conflict(c::team_id).do_nothing();
    let mut conn = conn.turn().await?;
    on!(conn, |conn| query.execute(conn).await)?;
    Ok(())
}

/// Replaces the secret of a team. The present one stays valid until `previous_until`; an older one becomes invalid.
///
/// # Errors
/// [`Query`](crate::StoreError::Query), also when the team is unknown; the secret is unchanged then.
#[crate::boxed]
pub async fn rotate(
    conn: &mut Conn,
    team: &str,
    secret: &Secret,
    previous_until: Timestamp,
    now: Timestamp,
) -> Result<()> {
    use webhook_secret::columns as c;
    let set = (
        // The right sides of an UPDATE see the old row, so this is the old secret although `secret` is set as well.
        c::previous.eq(c::secret.nullable()),
        c::previous_until.eq(Some(DbTime::from(previous_until))),
        c::secret.eq(secret.expose()),
        c::created_at.eq(DbTime::from(now)),
    );
    conn.atomic(async |conn: &mut Conn| {
        let query = diesel::update(webhook_secret::table.find(team)).set(set);
        if on!(conn, |conn| query.execute(conn).await)? == 0 {
            add_secret(conn, team, secret, now).await?;
        }
        Ok(())
    })
    .await
}

pub(super) type Columns = (String, Option<String>, Option<DbTime>, DbTime);

type Selection =
    (webhook_secret::secret, webhook_secret::previous, webhook_secret::previous_until, webhook_secret::created_at);

pub(super) fn columns() -> Selection {
    use webhook_secret::columns as c;
    (c::secret, c::previous, c::previous_until, c::created_at)
}

/// Returns the secrets of a row that are valid at `now`.
pub(super) fn valid((current, previous, until, created_at): Columns, now: Timestamp) -> Secrets {
    let previous = previous.zip(until.map(Timestamp::from)).filter(|(_, until)| *until > now);
    let previous = previous.map(|(secret, until)| (Secret::new(secret), until));
    Secrets { current: Secret::new(current), previous, created_at: created_at.into() }
}
