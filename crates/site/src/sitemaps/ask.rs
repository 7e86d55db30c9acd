//! The request for one sitemap, sent again where the site has failed for a moment.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::StatusCode;
use http::header::RETRY_AFTER;
use net::Download;
use politeness::retry_after;
use tokio::time::{Instant, sleep};

use super::read::{Candidate, Context};
use super::{MAX_REDIRECTS, MAX_REQUESTS, MAX_SITEMAP_TIME};
use crate::Approach;

/// How often a sitemap is asked for.
const MAX_ASKED: u32 = 3;
/// How long a site may want us to wait. For one that wants more, the sitemap is left out.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// The wait before the second request where the site names none; it doubles with each.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// Answers that a site gives while it is busy or being restarted.
const BUSY: [StatusCode; 5] = [
    StatusCode::TOO_MANY_REQUESTS,
    StatusCode::INTERNAL_SERVER_ERROR,
    StatusCode::BAD_GATEWAY,
    StatusCode::SERVICE_UNAVAILABLE,
    StatusCode::GATEWAY_TIMEOUT,
];

/// The requests that one call may still make.
pub(super) struct Budget(AtomicUsize);

/// Requests that are set aside for one answer: one, and one for each redirect. What is not spent goes back.
pub(super) struct Share<'a> {
    budget: &'a Budget,
    count: usize,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self(AtomicUsize::new(MAX_REQUESTS))
    }

    /// Sets requests aside. `None` when there are none.
    pub(super) fn take(&self) -> Option<Share<'_>> {
        let count = |left: usize| left.min(1 + MAX_REDIRECTS);
        let take = |left: usize| (left > 0).then(|| left - count(left));
        let before = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).ok()?;
        Some(Share { budget: self, count: count(before) })
    }

    /// Sets requests aside for an answer after as many redirects as are followed. `None` when there are not so many.
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

/// Opens a sitemap. One that the site names or that stands in the usual place is asked for up to three times, with the
/// waits that the site wants, as long as there are requests left.
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
        // The client may have sent it twice.
        Err(_) => 2,
    });
    answer
}

/// Whether the site may answer otherwise in a moment, and the wait that it asks for.
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
