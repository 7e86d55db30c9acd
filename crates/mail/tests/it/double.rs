//! A mail server of our own: greeting, EHLO, STARTTLS, AUTH, and the faults that a test asks for.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// Behaviour of the server.
#[derive(Debug, Clone)]
pub(crate) struct Behaviour {
    /// TLS from the first byte.
    pub(crate) wrapped: bool,
    /// Whether STARTTLS is offered.
    pub(crate) starttls: bool,
    /// Login that is demanded before a letter.
    pub(crate) login: Option<&'static str>,
    /// Command that gets the answer; the greeting is the command "".
    pub(crate) answer: Option<(&'static str, &'static str)>,
    /// Command after which nothing more is said, beside a letter's end, which is ".".
    pub(crate) hangs_at: Option<&'static str>,
    /// Whether the connection is closed after each letter.
    pub(crate) closes: bool,
    /// Time that a letter takes.
    pub(crate) slow: Duration,
}

impl Default for Behaviour {
    fn default() -> Self {
        Self {
            wrapped: false,
            starttls: true,
            login: Some("\0user\0p:ss"),
            answer: None,
            hangs_at: None,
            closes: false,
            slow: Duration::ZERO,
        }
    }
}

/// A letter that the server has taken.
#[derive(Debug, Clone)]
pub(crate) struct Taken {
    pub(crate) to: Vec<String>,
    /// The message, with its dots as they were.
    pub(crate) message: String,
    pub(crate) is_encrypted: bool,
}

/// Record of what the server has seen.
#[derive(Debug, Default)]
struct Seen {
    letters: Vec<Taken>,
    connections: usize,
    open: usize,
    most_open: usize,
    commands: Vec<String>,
}

/// A running server; it ends with the test.
pub(crate) struct Double {
    port: u16,
    folder: tempfile::TempDir,
    behaviour: Arc<Mutex<Behaviour>>,
    seen: Arc<Mutex<Seen>>,
}

impl Double {
    pub(crate) async fn start(behaviour: Behaviour) -> Self {
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ca.pem"), pem(cert.der())).unwrap();
        let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = Self { port, folder, behaviour: Arc::new(Mutex::new(behaviour)), seen: Arc::default() };
        let (behaviour, seen) = (Arc::clone(&server.behaviour), Arc::clone(&server.seen));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let conversation = Conversation {
                    behaviour: behaviour.lock().unwrap().clone(),
                    seen: Arc::clone(&seen),
                    is_encrypted: false,
                };
                tokio::spawn(conversation.serve(stream, acceptor.clone()));
            }
        });
        server
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn ca_file(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// Changes what the server does in connections from now on.
    pub(crate) fn behave(&self, behaviour: Behaviour) {
        *self.behaviour.lock().unwrap() = behaviour;
    }

    pub(crate) fn letters(&self) -> Vec<Taken> {
        self.seen.lock().unwrap().letters.clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.seen.lock().unwrap().connections
    }

    pub(crate) fn most_open(&self) -> usize {
        self.seen.lock().unwrap().most_open
    }

    pub(crate) fn open(&self) -> usize {
        self.seen.lock().unwrap().open
    }

    /// Returns the first words of the commands.
    pub(crate) fn commands(&self) -> Vec<String> {
        self.seen.lock().unwrap().commands.clone()
    }
}

/// One connection.
struct Conversation {
    behaviour: Behaviour,
    seen: Arc<Mutex<Seen>>,
    is_encrypted: bool,
}

/// End of a part of a conversation.
enum End<S> {
    Upgrade(S),
    Closed,
}

impl Conversation {
    async fn serve(mut self, stream: TcpStream, acceptor: TlsAcceptor) {
        {
            let mut seen = self.seen.lock().unwrap();
            seen.connections += 1;
            seen.open += 1;
            seen.most_open = seen.most_open.max(seen.open);
        }
        let _ = self.talk(stream, acceptor).await;
        self.seen.lock().unwrap().open -= 1;
    }

    async fn talk(&mut self, stream: TcpStream, acceptor: TlsAcceptor) -> std::io::Result<()> {
        if self.behaviour.wrapped {
            self.is_encrypted = true;
            let stream = acceptor.accept(stream).await?;
            self.part(stream, true).await?;
        } else if let End::Upgrade(stream) = self.part(stream, true).await? {
            self.is_encrypted = true;
            let stream = acceptor.accept(stream).await?;
            self.part(stream, false).await?;
        }
        Ok(())
    }

    async fn part<S: AsyncRead + AsyncWrite + Unpin>(&mut self, stream: S, greets: bool) -> std::io::Result<End<S>> {
        let mut stream = BufReader::new(stream);
        if greets && !self.say(&mut stream, "", "220 double ESMTP").await? {
            return Ok(End::Closed);
        }
        let (mut to, mut logged_in) = (Vec::new(), self.behaviour.login.is_none());
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).await? == 0 {
                return Ok(End::Closed);
            }
            let line = line.trim_end().to_owned();
            let word = line.split([' ', ':']).next().unwrap_or_default().to_ascii_uppercase();
            self.seen.lock().unwrap().commands.push(word.clone());
            let answer = match word.as_str() {
                "EHLO" => self.capabilities(),
                "STARTTLS" => {
                    self.say(&mut stream, "STARTTLS", "220 go ahead").await?;
                    return Ok(End::Upgrade(stream.into_inner()));
                }
                "AUTH" => {
                    logged_in = self.is_login(&line);
                    if logged_in { "235 welcome" } else { "535 5.7.8 wrong" }.to_owned()
                }
                "MAIL" if !logged_in => "530 5.7.0 log in".to_owned(),
                "MAIL" | "NOOP" | "RSET" => "250 ok".to_owned(),
                "RCPT" => {
                    to.push(line.clone());
                    "250 ok".to_owned()
                }
                "DATA" => {
                    if !self.say(&mut stream, "DATA", "354 go on").await? {
                        return Ok(End::Closed);
                    }
                    let message = read_message(&mut stream).await?;
                    tokio::time::sleep(self.behaviour.slow).await;
                    let taken = Taken { to: std::mem::take(&mut to), message, is_encrypted: self.is_encrypted };
                    self.seen.lock().unwrap().letters.push(taken);
                    if !self.say(&mut stream, ".", "250 taken").await? || self.behaviour.closes {
                        return Ok(End::Closed);
                    }
                    continue;
                }
                "QUIT" => return Ok(End::Closed),
                _ => "500 what".to_owned(),
            };
            let command = if word == "RCPT" { line.as_str() } else { word.as_str() };
            if !self.say(&mut stream, command, &answer).await? {
                return Ok(End::Closed);
            }
        }
    }

    fn capabilities(&self) -> String {
        let starttls = if self.behaviour.starttls && !self.is_encrypted { "250-STARTTLS\r\n" } else { "" };
        format!("250-double\r\n250-8BITMIME\r\n{starttls}250 AUTH PLAIN LOGIN")
    }

    fn is_login(&self, line: &str) -> bool {
        let given = line.split(' ').nth(2).and_then(|given| STANDARD.decode(given).ok()).unwrap_or_default();
        self.behaviour.login.is_some_and(|login| login.as_bytes() == given)
    }

    /// Answers a command; `false` ends the connection.
    async fn say<S: AsyncWrite + Unpin>(&self, stream: &mut S, command: &str, usual: &str) -> std::io::Result<bool> {
        if self.behaviour.hangs_at == Some(command) {
            std::future::pending::<()>().await;
        }
        let answer = match self.behaviour.answer {
            Some((at, answer)) if at == command || !at.is_empty() && command.contains(at) => answer,
            _ => usual,
        };
        stream.write_all(format!("{answer}\r\n").as_bytes()).await?;
        stream.flush().await?;
        Ok(!answer.starts_with("421"))
    }
}

fn pem(der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let lines: Vec<&str> = text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
}

async fn read_message<S: AsyncRead + Unpin>(stream: &mut BufReader<S>) -> std::io::Result<String> {
    let mut message = String::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        if line == ".\r\n" {
            return Ok(message);
        }
        message.push_str(line.strip_prefix('.').unwrap_or(&line));
    }
}
