//! An engine of the web: pages of results, one after another, until enough of them passed the sieve.

use std::sync::Arc;

use async_trait::async_trait;
use base::Clock;

use crate::adapter::{Adapter, AskedPage, Page, text_for};
use crate::allowance::Allowance;
use crate::answer::EngineAnswer;
use crate::engine::SearchEngine;
use crate::error::EngineError;
use crate::query::{EngineQuery, Source};
use crate::sieve::Sieve;

/// Engine of the web, asked through its adapter within its limits.
pub(crate) struct WebEngine {
    pub(crate) adapter: Box<dyn Adapter>,
    pub(crate) allowance: Allowance,
    /// Client that pages are fetched with: results that it may not reach are left out.
    pub(crate) pages: net::Client,
    pub(crate) clock: Arc<dyn Clock>,
}

#[async_trait]
impl SearchEngine for WebEngine {
    fn name(&self) -> &'static str {
        self.adapter.name()
    }

    fn offers(&self, source: Source) -> bool {
        self.adapter.offers(source)
    }

    async fn search(&self, query: &EngineQuery<'_>) -> Result<EngineAnswer, EngineError> {
        let sent = text_for(&*self.adapter, query);
        let mut sieve = Sieve::new(query, &self.pages, self.clock.now());
        let mut warnings: Vec<String> = sent.warning.into_iter().collect();
        for number in 0..self.adapter.most_pages(query.source) {
            let asked = AskedPage { query, text: &sent.text, number, now: self.clock.now() };
            let page = match self.page(&asked).await {
                Ok(page) => page,
                Err(error) if number == 0 => return Err(error),
                // What was found before counts.
                Err(error) => {
                    warnings.push(format!("further results are missing: {error}"));
                    break;
                }
            };
            for warning in page.warnings {
                if !warnings.contains(&warning) {
                    warnings.push(warning);
                }
            }
            // Some engines repeat their last page for ever.
            let new = page.results.into_iter().map(|raw| sieve.take(raw)).filter(|is_new| *is_new).count();
            if sieve.is_full() || !page.has_more || (new == 0 && number > 0) {
                break;
            }
        }
        let (results, undated) = sieve.finish();
        warnings.extend(undated);
        Ok(EngineAnswer { results, warnings })
    }
}

impl WebEngine {
    async fn page(&self, asked: &AskedPage<'_>) -> Result<Page, EngineError> {
        self.allowance.take(asked.now, asked.query.deadline).await?;
        let page = self.adapter.page(asked).await;
        if let Err(EngineError::RateLimited { retry_after: Some(wait) }) = &page {
            self.allowance.pause(*wait);
        }
        page
    }
}
