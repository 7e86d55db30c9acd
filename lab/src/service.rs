//! Calls of a service by the address of its process.

use std::net::SocketAddr;
use std::time::Duration;

use client::{Client, Raw, Result};
use http::Method;

/// Longest time for a call.
const CALL: Duration = Duration::from_secs(60);
/// Longest time for a probe.
const PROBE: Duration = Duration::from_secs(10);

/// A caller with this key.
///
/// # Errors
/// When the key cannot stand in a header.
pub fn client(addr: SocketAddr, key: Option<&str>) -> Result<Client> {
    Ok(Client::new(&format!("http://{addr}"), key)?.with_timeout(CALL))
}

/// A GET without a key, such as `/health/ready` or `/metrics`.
///
/// # Errors
/// When there is no answer; an answer of any status is none.
pub async fn get(addr: SocketAddr, path: &str) -> Result<Raw> {
    client(addr, None)?.with_timeout(PROBE).send(Method::GET, path, "").await
}

/// Whether it answers GET /health with 200.
pub async fn is_healthy(addr: SocketAddr) -> bool {
    get(addr, "/health").await.is_ok_and(|answer| answer.status == 200)
}
