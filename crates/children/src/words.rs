//! Last words of a child: the end of its standard error.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Number of bytes that are kept.
const MAX_WORDS: usize = 8 << 10;
/// Time limit for the last output of a child that has ended to arrive.
const LAST_MOMENT: Duration = Duration::from_secs(2);

/// End of a standard error. It is read until it ends, even when this is dropped, so that a full pipe never blocks the
/// child.
#[derive(Debug)]
pub struct Words {
    text: Arc<Mutex<String>>,
    listening: JoinHandle<()>,
}

impl Words {
    /// Reads a standard error in a task of its own.
    pub(crate) fn of(stderr: impl AsyncRead + Send + Unpin + 'static) -> Self {
        let text = Arc::new(Mutex::new(String::new()));
        let listening = tokio::spawn(listen(stderr, Arc::clone(&text)));
        Self { text, listening }
    }

    /// Returns the last words of a child that has ended or is about to. Waits two seconds at most: another process may
    /// hold the pipe open.
    pub async fn finish(self) -> String {
        let _ = timeout(LAST_MOMENT, self.listening).await;
        std::mem::take(&mut *self.text.lock())
    }
}

/// Returns the last line that is not blank, without blanks around it.
#[must_use]
pub fn last_line(words: &str) -> Option<&str> {
    words.lines().map(str::trim).rfind(|line| !line.is_empty())
}

async fn listen(mut stderr: impl AsyncRead + Unpin, text: Arc<Mutex<String>>) {
    let mut buffer = [0; 1024];
    while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
        let mut text = text.lock();
        text.push_str(&String::from_utf8_lossy(&buffer[..count]));
        let excess = text.len().saturating_sub(MAX_WORDS);
        let start = text.ceil_char_boundary(excess);
        text.drain(..start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_end_is_kept() {
        let all = format!("{}last\n \n", "ö\n".repeat(MAX_WORDS));
        let words = Words::of(std::io::Cursor::new(all.into_bytes())).finish().await;
        assert!(words.len() <= MAX_WORDS && words.len() > MAX_WORDS - 4, "{}", words.len());
        assert_eq!((last_line(&words), last_line(" \n\n")), (Some("last"), None));
    }

    #[tokio::test(start_paused = true)]
    async fn a_pipe_that_stays_open_is_not_waited_for() {
        let (mut theirs, ours) = tokio::io::duplex(64);
        tokio::io::AsyncWriteExt::write_all(&mut theirs, b"still here").await.unwrap();
        assert_eq!(Words::of(ours).finish().await, "still here");
    }
}
