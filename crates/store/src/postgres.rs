//! Connections to a PostgreSQL server: address, TLS, error messages. The pool, the migrations and the LISTEN connection
//! all use it.

mod address;
mod binding;
pub(crate) mod pool;
mod tls;

use std::error::Error as StdError;
use std::sync::Arc;
use std::time::Duration;

use diesel::ConnectionError;
use diesel_async::AsyncPgConnection;
use rustls::CertificateError;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Config, Error};

use crate::backend::{Backend, backend};
use crate::error::{Result, StoreError};
use address::{Address, Mode};
use tls::{HandshakeError, Tls};

/// Timeout of TCP, TLS and login together.
const PATIENCE: Duration = Duration::from_secs(30);

/// PostgreSQL server and how to connect to it. `Debug` shows nothing of its address, which may hold a password.
pub(crate) struct Server {
    config: Config,
    mode: Mode,
    tls: Tls,
}

impl Server {
    /// Parses the address and reads the certificate files that it names; does not connect.
    ///
    /// # Errors
    /// [`StoreError::Url`], with the name of the invalid parameter.
    pub(crate) fn new(url: &str) -> Result<Arc<Server>> {
        let address = Address::parse(url).map_err(StoreError::Url)?;
        let tls = Tls::new(&address).map_err(StoreError::Url)?;
        Ok(Arc::new(Server { config: address.config, mode: address.mode, tls }))
    }

    /// Opens a connection.
    ///
    /// # Errors
    /// When the server does not answer within 30 s, refuses the connection, or does not meet `sslmode`.
    pub(crate) async fn connect(&self) -> std::result::Result<AsyncPgConnection, ConnectionError> {
        let connect = tokio::time::timeout(PATIENCE, self.try_both());
        connect.await.unwrap_or_else(|_| {
            let reason = format!("no answer within {} s", PATIENCE.as_secs());
            Err(ConnectionError::BadConnection(reason))
        })
    }

    /// Returns the TCP servers of the address, each as host name or IP, with its port.
    pub(crate) fn hosts(&self) -> Vec<(String, u16)> {
        hosts(&self.config)
    }

    /// Whether the server is on another machine, judged by its address.
    pub(crate) fn is_remote(&self) -> bool {
        let is_local =
            |host: &str| host == "localhost" || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
        self.hosts().iter().any(|(host, _)| !is_local(host))
    }

    /// Connects; `allow` and `prefer` retry with or without TLS when the first attempt is refused, as in libpq.
    async fn try_both(&self) -> std::result::Result<AsyncPgConnection, ConnectionError> {
        let (first, second) = match self.mode {
            Mode::Disable => (SslMode::Disable, None),
            // The driver's own `prefer` uses TLS when the server offers it, but does not fall back when the handshake
            // fails.
            Mode::Allow => (SslMode::Disable, Some(SslMode::Require)),
            Mode::Prefer => (SslMode::Prefer, Some(SslMode::Disable)),
            Mode::Require | Mode::VerifyCa | Mode::VerifyFull => (SslMode::Require, None),
        };
        let error = match (self.open(first).await, second) {
            (Err(error), Some(second)) if may_go_better(&error) => match self.open(second).await {
                Err(again) => {
                    return Err(bad(format!("{}; second attempt: {}", describe(&error), describe(&again))));
                }
                opened => opened,
            },
            (opened, _) => opened,
        };
        let (client, connection) = error.map_err(|error| bad(describe(&error)))?;
        AsyncPgConnection::try_from_client_and_connection(client, connection).await
    }

    async fn open(&self, mode: SslMode) -> std::result::Result<Opened, Error> {
        self.config.clone().ssl_mode(mode).connect(self.tls.clone()).await
    }
}

type Opened = (tokio_postgres::Client, tokio_postgres::Connection<tokio_postgres::Socket, tls::Stream>);

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Server({:?})", self.mode)
    }
}

fn bad(reason: String) -> ConnectionError {
    ConnectionError::BadConnection(reason)
}

/// Whether a retry with TLS instead of without, or the reverse, may succeed.
fn may_go_better(error: &Error) -> bool {
    handshake(error).is_some() || error.code() == Some(&SqlState::INVALID_AUTHORIZATION_SPECIFICATION)
}

fn handshake(error: &Error) -> Option<&HandshakeError> {
    error.source()?.downcast_ref()
}

/// Advice for a server that has reached its limit of connections.
const CROWDED: &str = "raise max_connections on the server, or lower store.max_connections";

/// Whether the server refused a connection because of its limit: it is busy, not away.
fn is_crowded(error: &ConnectionError) -> bool {
    error.to_string().contains(CROWDED)
}

/// Returns the error with its causes and advice.
fn describe(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    match advice(error) {
        Some(advice) => format!("{text}; {advice}"),
        None => text,
    }
}

fn advice(error: &Error) -> Option<&'static str> {
    // PgBouncer sends no SQLSTATE of its own for it.
    let is_full_pooler = error.as_db_error().is_some_and(|told| told.message().contains("no more connections allowed"));
    if is_full_pooler || error.code() == Some(&SqlState::TOO_MANY_CONNECTIONS) {
        return Some(CROWDED);
    }
    let Some(handshake) = handshake(error) else {
        let no_tls = error.source().is_some_and(|cause| cause.to_string() == "server does not support TLS");
        return no_tls.then_some("sslmode requires TLS: enable it on the server (ssl = on)");
    };
    match handshake.certificate()? {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            Some("sslrootcert must hold the CA certificate that signed the server's certificate")
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            Some("use a host name of the server's certificate (subjectAltName) in store.url, or sslmode=verify-ca")
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => Some("renew the server's certificate"),
        CertificateError::Other(_) => {
            Some("the server must present a server certificate signed by a CA (CA:FALSE), not the CA's own certificate")
        }
        _ => None,
    }
}

fn hosts(config: &Config) -> Vec<(String, u16)> {
    let ports = config.get_ports();
    let port = |index: usize| ports.get(index).or_else(|| ports.first()).copied().unwrap_or(5432);
    let names = config.get_hosts().iter().enumerate().filter_map(|(index, host)| match host {
        Host::Tcp(name) => Some((name.clone(), port(index))),
        Host::Unix(_) => None,
    });
    let ips = config.get_hostaddrs().iter().enumerate().map(|(index, ip)| (ip.to_string(), port(index)));
    let mut found: Vec<_> = names.chain(ips).collect();
    found.sort();
    found.dedup();
    found
}

/// Returns the TCP servers that a database address names, each as host name or IP, with its port: none for SQLite and
/// for Unix sockets.
///
/// # Errors
/// [`StoreError::Url`].
pub fn servers(url: &str) -> Result<Vec<(String, u16)>> {
    if backend(url)? == Backend::Sqlite {
        return Ok(Vec::new());
    }
    let address = Address::parse(url).map_err(StoreError::Url)?;
    Ok(hosts(&address.config))
}
