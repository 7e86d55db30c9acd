//! What a connection gets that arrives while the server is about to stop.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use wire::{Code, ErrorBody};

/// How long such a client may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// Reads what is sent first and answers 503 with [`Code::ShuttingDown`], whatever was asked.
pub(super) async fn refuse(mut stream: TcpStream) {
    let _ = timeout(PATIENCE, answer(&mut stream)).await;
}

async fn answer(stream: &mut TcpStream) -> std::io::Result<()> {
    let mut request = vec![0; 16 * 1024];
    if stream.read(&mut request).await? == 0 {
        return Ok(());
    }
    let body = serde_json::to_string(&ErrorBody::new(Code::ShuttingDown, "the server is about to stop"))?;
    let head = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 5\r\n\
         connection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    stream.shutdown().await?;
    // Closing with unread bytes would reset the connection before the answer is read.
    while stream.read(&mut request).await? > 0 {}
    Ok(())
}
