//! TLS to the server with rustls, for `tokio_postgres`.

use std::fmt;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WantsClientCert, verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{WebPkiSupportedAlgorithms, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, ConfigBuilder, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Socket;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};

use super::address::{Address, Mode, Roots};
use super::binding::server_end_point;

/// TLS configuration. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Tls(Arc<ClientConfig>);

/// Handshake with one host.
pub(crate) struct Handshake {
    config: Arc<ClientConfig>,
    host: String,
}

/// Encrypted connection.
pub(crate) struct Stream(tokio_rustls::client::TlsStream<Socket>);

/// Error of a handshake.
#[derive(Debug)]
pub(crate) struct HandshakeError(io::Error);

impl Tls {
    /// Reads the certificate files that the address names.
    ///
    /// # Errors
    /// Name of the parameter whose file cannot be used, and the reason.
    pub(crate) fn new(address: &Address) -> Result<Self, String> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let verifier = Verifier {
            roots: roots(&address.roots)?,
            check_name: address.mode == Mode::VerifyFull,
            algorithms: provider.signature_verification_algorithms,
        };
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let builder = builder.map_err(|error| format!("cannot set up tls: {error}"))?;
        let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
        let mut config = match &address.client {
            Some((cert, key)) => present(builder, cert, key)?,
            None => builder.with_no_client_auth(),
        };
        // PostgreSQL 17 requires it for direct TLS (sslnegotiation=direct); older servers ignore it.
        config.alpn_protocols = vec![b"postgresql".to_vec()];
        Ok(Self(Arc::new(config)))
    }
}

/// Returns the trusted CAs, or `None` if certificates are not verified.
fn roots(roots: &Roots) -> Result<Option<RootCertStore>, String> {
    let mut store = RootCertStore::empty();
    match roots {
        Roots::Any => return Ok(None),
        Roots::System => {
            let (added, _) = store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            if added == 0 {
                store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
            }
        }
        Roots::File(file) => {
            for certificate in certificates("sslrootcert", file)? {
                store.add(certificate).map_err(|error| unusable("sslrootcert", file, &error))?;
            }
        }
    }
    Ok(Some(store))
}

fn present(
    builder: ConfigBuilder<ClientConfig, WantsClientCert>,
    cert: &Path,
    key: &Path,
) -> Result<ClientConfig, String> {
    let chain = certificates("sslcert", cert)?;
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| unusable("sslkey", key, &error))?;
    builder.with_client_auth_cert(chain, private).map_err(|error| unusable("sslkey", key, &error))
}

fn certificates(parameter: &str, file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let read = read.map_err(|error| unusable(parameter, file, &error))?;
    if read.is_empty() { Err(unusable(parameter, file, &"it holds no PEM certificate")) } else { Ok(read) }
}

fn unusable(parameter: &str, file: &Path, why: &dyn fmt::Display) -> String {
    format!("{parameter}: cannot use {}: {why}", file.display())
}

/// Certificate verifier for the given `sslmode`.
#[derive(Debug)]
struct Verifier {
    roots: Option<RootCertStore>,
    check_name: bool,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Verifier {
    /// Checks a signature, unless any server is accepted.
    fn unless_anyone(
        &self,
        check: impl FnOnce(&WebPkiSupportedAlgorithms) -> Result<HandshakeSignatureValid, rustls::Error>,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        if self.roots.is_some() { check(&self.algorithms) } else { Ok(HandshakeSignatureValid::assertion()) }
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if let Some(roots) = &self.roots {
            let certificate = ParsedCertificate::try_from(end_entity)?;
            let algorithms = self.algorithms.all;
            verify_server_cert_signed_by_trust_anchor(&certificate, roots, intermediates, now, algorithms)?;
            if self.check_name {
                verify_server_name(&certificate, server_name)?;
            }
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.unless_anyone(|algorithms| verify_tls12_signature(message, cert, dss, algorithms))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.unless_anyone(|algorithms| verify_tls13_signature(message, cert, dss, algorithms))
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

impl MakeTlsConnect<Socket> for Tls {
    type Stream = Stream;
    type TlsConnect = Handshake;
    type Error = HandshakeError;

    fn make_tls_connect(&mut self, host: &str) -> Result<Handshake, HandshakeError> {
        // Also called when no handshake follows, with something that is not a host.
        Ok(Handshake { config: Arc::clone(&self.0), host: host.to_owned() })
    }
}

impl TlsConnect<Socket> for Handshake {
    type Stream = Stream;
    type Error = HandshakeError;
    type Future = Pin<Box<dyn Future<Output = Result<Stream, HandshakeError>> + Send>>;

    fn connect(self, stream: Socket) -> Self::Future {
        Box::pin(async move {
            let name = ServerName::try_from(self.host).map_err(|error| HandshakeError(io::Error::other(error)))?;
            let connect = tokio_rustls::TlsConnector::from(self.config).connect(name, stream).await;
            connect.map(Stream).map_err(HandshakeError)
        })
    }
}

impl TlsStream for Stream {
    fn channel_binding(&self) -> ChannelBinding {
        let (_, session) = self.0.get_ref();
        let certificate = session.peer_certificates().and_then(<[_]>::first);
        match certificate.and_then(|certificate| server_end_point(certificate)) {
            Some(hash) => ChannelBinding::tls_server_end_point(hash),
            None => ChannelBinding::none(),
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

impl HandshakeError {
    /// Returns the problem of the server's certificate, if that is the cause.
    pub(crate) fn certificate(&self) -> Option<&CertificateError> {
        match self.0.get_ref()?.downcast_ref()? {
            rustls::Error::InvalidCertificate(error) => Some(error),
            _ => None,
        }
    }
}

impl fmt::Display for HandshakeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for HandshakeError {}
