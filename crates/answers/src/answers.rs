//! Means of answering: a language model, the page's own sentences, or both.

use std::fmt;
use std::sync::Arc;

use base::Clock;
use cpu::line::Load;
use llm::{Model, Role, Settings, SettingsError};

use crate::cache::Cache;
use crate::{Asking, Context};

/// Means of answering: a model, the page's own sentences, or both. Clones share the model.
#[derive(Clone)]
pub struct Answers {
    model: Option<Model>,
    cache: Arc<Cache>,
    extractive: bool,
    zero_retention: bool,
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
