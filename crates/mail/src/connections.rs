//! Connections to one server, kept for a while. A connection whose conversation was broken off is closed, never kept.

use std::time::{Duration, Instant};

use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::{
    AsyncSmtpConnection, Certificate, CertificateStore, TlsParameters, TlsParametersBuilder,
};
use lettre::transport::smtp::extension::ClientId;
use parking_lot::Mutex;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

use crate::error::line;
use crate::limited::Limited;
use crate::{Security, SendError, ServerUrl, Settings, SettingsError};

/// Idle timeout of connections; servers close theirs after some minutes.
const IDLE: Duration = Duration::from_secs(60);

/// Connections to the server of the settings.
pub(crate) struct Connections {
    server: ServerUrl,
    tls: TlsParameters,
    hello: ClientId,
    timeout: Duration,
    slots: Semaphore,
    idle: Mutex<Vec<Idle>>,
}

struct Idle {
    connection: AsyncSmtpConnection,
    since: Instant,
}

impl Connections {
    pub(crate) fn new(settings: &Settings, server: &ServerUrl, domain: &str) -> Result<Self, SettingsError> {
        Ok(Self {
            server: server.clone(),
            tls: tls(settings, server)?,
            hello: ClientId::Domain(domain.to_owned()),
            timeout: settings.timeout,
            slots: Semaphore::new(settings.connections as usize),
            idle: Mutex::new(Vec::new()),
        })
    }

    /// Hands over one message within the timeout of the settings, not counting the wait for a place.
    pub(crate) async fn send(&self, envelope: &lettre::address::Envelope, message: &[u8]) -> Result<(), SendError> {
        let Ok(_slot) = self.slots.acquire().await else {
            return Err(SendError::Later("the server is shutting down".to_owned()));
        };
        // When the time is over, the connection is dropped, and closed, in the middle of its conversation.
        let attempt = tokio::time::timeout(self.timeout, async {
            let mut connection = self.connection().await?;
            connection.send(envelope, message).await.map_err(|error| SendError::of_letter(&error))?;
            Ok(connection)
        });
        let connection = attempt
            .await
            .unwrap_or_else(|_| Err(SendError::Later(format!("no answer within {} s", self.timeout.as_secs()))))?;
        self.idle.lock().push(Idle { connection, since: Instant::now() });
        Ok(())
    }

    /// Returns an idle connection that still answers, or a new one.
    async fn connection(&self) -> Result<AsyncSmtpConnection, SendError> {
        while let Some(mut connection) = self.take_idle() {
            if connection.test_connected().await {
                return Ok(connection);
            }
        }
        self.connect().await
    }

    fn take_idle(&self) -> Option<AsyncSmtpConnection> {
        let mut idle = self.idle.lock();
        idle.retain(|idle| idle.since.elapsed() < IDLE);
        idle.pop().map(|idle| idle.connection)
    }

    async fn connect(&self) -> Result<AsyncSmtpConnection, SendError> {
        let before = |error| SendError::before_letter(&error);
        let ServerUrl { host, port, security, user, password } = &self.server;
        let address = (host.as_str(), *port);
        let mut connection = if *security == Security::Tls {
            let tls = Some(self.tls.clone());
            AsyncSmtpConnection::connect_tokio1(address, Some(self.timeout), &self.hello, tls, None).await
        } else {
            let stream = TcpStream::connect(address).await.map_err(|error| SendError::Later(line(error)))?;
            AsyncSmtpConnection::connect_with_transport(Box::new(Limited::new(stream)), &self.hello).await
        }
        .map_err(before)?;
        let upgrades = match security {
            Security::StartTls => true,
            Security::Opportunistic => connection.can_starttls(),
            Security::Tls | Security::None => false,
        };
        if upgrades {
            connection.starttls(self.tls.clone(), &self.hello).await.map_err(before)?;
        }
        if !user.is_empty() {
            if *security == Security::Opportunistic && !connection.is_encrypted() {
                return Err(SendError::Later(
                    "no password is sent without TLS, which the server does not offer".to_owned(),
                ));
            }
            let credentials = Credentials::new(user.clone(), password.expose().to_owned());
            connection.auth(DEFAULT_MECHANISMS, &credentials).await.map_err(before)?;
        }
        Ok(connection)
    }
}

fn tls(settings: &Settings, server: &ServerUrl) -> Result<TlsParameters, SettingsError> {
    let fault = |reason: String| SettingsError { key: "ca_file", reason };
    let mut builder = TlsParametersBuilder::new(server.host.clone()).certificate_store(system_store());
    if let Some(path) = &settings.ca_file {
        let pem = std::fs::read(path).map_err(|error| fault(format!("{} cannot be read: {error}", path.display())))?;
        let has_certificate = String::from_utf8_lossy(&pem).contains("BEGIN CERTIFICATE");
        let certificate = Certificate::from_pem(&pem).ok().filter(|_| has_certificate);
        let invalid = || fault(format!("{} has no certificate in PEM", path.display()));
        builder = builder.add_root_certificate(certificate.ok_or_else(invalid)?);
    }
    builder.build_rustls().map_err(|error| SettingsError { key: "url", reason: line(error) })
}

/// Certificates of the system, or Mozilla's where it has none, as for the pages that are fetched.
fn system_store() -> CertificateStore {
    match rustls_native_certs::load_native_certs().certs.is_empty() {
        true => CertificateStore::WebpkiRoots,
        false => CertificateStore::Default,
    }
}
