//! Notifications between processes with PostgreSQL's LISTEN and NOTIFY. They only speed up what polling finds as well.

use std::pin::pin;

use diesel::sql_types::Text;
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use futures_util::StreamExt;

use crate::conn::{Conn, on};
use crate::error::{Result, StoreError};
use crate::open::{DatabaseLocation, Store};

/// Dedicated connection that listens on channels.
pub struct Listener {
    conn: AsyncPgConnection,
}

/// Notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Name of the channel.
    pub channel: String,
    /// Payload of the notification.
    pub payload: String,
}

impl Listener {
    /// Listens on these channels, whose names must be plain identifiers; `None` on SQLite, which has no notifications.
    ///
    /// # Errors
    /// [`StoreError::Connect`], and [`StoreError::Query`] when LISTEN fails.
    #[crate::boxed]
    pub async fn open(store: &Store, channels: &[&str]) -> Result<Option<Listener>> {
        let DatabaseLocation::Server(server) = store.location()? else {
            return Ok(None);
        };
        let mut conn = server.connect().await.map_err(|error| StoreError::Connect(error.to_string()))?;
        for channel in channels {
            // A channel is an identifier and cannot be bound; the names are constants of this workspace.
            conn.batch_execute(&format!("LISTEN {channel}")).await?;
        }
        Ok(Some(Listener { conn }))
    }

    /// Waits for the next notification. Notifications between two calls are kept.
    ///
    /// # Errors
    /// When the connection is lost: open another one, and poll once for what was missed.
    #[crate::boxed]
    pub async fn next(&mut self) -> Result<Notice> {
        let mut news = pin!(self.conn.notifications_stream());
        match news.next().await {
            Some(Ok(news)) => Ok(Notice { channel: news.channel, payload: news.payload }),
            Some(Err(error)) => Err(error.into()),
            None => Err(StoreError::Connect("the LISTEN connection was closed".to_owned())),
        }
    }
}

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Listener")
    }
}

/// Sends a notification when the transaction commits. Does nothing on SQLite.
///
/// # Errors
/// [`Query`](crate::StoreError::Query); the transaction cannot be committed then.
#[crate::boxed]
pub async fn notify(conn: &mut Conn, channel: &str, payload: &str) -> Result<()> {
    on!(
        conn,
        pg | c | {
            let query = diesel::sql_query("SELECT pg_notify($1, $2)").bind::<Text, _>(channel).bind::<Text, _>(payload);
            query.execute(c).await
        },
        sqlite | _c | Ok(0)
    )?;
    Ok(())
}
