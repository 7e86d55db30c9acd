//! State that all operations on monitors share.

use std::fmt;
use std::sync::Arc;

use ::runs::Runs;
use async_trait::async_trait;
use base::{Secret, Timestamp};
use kernel::auth::Caller;
use kernel::{App, AppError};
use llm::Model;
use mail::{Mailer, Tokens};
use serde::Deserialize;
use store::Conn;
use tokio::sync::OnceCell;
use url::Url;
use wire::SearchTarget;

/// Searches of the web, which another part of the service makes.
#[async_trait]
pub trait WebSearch: Send + Sync + 'static {
    /// Searches for all queries of a target. Nothing is charged.
    ///
    /// # Errors
    /// The reason why nothing could be found, as the team may read it.
    async fn search(&self, caller: &Caller, target: &SearchTarget) -> Result<Vec<FoundResult>, String>;
}

/// Result of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundResult {
    /// Query that has found it.
    pub query: String,
    /// URL.
    pub url: String,
    /// Title.
    pub title: String,
    /// Description by the engine.
    pub description: String,
}

/// Section `monitors`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MonitorSettings {
    /// Maximum number of monitors of a team without a limit of its own.
    pub max_per_team: u32,
}

impl Default for MonitorSettings {
    fn default() -> Self {
        Self { max_per_team: 100 }
    }
}

/// Mail server, and where the links in mails lead.
#[derive(Debug, Clone)]
pub struct MailParts {
    /// Sends the mails.
    pub mailer: Mailer,
    /// Base of the links in mails: the public address of the service.
    pub base: Url,
}

/// Parts of [`Monitors`].
pub struct Parts {
    /// Runs, whose kinds include [`kinds`](crate::kinds).
    pub runs: Runs,
    /// Searches of the web; `None` where no engine is set up.
    pub search: Option<Arc<dyn WebSearch>>,
    /// Mail server; `None` where none is set.
    pub mail: Option<MailParts>,
    /// Settings of the operator.
    pub settings: MonitorSettings,
}

/// Monitors of the service. Cheap to clone; all clones share their state.
#[derive(Clone)]
pub struct Monitors(Arc<Inner>);

struct Inner {
    parts: Parts,
    /// Signs the links in mails; read when it is first needed.
    tokens: OnceCell<Tokens>,
}

impl Monitors {
    /// Assembles the monitors. Nothing is read or written yet.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        Self(Arc::new(Inner { parts, tokens: OnceCell::new() }))
    }

    /// Returns the core of the service.
    #[must_use]
    pub fn app(&self) -> &App {
        self.0.parts.runs.app()
    }

    /// Returns the runs that carry out checks.
    #[must_use]
    pub fn runs(&self) -> &Runs {
        &self.0.parts.runs
    }

    pub(crate) fn settings(&self) -> MonitorSettings {
        self.0.parts.settings
    }

    pub(crate) fn search(&self) -> Option<&Arc<dyn WebSearch>> {
        self.0.parts.search.as_ref()
    }

    /// Returns the mail server.
    pub(crate) fn mail(&self) -> Option<&MailParts> {
        self.0.parts.mail.as_ref()
    }

    /// Returns what signs the links in mails.
    pub(crate) async fn tokens(&self) -> Result<&Tokens, AppError> {
        let app = self.app();
        self.0.tokens.get_or_try_init(|| async { tokens_of(&mut app.conn().await?, app.now()).await }).await
    }

    /// Returns the model that judges changes.
    pub(crate) fn model(&self) -> Option<&Model> {
        self.runs().scraper().tools().answers.as_ref()?.model()
    }
}

impl fmt::Debug for Monitors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Monitors").field("settings", &self.0.parts.settings).finish_non_exhaustive()
    }
}

/// Returns what signs the links in mails. All servers of a database share the key, which signs the URLs of files too.
async fn tokens_of(conn: &mut Conn, now: Timestamp) -> Result<Tokens, AppError> {
    let fresh = Secret::new(hex::encode(rand::random::<[u8; 32]>()));
    Ok(Tokens::new(&store::files::key(conn, &fresh, now).await?))
}
