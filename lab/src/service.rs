//! Calls to a service by the address of its process.

use std::net::SocketAddr;
use std::time::Duration;

use client::{Client, Raw, Result};
use http::Method;

/// Timeout of a call.
const CALL: Duration = Duration::from_secs(60);
/// Timeout of a probe.
const PROBE: Duration = Duration::from_secs(10);

/// Returns a client with this key.
///
/// # Errors
/// When the key is not valid in a header.
pub fn client(addr: SocketAddr, key: Option<&str>) -> Result<Client> {
    Ok(Client::new(&format!("http://{addr}"), key)?.with_timeout(CALL))
}

/// Sends a GET without a key, such as `/health/ready` or `/metrics`.
///
/// # Errors
/// When there is no response. Every status counts as a response.
pub async fn get(addr: SocketAddr, path: &str) -> Result<Raw> {
    client(addr, None)?.with_timeout(PROBE).send(Method::GET, path, "").await
}

/// Returns whether the service answers GET /health with 200.
pub async fn is_healthy(addr: SocketAddr) -> bool {
    get(addr, "/health").await.is_ok_and(|answer| answer.status == 200)
}
