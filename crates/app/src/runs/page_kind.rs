//! Interface of kinds of run whose items are pages.
//!
//! A kind is registered with a [`PageKind`]. It reads the spec of a run into a [`PageSpec`], which opens the [`PageRun`]
//! that all pages of the run share.

use std::any::Any;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use store::runs::{Progress, Run};

use super::Runs;
use super::context::{Context, Terms};
use super::secrets::Secrets;
use crate::AppError;
use crate::auth::Caller;

/// What a kind of run does with pages. One object for the process; it may hold what all runs of the kind share.
pub(crate) trait PageKind: Send + Sync + 'static {
    /// Reads the spec of a run, with the secrets that were taken out of it. Called in transactions too, so it must be
    /// quick.
    ///
    /// # Errors
    /// A spec that this version cannot read.
    fn read(&self, spec: Value, secrets: Secrets) -> Result<(Terms, Box<dyn PageSpec>), AppError>;

    /// Returns the run of a spec that cannot be read. It only has to end the run's pages.
    fn bare(&self) -> Arc<dyn PageRun> {
        Arc::new(Plain)
    }
}

/// Spec of a run that has been read.
#[async_trait]
pub(crate) trait PageSpec: Send {
    /// Opens the run for its workers. May compile, and query the database.
    ///
    /// # Errors
    /// An outage, or a spec that cannot be compiled.
    async fn open(self: Box<Self>, _opening: Opening<'_>) -> Result<Arc<dyn PageRun>, AppError> {
        Ok(self.unopened())
    }

    /// Returns the run for a transaction, without compiling anything.
    fn unopened(self: Box<Self>) -> Arc<dyn PageRun>;
}

/// Run that is opened.
#[derive(Clone, Copy)]
pub(crate) struct Opening<'a> {
    pub(crate) runs: &'a Runs,
    pub(crate) row: &'a Run,
    pub(crate) progress: &'a Progress,
    pub(crate) caller: &'a Caller,
    /// Stale context of the same run. A spec never changes, so what was compiled from it can be reused.
    pub(crate) before: Option<&'a Context>,
}

/// Open run, shared by all its pages and kept in [`Context::pages`]. A kind finds its own type in there by downcast.
pub(crate) trait PageRun: Any + Send + Sync {
    /// Returns the memory that it takes beyond the usual, in bytes.
    fn bytes(&self) -> usize {
        0
    }
}

/// Spec and run where pages lead nowhere: all the defaults.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plain;

impl PageSpec for Plain {
    fn unopened(self: Box<Self>) -> Arc<dyn PageRun> {
        Arc::new(*self)
    }
}

impl PageRun for Plain {}
