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
    let query = webhook_secret::table.find(team);
    let found: Option<SecretRow> = on!(conn, |c| query.select(SecretRow::as_select()).get_result(c).await.optional())?;
    Ok(found.map(|row| row.valid(now)))
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

/// Secrets of a team as they are stored.
#[derive(Queryable, Selectable)]
#[diesel(table_name = webhook_secret)]
pub(super) struct SecretRow {
    secret: String,
    previous: Option<String>,
    previous_until: Option<DbTime>,
    created_at: DbTime,
}

impl SecretRow {
    /// Returns the secrets that are valid at `now`.
    pub(super) fn valid(self, now: Timestamp) -> Secrets {
        let previous = self.previous.zip(self.previous_until.map(Timestamp::from)).filter(|(_, until)| *until > now);
        let previous = previous.map(|(secret, until)| (Secret::new(secret), until));
        Secrets { current: Secret::new(self.secret), previous, created_at: self.created_at.into() }
    }
}
