//! Everything that our crates log while the tests run, at the most talkative level.

use std::io::{self, Write};
use std::sync::{Mutex, Once, PoisonError};

use tracing_subscriber::EnvFilter;

static LINES: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static START: Once = Once::new();

/// Our crates; what the libraries say at this level is not ours to keep clean and off in the service.
const OURS: &str =
    "off,app=trace,scrape=trace,fetch=trace,net=trace,formats=trace,store=trace,blobs=trace,billing=trace";

/// Begins to listen; every test may call it.
pub(crate) fn capture() {
    START.call_once(|| {
        let filter = EnvFilter::new(OURS);
        tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_writer(|| Sink).init();
    });
}

/// Whether a text was ever logged.
pub(crate) fn contains(text: &str) -> bool {
    let lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
    lines.windows(text.len()).any(|window| window == text.as_bytes())
}

struct Sink;

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LINES.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
