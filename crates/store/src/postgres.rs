//! Connections to a PostgreSQL server: the address, whether they are encrypted, and what is said when they are refused.
//! The pool, the migrations and the connection for notices all come through here.

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

use crate::error::{Result, StoreError};
use crate::open::{Backend, backend};
use address::{Address, Mode};
use tls::{HandshakeError, Tls};

/// A server that stands still must not keep us for ever: TCP, TLS and login together.
const PATIENCE: Duration = Duration::from_secs(30);

/// A PostgreSQL server and how to connect to it. Prints nothing of its address, which may hold a password.
pub(crate) struct Server {
    config: Config,
    mode: Mode,
    tls: Tls,
}

impl Server {
    /// Reads the address and the certificate files that it names; does not connect.
    ///
    /// # Errors
    /// [`StoreError::Url`], with the name of the parameter that is to blame.
    pub(crate) fn new(url: &str) -> Result<Arc<Server>> {
        let address = Address::parse(url).map_err(StoreError::Url)?;
        let tls = Tls::new(&address).map_err(StoreError::Url)?;
        Ok(Arc::new(Server { config: address.config, mode: address.mode, tls }))
    }

    /// A new connection.
    ///
    /// # Errors
    /// When the server does not answer within 30 s, refuses us, or is not encrypted or not itself as `sslmode` asks.
    pub(crate) async fn connect(&self) -> std::result::Result<AsyncPgConnection, ConnectionError> {
        let connect = tokio::time::timeout(PATIENCE, self.try_both());
        connect.await.unwrap_or_else(|_| {
            let reason = format!("no answer within {} s", PATIENCE.as_secs());
            Err(ConnectionError::BadConnection(reason))
        })
    }

    /// The TCP servers that the address names, each by name or IP, with its port.
    pub(crate) fn hosts(&self) -> Vec<(String, u16)> {
        hosts(&self.config)
    }

    /// Whether the way to the server leaves this machine, as far as its address tells.
    pub(crate) fn is_remote(&self) -> bool {
        let is_local =
            |host: &str| host == "localhost" || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
        self.hosts().iter().any(|(host, _)| !is_local(host))
    }

    /// `allow` and `prefer` have a second way when the first is refused, as in libpq.
    async fn try_both(&self) -> std::result::Result<AsyncPgConnection, ConnectionError> {
        let (first, second) = match self.mode {
            Mode::Disable => (SslMode::Disable, None),
            // The driver's own `prefer` encrypts when the server offers it, but does not fall back when that fails.
            Mode::Allow => (SslMode::Disable, Some(SslMode::Require)),
            Mode::Prefer => (SslMode::Prefer, Some(SslMode::Disable)),
            Mode::Require | Mode::VerifyCa | Mode::VerifyFull => (SslMode::Require, None),
        };
        let error = match (self.open(first).await, second) {
            (Err(error), Some(second)) if may_go_better(&error) => match self.open(second).await {
                Err(again) => {
                    return Err(bad(format!("{}; on the second try: {}", describe(&error), describe(&again))));
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

/// Whether the same server might take a connection with TLS that it refused without, or the other way round.
fn may_go_better(error: &Error) -> bool {
    handshake(error).is_some() || error.code() == Some(&SqlState::INVALID_AUTHORIZATION_SPECIFICATION)
}

fn handshake(error: &Error) -> Option<&HandshakeError> {
    error.source()?.downcast_ref()
}

/// What to do about a server that has as many connections as it may have.
const CROWDED: &str = "let the server take more (max_connections), or take fewer of them (store.max_connections)";

/// Whether a server has refused a connection because it has as many as it may have: it is busy, not away.
fn is_crowded(error: &ConnectionError) -> bool {
    error.to_string().contains(CROWDED)
}

/// The error with its causes, and what to do about it.
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
    // PgBouncer has no code of its own for it.
    let is_full_pooler = error.as_db_error().is_some_and(|told| told.message().contains("no more connections allowed"));
    if is_full_pooler || error.code() == Some(&SqlState::TOO_MANY_CONNECTIONS) {
        return Some(CROWDED);
    }
    let Some(handshake) = handshake(error) else {
        let no_tls = error.source().is_some_and(|cause| cause.to_string() == "server does not support TLS");
        return no_tls.then_some("sslmode asks for it: switch it on at the server (ssl = on)");
    };
    match handshake.certificate()? {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            Some("sslrootcert must hold the certificate of the authority that signed the server's")
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            Some("name the server in store.url as its certificate does (subjectAltName), or use sslmode=verify-ca")
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => Some("renew the server's certificate"),
        CertificateError::Other(_) => {
            Some("the server needs a certificate of its own, signed by an authority, not the authority's (CA:FALSE)")
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

/// The TCP servers that the address of a database names, each by name or IP, with its port: none for SQLite and for
/// sockets in the file system.
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
