//! The trait of search engines.

use async_trait::async_trait;

use crate::answer::EngineAnswer;
use crate::error::EngineError;
use crate::query::{EngineQuery, Source};

/// A search engine.
#[async_trait]
pub trait SearchEngine: Send + Sync {
    /// Returns the name, as in the settings.
    fn name(&self) -> &'static str;

    /// Whether the engine searches this source.
    fn offers(&self, source: Source) -> bool;

    /// Returns at most `query.limit` results, best first. An empty answer means that nothing was found, never that
    /// something failed.
    ///
    /// # Errors
    /// [`EngineError`]; see its variants. It is returned before `query.deadline`.
    async fn search(&self, query: &EngineQuery<'_>) -> Result<EngineAnswer, EngineError>;
}
