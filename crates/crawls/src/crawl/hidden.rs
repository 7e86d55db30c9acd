//! Pages that earlier crawls with change tracking from the same start have found, and that this one did not meet. They are
//! asked for when nothing else is left to do, as far as the limit allows.
//!
//! No path from the start leads to them, so their depth is unknown: [`UNKNOWN_DEPTH`] marks them in their rows and jobs. A
//! link that leads to such a page makes it an ordinary one.

use ::runs::{Draining, Lanes, add_pages, digest, new_page};
use base::Timestamp;
use crawl_frontier::{Scope, ScopeOptions};
use kernel::credentials;
use store::runs::{self as rows, NewPage, Progress, Run};
use store::versions::{self, FromStart};
use store::{Conn, StoreError, teams};
use url::Url;
use wire::{CrawlRequest, Format};

use super::scope_options;

/// Depth of pages without a path from the start.
pub(super) const UNKNOWN_DEPTH: u32 = i32::MAX.unsigned_abs();
/// Maximum number of pages that are added at once.
const PIECE: usize = 500;

/// Whether a page was added by [`add_hidden`].
pub(super) fn is_hidden(depth: u32) -> bool {
    depth == UNKNOWN_DEPTH
}

/// Adds hidden pages to a crawl that has no work left. Called again when these have ended.
pub(super) fn add_hidden<'a>(conn: &'a mut Conn, progress: &'a mut Progress, now: Timestamp) -> Draining<'a> {
    add_hidden_of(conn, progress, now, None)
}

/// Adds hidden pages as the crawl does, of the series with this tag instead of that of its spec.
pub fn add_hidden_of<'a>(
    conn: &'a mut Conn,
    progress: &'a mut Progress,
    now: Timestamp,
    tag: Option<String>,
) -> Draining<'a> {
    Box::pin(async move {
        if progress.room() <= 0 {
            return Ok(());
        }
        let row = rows::find(conn, &progress.run_id).await?;
        // Parsing the spec of a large crawl takes time, and most of them do not track changes.
        let Some(row) = row.filter(|row| !row.private && row.spec.contains("changeTracking")) else { return Ok(()) };
        let Some(mut seeker) = Seeker::of(&row) else { return Ok(()) };
        seeker.tag = tag.unwrap_or(seeker.tag);
        let pages = seeker.find(conn, progress).await?;
        if pages.is_empty() {
            return Ok(());
        }
        let team = teams::find(conn, &row.team_id).await?.ok_or(StoreError::UnknownTeam)?;
        let options = &seeker.request.options;
        let lanes = Lanes::new(&team, options.max_concurrency, options.delay);
        tracing::debug!(crawl = row.id, pages = pages.len(), "asking for the pages of earlier crawls");
        add_pages(conn, progress, &lanes, pages, now).await
    })
}

/// Crawl that looks for hidden pages.
struct Seeker<'r> {
    row: &'r Run,
    request: CrawlRequest,
    /// Scope without path patterns, for the keys of pages. Whether a page is in scope is decided before it is fetched.
    scope: Scope,
    tag: String,
    /// Key of the start URL.
    start: String,
}

impl<'r> Seeker<'r> {
    /// Returns the crawl if it tracks changes.
    fn of(row: &'r Run) -> Option<Self> {
        let spec = serde_json::from_str(&row.spec).ok()?;
        let mut request: CrawlRequest = wire::decode_crawl(spec).ok()?;
        credentials::take(&mut request.url);
        let tag = request.options.scrape_options.formats.iter().find_map(|format| match format {
            Format::ChangeTracking(tracking) => Some(tracking.tag.clone().unwrap_or_default()),
            _ => None,
        })?;
        let options = scope_options(&request);
        let options = ScopeOptions { include_paths: Vec::new(), exclude_paths: Vec::new(), ..options };
        let scope = Scope::new(&request.url, &options).ok()?;
        let start = cache::page_key(&request.url);
        Some(Self { row, request, scope, tag, start })
    }

    /// Returns pages that the crawl does not know, as many as it has room for.
    async fn find(&self, conn: &mut Conn, progress: &Progress) -> Result<Vec<NewPage>, StoreError> {
        let room = usize::try_from(progress.room()).unwrap_or(0).min(PIECE);
        let (run, team) = (self.row.id.as_str(), self.row.team_id.as_str());
        let from = FromStart { team, start: &self.start, tag: &self.tag, run };
        let limit = i64::try_from(PIECE).unwrap_or(i64::MAX);
        let (mut found, mut after) = (Vec::new(), String::new());
        loop {
            let listed = versions::of_start(conn, &from, &after, limit).await?;
            let Some(last) = listed.last() else { break };
            after.clone_from(&last.id);
            let pages: Vec<NewPage> = listed.iter().filter_map(|page| self.page(&page.url)).collect();
            let known = rows::known_keys(conn, run, pages.iter().map(|page| page.key.as_slice()).collect()).await?;
            found.extend(pages.into_iter().filter(|page| !known.contains_key(&page.key)));
            if found.len() >= room {
                found.truncate(room);
                break;
            }
        }
        Ok(found)
    }

    fn page(&self, url: &str) -> Option<NewPage> {
        let url = Url::parse(url).ok()?;
        let key = self.scope.key(&url);
        Some(new_page(url, digest(key.as_str()), UNKNOWN_DEPTH))
    }
}
