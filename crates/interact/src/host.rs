//! The host's side of the socket: runs the requested calls on the page.

use std::io;

use base::json::{self, JsonError, MAX_VALUES};
use browser::{Failure, Hands};
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::{Duration, Instant, sleep_until};

use crate::bounded::Output;
use crate::commands;
use crate::talk::{self, Answer, Done, MAX_ANSWER, MAX_LINE, MAX_WORDS, Said, Told, Wrong};

/// Time before the deadline at which a call times out, so that the program learns the reason.
const MARGIN: Duration = Duration::from_millis(800);
/// Limit of the bytes that a program may send in one run; the host parses all of them.
const MAX_HEARD: usize = 64 << 20;
/// Limit of concurrent calls of one program, and of answers that it has not read.
const MAX_CALLS: usize = 8;

/// Connection to one program.
pub(crate) struct Talk {
    from: OwnedReadHalf,
    read: Lines,
    heard: usize,
    to: mpsc::Sender<Vec<u8>>,
    writer: AbortHandle,
}

/// Line buffer.
#[derive(Default)]
struct Lines {
    bytes: Vec<u8>,
    /// Start of the next line. Consumed bytes are removed only before a read, not after every line.
    begin: usize,
    /// End of the part that was searched for a line end.
    searched: usize,
}

impl Lines {
    /// Returns the next line, without its end.
    fn next(&mut self) -> Option<&[u8]> {
        let Some(end) = self.bytes[self.searched..].iter().position(|byte| *byte == b'\n') else {
            self.searched = self.bytes.len();
            return None;
        };
        let (begin, end) = (self.begin, self.searched + end);
        (self.begin, self.searched) = (end + 1, end + 1);
        Some(&self.bytes[begin..end])
    }

    /// Removes the consumed lines, and returns the buffer to read more into.
    fn rest(&mut self) -> &mut Vec<u8> {
        self.bytes.drain(..self.begin);
        self.searched -= self.begin;
        self.begin = 0;
        &mut self.bytes
    }
}

/// How a conversation ended.
pub(crate) enum Ended {
    /// The program reports that its code has finished.
    Done(Done),
    /// The program has closed the connection, or sent an invalid message.
    Closed,
    /// The sandbox could not be activated.
    Unfenced(String),
    /// The deadline has passed.
    TimeOver,
    /// The page is closed.
    Gone,
}

impl Talk {
    pub(crate) fn over(socket: std::os::unix::net::UnixStream) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let (from, to) = UnixStream::from_std(socket)?.into_split();
        let (sender, queue) = mpsc::channel(MAX_CALLS);
        let writer = tokio::spawn(write(to, queue)).abort_handle();
        Ok(Self { from, read: Lines::default(), heard: 0, to: sender, writer })
    }

    /// Queues bytes; returns false if the program does not read or has ended.
    pub(crate) fn send(&self, bytes: Vec<u8>) -> bool {
        self.to.try_send(bytes).is_ok()
    }

    /// Resets the byte count for another run.
    pub(crate) fn listen_anew(&mut self) {
        self.heard = 0;
    }

    /// Returns the next message. Cancel-safe: received bytes stay in the buffer.
    async fn next(&mut self) -> Option<Said> {
        loop {
            if let Some(line) = self.read.next() {
                self.heard += line.len();
                // A shell may send bytes that are not UTF-8.
                let said = serde_json::from_str(&String::from_utf8_lossy(line));
                return said.ok().filter(|_| self.heard <= MAX_HEARD);
            }
            let rest = self.read.rest();
            if rest.len() > MAX_LINE || matches!(self.from.read_buf(rest).await, Ok(0) | Err(_)) {
                return None;
            }
        }
    }

    /// Runs the program's calls until it ends.
    pub(crate) async fn serve(
        &mut self,
        hands: &Hands,
        output: &parking_lot::Mutex<Output>,
        deadline: Instant,
    ) -> Ended {
        let mut calls = FuturesUnordered::new();
        let by = deadline.checked_sub(MARGIN).unwrap_or(deadline);
        loop {
            let said = tokio::select! {
                said = self.next() => said,
                Some(answer) = calls.next(), if !calls.is_empty() => match self.pass_on(answer) {
                    Some(ended) => return ended,
                    None => continue,
                },
                () = sleep_until(deadline) => return Ended::TimeOver,
            };
            match said {
                Some(Said::Call { .. } | Said::Command { .. }) if calls.len() >= MAX_CALLS => return Ended::Closed,
                Some(said @ (Said::Call { .. } | Said::Command { .. })) => calls.push(answer(hands, said, by)),
                Some(Said::Print { error, text }) => output.lock().print(error, text.as_bytes()),
                Some(Said::Fenced(Ok(()))) => {}
                Some(Said::Fenced(Err(reason))) => return Ended::Unfenced(reason),
                Some(Said::Done(done)) => return Ended::Done(done),
                None => return Ended::Closed,
            }
        }
    }

    fn pass_on(&self, answer: Result<Vec<u8>, Failure>) -> Option<Ended> {
        match answer {
            Ok(bytes) => (!self.send(bytes)).then_some(Ended::Closed),
            Err(_) => Some(Ended::Gone),
        }
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        self.writer.abort();
    }
}

async fn write(mut to: OwnedWriteHalf, mut queue: mpsc::Receiver<Vec<u8>>) {
    while let Some(bytes) = queue.recv().await {
        if to.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

/// Returns the bytes of an answer; `Err` when the page cannot be used any more.
async fn answer(hands: &Hands, said: Said, deadline: Instant) -> Result<Vec<u8>, Failure> {
    match said {
        Said::Call { id, verb, args } => {
            let result = match unpacked::<Value>(&args, MAX_VALUES) {
                Ok(args) => call(hands, &verb, &args, deadline).await,
                Err(failure) => Err(failure),
            };
            let (ok, error) = match result {
                Ok(value) => (Some(value), None),
                Err(failure) if failure.is_final => return Err(failure),
                Err(failure) => (None, Some(Wrong { name: failure.name, message: failure.message })),
            };
            let url = hands.url();
            let line = talk::line(&Told::Answer(Answer { id, url: url.clone(), ok, error }));
            if line.len() <= MAX_ANSWER {
                return Ok(line);
            }
            let error = Some(Wrong { name: "RangeError".to_owned(), message: too_large(line.len()) });
            Ok(talk::line(&Told::Answer(Answer { id, url, ok: None, error })))
        }
        Said::Command { id, words } => {
            let result = match unpacked::<Vec<String>>(&words, MAX_WORDS) {
                Ok(words) => commands::run(hands, &words, deadline).await,
                Err(failure) => Err(failure),
            };
            let (status, text) = match result {
                Ok(text) if text.len() > MAX_ANSWER => (1, too_large(text.len()) + "\n"),
                Ok(text) => (0, text),
                Err(failure) if failure.is_final => return Err(failure),
                Err(failure) => (1, failure.message + "\n"),
            };
            Ok(format!("{id} {status} {}\n{text}", text.len()).into_bytes())
        }
        _ => Ok(Vec::new()),
    }
}

/// Parses the arguments of a program, if they have no more than `most` values.
fn unpacked<T: DeserializeOwned>(text: &RawValue, most: usize) -> Result<T, Failure> {
    json::read(text.get().as_bytes(), most).map_err(|error| {
        let name = if matches!(error, JsonError::Malformed(_)) { "TypeError" } else { "RangeError" };
        let message = format!("the argument has {error}");
        Failure { name: name.to_owned(), ..Failure::new(message) }
    })
}

fn too_large(length: usize) -> String {
    format!("the answer has {} MiB, over the limit of {} MiB; ask for less", length >> 20, MAX_ANSWER >> 20)
}

async fn call(hands: &Hands, verb: &str, args: &Value, deadline: Instant) -> Result<Value, Failure> {
    if verb == "snapshot" {
        let snapshot = hands.snapshot(deadline).await?;
        return Ok(snapshot.text(args["interactive"] == true).into());
    }
    hands.call(verb, args, deadline).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_however_they_come() {
        let mut lines = Lines::default();
        assert_eq!(lines.next(), None);
        for (part, found) in [("on", ""), ("e\ntwo\n\nth", "one two  "), ("r", ""), ("ee\n", "three "), ("\nx", " ")] {
            lines.rest().extend_from_slice(part.as_bytes());
            let mut all = String::new();
            while let Some(line) = lines.next() {
                all += &format!("{} ", String::from_utf8_lossy(line));
            }
            assert_eq!(all, found, "{part:?}");
        }
        assert_eq!(lines.rest().as_slice(), b"x");
    }

    #[test]
    fn what_is_handed_over_is_counted_before_it_is_read() {
        let raw = |text: String| RawValue::from_string(text).unwrap();
        let many = format!("[{}1]", "1,".repeat(MAX_VALUES));
        let said: Said =
            serde_json::from_str(&format!(r#"{{"call":{{"id":1,"verb":"evaluate","args":{many}}}}}"#)).unwrap();
        let Said::Call { args, .. } = said else { panic!("not a call") };
        let failure = unpacked::<Value>(&args, MAX_VALUES).unwrap_err();
        let message = "the argument has more than 120000 JSON values";
        assert_eq!((failure.name.as_str(), failure.message.as_str()), ("RangeError", message));
        assert_eq!(unpacked::<Value>(&raw("[1]".to_owned()), MAX_VALUES).unwrap(), serde_json::json!([1]));
        assert_eq!(unpacked::<Vec<String>>(&raw("[1]".to_owned()), MAX_WORDS).unwrap_err().name, "TypeError");
        let said: Said = serde_json::from_str(r#"{"call":{"id":1,"verb":"title"}}"#).unwrap();
        let Said::Call { args, .. } = said else { panic!("not a call") };
        assert_eq!(unpacked::<Value>(&args, MAX_VALUES).unwrap(), Value::Null);
    }

    #[test]
    fn many_short_lines_are_read_in_one_go() {
        let mut lines = Lines::default();
        lines.rest().extend_from_slice(&b"\n".repeat(MAX_LINE));
        let began = std::time::Instant::now();
        let mut count = 0;
        while lines.next().is_some() {
            count += 1;
        }
        assert_eq!(count, MAX_LINE);
        assert!(began.elapsed() < std::time::Duration::from_secs(10), "{:?}", began.elapsed());
    }
}
