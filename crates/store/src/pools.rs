//! The connection pools of a database.

use std::sync::Arc;

use diesel_async::AsyncPgConnection;
use diesel_async::pooled_connection::bb8::Pool;

use crate::condition::Condition;
use crate::conn::{Conn, Link};
use crate::error::Result;
use crate::postgres::{Server, pool};
use crate::sqlite::AsyncSqlite;
use crate::writer::Writer;

/// Connection pools of a database.
pub(crate) enum Pools {
    Pg(Pool<AsyncPgConnection>, Arc<Server>),
    Sqlite(Pool<AsyncSqlite>, Arc<Writer>),
}

impl Pools {
    /// Returns a connection; waits for a free one.
    ///
    /// # Errors
    /// [`StoreError::Pool`](crate::StoreError::Pool).
    pub(crate) async fn conn(&self, condition: &Condition) -> Result<Conn> {
        Ok(match self {
            Self::Pg(pool, _) => Conn::new(Link::Pg(pool::lend(pool, condition).await?), None),
            Self::Sqlite(pool, writer) => {
                let link = condition.unless_unavailable(pool.get_owned()).await?;
                let link = link.map_err(|error| condition.broken(&error))?;
                Conn::new(Link::Sqlite(link), Some(Arc::clone(writer)))
            }
        })
    }
}
