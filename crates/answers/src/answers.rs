//! Means of answering: a language model, the page's own sentences, or both.

use std::fmt;
use std::sync::Arc;

use base::{Clock, Owner};
use cpu::Cpu;
use cpu::line::Load;
use llm::{Model, Role, Settings, SettingsError, TeamLimit};
use tokio::time::Instant;

use crate::cache::Cache;
use crate::{Asking, CacheUse};

/// Means of answering: a model, the page's own sentences, or both. Clones share the model.
#[derive(Clone)]
pub struct Answers {
    model: Option<Model>,
    cache: Arc<Cache>,
    extractive: bool,
    zero_retention: bool,
}

/// Request that questions belong to.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Team and run that ask.
    pub owner: &'a Owner,
    /// Whether the request leaves no trace: its text goes only to a model that stores nothing.
    pub private: bool,
    /// Time at which answers are of no more use.
    pub deadline: Instant,
    /// Use of the cache of answers. A private request does not use it.
    pub cache: CacheUse,
    /// Slots for CPU-bound work. None is held while a model is waited for.
    pub cpu: &'a Cpu,
    /// Limits of the team per day.
    pub limit: TeamLimit,
}

impl Answers {
    /// Creates the answers of the settings, without connecting anywhere. With a URL it reads the certificates of the
    /// system, so it belongs on a blocking thread.
    ///
    /// # Errors
    /// Those of [`Model::new`].
    pub fn new(settings: &Settings, clock: Arc<dyn Clock>) -> Result<Self, SettingsError> {
        let model = Model::new(settings, clock)?;
        let Settings { extractive, zero_retention, cache, .. } = *settings;
        let cache = Arc::new(Cache::new(usize::try_from(cache).unwrap_or(usize::MAX)));
        Ok(Self { model, cache, extractive, zero_retention })
    }

    /// Whether a model may see the pages of a request.
    #[must_use]
    pub fn has_model(&self, private: bool) -> bool {
        self.model_for(private).is_some()
    }

    /// Whether questions can be answered, highlights found and pages summarised for a request.
    #[must_use]
    pub fn can_answer(&self, private: bool) -> bool {
        self.extractive || self.has_model(private)
    }

    /// Whether questions are answered from the page's own sentences where no model may see the page.
    #[must_use]
    pub fn is_extractive(&self) -> bool {
        self.extractive
    }

    /// Returns what asks the model for one request; `None` if no model may see its pages.
    #[must_use]
    pub fn asking<'a>(&'a self, context: Context<'a>) -> Option<Asking<'a>> {
        self.model_for(context.private).map(|model| Asking::new(model, &self.cache, context))
    }

    /// Returns the models, if there are any.
    #[must_use]
    pub fn model(&self) -> Option<&Model> {
        self.model.as_ref()
    }

    /// Returns the load of the slots for calls of the model that answers; `None` without a model.
    #[must_use]
    pub fn load(&self) -> Option<Load> {
        self.model.as_ref().map(|model| model.load(Role::Extract))
    }

    fn model_for(&self, private: bool) -> Option<&Model> {
        self.model.as_ref().filter(|_| !private || self.zero_retention)
    }
}

impl fmt::Debug for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answers").field("model", &self.model).finish_non_exhaustive()
    }
}
