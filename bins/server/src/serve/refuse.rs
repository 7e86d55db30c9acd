//! Refusal of connections during shutdown and beyond the limits of [`super::slots`].

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use wire::{Code, ErrorBody};

use super::H2_PREFACE;

/// Timeout for a refused client.
const PATIENCE: Duration = Duration::from_secs(2);

/// Reads the first bytes and answers any request with the error.
pub(super) async fn refuse(mut stream: TcpStream, code: Code, error: &str) {
    let _ = timeout(PATIENCE, answer(&mut stream, code, error)).await;
}

async fn answer(stream: &mut TcpStream, code: Code, error: &str) -> std::io::Result<()> {
    let mut request = vec![0; 16 * 1024];
    if stream.read(&mut request).await? == 0 {
        return Ok(());
    }
    let body = serde_json::to_string(&ErrorBody::new(code, error))?;
    let status = axum::http::StatusCode::from_u16(code.status()).unwrap_or_default();
    let head = format!(
        "HTTP/1.1 {} {}\r\ncontent-type: application/json\r\nretry-after: 5\r\n\
         connection: close\r\ncontent-length: {}\r\n\r\n",
        status.as_u16(),
        status.canonical_reason().unwrap_or_default(),
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    stream.shutdown().await?;
    // Closing with unread bytes would reset the connection before the client reads the answer.
    while stream.read(&mut request).await? > 0 {}
    Ok(())
}

/// The kind of request on a connection beyond the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExcessRequest {
    /// A health check, or HTTP/2, whose paths are known later.
    MaybeHealth,
    /// Any other request.
    Other,
}

/// Peeks at the first bytes. `None` when the client sends nothing in time.
pub(super) async fn excess_request(stream: &TcpStream) -> Option<ExcessRequest> {
    let mut seen = [0; H2_PREFACE.len()];
    let waiting = async {
        loop {
            match stream.peek(&mut seen).await {
                Ok(0) | Err(_) => return None,
                Ok(length) => {
                    if let Some(kind) = request_kind(&seen[..length]) {
                        return Some(kind);
                    }
                }
            }
            // Another peek returns the same bytes at once until more arrive, so sleep instead of spinning.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, waiting).await.ok().flatten()
}

/// Classifies the first bytes of a connection; `None` when more are needed.
fn request_kind(seen: &[u8]) -> Option<ExcessRequest> {
    if H2_PREFACE.starts_with(seen) {
        return (seen.len() == H2_PREFACE.len()).then_some(ExcessRequest::MaybeHealth);
    }
    for line in [&b"GET /health"[..], b"HEAD /health"] {
        match seen.strip_prefix(line) {
            Some([]) => return None,
            Some([b' ' | b'/' | b'?', ..]) => return Some(ExcessRequest::MaybeHealth),
            None if line.starts_with(seen) => return None,
            _ => {}
        }
    }
    Some(ExcessRequest::Other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_kinds() {
        let check = |seen: &str, expect| assert_eq!(request_kind(seen.as_bytes()), expect, "{seen:?}");
        for more in ["", "G", "GET /healt", "GET /health", "HEAD /health", "PRI * HTTP"] {
            check(more, None);
        }
        for health in
            ["GET /health HTTP/1.1\r\n", "GET /health/live ", "GET /health?", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]
        {
            check(health, Some(ExcessRequest::MaybeHealth));
        }
        for other in ["POST /health", "GET /healthy", "GET /v2", "X", "\r\n", "PRI * HTTP/2.1", "get /health "] {
            check(other, Some(ExcessRequest::Other));
        }
    }
}
