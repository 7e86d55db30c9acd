//! What can be done with an open page, verb by verb: what code and orders in words are made of.
//!
//! Every verb takes JSON and answers with JSON, so that a program in another language and behind a fence can use it. None
//! of them leads to anything but `http` and `https`.

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

/// Most text that a script may return, in UTF-16 units.
const MAX_TEXT: usize = 16 << 20;

/// How long a verb tries when it is not told.
const USUAL: Duration = Duration::from_secs(30);

/// Hands on an open page. Its references (`@e1`) stay good until the next snapshot or the next document.
pub struct Hands {
    tab: Arc<Tab>,
    /// For work of ours whose length the caller or the page chooses.
    share: Share,
    refs: Mutex<Refs>,
    mouse: Mutex<(f64, f64)>,
    /// Modifiers that are held down, as the bits of the protocol.
    held: Mutex<u8>,
}

/// What the last snapshot called by which number.
#[derive(Default)]
struct Refs {
    /// Number of the document that they are of.
    document: u64,
    /// Nodes, as the protocol numbers them; `@e1` is the first.
    nodes: Vec<i64>,
}

/// Members that many verbs have.
#[derive(Deserialize)]
struct Patience {
    /// Milliseconds; 0 means as long as there is.
    timeout: Option<f64>,
}

impl Hands {
    /// Hands on the page of a tab.
    pub(crate) fn new(tab: Arc<Tab>, share: Share) -> Self {
        Self { tab, share, refs: Mutex::default(), mouse: Mutex::default(), held: Mutex::default() }
    }

    /// Where the page is now.
    #[must_use]
    pub fn url(&self) -> String {
        self.tab.document().url
    }

    /// Whose places its work takes.
    pub(crate) fn share(&self) -> &Share {
        &self.share
    }

    /// Carries out one verb before the deadline, or before the `timeout` among its arguments if that is earlier.
    ///
    /// # Errors
    /// [`Failure`], whose name is the class of the error in the caller's language.
    pub async fn call(&self, verb: &str, args: &Value, deadline: Instant) -> Result<Value, Failure> {
        let patience: Patience = read(verb, args)?;
        let wait = patience.timeout.filter(|wait| wait.is_finite() && *wait > 0.0);
        let wait = wait.map_or(USUAL, |wait| Duration::from_millis(wait.min(300_000.0) as u64));
        let by = if patience.timeout == Some(0.0) { deadline } else { deadline.min(Instant::now() + wait) };
        let work = self.carry_out(verb, args, by);
        // Verbs end in time by themselves, with a better reason; this is for those that cannot.
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

    /// The value of a function without arguments, in our own world.
    async fn ask(&self, function: &str, by: Instant) -> Result<Value, Failure> {
        self.evaluate_anew(crate::tab::World::Own, function, &[], by).await
    }
}

fn read<T: DeserializeOwned>(verb: &str, args: &Value) -> Result<T, Failure> {
    T::deserialize(args).map_err(|error| Failure::wrong(verb, &error.to_string()))
}
