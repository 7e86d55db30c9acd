//! Requests of the scrapes of the last hour, so that their pages can be opened again the same way. Kept in memory only:
//! headers and typed texts are secrets that must not be stored. Another server, or this one after a restart, opens the
//! page from what its row tells.

use std::sync::Arc;
use std::time::Duration;

use moka::future::Cache;
use uuid::Uuid;
use wire::ScrapeRequest;

/// Time for which requests are remembered.
const MAX_AGE: Duration = Duration::from_secs(60 * 60);
/// Maximum total size, in approximate bytes.
const MAX_BYTES: u64 = 32 << 20;
/// Minimum size charged for each request, in bytes.
const LEAST: usize = 2 << 10;

/// Requests by team and scrape id.
pub(crate) struct Recent(Cache<(String, Uuid), Arc<ScrapeRequest>>);

impl Default for Recent {
    fn default() -> Self {
        let weigh = |_: &(String, Uuid), request: &Arc<ScrapeRequest>| u32::try_from(size(request)).unwrap_or(u32::MAX);
        Self(Cache::builder().max_capacity(MAX_BYTES).weigher(weigh).time_to_live(MAX_AGE).build())
    }
}

impl Recent {
    /// Remembers a request that is not private.
    pub(crate) async fn put(&self, team: &str, scrape: Uuid, request: &ScrapeRequest) {
        if !request.is_private() {
            self.0.insert((team.to_owned(), scrape), Arc::new(request.clone())).await;
        }
    }

    pub(crate) async fn get(&self, team: &str, scrape: Uuid) -> Option<Arc<ScrapeRequest>> {
        self.0.get(&(team.to_owned(), scrape)).await
    }
}

/// Returns the approximate size of a request, from the parts whose length callers control.
fn size(request: &ScrapeRequest) -> usize {
    let options = &request.options;
    let headers: usize = options.headers.iter().map(|(name, value)| name.len() + value.len() + 64).sum();
    let texts = options.include_tags.iter().chain(&options.exclude_tags).map(|text| text.len() + 32).sum::<usize>();
    // Actions hold texts of several kinds; twice their JSON size approximates their memory.
    let actions = serde_json::to_vec(&options.actions).map_or(0, |text| text.len() * 2);
    let formats = serde_json::to_vec(&options.formats).map_or(0, |text| text.len() * 2);
    LEAST + request.url.as_str().len() + headers + texts + actions + formats
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_team_finds_its_own_and_nothing_private() {
        let recent = Recent::default();
        let request = ScrapeRequest::new("https://example.com/".parse().unwrap());
        let (open, hushed) = (Uuid::from_u128(1), Uuid::from_u128(2));
        recent.put("red", open, &request).await;
        recent.put("red", hushed, &ScrapeRequest { zero_data_retention: true, ..request.clone() }).await;
        assert_eq!(recent.get("red", open).await.as_deref(), Some(&request));
        assert!(recent.get("blue", open).await.is_none());
        assert!(recent.get("red", hushed).await.is_none());
    }
}
