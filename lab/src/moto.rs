//! A private S3-compatible store on loopback for experiments: the Python package moto in a virtual environment.

use std::fs::File;
use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use http::Method;
use lab::service;
use xtask::setup;

const BUCKET: &str = "quarry";
/// Timeout until it answers; the first start compiles its Python files.
const MAX_READY: Duration = Duration::from_secs(60);

/// A store with one empty bucket; ends when dropped and loses its data.
pub(crate) struct Moto {
    child: Child,
    addr: SocketAddr,
}

impl Moto {
    /// Installs the program if missing, starts it and creates the bucket.
    pub(crate) async fn start() -> Result<Self> {
        let folder = setup::for_s3()?;
        let addr = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let log = File::create(folder.join("server.log"))?;
        let mut command = Command::new(folder.join("bin/moto_server"));
        command.args(["-H", "127.0.0.1", "-p", &addr.port().to_string()]).stdout(log.try_clone()?).stderr(log);
        let child = command.spawn().context("cannot start moto_server")?;
        let mut moto = Self { child, addr };
        moto.make_bucket().await?;
        Ok(moto)
    }

    /// Returns the settings with which the service stores its blobs there.
    pub(crate) fn settings(&self) -> Vec<(&'static str, String)> {
        vec![
            ("blobs.url", format!("s3://{BUCKET}/blobs")),
            ("blobs.endpoint", format!("http://{}", self.addr)),
            // It accepts any key, but the client needs one for signing.
            ("blobs.access_key_id", "anybody".to_owned()),
            ("blobs.secret_access_key", "anything".to_owned()),
        ]
    }

    /// Returns the number of blobs with a key prefix.
    pub(crate) async fn count(&self, prefix: &str) -> Result<usize> {
        // Unlike Amazon's store, it lists as many keys as requested.
        let path = format!("/{BUCKET}?list-type=2&max-keys=1000000&prefix=blobs/{prefix}");
        let answer = service::get(self.addr, &path).await?;
        ensure!(answer.status == 200, "no list of the bucket: {}", answer.text());
        Ok(answer.text().matches("<Key>").count())
    }

    async fn make_bucket(&mut self) -> Result<()> {
        let started = Instant::now();
        loop {
            // Unsigned requests are accepted too.
            let made = service::client(self.addr, None)?.send(Method::PUT, &format!("/{BUCKET}"), "").await;
            if made.is_ok_and(|answer| answer.status == 200) {
                return Ok(());
            }
            if let Some(status) = self.child.try_wait()? {
                anyhow::bail!("moto_server ended with {status}");
            }
            ensure!(started.elapsed() < MAX_READY, "moto_server was not ready after {} s", MAX_READY.as_secs());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
