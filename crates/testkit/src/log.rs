//! The log of a thread, captured.

use std::io::{self, Write};
use std::mem;
use std::sync::Arc;

use parking_lot::Mutex;
use tracing::subscriber::{DefaultGuard, set_default};

/// Log lines of the current thread, from `start` until it is dropped.
pub struct CapturedLog {
    written: Written,
    _guard: DefaultGuard,
}

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl CapturedLog {
    /// Captures the log of this thread, from level `info` on.
    #[must_use]
    pub fn start() -> Self {
        let written = Written::default();
        let writer = written.clone();
        let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
        Self { written, _guard: set_default(subscriber) }
    }

    /// Returns the lines so far that contain `text`.
    #[must_use]
    pub fn lines_with(&self, text: &str) -> Vec<String> {
        let log = String::from_utf8_lossy(&self.written.0.lock()).into_owned();
        log.lines().filter(|line| line.contains(text)).map(str::to_owned).collect()
    }

    /// Returns the lines since the last call.
    #[must_use]
    pub fn take(&self) -> Vec<String> {
        let log = mem::take(&mut *self.written.0.lock());
        String::from_utf8_lossy(&log).lines().map(str::to_owned).collect()
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
