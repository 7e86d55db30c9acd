//! A mail server on loopback for experiments: aiosmtpd in a virtual environment, with a certificate of its own.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use serde::Deserialize;
use tempfile::TempDir;
use xtask::{setup, sh};

const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/smtp/server.py");
const READ: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/smtp/read.py");

/// Timeout until it answers; the first start compiles its Python files.
const MAX_READY: Duration = Duration::from_secs(30);

/// A running server; ends when dropped and loses its letters.
pub(crate) struct Smtp {
    child: Child,
    port: u16,
    folder: TempDir,
    python: PathBuf,
}

/// A letter as Python's email reads it.
#[derive(Debug, Deserialize)]
pub(crate) struct Stored {
    pub(crate) to: Vec<String>,
    pub(crate) from: String,
    pub(crate) tls: bool,
    /// Names and values.
    pub(crate) headers: Vec<[String; 2]>,
    pub(crate) text: String,
    pub(crate) html: String,
    pub(crate) parts: Vec<String>,
    /// Faults of the message.
    pub(crate) defects: Vec<String>,
}

impl Stored {
    /// Returns the value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|[found, _]| found.eq_ignore_ascii_case(name)).map(|[_, value]| value.as_str())
    }
}

impl Smtp {
    /// Installs the program if missing, and starts it.
    pub(crate) fn start() -> Result<Self> {
        let environment = setup::for_smtp()?;
        let folder = tempfile::tempdir()?;
        let at = |name: &str| folder.path().join(name);
        write_certificate(&at("certificate.pem"), &at("key.pem"))?;
        fs::create_dir(at("letters"))?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let (python, log) = (environment.join("bin/python"), File::create(at("server.log"))?);
        let mut command = Command::new(&python);
        command.arg(SERVER).arg(port.to_string()).args([at("certificate.pem"), at("key.pem"), at("letters")]);
        let child = command.stdout(log.try_clone()?).stderr(log).spawn().context("cannot start aiosmtpd")?;
        let mut server = Self { child, port, folder, python };
        server.wait_ready()?;
        Ok(server)
    }

    /// Returns the address with the login.
    pub(crate) fn url(&self) -> String {
        format!("smtp://user:secret@localhost:{}", self.port)
    }

    /// Returns the certificate in PEM.
    pub(crate) fn certificate(&self) -> PathBuf {
        self.folder.path().join("certificate.pem")
    }

    /// Returns the letters in the order of their arrival.
    pub(crate) fn letters(&self) -> Result<Vec<Stored>> {
        let read = sh::output(Command::new(&self.python).arg(READ).arg(self.folder.path().join("letters")))?;
        serde_json::from_str(&read).context("read.py writes JSON")
    }

    fn wait_ready(&mut self) -> Result<()> {
        let started = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            if let Some(status) = self.child.try_wait()? {
                let log = fs::read_to_string(self.folder.path().join("server.log")).unwrap_or_default();
                bail!("aiosmtpd ended with {status}: {log}");
            }
            ensure!(started.elapsed() < MAX_READY, "aiosmtpd was not ready after {} s", MAX_READY.as_secs());
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }
}

impl Drop for Smtp {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn write_certificate(certificate: &Path, key: &Path) -> Result<()> {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".to_owned()])?;
    fs::write(certificate, pem("CERTIFICATE", cert.der()))?;
    fs::write(key, pem("PRIVATE KEY", &signing_key.serialize_der()))?;
    Ok(())
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let lines: Vec<_> = text.as_bytes().chunks(64).map(String::from_utf8_lossy).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}
