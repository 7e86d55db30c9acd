//! The queue of sitemaps, read a few at a time within the limits of one call.

use std::collections::{HashSet, VecDeque};
use std::ops::ControlFlow;

use crawl_frontier::MAX_SITEMAP_NESTING;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::sync::mpsc;
use tokio::time::Instant;
use url::Url;

use super::ask::{Candidate, Context, Share};
use super::read::{SitemapRead, read_sitemap};
use super::{MAX_REQUESTS, Sink, SitemapTotals};

/// Number of sitemaps that are read concurrently.
const PARALLEL: usize = 4;

/// State of one call.
#[derive(Default)]
pub(super) struct Discovery {
    pub(super) found: SitemapTotals,
    queue: VecDeque<Candidate>,
    seen: HashSet<Url>,
}

impl Discovery {
    /// Reads these sitemaps and all that they list; returns `Break` when the sink has enough.
    pub(super) async fn run<S: Sink>(
        &mut self,
        context: &Context<'_>,
        candidates: impl Iterator<Item = Candidate>,
        sink: &mut S,
    ) -> Result<ControlFlow<()>, S::Error> {
        candidates.for_each(|candidate| self.add(candidate));
        let (sender, mut batches) = mpsc::channel(1);
        let mut running = FuturesUnordered::new();
        loop {
            while running.len() < PARALLEL
                && let Some((candidate, share)) = self.next(context, running.is_empty())
            {
                running.push(read_sitemap(context, candidate, share, sender.clone()));
            }
            // `biased`: batches are taken before the readers that sent them are removed, so none is lost at the end.
            // `sender` stays open, so `recv` must not be polled when nothing can arrive any more.
            let batch = tokio::select! {
                biased;
                batch = batches.recv(), if !running.is_empty() || !batches.is_empty() => batch,
                Some(done) = running.next() => {
                    self.note(done);
                    continue;
                }
                else => None,
            };
            let Some(batch) = batch else {
                self.found.is_cut |= !self.queue.is_empty();
                return Ok(ControlFlow::Continue(()));
            };
            self.found.pages += batch.len();
            if sink.take(batch).await?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }

    fn add(&mut self, candidate: Candidate) {
        if self.seen.insert(candidate.url.clone()) {
            self.queue.push_back(candidate);
        }
    }

    /// Returns the next candidate and its requests, unless the limits are reached. While others run, it waits for a
    /// full reservation, as most of their requests will be returned soon.
    fn next<'c>(&mut self, context: &'c Context<'_>, is_alone: bool) -> Option<(Candidate, Share<'c>)> {
        if self.queue.is_empty() || Instant::now() >= context.approach.deadline {
            return None;
        }
        let share = if is_alone { context.budget.take()? } else { context.budget.take_whole()? };
        Some((self.queue.pop_front()?, share))
    }

    fn note(&mut self, done: SitemapRead) {
        self.found.is_cut |= done.is_cut;
        self.found.sitemaps += usize::from(done.is_sitemap);
        self.found.failed += usize::from(done.is_missed);
        for url in done.sitemaps {
            // An index may list 50 000 sitemaps; those beyond the request limit are not stored.
            if self.queue.len() >= MAX_REQUESTS {
                self.found.is_cut = true;
                break;
            }
            // A sitemap listed in an index counts as declared by the site.
            self.add(Candidate { url, is_declared: true, nesting: (done.nesting + 1).min(MAX_SITEMAP_NESTING) });
        }
    }
}
