//! TLS connectors, built once: verified, unverified, and for proxies.

use std::io;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_rustls::TlsConnector;

use crate::error::{Error, chain};
use crate::stream::Stream;
use crate::tls_quirks::TolerantStream;

/// Connectors for each kind of peer.
#[derive(Clone)]
pub(crate) struct Tls {
    verified: TlsConnector,
    unverified: TlsConnector,
    proxy: TlsConnector,
}

/// A stream after the handshake.
pub(crate) struct Secured {
    pub(crate) stream: Box<dyn Stream>,
    pub(crate) http2: bool,
}

impl Tls {
    /// Creates the connectors, which trust the system's certificates, or Mozilla's list when the system has none.
    pub(crate) fn new() -> Result<Self, rustls::Error> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let builder =
            || ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions();
        let roots = Arc::new(roots());
        let mut verified = builder()?.with_root_certificates(Arc::clone(&roots)).with_no_client_auth();
        verified.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let mut proxy = builder()?.with_root_certificates(roots).with_no_client_auth();
        proxy.alpn_protocols = vec![b"http/1.1".to_vec()];
        let anyone = Arc::new(AnyCertificate(Arc::clone(&provider)));
        let mut unverified = builder()?.dangerous().with_custom_certificate_verifier(anyone).with_no_client_auth();
        unverified.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let connector = |config| TlsConnector::from(Arc::new(config));
        Ok(Self { verified: connector(verified), unverified: connector(unverified), proxy: connector(proxy) })
    }

    /// Trusts self-signed certificates of proxies, for tests.
    #[cfg(test)]
    pub(crate) fn trust_any_proxy(mut self) -> Self {
        self.proxy = self.unverified.clone();
        self
    }

    /// Performs the handshake with a target.
    pub(crate) async fn target(&self, stream: Box<dyn Stream>, host: &str, verify: bool) -> Result<Secured, Error> {
        let connector = if verify { &self.verified } else { &self.unverified };
        handshake(connector, stream, host).await.map_err(|failure| {
            let Failure { reason, is_certificate } = failure;
            Error::Tls { host: host.to_owned(), reason, is_certificate }
        })
    }

    /// Performs the handshake with a proxy, whose certificate is always verified.
    pub(crate) async fn proxy(&self, stream: Box<dyn Stream>, host: &str) -> Result<Box<dyn Stream>, Error> {
        let secured = handshake(&self.proxy, stream, host).await;
        secured
            .map(|secured| secured.stream)
            .map_err(|failure| Error::Proxy { reason: format!("tls: {}", failure.reason) })
    }
}

/// Error of a handshake.
struct Failure {
    reason: String,
    is_certificate: bool,
}

impl From<&io::Error> for Failure {
    fn from(error: &io::Error) -> Self {
        let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>());
        let is_certificate = matches!(cause, Some(rustls::Error::InvalidCertificate(_)));
        Self { reason: describe(error), is_certificate }
    }
}

async fn handshake(connector: &TlsConnector, stream: Box<dyn Stream>, host: &str) -> Result<Secured, Failure> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let name = ServerName::try_from(bare.to_owned())
        .map_err(|_| Failure { reason: "the host is not a valid server name".to_owned(), is_certificate: false })?;
    let stream = connector.connect(name, stream).await.map_err(|error| Failure::from(&error))?;
    let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    Ok(Secured { stream: Box::new(TolerantStream(stream)), http2 })
}

fn describe(error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        return "the connection was closed during the handshake".to_owned();
    }
    chain(error)
}

fn roots() -> RootCertStore {
    let mut store = RootCertStore::empty();
    let native = rustls_native_certs::load_native_certs();
    let (added, _) = store.add_parsable_certificates(native.certs);
    if added == 0 {
        tracing::info!("the system has no CA certificates; using the built-in list of Mozilla");
        store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    store
}

/// Verifier that accepts any certificate, for requests without verification.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
