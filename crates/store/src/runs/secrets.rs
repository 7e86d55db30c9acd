//! What a request holds that no answer may read: user names, passwords, header values. Apart from the rows that answers are
//! made of, and gone with the end of the job.

use base::Secret;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::error::Result;
use crate::schema::run_secret;

/// Rows in one statement.
const CHUNK: usize = 500;

/// In place of a page's id: the secret is of the whole run.
pub const OF_THE_RUN: &str = "";

#[derive(Clone, Insertable)]
#[diesel(table_name = run_secret, treat_none_as_default_value = false)]
struct Row {
    run_id: String,
    page_id: String,
    body: String,
}

/// Keeps secrets of a run, each under the id of its page or [`OF_THE_RUN`].
///
/// # Errors
/// Those of the database; also when there is one already.
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

/// The secret of a page, or of the run ([`OF_THE_RUN`]).
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
