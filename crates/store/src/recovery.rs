//! Detects that a database works again, even without requests.

use std::sync::{Arc, Weak};
use std::time::Duration;

use base::{Clock, SystemClock, new_id};
use chrono::TimeDelta;
use tokio::time::sleep;

use crate::condition::Condition;
use crate::error::Result;
use crate::leases;
use crate::pools::Pools;

/// Pause between two checks.
const PAUSE: Duration = Duration::from_secs(1);
/// Name of the lease that is taken and released as a test write.
const NAME: &str = "outage";

/// Checks during every outage whether the database can be written again. Ends with the store.
pub(crate) async fn watch(pool: Weak<Pools>, condition: Arc<Condition>) {
    loop {
        condition.begun().await;
        let Some(pool) = pool.upgrade() else { return };
        match write(&pool, &condition).await {
            Err(error) if error.trouble().is_some() => tracing::debug!(%error, "the database is still not writable"),
            // Any other error is about this lease and comes from a database that works.
            _ => condition.can_write(),
        }
        if condition.trouble().is_some() {
            sleep(PAUSE).await;
        }
    }
}

/// Writes although the outage may not be over: all other work waits for its end.
async fn write(pool: &Pools, condition: &Condition) -> Result<()> {
    let mut conn = pool.conn(condition).await?;
    let (holder, now) = (new_id().to_string(), SystemClock.now());
    leases::acquire(&mut conn, NAME, &holder, now, now + TimeDelta::seconds(1)).await?;
    leases::release(&mut conn, NAME, &holder).await?;
    Ok(())
}
