//! Secrets of monitors, which no answer contains: header values and passwords in URLs.

use base::Secret;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::error::Result;
use crate::schema::monitor_secret;

/// Secrets of a part of a monitor.
#[derive(Debug, Clone)]
pub struct MonitorSecret {
    /// Id of a target, or [`OF_THE_WEBHOOK`].
    pub part: String,
    /// Secrets, as a JSON object.
    pub body: Secret,
}

/// Part of the webhook.
pub const OF_THE_WEBHOOK: &str = "webhook";

/// Adds secrets of a monitor.
pub(super) async fn insert(conn: &mut Conn, monitor: &str, secrets: &[MonitorSecret]) -> Result<()> {
    for MonitorSecret { part, body } in secrets {
        let values = (
            monitor_secret::monitor_id.eq(monitor),
            monitor_secret::part.eq(part),
            monitor_secret::body.eq(body.expose()),
        );
        on!(conn, |c| diesel::insert_into(monitor_secret::table).values(values).execute(c).await)?;
    }
    Ok(())
}

/// Returns the secrets of a monitor.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn secrets(conn: &mut Conn, monitor: &str) -> Result<Vec<MonitorSecret>> {
    let query = monitor_secret::table
        .filter(monitor_secret::monitor_id.eq(monitor))
        .order(monitor_secret::part)
        .select((monitor_secret::part, monitor_secret::body));
    let rows: Vec<(String, String)> = on!(conn, |c| query.load(c).await)?;
    Ok(rows.into_iter().map(|(part, body)| MonitorSecret { part, body: Secret::new(body) }).collect())
}

/// Replaces all secrets of a monitor, which must be locked.
///
/// # Errors
/// Those of the database; the transaction has to be rolled back then.
#[crate::boxed]
pub async fn replace_secrets(conn: &mut Conn, monitor: &str, secrets: &[MonitorSecret]) -> Result<()> {
    let old = diesel::delete(monitor_secret::table.filter(monitor_secret::monitor_id.eq(monitor)));
    on!(conn, |c| old.execute(c).await)?;
    insert(conn, monitor, secrets).await
}
