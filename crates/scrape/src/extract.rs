//! Extraction of values from a page, by a language model.

use std::sync::Arc;

use answers::{Answers, CacheUse, Context, PageText, Refusal, TeamLimit};
use async_trait::async_trait;
use base::Owner;
use cpu::Cpu;
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
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// URL of the page.
    pub url: &'a Url,
    /// Text of the page.
    pub page: &'a Arc<PageText>,
    /// JSON Schema of the values.
    pub schema: Option<&'a Map<String, Value>>,
    /// Instructions.
    pub prompt: Option<&'a str>,
    /// Team and run that ask.
    pub owner: &'a Owner,
    /// Time until which the answer is awaited.
    pub deadline: Instant,
    /// Slots for CPU-bound work.
    pub cpu: &'a Cpu,
    /// Limits of the team per day for language models.
    pub limit: TeamLimit,
}

#[async_trait]
impl Extract for Answers {
    async fn extract(&self, question: &Question<'_>) -> Result<Value, String> {
        let Question { page, schema, prompt, owner, deadline, cpu, limit, .. } = *question;
        // Change tracking is refused with zero retention, and does not use the cache.
        let context = Context { owner, private: false, deadline, cache: CacheUse::default(), cpu, limit };
        let asking = self.asking(context).ok_or_else(|| Refusal::NoModel.to_string())?;
        asking.extract(page, schema, prompt).await.map(|answered| answered.value).map_err(|why| why.to_string())
    }
}
