//! changedetection.io with its plain fetcher on the same pages.

use std::fs::File;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use base::{Clock, SystemClock};
use client::Client;
use http::Method;
use lab::Tree;
use serde_json::Value;
use tempfile::TempDir;
use xtask::setup;

use super::{Figures, PATIENCE};
use crate::made_site::MadeSite;

/// Timeout of its start, which compiles its Python files the first time.
const MAX_READY: Duration = Duration::from_secs(120);
/// Pause between two looks: each is a list of all watches.
const POLL: Duration = Duration::from_secs(1);
/// Pages that it reads at the same time.
const WORKERS: usize = 16;

/// Measures checks of all pages of the site, after a first check of each.
pub(super) async fn measure(site: &MadeSite) -> Result<Figures> {
    let peer = Peer::start(site)?;
    peer.ready().await?;
    let urls: Vec<String> = (0..site.pages()).map(|number| site.url(number)).collect();
    peer.send(Method::POST, "/api/v1/import", urls.join("\n")).await?;
    peer.checked_since(0, site.pages()).await?;
    // Checks are told apart by whole seconds.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let now = u64::try_from(SystemClock.now().timestamp())?;
    let (started, before) = (Instant::now(), peer.cpu()?);
    peer.send(Method::GET, "/api/v1/watch?recheck_all=1", String::new()).await?;
    peer.checked_since(now, site.pages()).await?;
    Ok(Figures { number: site.pages(), took: started.elapsed(), cpu: peer.cpu()? - before })
}

/// The running program; ends when dropped.
struct Peer {
    child: Child,
    address: String,
    folder: TempDir,
    /// First part of the URLs of the site.
    site: String,
}

impl Peer {
    fn start(site: &MadeSite) -> Result<Self> {
        let program = setup::for_change_detection()?.join("bin/changedetection.io");
        let folder = tempfile::tempdir()?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let log = File::create(folder.path().join("log"))?;
        let mut command = Command::new(program);
        command.arg("-C").arg("-d").arg(folder.path().join("data")).args(["-h", "127.0.0.1", "-p", &port.to_string()]);
        command.env("FETCH_WORKERS", WORKERS.to_string()).env("DISABLE_VERSION_CHECK", "true");
        // Loopback is refused otherwise.
        command.env("ALLOW_IANA_RESTRICTED_ADDRESSES", "true").env("LOGGER_LEVEL", "ERROR");
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let child = command.spawn().context("cannot start changedetection.io")?;
        Ok(Self {
            child,
            address: format!("http://127.0.0.1:{port}"),
            folder,
            site: format!("http://{}/", site.addr()),
        })
    }

    async fn ready(&self) -> Result<()> {
        let started = Instant::now();
        while self.key().is_err() || self.send(Method::GET, "/api/v1/systeminfo", String::new()).await.is_err() {
            ensure!(started.elapsed() < MAX_READY, "changedetection.io was not ready: {}", self.said());
            tokio::time::sleep(POLL).await;
        }
        Ok(())
    }

    /// Returns its key, which it writes into its data folder.
    fn key(&self) -> Result<String> {
        for name in ["changedetection.json", "url-watches.json"] {
            let Ok(text) = std::fs::read(self.folder.path().join("data").join(name)) else { continue };
            let settings: Value = serde_json::from_slice(&text)?;
            if let Some(key) = settings["settings"]["application"]["api_access_token"].as_str() {
                return Ok(key.to_owned());
            }
        }
        bail!("changedetection.io has written no key")
    }

    async fn send(&self, method: Method, path: &str, body: String) -> Result<Value> {
        let client = Client::new(&self.address, None)?.with_timeout(PATIENCE);
        let request =
            client.request(method, path).header("x-api-key", self.key()?).header("content-type", "text/plain");
        let answer = client.execute(request, body).await?;
        ensure!((200..300).contains(&answer.status), "{path}: {} {}", answer.status, answer.text());
        Ok(answer.json())
    }

    /// Waits until every page was checked after a moment, given in seconds since 1970. A list of watches may fail while it
    /// changes them.
    async fn checked_since(&self, moment: u64, pages: usize) -> Result<()> {
        let started = Instant::now();
        loop {
            let state = match self.send(Method::GET, "/api/v1/watch", String::new()).await {
                Err(error) => format!("its watches could not be listed: {error}"),
                Ok(watches) => match self.checked(&watches, moment)? {
                    checked if checked >= pages => return Ok(()),
                    checked => format!("it has checked {checked} of {pages} pages"),
                },
            };
            ensure!(started.elapsed() < PATIENCE, "{state}: {}", self.said());
            tokio::time::sleep(POLL).await;
        }
    }

    /// Counts the watches of the site that were checked after a moment; fails when one of them has an error. Others are its
    /// examples, whose pages cannot be reached.
    fn checked(&self, watches: &Value, moment: u64) -> Result<usize> {
        let watches = watches.as_object().context("no list of watches")?;
        let is_of_site = |watch: &&Value| watch["url"].as_str().is_some_and(|url| url.starts_with(&self.site));
        let is_checked = |watch: &&Value| watch["last_checked"].as_u64().is_some_and(|checked| checked > moment);
        let checked: Vec<&Value> = watches.values().filter(is_of_site).filter(is_checked).collect();
        let mut errors = checked.iter().filter_map(|watch| watch["last_error"].as_str());
        if let Some(error) = errors.next() {
            bail!("{} of its checks have failed, the first with {error}: {}", 1 + errors.count(), self.said());
        }
        Ok(checked.len())
    }

    /// Returns the processor time of its processes so far.
    fn cpu(&self) -> Result<Duration> {
        Tree::below(self.child.id())?.processes.iter().map(|process| lab::cpu(process.id)).sum()
    }

    fn said(&self) -> String {
        let log = std::fs::read(self.folder.path().join("log")).unwrap_or_default();
        String::from_utf8_lossy(&log[log.len().saturating_sub(2000)..]).into_owned()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
