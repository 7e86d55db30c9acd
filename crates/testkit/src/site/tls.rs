//! Self-signed TLS certificate, generated at the start.

use std::io;
use std::sync::{Arc, OnceLock};

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::PrivateKeyDer;
use tokio_rustls::TlsAcceptor;

/// Returns a TLS acceptor with one self-signed certificate per process.
pub(super) fn acceptor() -> io::Result<TlsAcceptor> {
    static CONFIG: OnceLock<Arc<ServerConfig>> = OnceLock::new();
    if let Some(config) = CONFIG.get() {
        return Ok(Arc::clone(config).into());
    }
    let config = Arc::new(config().map_err(io::Error::other)?);
    Ok(Arc::clone(CONFIG.get_or_init(|| config)).into())
}

fn config() -> Result<ServerConfig, Box<dyn std::error::Error + Send + Sync>> {
    let names = ["origin.test", "origin2.test", "localhost", "127.0.0.1"].map(str::to_owned);
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names)?;
    let key = PrivateKeyDer::try_from(signing_key.serialize_der())?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}
