//! Our side of the socket: what the program asks for is done on the page.

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

/// So long before the end a call gives up, so that the program hears the reason.
const MARGIN: Duration = Duration::from_millis(800);
/// Most that a program may say in one run, in bytes: every line of it is read by us.
const MAX_HEARD: usize = 64 << 20;
/// How many calls of one program may be under way, and how many answers may wait for it to read them.
const MAX_CALLS: usize = 8;

/// The socket to one program.
pub(crate) struct Talk {
    from: OwnedReadHalf,
    read: Lines,
    heard: usize,
    to: mpsc::Sender<Vec<u8>>,
    writer: AbortHandle,
}

/// Bytes as they come, and the lines in them.
#[derive(Default)]
struct Lines {
    bytes: Vec<u8>,
    /// Where the next line begins: what is before is thrown away when more is read, not with every line.
    begin: usize,
    /// Up to where it was looked at.
    searched: usize,
}

impl Lines {
    /// The next line, without its end.
    fn next(&mut self) -> Option<&[u8]> {
        let Some(end) = self.bytes[self.searched..].iter().position(|byte| *byte == b'\n') else {
            self.searched = self.bytes.len();
            return None;
        };
        let (begin, end) = (self.begin, self.searched + end);
        (self.begin, self.searched) = (end + 1, end + 1);
        Some(&self.bytes[begin..end])
    }

    /// What is left is the beginning of a line: where the rest of it goes.
    fn rest(&mut self) -> &mut Vec<u8> {
        self.bytes.drain(..self.begin);
        self.searched -= self.begin;
        self.begin = 0;
        &mut self.bytes
    }
}

/// How a conversation ended.
pub(crate) enum Ended {
    /// The program says that its code is through.
    Done(Done),
    /// The program has closed its end, or speaks what nobody understands.
    Closed,
    /// The fence could not be put up.
    Unfenced(String),
    /// The time is over.
    TimeOver,
    /// The page is gone.
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

    /// Sends bytes; false when the program does not read, or is gone.
    pub(crate) fn send(&self, bytes: Vec<u8>) -> bool {
        self.to.try_send(bytes).is_ok()
    }

    /// Another run begins.
    pub(crate) fn listen_anew(&mut self) {
        self.heard = 0;
    }

    /// What the program says next. Nothing is lost when the future is dropped.
    async fn next(&mut self) -> Option<Said> {
        loop {
            if let Some(line) = self.read.next() {
                self.heard += line.len();
                // A shell may send bytes that are no text.
                let said = serde_json::from_str(&String::from_utf8_lossy(line));
                return said.ok().filter(|_| self.heard <= MAX_HEARD);
            }
            let rest = self.read.rest();
            if rest.len() > MAX_LINE || matches!(self.from.read_buf(rest).await, Ok(0) | Err(_)) {
                return None;
            }
        }
    }

    /// Does what the program asks for until it ends.
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

/// The bytes of an answer; `Err` when nothing can be done with the page any more.
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

/// Reads what a program hands over, if it has no more values than this.
fn unpacked<T: DeserializeOwned>(text: &RawValue, most: usize) -> Result<T, Failure> {
    json::read(text.get().as_bytes(), most).map_err(|error| {
        let name = if matches!(error, JsonError::Malformed(_)) { "TypeError" } else { "RangeError" };
        let message = format!("what is handed to the page has {error}");
        Failure { name: name.to_owned(), ..Failure::new(message) }
    })
}

fn too_large(length: usize) -> String {
    format!("the answer has {} MiB, and {} at most can be had: ask for less", length >> 20, MAX_ANSWER >> 20)
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
        let message = "what is handed to the page has more than 120000 JSON values";
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
