//! The request for one sitemap, with retries after temporary failures.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use crawl_frontier::SitemapCandidate;
use http::StatusCode;
use http::header::RETRY_AFTER;
use net::Download;
use politeness::retry_after;
use tokio::time::{Instant, sleep};
use url::Url;

use super::{MAX_REDIRECTS, MAX_REQUESTS, MAX_SITEMAP_TIME, Terms};
use crate::{Approach, Site};

/// Maximum number of requests for one sitemap.
const MAX_ASKED: u32 = 3;
/// Longest `Retry-After` that is waited for. If the site asks for more, the sitemap is skipped.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// Back-off before the second request if the site sends no `Retry-After`; it doubles with each.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// Statuses of a site that is busy or restarting.
const BUSY: [StatusCode; 5] = [
    StatusCode::TOO_MANY_REQUESTS,
    StatusCode::INTERNAL_SERVER_ERROR,
    StatusCode::BAD_GATEWAY,
    StatusCode::SERVICE_UNAVAILABLE,
    StatusCode::GATEWAY_TIMEOUT,
];

/// Shared state of all downloads of a call.
pub(super) struct Context<'a> {
    pub(super) site: &'a Site,
    pub(super) approach: Approach<'a>,
    pub(super) terms: Terms<'a>,
    /// Decoded bytes of all sitemaps so far.
    pub(super) bytes: Arc<AtomicU64>,
    pub(super) budget: Budget,
}

/// Possible address of a sitemap.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Candidate {
    pub(super) url: Url,
    /// Whether the site declares it.
    pub(super) is_declared: bool,
    /// Number of indexes that led here.
    pub(super) nesting: u8,
}

impl Candidate {
    /// Whether it is declared or has the usual name, rather than one used by content management systems.
    pub(super) fn is_likely(&self) -> bool {
        self.is_declared || self.url.path().ends_with("/sitemap.xml")
    }
}

impl From<SitemapCandidate> for Candidate {
    fn from(candidate: SitemapCandidate) -> Self {
        Self { url: candidate.url, is_declared: candidate.is_declared, nesting: 0 }
    }
}

/// Number of requests that one call may still make.
pub(super) struct Budget(AtomicUsize);

/// Requests reserved for one answer: one, and one for each redirect. The unused ones are returned on drop.
pub(super) struct Share<'a> {
    budget: &'a Budget,
    count: usize,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self(AtomicUsize::new(MAX_REQUESTS))
    }

    /// Reserves requests, possibly fewer than the redirects may need. `None` if none are left.
    pub(super) fn take(&self) -> Option<Share<'_>> {
        let count = |left: usize| left.min(1 + MAX_REDIRECTS);
        let take = |left: usize| (left > 0).then(|| left - count(left));
        let before = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).ok()?;
        Some(Share { budget: self, count: count(before) })
    }

    /// Reserves all requests that an answer with redirects may need. `None` if fewer are left.
    pub(super) fn take_whole(&self) -> Option<Share<'_>> {
        let count = 1 + MAX_REDIRECTS;
        let take = |left: usize| left.checked_sub(count);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).ok()?;
        Some(Share { budget: self, count })
    }
}

impl Share<'_> {
    fn spend(mut self, requests: usize) {
        self.count = self.count.saturating_sub(requests);
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        self.budget.0.fetch_add(self.count, Ordering::Relaxed);
    }
}

/// Opens a sitemap. A declared one, and one at the usual address, is requested up to three times, with the back-off
/// that the site asks for, as long as there are requests left.
pub(super) async fn open(
    context: &Context<'_>,
    candidate: &Candidate,
    share: Share<'_>,
) -> Result<Download, net::Error> {
    let (mut share, mut wait) = (share, FIRST_WAIT);
    for _ in 1..MAX_ASKED {
        let answer = once(context, candidate, share).await;
        let Some(asked) = busy(&answer, context) else { return answer };
        let pause = asked.unwrap_or(wait);
        let is_over = Instant::now() + pause >= context.approach.deadline;
        if !candidate.is_likely() || pause > MAX_WAIT || is_over {
            return answer;
        }
        let Some(next) = context.budget.take() else { return answer };
        share = next;
        drop(answer);
        sleep(pause).await;
        wait *= 2;
    }
    once(context, candidate, share).await
}

async fn once(context: &Context<'_>, candidate: &Candidate, share: Share<'_>) -> Result<Download, net::Error> {
    let deadline = context.approach.deadline.min(Instant::now() + MAX_SITEMAP_TIME);
    let approach = Approach { deadline, ..context.approach };
    let answer = context.site.open(candidate.url.clone(), approach, share.count.saturating_sub(1)).await;
    share.spend(match &answer {
        Ok(answer) => 1 + answer.redirects.len(),
        Err(net::Error::TooManyRedirects { .. }) => 1 + MAX_REDIRECTS,
        // On a failed connection the client may have sent the request twice.
        Err(_) => 2,
    });
    answer
}

/// Whether a retry may succeed, and the delay that the site asks for.
#[expect(clippy::option_option, reason = "whether to wait, and how long if the site says so")]
fn busy(answer: &Result<Download, net::Error>, context: &Context<'_>) -> Option<Option<Duration>> {
    match answer {
        Ok(answer) if BUSY.contains(&answer.status) => {
            let asked = answer.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
            Some(asked.and_then(|text| retry_after(text, context.site.now())))
        }
        Err(net::Error::Connect { .. } | net::Error::Protocol { .. }) => Some(None),
        Ok(_) | Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_share_is_not_cut() {
        let budget = Budget::new();
        budget.take_whole().unwrap().spend(1);
        let whole: Vec<Share<'_>> = std::iter::from_fn(|| budget.take_whole()).collect();
        assert!(!whole.is_empty() && whole.iter().all(|share| share.count == 1 + MAX_REDIRECTS));
        assert_eq!(budget.take().map(|share| share.count), Some((MAX_REQUESTS - 1) % (1 + MAX_REDIRECTS)));
    }

    #[test]
    fn what_is_not_spent_goes_back() {
        let budget = Budget::new();
        let left = || budget.0.load(Ordering::Relaxed);
        let shares: Vec<Share<'_>> = std::iter::from_fn(|| budget.take()).collect();
        assert_eq!((shares.iter().map(|share| share.count).sum::<usize>(), left()), (MAX_REQUESTS, 0));
        let count = shares.len();
        shares.into_iter().for_each(|share| share.spend(1));
        assert_eq!(left(), MAX_REQUESTS - count);
        budget.take().unwrap().spend(2);
        budget.take().unwrap().spend(99);
        drop(budget.take());
        assert_eq!(left(), MAX_REQUESTS - count - 2 - (1 + MAX_REDIRECTS));
        while let Some(share) = budget.take() {
            share.spend(1);
        }
        assert_eq!(left(), 0);
    }
}
