//! Connection pool of a PostgreSQL server: reconnects after outages, and checks connections before they are lent.

use std::sync::Arc;
use std::time::Duration;

use diesel::ConnectionError;
use diesel::result::Error;
use diesel_async::pooled_connection::bb8::{Pool, PooledConnection};
use diesel_async::pooled_connection::{
    AsyncDieselConnectionManager, ManagerConfig, PoolableConnection, RecyclingMethod,
};
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection, TransactionManager as _};
use tokio::time::{Instant, sleep, timeout};

use super::{Server, is_crowded};
use crate::condition::{ANSWER, Condition, Observer};
use crate::conn::PostgresTransactions;
use crate::error::{Result, StoreError};
use crate::options::Options;

/// Returns a connection that answers. A connection that the server closed may not know it yet, so it is checked first.
pub(crate) async fn lend(
    pool: &Pool<AsyncPgConnection>,
    condition: &Condition,
) -> Result<PooledConnection<'static, AsyncPgConnection>> {
    let until = Instant::now() + ANSWER;
    loop {
        let mut link =
            condition.unless_unavailable(pool.get_owned()).await?.map_err(|error| condition.broken(&error))?;
        if condition.is_fresh() {
            return Ok(link);
        }
        match timeout(ANSWER, link.batch_execute("SELECT 1")).await {
            Ok(Ok(())) => {
                condition.answered();
                return Ok(link);
            }
            Ok(Err(error)) if Instant::now() >= until => return Err(error.into()),
            Ok(Err(error)) => {
                tracing::debug!(%error, "discarded a broken database connection; trying another")
            }
            Err(_) => {
                let cause = format!("no answer within {} ms", ANSWER.as_millis());
                condition.failed(&cause);
                // Makes the pool close the connection: the server may be gone, and the answer may never come.
                PostgresTransactions::transaction_manager_status_mut(&mut *link).set_in_error();
                return Err(StoreError::Pool(cause));
            }
        }
    }
}

/// Settings of every connection: JIT compilation takes longer than any query of this service, and a process that hangs
/// in a transaction loses it, so that its locks block no one else.
const SETTINGS: &str = "SET jit = off; SET idle_in_transaction_session_timeout = '30s'";

async fn connect(server: &Server) -> std::result::Result<AsyncPgConnection, ConnectionError> {
    let mut conn = server.connect().await?;
    conn.batch_execute(SETTINGS).await.map_err(ConnectionError::CouldntSetupConfiguration)?;
    Ok(conn)
}

/// Timeout of a connection attempt while the server is away.
const SLOW: Duration = Duration::from_secs(8);
/// Pause between two connection attempts while the server is away.
const RECONNECT: Duration = Duration::from_millis(250);

/// Connects as soon as the server is reachable again, and updates the condition for all waiters. Gives up after `wait`.
async fn reconnect(
    server: &Server,
    condition: &Arc<Condition>,
    wait: Duration,
) -> std::result::Result<AsyncPgConnection, ConnectionError> {
    let until = Instant::now() + wait;
    loop {
        let turn = if condition.refuses() { Some(condition.trying.lock().await) } else { None };
        let mut connecting = std::pin::pin!(connect(server));
        let made = match timeout(ANSWER, connecting.as_mut()).await {
            Ok(made) => made,
            Err(_) => {
                condition.failed(format!("no answer to a connection attempt within {} ms", ANSWER.as_millis()));
                let late = timeout(SLOW, connecting).await;
                late.unwrap_or_else(|_| {
                    Err(ConnectionError::BadConnection("no answer to a connection attempt".to_owned()))
                })
            }
        };
        match made {
            Ok(mut conn) => {
                condition.connected();
                conn.set_instrumentation(Observer::new(condition));
                return Ok(conn);
            }
            Err(error) => {
                match is_crowded(&error) {
                    true => condition.crowded(&error),
                    false => condition.failed(&error),
                }
                if Instant::now() >= until {
                    return Err(error);
                }
            }
        }
        sleep(RECONNECT).await;
        drop(turn);
    }
}

/// Warns if the connection is not encrypted: `prefer`, the default, continues without TLS if the server has none.
pub(crate) async fn log_encryption(server: &Server, mut conn: AsyncPgConnection) {
    let ask = diesel::sql_query("SELECT 1 FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl");
    match ask.execute(&mut conn).await {
        Ok(0) if server.is_remote() => tracing::warn!(
            "the database connection is not encrypted; enable TLS on the server and add sslmode=verify-full to \
             store.url"
        ),
        Ok(found) => tracing::debug!(encrypted = found == 1, "connected to the database"),
        Err(error) => tracing::debug!(%error, "could not find out whether the database connection is encrypted"),
    }
}

/// Creates the pool of a server.
///
/// # Errors
/// [`StoreError::Pool`].
pub(crate) async fn open(
    server: &Arc<Server>,
    options: &Options,
    condition: &Arc<Condition>,
) -> Result<Pool<AsyncPgConnection>> {
    let mut config = ManagerConfig::default();
    let (servers, condition, wait) = (Arc::clone(server), Arc::clone(condition), options.wait);
    config.custom_setup = Box::new(move |_| {
        let (server, condition) = (Arc::clone(&servers), Arc::clone(&condition));
        Box::pin(async move { reconnect(&server, &condition, wait).await })
    });
    // The driver knows that a connection was closed; asking the server each time would cost a round trip.
    config.recycling_method = RecyclingMethod::CustomFunction(Box::new(|conn| {
        let is_open = if conn.is_broken() { Err(Error::BrokenTransactionManager) } else { Ok(()) };
        Box::pin(async { is_open })
    }));
    // The manager needs no address: `custom_setup` knows the server.
    let manager = AsyncDieselConnectionManager::new_with_config("", config);
    let builder = Pool::builder().max_size(options.connections.unwrap_or(16)).connection_timeout(options.wait);
    builder.build(manager).await.map_err(|error| StoreError::Pool(error.to_string()))
}
