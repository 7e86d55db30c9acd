//! Pages that a site lists for language models in `llms.txt` (llmstxt.org).

use std::time::Duration;

use crawl_frontier::{MAX_LLMS_BYTES, llms_pages};
use http::header::CONTENT_TYPE;
use tokio::time::Instant;
use url::Url;

use crate::sitemaps::address;
use crate::{Approach, Site, SitemapPage, Terms};

/// Time limit for one file.
const PATIENCE: Duration = Duration::from_secs(10);
/// Limit of redirects to a file.
const MAX_REDIRECTS: usize = 3;

impl Site {
    /// Returns the pages in the `llms.txt` at the root of the host of `start`, and in the one in the folder of `start`
    /// if that is another file: at most 1 MiB and 10 000 pages of each. Empty if there is none, if it is not text, or
    /// if robots.txt is obeyed and forbids it. The pages may be of any site, and may repeat. Parsing uses CPU slots of
    /// the owner.
    pub async fn llms_pages(&self, start: &Url, approach: Approach<'_>, terms: Terms<'_>) -> Vec<SitemapPage> {
        let places = [start.join("/llms.txt").ok(), folder_of(start)];
        let mut found: Vec<SitemapPage> = Vec::new();
        let mut asked: Vec<Url> = Vec::new();
        for place in places.into_iter().flatten() {
            if asked.contains(&place) || !self.may_ask(&place, approach, terms.obey).await {
                continue;
            }
            match self.llms_file(place.clone(), approach).await {
                Ok(Some(file)) => found.extend(self.read_llms(file, approach, terms).await),
                Ok(None) => {}
                Err(error) if approach.private => drop(error),
                Err(error) => tracing::debug!(%error, "could not fetch llms.txt; it is skipped"),
            }
            asked.push(place);
        }
        found
    }

    async fn may_ask(&self, place: &Url, approach: Approach<'_>, obey: bool) -> bool {
        !obey || self.rules(place, approach).await.is_ok_and(|site| site.rules.allows_url(place))
    }

    async fn llms_file(&self, place: Url, approach: Approach<'_>) -> Result<Option<File>, net::Error> {
        let deadline = approach.deadline.min(Instant::now() + PATIENCE);
        let mut answer = self.open(place, Approach { deadline, ..approach }, MAX_REDIRECTS).await?;
        let kind = answer.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        // Many sites answer every address with an HTML page.
        if !answer.status.is_success() || kind.to_ascii_lowercase().contains("html") {
            return Ok(None);
        }
        let mut body = Vec::new();
        while body.len() < MAX_LLMS_BYTES {
            match answer.piece().await {
                Ok(Some(piece)) => body.extend_from_slice(&piece[..piece.len().min(MAX_LLMS_BYTES - body.len())]),
                // At the size limit, the part received so far is used.
                Ok(None) | Err(net::Error::TooLarge { .. }) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(Some(File { url: answer.url.clone(), body }))
    }

    async fn read_llms(&self, file: File, approach: Approach<'_>, terms: Terms<'_>) -> Vec<SitemapPage> {
        let read = self.0.cpu.run(terms.owner, approach.deadline, move |_| file.pages()).await;
        read.inspect_err(|error| tracing::debug!(%error, "could not read llms.txt; it is skipped")).unwrap_or_default()
    }
}

/// Downloaded file, possibly truncated.
struct File {
    url: Url,
    body: Vec<u8>,
}

impl File {
    fn pages(&self) -> Vec<SitemapPage> {
        let text = String::from_utf8_lossy(&self.body);
        if text.trim_start_matches('\u{feff}').trim_start().starts_with('<') {
            return Vec::new();
        }
        let pages = llms_pages(&text).into_iter();
        pages.filter_map(|about| Some(SitemapPage { url: address(&self.url, &about.loc)?, about })).collect()
    }
}

/// Returns the address of the file in the folder of a page.
fn folder_of(start: &Url) -> Option<Url> {
    start.join("llms.txt").ok()
}
