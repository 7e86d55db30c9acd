//! Log output of this project's crates at trace level while the tests run.

use std::io::{self, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use tracing_subscriber::EnvFilter;

static LINES: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static START: Once = Once::new();

/// This project's crates that run in these tests. Libraries may log more at this level, which is off in the service.
const OURS: [&str; 24] = [
    "accounts",
    "app",
    "base",
    "billing",
    "blobs",
    "cache",
    "cpu",
    "crawl_frontier",
    "crawls",
    "fetch",
    "files",
    "formats",
    "kernel",
    "maps",
    "monitors",
    "net",
    "queue",
    "runs",
    "scrape",
    "scraping",
    "sessions",
    "site",
    "store",
    "webhooks",
];

/// Starts capturing; every test may call it.
pub(crate) fn capture() {
    START.call_once(|| {
        let ours = OURS.map(|name| format!("{name}=trace"));
        let filter = EnvFilter::new(format!("off,{}", ours.join(",")));
        tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_writer(|| Sink).init();
    });
}

/// Whether a text was ever logged.
pub(crate) fn contains(text: &str) -> bool {
    let lines = LINES.lock();
    lines.windows(text.len()).any(|window| window == text.as_bytes())
}

static EXPECTED: AtomicBool = AtomicBool::new(false);

/// Declares that the test makes the service log errors.
pub(crate) fn expect_errors() {
    EXPECTED.store(true, Ordering::Relaxed);
}

/// Returns the unexpected errors logged by this test. Empty unless each test has a process of its own, as with nextest:
/// otherwise they could come from another test.
#[expect(clippy::disallowed_methods, reason = "nextest says in the environment that it runs the test")]
pub(crate) fn unexpected_errors() -> String {
    if std::env::var_os("NEXTEST").is_none() || EXPECTED.load(Ordering::Relaxed) {
        return String::new();
    }
    let lines = LINES.lock();
    let text = String::from_utf8_lossy(&lines);
    let errors = text.lines().filter(|line| line.split_whitespace().nth(1) == Some("ERROR"));
    errors.map(|line| format!("it has logged an error (log::expect_errors allows it): {line}\n")).collect()
}

struct Sink;

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LINES.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
