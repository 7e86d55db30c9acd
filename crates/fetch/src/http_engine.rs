//! The plain HTTP engine: no scripts, no rendering, fast.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use http::Method;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use tokio::time::Instant;
use url::Url;
use wire::{ProxyMode, ProxyUsed};

use crate::{Engine, Feature, FetchError, FetchRequest, Fetched, headers, may_reach};

/// Proxies by the strength that requests ask for. An empty list means a direct connection for `basic`, and that
/// `enhanced` is not to be had.
#[derive(Clone, Default)]
pub struct Proxies {
    /// Used in turn for `basic`.
    pub basic: Vec<net::Proxy>,
    /// Used in turn for `enhanced` and `stealth`, and by `auto` after a refusal.
    pub enhanced: Vec<net::Proxy>,
}

/// Gets pages with plain HTTP requests.
pub struct HttpEngine {
    client: net::Client,
    proxies: Proxies,
    turn: AtomicUsize,
}

/// Browsers give up at 20 as well.
const REDIRECTS: usize = 20;

impl HttpEngine {
    /// An engine over this client.
    #[must_use]
    pub fn new(client: net::Client, proxies: Proxies) -> Self {
        Self { client, proxies, turn: AtomicUsize::new(0) }
    }

    /// One request over one kind of proxy.
    async fn attempt(&self, request: &FetchRequest, by: ProxyUsed, deadline: Instant) -> Result<Fetched, FetchError> {
        let (headers, mut warnings) = headers::build(request);
        let outgoing = net::Request {
            method: Method::GET,
            url: request.url.clone(),
            headers,
            proxy: self.proxy(by),
            verify_tls: !request.skip_tls_verification,
            deadline,
            redirects: REDIRECTS,
            keeps_credentials: may_reach,
        };
        let answer = self.client.send(outgoing).await?;
        let header =
            |name| answer.headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let (content_type, retry_after) = (header(CONTENT_TYPE), header(RETRY_AFTER));
        let mut url = answer.url;
        let chain: Vec<&Url> = answer.redirects.iter().chain([&url]).collect();
        if chain.windows(2).any(|step| !may_reach(step[0], step[1])) && request.given.to(&request.url).is_personal() {
            warnings.push(headers::LEFT_BEHIND.to_owned());
        }
        // A redirect may carry credentials of its own; they are nobody's business in an answer.
        base::address::cut_credentials(&mut url);
        let mut fetched = Fetched::new(url, answer.status.as_u16(), content_type, answer.body);
        fetched.proxy = by;
        fetched.room = answer.room;
        fetched.retry_after = retry_after;
        fetched.warnings.append(&mut warnings);
        Ok(fetched)
    }

    /// The next proxy of the kind; none means a direct connection.
    fn proxy(&self, by: ProxyUsed) -> Option<net::Proxy> {
        let list = match by {
            ProxyUsed::Basic => &self.proxies.basic,
            ProxyUsed::Stealth => &self.proxies.enhanced,
        };
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        list.get(turn.checked_rem(list.len())?).cloned()
    }

    /// Basic first. After a refusal or a failure once more with an enhanced proxy; when that brings no page either, what
    /// basic brought stands.
    async fn escalate(&self, request: &FetchRequest) -> Result<Fetched, FetchError> {
        // Half of the time is kept for the second step, or a site that lets basic hang would leave it none.
        let now = Instant::now();
        let half = now + request.deadline.saturating_duration_since(now) / 2;
        let first = self.attempt(request, ProxyUsed::Basic, half).await;
        if !asks_for_more(&first) {
            return first;
        }
        match self.attempt(request, ProxyUsed::Stealth, request.deadline).await {
            Err(_) if first.is_ok() => first,
            second => second,
        }
    }
}

/// Whether an answer looks like a refusal of the caller rather than of the page.
fn asks_for_more(answer: &Result<Fetched, FetchError>) -> bool {
    match answer {
        Ok(fetched) => matches!(fetched.status, 401 | 403 | 429),
        Err(error) => error.is_worth_another_way(),
    }
}

#[async_trait]
impl Engine for HttpEngine {
    fn name(&self) -> &'static str {
        "http"
    }

    fn offers(&self, feature: Feature) -> bool {
        match feature {
            Feature::Mobile | Feature::Location | Feature::SkipTlsVerification => true,
            Feature::WaitFor => false,
        }
    }

    fn rank(&self) -> u32 {
        10
    }

    async fn fetch(&self, request: &FetchRequest) -> Result<Fetched, FetchError> {
        let enhanced = !self.proxies.enhanced.is_empty();
        let mut fetched = match request.proxy {
            ProxyMode::Auto if enhanced => self.escalate(request).await?,
            ProxyMode::Enhanced | ProxyMode::Stealth if enhanced => {
                self.attempt(request, ProxyUsed::Stealth, request.deadline).await?
            }
            _ => self.attempt(request, ProxyUsed::Basic, request.deadline).await?,
        };
        if matches!(request.proxy, ProxyMode::Enhanced | ProxyMode::Stealth) && !enhanced {
            fetched.warnings.push("no enhanced proxy is configured on this server, so a basic one was used".to_owned());
        }
        if !request.wait_for.is_zero() {
            fetched.warnings.push("waitFor had no effect: the page was fetched without running its scripts".to_owned());
        }
        Ok(fetched)
    }
}
