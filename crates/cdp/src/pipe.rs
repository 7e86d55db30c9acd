//! Our ends of the debugging pipe: one task reads, one writes.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use bytes::Bytes;
use memchr::memchr;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::task::AbortHandle;

use crate::message::Message;
use crate::session::Session;
use crate::wire::Wire;

/// Size limit of a message, in bytes: larger than any screenshot.
const MAX_MESSAGE: usize = 96 << 20;
/// Buffer capacity that is kept between messages, in bytes.
const KEPT: usize = 1 << 20;

/// Pipe to one process. Dropping it closes the pipe, upon which Chromium exits.
pub struct Connection {
    wire: Arc<Wire>,
    tasks: [AbortHandle; 2],
}

impl Connection {
    /// Opens a connection that reads `from` and writes `to`.
    ///
    /// # Errors
    /// If one of them is not a pipe.
    pub fn open(from: OwnedFd, to: OwnedFd) -> io::Result<Self> {
        Ok(Self::over(pipe::Receiver::from_owned_fd(from)?, pipe::Sender::from_owned_fd(to)?, MAX_MESSAGE))
    }

    fn over(
        from: impl AsyncRead + Unpin + Send + 'static,
        to: impl AsyncWrite + Unpin + Send + 'static,
        most: usize,
    ) -> Self {
        let wire = Arc::new(Wire::default());
        let reader = tokio::spawn(read_messages(from, Arc::clone(&wire), most)).abort_handle();
        let writer = tokio::spawn(write(to, Arc::clone(&wire))).abort_handle();
        Self { wire, tasks: [reader, writer] }
    }

    /// Returns the session of the browser itself.
    pub fn browser(&self) -> Session {
        Session::new(Arc::clone(&self.wire), None)
    }

    /// Fails all calls and ends all events because the process has ended.
    pub fn close(&self) {
        self.wire.close();
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.close();
    }
}

async fn write(mut to: impl AsyncWrite + Unpin, wire: Arc<Wire>) {
    while let Some(message) = wire.out.next().await {
        if to.write_all(&message).await.is_err() {
            break;
        }
    }
    wire.close();
}

async fn read_messages(mut from: impl AsyncRead + Unpin, wire: Arc<Wire>, most: usize) {
    let mut buffer = Vec::with_capacity(64 << 10);
    // Bytes without a terminator are searched once only: a large message arrives in very many reads.
    let mut searched = 0;
    let mut skips = false;
    while let Ok(1..) = from.read_buf(&mut buffer).await {
        while let Some(end) = memchr(0, &buffer[searched..]).map(|at| searched + at) {
            searched = 0;
            if std::mem::take(&mut skips) {
                buffer.drain(..=end);
                continue;
            }
            if let Some(message) = Message::read_apart(first(&mut buffer, end)).await {
                wire.routes.lock().take(message);
            }
        }
        searched = buffer.len();
        if skips || searched > most {
            // The message is discarded without its end; only the call that it answers fails.
            if let Some(id) = number(&buffer).filter(|_| !skips) {
                wire.routes.lock().refuse(id, most);
            }
            (skips, searched) = (true, 0);
            buffer.clear();
        }
        if buffer.is_empty() {
            buffer.shrink_to(KEPT);
        }
    }
    wire.close();
}

/// Removes the first message, which ends at `end`, from the buffer. A large one takes over the buffer instead of being
/// copied.
fn first(buffer: &mut Vec<u8>, end: usize) -> Bytes {
    if end <= KEPT {
        let message = Bytes::copy_from_slice(&buffer[..end]);
        buffer.drain(..=end);
        return message;
    }
    let rest = buffer.split_off(end + 1);
    let mut message = std::mem::replace(buffer, rest);
    message.truncate(end);
    message.into()
}

/// Parses the id of the call that a message answers; Chromium writes it first.
fn number(message: &[u8]) -> Option<u64> {
    let digits = message.strip_prefix(br#"{"id":"#)?;
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    std::str::from_utf8(&digits[..end]).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tokio::time::Instant;

    use super::*;
    use crate::error::CdpError;

    /// A connection and its other end.
    fn pair() -> (Connection, tokio::io::DuplexStream) {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (from, to) = tokio::io::split(ours);
        (Connection::over(from, to, 4096), theirs)
    }

    async fn message(stream: &mut tokio::io::DuplexStream) -> Value {
        let mut bytes = Vec::new();
        loop {
            match stream.read_u8().await.unwrap() {
                0 => return serde_json::from_slice(&bytes).unwrap(),
                byte => bytes.push(byte),
            }
        }
    }

    #[tokio::test]
    async fn calls_are_answered_in_any_order_and_split_anywhere() {
        let (connection, mut theirs) = pair();
        let session = connection.browser().sibling("s");
        let (one, two) = (session.clone(), session.clone());
        let one = tokio::spawn(async move { one.call("A.one", json!({})).await });
        let first = message(&mut theirs).await;
        let two = tokio::spawn(async move { two.call("A.two", json!({"x": 1})).await });
        let second = message(&mut theirs).await;
        assert_eq!((&second["method"], &second["sessionId"]), (&"A.two".into(), &"s".into()));
        let answers = format!(
            "{}\0{}\0",
            json!({"id": second["id"], "result": {"n": 2}}),
            json!({"id": first["id"], "result": {"n": 1}})
        );
        for byte in answers.bytes() {
            theirs.write_u8(byte).await.unwrap();
        }
        assert_eq!(one.await.unwrap(), Ok(json!({"n": 1})));
        assert_eq!(two.await.unwrap(), Ok(json!({"n": 2})));
    }

    #[tokio::test]
    async fn an_answer_that_is_too_large_fails_its_own_call_only() {
        let (connection, mut theirs) = pair();
        let (one, two) = (connection.browser(), connection.browser());
        let one = tokio::spawn(async move { one.call("A.large", json!({})).await });
        let first = message(&mut theirs).await["id"].clone();
        let two = tokio::spawn(async move { two.call("A.small", json!({})).await });
        let second = message(&mut theirs).await["id"].clone();
        let large = format!("{{\"id\":{first},\"result\":{{\"x\":\"{}\"}}}}\0", "y".repeat(50_000));
        theirs.write_all(&large.as_bytes()[..20_000]).await.unwrap();
        assert_eq!(one.await.unwrap(), Err(CdpError::TooLarge { method: "A.large".to_owned(), limit: 4096 }));
        theirs.write_all(&large.as_bytes()[20_000..]).await.unwrap();
        theirs.write_all(format!("{}\0", json!({"id": second, "result": {}})).as_bytes()).await.unwrap();
        assert_eq!(two.await.unwrap(), Ok(json!({})));
    }

    #[tokio::test]
    async fn the_end_of_the_pipe_ends_calls_and_events() {
        let (connection, mut theirs) = pair();
        let session = connection.browser();
        let mut events = session.events_of(&[""]);
        let caller = session.clone();
        let call = tokio::spawn(async move { caller.call("A.b", json!({})).await });
        message(&mut theirs).await;
        drop(theirs);
        assert_eq!(call.await.unwrap(), Err(CdpError::Closed));
        assert_eq!(events.next().await, None);
        assert!(session.is_closed());
        assert_eq!(session.call("A.b", json!({})).await, Err(CdpError::Closed));
    }

    #[tokio::test]
    async fn a_call_that_nobody_waits_for_leaves_nothing() {
        let (connection, mut theirs) = pair();
        let session = connection.browser();
        let soon = Instant::now() + std::time::Duration::from_millis(10);
        assert_eq!(session.call_by(soon, "A.b", json!({})).await, Err(CdpError::Timeout));
        message(&mut theirs).await;
        assert!(session.call_by(soon, "A.c", json!({})).await.is_err());
        assert_eq!(connection.wire.routes.lock().waiting(), 0);
    }
}
