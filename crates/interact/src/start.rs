//! The runner of code, and its slots.

use std::path::PathBuf;

use browser::Hands;
use children::{Launcher, Role, User};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Duration, Instant, timeout_at};

use crate::code::{Code, InteractError, Language, ROLE, Ran};
use crate::node::{self, Interpreter};
use crate::orders::{self, OrderError};
use crate::shell;

/// Longest time that a call waits for a slot.
const PATIENCE: Duration = Duration::from_secs(10);

/// Settings for running code.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Program that is started again for code; it must have [`role`]. Best is `/proc/self/exe`, which remains even if an
    /// update replaces the file. `None` means that JavaScript runs in a thread of this process and nothing else is run:
    /// for programs that cannot be started again.
    pub program: Option<PathBuf>,
    /// User and group of the child processes, if this process runs as root.
    pub user: Option<User>,
    /// Maximum number of concurrent calls.
    pub places: usize,
}

/// Runner of code and plain instructions.
pub struct Interact {
    /// `None` if there are no child processes.
    launcher: Option<Launcher>,
    places: Semaphore,
}

/// Returns the role of a child, which runs code of callers.
#[must_use]
pub fn role() -> Role {
    // The JavaScript interpreter has no host access. The sandbox is a second layer, which is incomplete on some systems.
    Role::fenced(ROLE, node::serve)
}

/// State of a session that is kept between calls: the interpreter with its variables. Dropping it ends the interpreter.
#[derive(Default)]
pub struct Work {
    interpreter: Option<Interpreter>,
}

impl Interact {
    /// Creates a runner. Processes are started on demand.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let launcher = settings.program.map(|program| Launcher::new(program, settings.user));
        Self { launcher, places: Semaphore::new(settings.places.max(1)) }
    }

    /// Runs code on a page. An error in the code is part of the result: [`Ran::error`].
    ///
    /// # Errors
    /// [`InteractError`] when the code was not run, or the page is closed.
    pub async fn run(&self, hands: &Hands, code: &Code<'_>, work: &mut Work) -> Result<Ran, InteractError> {
        let deadline = Instant::now() + code.timeout;
        let _place = self.place(deadline).await?;
        match code.language {
            Language::Node => {
                node::run(self.launcher.as_ref(), hands, code.text, deadline, &mut work.interpreter).await
            }
            Language::Python | Language::Bash => shell::run(self.launcher.as_ref(), hands, code, deadline).await,
        }
    }

    /// Carries out a plain instruction without a language model. Returns what was done and read, as text.
    ///
    /// # Errors
    /// [`OrderError`]: the prompt is not plain, or the page does not have what it names.
    pub async fn obey(&self, hands: &Hands, prompt: &str, timeout: Duration) -> Result<String, OrderError> {
        orders::obey(hands, prompt, Instant::now() + timeout).await
    }

    async fn place(&self, deadline: Instant) -> Result<SemaphorePermit<'_>, InteractError> {
        let place = timeout_at(deadline.min(Instant::now() + PATIENCE), self.places.acquire()).await;
        place.map_err(|_| InteractError::Busy)?.map_err(|_| InteractError::Busy)
    }
}
