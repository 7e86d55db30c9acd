//! From sitemap to sitemap: what is still to be read, a few at a time, within the limits of one call.

use std::collections::{HashSet, VecDeque};
use std::ops::ControlFlow;

use crawl_frontier::MAX_SITEMAP_NESTING;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::sync::mpsc;
use tokio::time::Instant;
use url::Url;

use super::ask::Share;
use super::read::{Candidate, Context, Read, read};
use super::{MAX_REQUESTS, Sink, SitemapTotals};

/// Sitemaps that are read at the same time.
const PARALLEL: usize = 4;

/// One call on its way.
#[derive(Default)]
pub(super) struct Discovery {
    pub(super) found: SitemapTotals,
    queue: VecDeque<Candidate>,
    seen: HashSet<Url>,
}

impl Discovery {
    /// Reads these sitemaps and all that they lead to; `Break` when the sink has enough.
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
                running.push(read(context, candidate, share, sender.clone()));
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

    /// The next candidate and the requests for it, unless the limits are reached.
    /// Beside others only with all the requests that one may need: most of what they have set aside comes back in a moment.
    fn next<'c>(&mut self, context: &'c Context<'_>, is_alone: bool) -> Option<(Candidate, Share<'c>)> {
        if self.queue.is_empty() || Instant::now() >= context.approach.deadline {
            return None;
        }
        let share = if is_alone { context.budget.take()? } else { context.budget.take_whole()? };
        Some((self.queue.pop_front()?, share))
    }

    fn note(&mut self, done: Read) {
        self.found.is_cut |= done.is_cut;
        self.found.sitemaps += usize::from(done.is_sitemap);
        self.found.failed += usize::from(done.is_missed);
        for url in done.sitemaps {
            // An index may name 50 000; those that will not be asked for need not be remembered.
            if self.queue.len() >= MAX_REQUESTS {
                self.found.is_cut = true;
                break;
            }
            // What an index lists, the site has named.
            self.add(Candidate { url, is_declared: true, nesting: (done.nesting + 1).min(MAX_SITEMAP_NESTING) });
        }
    }
}
