//! The request for one sitemap, sent again where the site has failed for a moment.

use std::time::Duration;

use http::StatusCode;
use http::header::RETRY_AFTER;
use net::Download;
use politeness::retry_after;
use tokio::time::{Instant, sleep};

use super::read::{Candidate, Context, Read};
use super::{MAX_REDIRECTS, MAX_SITEMAP_TIME};
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

/// Opens a sitemap. One that the site names or that stands in the usual place is asked for up to three times, with the
/// waits that the site wants; each request counts.
pub(super) async fn open(
    context: &Context<'_>,
    candidate: &Candidate,
    done: &mut Read,
) -> Result<Download, net::Error> {
    let mut wait = FIRST_WAIT;
    for _ in 1..MAX_ASKED {
        let answer = once(context, candidate).await;
        let Some(asked) = busy(&answer, context) else { return answer };
        let pause = asked.unwrap_or(wait);
        let is_over = Instant::now() + pause >= context.approach.deadline;
        if !candidate.is_likely() || pause > MAX_WAIT || is_over {
            return answer;
        }
        done.more_requests += 1 + answer.map_or(0, |answer| answer.redirects.len());
        sleep(pause).await;
        wait *= 2;
    }
    once(context, candidate).await
}

async fn once(context: &Context<'_>, candidate: &Candidate) -> Result<Download, net::Error> {
    let deadline = context.approach.deadline.min(Instant::now() + MAX_SITEMAP_TIME);
    let approach = Approach { deadline, ..context.approach };
    context.site.open(candidate.url.clone(), approach, MAX_REDIRECTS).await
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
