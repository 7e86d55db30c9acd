//! What a request holds that no answer may read: user names, passwords, header values. Apart from the rows that answers are
//! made of, and gone with the end of the job.

use base::Secret;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::conn::{Conn, on};
use crate::error::Result;
use crate::schema::crawl_secret;

/// Rows in one statement.
const CHUNK: usize = 500;

/// In place of a page's id: the secret is of the whole job.
pub const OF_THE_JOB: &str = "";

#[derive(Clone, Insertable)]
#[diesel(table_name = crawl_secret, treat_none_as_default_value = false)]
struct Row {
    crawl_id: String,
    page_id: String,
    body: String,
}

/// Keeps secrets of a crawl, each under the id of its page or [`OF_THE_JOB`].
///
/// # Errors
/// Those of the database; also when there is one already.
#[crate::boxed]
pub async fn keep_secrets(conn: &mut Conn, crawl: &str, secrets: &[(String, Secret)]) -> Result<()> {
    for secrets in secrets.chunks(CHUNK) {
        let row = |(page, body): &(String, Secret)| Row {
            crawl_id: crawl.to_owned(),
            page_id: page.clone(),
            body: body.expose().to_owned(),
        };
        let rows: Vec<Row> = secrets.iter().map(row).collect();
        on!(
            conn,
            pg | c | diesel::insert_into(crawl_secret::table).values(rows).execute(c).await,
            sqlite | c | {
                c.spawn_blocking(move |c| {
                    diesel::RunQueryDsl::execute(diesel::insert_into(crawl_secret::table).values(rows), c)
                })
                .await
            }
        )?;
    }
    Ok(())
}

/// The secret of a page, or of the job ([`OF_THE_JOB`]).
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn secret(conn: &mut Conn, crawl: &str, page: &str) -> Result<Option<Secret>> {
    let query = crawl_secret::table.find((crawl, page)).select(crawl_secret::body);
    let body: Option<String> = on!(conn, |c| query.get_result(c).await.optional())?;
    Ok(body.map(Secret::new))
}

/// Removes all secrets of a crawl.
///
/// # Errors
/// Those of the database.
#[crate::boxed]
pub async fn forget_secrets(conn: &mut Conn, crawl: &str) -> Result<()> {
    let of_crawl = crawl_secret::table.filter(crawl_secret::crawl_id.eq(crawl));
    on!(conn, |c| diesel::delete(of_crawl).execute(c).await)?;
    Ok(())
}
