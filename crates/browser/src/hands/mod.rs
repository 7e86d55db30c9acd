//! Operations ("verbs") on an open page, for code of the caller and for instructions in words.
//!
//! Every verb takes and returns JSON, so that a sandboxed program in another language can use it. Verbs open no
//! addresses but `http` and `https`.

mod cookies;
mod element;
mod evaluate;
mod failure;
mod go;
mod input;
mod pattern;
mod screen;
mod snapshot;
mod tree;

use std::sync::Arc;

use cpu::Share;
use parking_lot::Mutex;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::{Duration, Instant};

pub use failure::Failure;
pub use snapshot::{Line, Snapshot};

use crate::tab::Tab;

/// Size limit for text that a script returns, in UTF-16 units.
const MAX_TEXT: usize = 16 << 20;

/// Default timeout of a verb.
const USUAL: Duration = Duration::from_secs(30);

/// Operations on an open page. References (`@e1`) are valid until the next snapshot or document.
pub struct Hands {
    tab: Arc<Tab>,
    /// Permits for work on our own threads whose duration the caller or the page controls.
    share: Share,
    refs: Mutex<Refs>,
    mouse: Mutex<(f64, f64)>,
    /// Modifiers held down, as bits of the protocol.
    held: Mutex<u8>,
}

/// References from the last snapshot.
#[derive(Default)]
struct Refs {
    /// Number of their document.
    document: u64,
    /// Node ids of the protocol; `@e1` is the first.
    nodes: Vec<i64>,
}

/// Arguments that many verbs share.
#[derive(Deserialize)]
struct Patience {
    /// Timeout in milliseconds; 0 means until the deadline.
    timeout: Option<f64>,
}

impl Hands {
    /// Creates the operations on the page of a tab.
    pub(crate) fn new(tab: Arc<Tab>, share: Share) -> Self {
        Self { tab, share, refs: Mutex::default(), mouse: Mutex::default(), held: Mutex::default() }
    }

    /// Returns the current URL of the page.
    #[must_use]
    pub fn url(&self) -> String {
        self.tab.document().url
    }

    /// Returns the owner's share of the permits for work.
    pub(crate) fn share(&self) -> &Share {
        &self.share
    }

    /// Runs a verb until the deadline, or until the `timeout` among its arguments if that is earlier.
    ///
    /// # Errors
    /// [`Failure`], whose name is an error class of the caller's language.
    pub async fn call(&self, verb: &str, args: &Value, deadline: Instant) -> Result<Value, Failure> {
        let patience: Patience = read(verb, args)?;
        let wait = patience.timeout.filter(|wait| wait.is_finite() && *wait > 0.0);
        let wait = wait.map_or(USUAL, |wait| Duration::from_millis(wait.min(300_000.0) as u64));
        let by = if patience.timeout == Some(0.0) { deadline } else { deadline.min(Instant::now() + wait) };
        let work = self.carry_out(verb, args, by);
        // Verbs time out by themselves with a better reason; this stops those that cannot.
        let grace = Duration::from_millis(250);
        tokio::time::timeout_at(by + grace, work)
            .await
            .unwrap_or_else(|_| Err(Failure::timeout(verb, "it took too long")))
    }

    async fn carry_out(&self, verb: &str, args: &Value, by: Instant) -> Result<Value, Failure> {
        match verb {
            "goto" => self.goto(read(verb, args)?, by).await,
            "back" => self.step(-1, by).await,
            "forward" => self.step(1, by).await,
            "reload" => self.reload(by).await,
            "wait_load" => self.wait_load(read(verb, args)?, by).await,
            "wait_url" => self.wait_url(read(verb, args)?, by).await,
            "sleep" => self.sleep(read(verb, args)?, by).await,
            "url" => Ok(self.url().into()),
            "title" => self.ask("() => document.title", by).await,
            "content" => self.ask("() => (document.doctype ? new XMLSerializer().serializeToString(document.doctype) : '') + document.documentElement.outerHTML", by).await,
            "set_content" => self.set_content(read(verb, args)?, by).await,
            "element" => self.element(read(verb, args)?, by).await,
            "evaluate" => self.evaluate(read(verb, args)?, by).await,
            "wait_function" => self.wait_function(read(verb, args)?, by).await,
            "keyboard" => self.keyboard(read(verb, args)?, by).await,
            "mouse" => self.mouse(read(verb, args)?, by).await,
            "screenshot" => self.screenshot(read(verb, args)?, by).await,
            "viewport" => self.viewport(read(verb, args)?, by).await,
            "cookies" => self.cookies(read(verb, args)?, by).await,
            "add_cookies" => self.add_cookies(read(verb, args)?, by).await,
            "clear_cookies" => self.clear_cookies(by).await,
            _ => Err(Failure::unknown(verb)),
        }
    }

    /// Returns the result of a function without arguments, run in our own world.
    async fn ask(&self, function: &str, by: Instant) -> Result<Value, Failure> {
        self.evaluate_anew(crate::tab::World::Own, function, &[], by).await
    }
}

fn read<T: DeserializeOwned>(verb: &str, args: &Value) -> Result<T, Failure> {
    T::deserialize(args).map_err(|error| Failure::wrong(verb, &error.to_string()))
}
