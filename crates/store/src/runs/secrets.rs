//! Secrets of a request that no response may contain: user names, passwords, header values. Stored apart from the rows
//! that responses are made of, and removed when the run ends.

use base::Secret;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::error::Result;
use crate::schema::run_secret;

/// Limit of rows in one statement.
const CHUNK: usize = 500;

/// Page id of a secret that belongs to the whole run.
pub const OF_THE_RUN: &str = "";

#[derive(Clone, Insertable)]
#[diesel(table_name = run_secret, treat_none_as_default_value = false)]
struct Row {
    run_id: String,
    page_id: String,
    body: String,
}

/// Stores secrets of a run, each under the id of its page or [`OF_THE_RUN`].
///
/// # Errors
/// Those of the database, also when a secret exists already.
#[crate::boxed]
pub async fn keep_secrets(conn: &mut Conn, run: &str, secrets: &[(String, Secret)]) -> Result<()> {
    for secrets in secrets.chunks(CHUNK) {
        let row = |(page, body): &(String, Secret)| Row {
            run_id: run.to_owned(),
            page_id: page.clone(),
            body: body.expose().to_owned(),
        };
        let rows: Vec<Row> = secrets.iter().map(row).collect();
        on!(
            conn,
            pg | c | diesel::insert_into(run_secret::table).values(rows).execute(c).await,
            sqlite | c | {
                c.spawn_blocking(move |c| {
                    diesel::RunQueryDsl::execute(diesel::insert_into(run_secret::table).values(rows), c)
                })
                .await
            }
        )?;
    }
    Ok(())
}

/// Returns the secret of a page, or of the run ([`OF_THE_RUN`]).
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn secret(conn: &mut Conn, run: &str, page: &str) -> Result<Option<Secret>> {
    let query = run_secret::table.find((run, page)).select(run_secret::body);
    let body: Option<String> = on!(conn, |c| query.get_result(c).await.optional())?;
    Ok(body.map(Secret::new))
}

/// Removes all secrets of a run.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn forget_secrets(conn: &mut Conn, run: &str) -> Result<()> {
    let of_run = run_secret::table.filter(run_secret::run_id.eq(run));
    on!(conn, |c| diesel::delete(of_run).execute(c).await)?;
    Ok(())
}
