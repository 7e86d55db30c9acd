//! Watcher: the progress of a run over a WebSocket (docs/CONTRACT.md, "Watcher").

use futures_util::StreamExt;
use http::header::AUTHORIZATION;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{self, Message as Frame};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};
use wire::JobProgress;

use crate::{Client, Error, Raw, Result, Run};

/// Message of the watcher.
#[derive(Debug, Clone)]
pub enum Message {
    /// First message: progress, with the documents that already exist.
    Catchup(JobProgress),
    /// One further document, a [`wire::Document`] as stored.
    Document(Box<RawValue>),
    /// Final message of a completed run, without documents.
    Done(JobProgress),
    /// Final message of a cancelled run, without documents.
    Cancelled(JobProgress),
    /// The run failed, or can no longer be watched.
    Error(String),
}

/// Members of a message. A message without `type` is the progress of a cancelled run.
#[derive(Deserialize)]
struct Members {
    #[serde(rename = "type")]
    kind: Option<String>,
    data: Option<Box<RawValue>>,
    error: Option<String>,
}

impl Message {
    fn read(text: &str) -> Result<Self, serde_json::Error> {
        let members: Members = serde_json::from_str(text)?;
        let data = || members.data.as_deref().map_or("null", RawValue::get);
        Ok(match members.kind.as_deref() {
            Some("catchup") => Self::Catchup(serde_json::from_str(data())?),
            Some("document") => Self::Document(serde_json::from_str(data())?),
            Some("done") => Self::Done(serde_json::from_str(data())?),
            Some("error") => Self::Error(members.error.unwrap_or_default()),
            Some(other) => return Err(serde::de::Error::custom(format!("unknown message type {other:?}"))),
            None => Self::Cancelled(serde_json::from_str(text)?),
        })
    }
}

/// Open WebSocket; dropping it closes the connection.
#[derive(Debug)]
pub struct Watcher {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

impl Client {
    /// Opens a watcher: a WebSocket on the path of the run.
    ///
    /// # Errors
    /// [`Error::Refused`] if the service refuses the WebSocket; otherwise as for [`Client::send`].
    pub async fn watch(&self, run: Run) -> Result<Watcher> {
        let request = self.url("ws", &run.path()).into_client_request();
        let mut request = request.map_err(|error| Error::NoAnswer(error.into()))?;
        if let Some(value) = self.authorization() {
            request.headers_mut().insert(AUTHORIZATION, value.clone());
        }
        let opened = tokio::time::timeout(self.timeout(), connect_async(request)).await;
        match opened.map_err(|_| Error::Timeout(self.timeout()))? {
            Ok((socket, _)) => Ok(Watcher { socket }),
            Err(tungstenite::Error::Http(answer)) => Err(refused(*answer)),
            Err(error) => Err(Error::NoAnswer(error.into())),
        }
    }
}

/// Converts the response to a refused handshake into an error.
fn refused(answer: http::Response<Option<Vec<u8>>>) -> Error {
    let (head, body) = answer.into_parts();
    let raw = Raw { status: head.status.as_u16(), headers: head.headers, body: body.unwrap_or_default().into() };
    match raw.read::<serde_json::Value>() {
        Err(error) => error,
        Ok(_) => Error::NoAnswer("the service did not open a WebSocket".into()),
    }
}

impl Watcher {
    /// Returns the next message, or `None` once the service has closed the connection. Waits without a timeout.
    ///
    /// # Errors
    /// [`Error::NoAnswer`] if the connection breaks, [`Error::Unexpected`] for a message outside the contract.
    pub async fn next(&mut self) -> Result<Option<Message>> {
        while let Some(frame) = self.socket.next().await {
            match frame.map_err(|error| Error::NoAnswer(error.into()))? {
                Frame::Text(text) => {
                    let message = Message::read(&text).map_err(|source| Error::Unexpected { status: 101, source });
                    return message.map(Some);
                }
                Frame::Close(_) => return Ok(None),
                _ => {}
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRESS: &str = r#"{"success":true,"status":"cancelled","total":2,"completed":1,"creditsUsed":1,
        "createdAt":"2026-01-02T03:04:05.000Z","duration":1,"expiresAt":"2026-01-03T03:04:05.000Z","data":[{"markdown":"a"}]}"#;

    #[test]
    fn every_message_of_the_contract_is_read() {
        let read = |text: &str| Message::read(text).unwrap();
        let wrapped = |kind: &str| format!(r#"{{"type":"{kind}","data":{PROGRESS}}}"#);
        assert!(matches!(read(&wrapped("catchup")), Message::Catchup(progress) if progress.data.len() == 1));
        assert!(matches!(read(&wrapped("done")), Message::Done(progress) if progress.completed == 1));
        assert!(matches!(read(PROGRESS), Message::Cancelled(progress) if progress.total == 2));
        let document = read(r#"{"type":"document","data":{"markdown":"b"}}"#);
        assert!(matches!(document, Message::Document(json) if json.get() == r#"{"markdown":"b"}"#));
        assert!(matches!(read(r#"{"type":"error","error":"no"}"#), Message::Error(why) if why == "no"));
        assert!(Message::read(r#"{"type":"moon"}"#).is_err());
    }
}
