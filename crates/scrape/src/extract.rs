//! Extraction of values from a page, by a language model.

use async_trait::async_trait;
use base::Owner;
use serde_json::{Map, Value};
use tokio::time::Instant;
use url::Url;

/// Service that extracts values from pages.
#[async_trait]
pub trait Extract: Send + Sync {
    /// Returns the values that a schema or a prompt asks for.
    ///
    /// # Errors
    /// The reason for none, for the caller.
    async fn extract(&self, question: &Question<'_>) -> Result<Value, String>;
}

/// Page, and what is asked about it.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// URL of the page.
    pub url: &'a Url,
    /// Page as markdown.
    pub markdown: &'a str,
    /// JSON Schema of the values.
    pub schema: Option<&'a Map<String, Value>>,
    /// Instructions.
    pub prompt: Option<&'a str>,
    /// Team and run that ask.
    pub owner: &'a Owner,
    /// Time until which the answer is awaited.
    pub deadline: Instant,
}
