//! A mail server without TLS, which keeps the mails that it takes, and can refuse, put off or be gone.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;

/// Byte limit of a mail, and of a command.
const MAX_BYTES: usize = 4 << 20;
const MAX_COMMAND: u64 = 4096;

/// Mail that a server has taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenMail {
    /// Recipients of the envelope.
    pub to: Vec<String>,
    /// The message as it was sent.
    pub message: String,
}

impl TakenMail {
    /// Returns the values of a header, without its folds.
    #[must_use]
    pub fn headers(&self, name: &str) -> Vec<String> {
        let head = self.message.split("\r\n\r\n").next().unwrap_or_default().replace("\r\n ", " ");
        let lines = head.split("\r\n").filter_map(|line| line.split_once(':'));
        lines.filter(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned()).collect()
    }

    /// Returns the message with its quoted-printable parts decoded (RFC 2045), for tests that look for texts in it.
    #[must_use]
    pub fn decoded(&self) -> String {
        let text = self.message.replace("=\r\n", "");
        let mut bytes = Vec::with_capacity(text.len());
        let mut rest = text.as_bytes();
        while let Some((first, more)) = rest.split_first() {
            let digits = more.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
            match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|_| *first == b'=') {
                Some(byte) => {
                    bytes.push(byte);
                    rest = &more[2..];
                }
                None => {
                    bytes.push(*first);
                    rest = more;
                }
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Returns the token of the link whose path ends with this word.
    #[must_use]
    pub fn token(&self, word: &str) -> Option<String> {
        let text = self.decoded();
        let (_, rest) = text.split_once(&format!("/{word}?token="))?;
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c)).unwrap_or(rest.len());
        Some(rest[..end].to_owned())
    }
}

#[derive(Debug, Default)]
struct State {
    taken: Vec<TakenMail>,
    /// Answers to recipients, by their addresses.
    answers: HashMap<String, String>,
    /// Answer in place of the greeting.
    greeting: Option<String>,
    /// Whether nothing is said any more.
    hangs: bool,
}

/// A mail server on loopback; it ends when it is dropped.
#[derive(Debug)]
pub struct MailServer {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    task: AbortHandle,
}

impl MailServer {
    /// Listens on a free port of 127.0.0.1.
    ///
    /// # Panics
    /// When loopback has no free port.
    pub async fn start() -> Self {
        let bound = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await;
        let bound = bound.and_then(|listener| Ok((listener.local_addr()?, listener)));
        let (address, listener) = bound.unwrap_or_else(|error| panic!("cannot start a mail server: {error}"));
        let state: Arc<Mutex<State>> = Arc::default();
        let shared = Arc::clone(&state);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&shared)));
            }
        });
        Self { address, state, task: task.abort_handle() }
    }

    /// Returns the address as settings have it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("smtp://{}?tls=none", self.address)
    }

    /// Returns the mails in the order of their arrival.
    #[must_use]
    pub fn mails(&self) -> Vec<TakenMail> {
        self.state.lock().taken.clone()
    }

    /// Answers a recipient like this from now on, such as `550 5.1.1 no such user`.
    pub fn answer(&self, to: &str, answer: &str) {
        self.state.lock().answers.insert(to.to_owned(), answer.to_owned());
    }

    /// Greets new connections like this from now on, such as `421 4.3.2 busy`; `None` for as usual.
    pub fn greet(&self, greeting: Option<&str>) {
        self.state.lock().greeting = greeting.map(str::to_owned);
    }

    /// Accepts connections and says nothing, from now on or no longer.
    pub fn hang(&self, hangs: bool) {
        self.state.lock().hangs = hangs;
    }
}

impl Drop for MailServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(stream: TcpStream, state: Arc<Mutex<State>>) {
    // A client that goes away ends its connection.
    let _ = talk(BufReader::new(stream), &state).await;
}

async fn talk(mut stream: BufReader<TcpStream>, state: &Mutex<State>) -> std::io::Result<()> {
    let (hangs, greeting) = {
        let state = state.lock();
        (state.hangs, state.greeting.clone())
    };
    if hangs {
        std::future::pending::<()>().await;
    }
    say(&mut stream, greeting.as_deref().unwrap_or("220 mail.test ESMTP")).await?;
    let mut to = Vec::new();
    loop {
        let mut line = String::new();
        if (&mut stream).take(MAX_COMMAND).read_line(&mut line).await? == 0 {
            return Ok(());
        }
        let word = line.trim_end().split([' ', ':']).next().unwrap_or_default().to_ascii_uppercase();
        let answer = match word.as_str() {
            "EHLO" => "250-mail.test\r\n250 8BITMIME".to_owned(),
            "RCPT" => {
                let address = line.split(['<', '>']).nth(1).unwrap_or_default().to_owned();
                let answer = state.lock().answers.get(&address).cloned().unwrap_or_else(|| "250 ok".to_owned());
                if answer.starts_with('2') {
                    to.push(address);
                }
                answer
            }
            "DATA" => {
                say(&mut stream, "354 go on").await?;
                let message = message(&mut stream).await?;
                state.lock().taken.push(TakenMail { to: std::mem::take(&mut to), message });
                "250 taken".to_owned()
            }
            "QUIT" => return say(&mut stream, "221 bye").await,
            "RSET" => {
                to.clear();
                "250 ok".to_owned()
            }
            "MAIL" | "NOOP" => "250 ok".to_owned(),
            _ => "500 what".to_owned(),
        };
        say(&mut stream, &answer).await?;
    }
}

async fn say(stream: &mut BufReader<TcpStream>, answer: &str) -> std::io::Result<()> {
    stream.write_all(format!("{answer}\r\n").as_bytes()).await?;
    stream.flush().await
}

/// Reads a message up to its end, without the dots that were added to lines.
async fn message(stream: &mut BufReader<TcpStream>) -> std::io::Result<String> {
    let mut message = String::new();
    while message.len() < MAX_BYTES {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        if line == ".\r\n" {
            return Ok(message);
        }
        message.push_str(line.strip_prefix('.').unwrap_or(&line));
    }
    Err(std::io::ErrorKind::InvalidData.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mails_are_read_as_they_were_meant() {
        let message =
            "Subject: a\r\n b\r\nTo: x@y.test\r\n\r\nhttp://h/confirm?token=3Dab-=\r\nc_d.e \r\n=C3=A9 = =\r\n";
        let mail = TakenMail { to: Vec::new(), message: message.to_owned() };
        assert_eq!(mail.headers("subject"), ["a b"]);
        assert_eq!(mail.token("confirm").as_deref(), Some("ab-c_d.e"));
        assert!(mail.decoded().contains('é'));
        assert_eq!(mail.token("unsubscribe"), None);
    }
}
