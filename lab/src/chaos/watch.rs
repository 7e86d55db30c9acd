//! Watching of a run over its WebSocket, as clients do.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use client::{Message, Run};
use serde_json::Value;
use serde_json::value::RawValue;
use wire::JobProgress;

use crate::team::Team;

/// Markdown of pages by their URL.
pub(super) type Texts = BTreeMap<String, String>;

/// Adds a document; fails on a duplicate page, or on a page without text.
pub(super) fn add(texts: &mut Texts, document: &Value) -> Result<()> {
    let url = document["metadata"]["url"].as_str().context("a document without an address")?;
    let text = document["markdown"].as_str().with_context(|| format!("{url} has no markdown"))?;
    ensure!(text.len() > 1000, "{url} has only {} bytes of markdown", text.len());
    ensure!(texts.insert(url.to_owned(), text.to_owned()).is_none(), "{url} is there twice");
    Ok(())
}

/// Result of a watcher.
#[derive(Debug)]
pub(super) struct WatchResult {
    pub(super) texts: Texts,
    /// Number of documents in messages of their own, not in the first one.
    pub(super) messages: usize,
    /// Time from the handshake to the first document.
    pub(super) first: Duration,
    /// Last message.
    pub(super) end: JobProgress,
}

/// Watches a run until the server closes the connection.
pub(super) async fn watch(addr: SocketAddr, team: &Team, run: Run, patience: Duration) -> Result<WatchResult> {
    let watched = tokio::time::timeout(patience, watch_on(addr, team, run)).await;
    watched.with_context(|| format!("the watcher was not told of an end within {} s", patience.as_secs()))?
}

async fn watch_on(addr: SocketAddr, team: &Team, run: Run) -> Result<WatchResult> {
    let started = Instant::now();
    let mut watcher = team.at(addr)?.watch(run).await.context("the watcher does not open")?;
    let (mut texts, mut messages, mut first, mut end) = (Texts::new(), 0, Duration::ZERO, None);
    while let Some(message) = watcher.next().await? {
        match message {
            Message::Catchup(progress) => progress.data.iter().try_for_each(|document| hear(&mut texts, document))?,
            Message::Document(document) => {
                hear(&mut texts, &document)?;
                messages += 1;
            }
            Message::Done(progress) | Message::Cancelled(progress) => end = Some(progress),
            Message::Error(why) => bail!("the watcher was told {why}"),
        }
        if first.is_zero() && !texts.is_empty() {
            first = started.elapsed();
        }
    }
    Ok(WatchResult { texts, messages, first, end: end.context("the watcher was not told of an end")? })
}

fn hear(texts: &mut Texts, document: &RawValue) -> Result<()> {
    add(texts, &serde_json::from_str(document.get())?)
}
