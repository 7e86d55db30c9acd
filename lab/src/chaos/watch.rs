//! Watches a job through its WebSocket, as a client does.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use futures_util::StreamExt;
use serde_json::Value;
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use super::client::Team;

/// The markdown of pages by their address.
pub(super) type Texts = BTreeMap<String, String>;

/// Adds a document; fails when its page is there already, or when it has no text.
pub(super) fn add(texts: &mut Texts, document: &Value) -> Result<()> {
    let url = document["metadata"]["url"].as_str().context("a document without an address")?;
    let text = document["markdown"].as_str().with_context(|| format!("{url} has no markdown"))?;
    ensure!(text.len() > 1000, "{url} has only {} bytes of markdown", text.len());
    ensure!(texts.insert(url.to_owned(), text.to_owned()).is_none(), "{url} is there twice");
    Ok(())
}

/// What a watcher was told.
#[derive(Debug, Default)]
pub(super) struct Watched {
    pub(super) texts: Texts,
    /// How many of them came in a message of their own, and not with the first one.
    pub(super) messages: usize,
    /// From the handshake to the first document.
    pub(super) first: Duration,
    /// The last message.
    pub(super) last: Value,
}

/// Watches until the server closes.
pub(super) async fn watch(addr: SocketAddr, team: &Team, job: &str, patience: Duration) -> Result<Watched> {
    let watching = watch_on(addr, team, job);
    let watched = tokio::time::timeout(patience, watching).await;
    watched.with_context(|| format!("the watcher was not told of an end within {} s", patience.as_secs()))?
}

async fn watch_on(addr: SocketAddr, team: &Team, job: &str) -> Result<Watched> {
    let started = Instant::now();
    let mut request = format!("ws://{addr}{job}").into_client_request()?;
    request.headers_mut().insert("authorization", team.bearer().parse()?);
    let (mut socket, _) = connect_async(request).await.context("the watcher does not open")?;
    let mut watched = Watched::default();
    while let Some(message) = socket.next().await {
        match message? {
            Message::Text(text) => watched.hear(serde_json::from_str(&text)?, started)?,
            Message::Close(_) => break,
            _ => {}
        }
    }
    Ok(watched)
}

impl Watched {
    fn hear(&mut self, message: Value, started: Instant) -> Result<()> {
        match message["type"].as_str() {
            Some("catchup") => {
                let early = message["data"]["data"].as_array().context("no documents in the first message")?;
                early.iter().try_for_each(|document| add(&mut self.texts, document))?;
            }
            Some("document") => {
                add(&mut self.texts, &message["data"])?;
                self.messages += 1;
            }
            Some("error") => bail!("the watcher was told {message}"),
            _ => {}
        }
        if self.first.is_zero() && !self.texts.is_empty() {
            self.first = started.elapsed();
        }
        self.last = message;
        Ok(())
    }
}
