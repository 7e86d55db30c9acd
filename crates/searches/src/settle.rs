//! End of a search: its charge and its row, in one transaction.

use base::Timestamp;
use kernel::reservation::{Funds, refused};
use kernel::{App, AppError, tracked};
use store::search::{self, Search};
use store::{Conn, StoreError};

/// Charges a search, returns what is left of its reservation, and writes its row.
///
/// # Errors
/// [`AppError::BillingUnavailable`], or the error of an outage; then nothing is charged.
pub(crate) async fn settle(app: &App, funds: Funds, credits: i64, row: Option<Search>) -> Result<(), AppError> {
    let Some(row) = row else { return funds.settle(credits, None, None).await };
    let (inside, now) = (app.clone(), app.now());
    // Tracked, so that it completes even if the request is dropped.
    tracked(app.tracker(), async move { write(&inside, &funds, credits, &row, now).await }).await.map_err(refused)?;
    kernel::metrics::charged(credits);
    Ok(())
}

async fn write(app: &App, funds: &Funds, credits: i64, row: &Search, now: Timestamp) -> Result<(), StoreError> {
    let mut conn = app.store().conn().await?;
    conn.tx(async |conn: &mut Conn| {
        funds.settle_in(conn, credits, now).await?;
        search::insert(conn, row).await
    })
    .await
}
