//! From sitemap to sitemap: what is still to be read, a few at a time, within the limits of one call.

use std::collections::{HashSet, VecDeque};
use std::ops::ControlFlow;

use crawl_frontier::{MAX_SITEMAP_NESTING, SitemapCandidate};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::sync::mpsc;
use tokio::time::Instant;
use url::Url;

use super::read::{Context, Read, read};
use super::{Found, MOST_REQUESTS, Sink};
use crate::AppError;

/// Sitemaps that are read at the same time.
const PARALLEL: usize = 4;

/// Where a sitemap may be.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Place {
    pub(super) url: Url,
    /// Whether the site names it.
    pub(super) is_declared: bool,
    /// How many indexes led here.
    pub(super) nesting: u8,
}

impl From<SitemapCandidate> for Place {
    fn from(candidate: SitemapCandidate) -> Self {
        Self { url: candidate.url, is_declared: candidate.is_declared, nesting: 0 }
    }
}

/// One call on its way.
#[derive(Default)]
pub(super) struct Hunt {
    pub(super) found: Found,
    queue: VecDeque<Place>,
    seen: HashSet<Url>,
    /// Requests that were made, and those that are under way as one each.
    requests: usize,
}

impl Hunt {
    /// Reads these sitemaps and all that they lead to; `Break` when the sink has enough.
    pub(super) async fn run(
        &mut self,
        context: &Context<'_>,
        places: impl Iterator<Item = Place>,
        sink: &mut impl Sink,
    ) -> Result<ControlFlow<()>, AppError> {
        places.for_each(|place| self.add(place));
        let (sender, mut batches) = mpsc::channel(1);
        let mut running = FuturesUnordered::new();
        loop {
            while running.len() < PARALLEL
                && let Some(place) = self.next(context.manner.deadline)
            {
                running.push(read(context, place, sender.clone()));
            }
            let batch = tokio::select! {
                biased;
                batch = batches.recv(), if !running.is_empty() || !batches.is_empty() => batch,
                Some(done) = running.next() => {
                    self.note(done);
                    continue;
                }
                else => None,
            };
            let Some(batch) = batch else { return Ok(ControlFlow::Continue(())) };
            self.found.pages += batch.len();
            if sink.take(batch).await?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }

    fn add(&mut self, place: Place) {
        if self.seen.insert(place.url.clone()) {
            self.queue.push_back(place);
        }
    }

    /// The next place, unless the limits are reached.
    fn next(&mut self, deadline: Instant) -> Option<Place> {
        if self.requests >= MOST_REQUESTS || Instant::now() >= deadline {
            self.found.is_cut |= !self.queue.is_empty();
            return None;
        }
        let place = self.queue.pop_front()?;
        self.requests += 1;
        Some(place)
    }

    fn note(&mut self, done: Read) {
        self.requests += done.redirects;
        self.found.is_cut |= done.is_cut;
        self.found.sitemaps += usize::from(done.is_sitemap);
        self.found.failed += usize::from(done.is_missed);
        let room = MOST_REQUESTS.saturating_sub(self.requests);
        for url in done.sitemaps {
            // An index may name 50 000; those that will not be asked for need not be remembered.
            if self.queue.len() >= room {
                self.found.is_cut = true;
                break;
            }
            // What an index lists, the site has named.
            self.add(Place { url, is_declared: true, nesting: (done.nesting + 1).min(MAX_SITEMAP_NESTING) });
        }
    }
}
