//! The plain HTTP engine: no scripts, no rendering, fast.

use async_trait::async_trait;
use http::Method;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use url::Url;

use crate::{Engine, Feature, FetchError, FetchRequest, Fetched, headers, may_reach};

/// Gets pages with plain HTTP requests.
pub struct HttpEngine {
    client: net::Client,
}

/// The status of a site that has nothing of what `Accept` lists.
const NOT_ACCEPTABLE: u16 = 406;
/// Browsers give up at 20 as well.
const MAX_REDIRECTS: usize = 20;

impl HttpEngine {
    /// An engine over this client.
    #[must_use]
    pub fn new(client: net::Client) -> Self {
        Self { client }
    }
}

#[async_trait]
impl Engine for HttpEngine {
    fn name(&self) -> &'static str {
        "http"
    }

    fn offers(&self, feature: Feature) -> bool {
        matches!(feature, Feature::Mobile | Feature::Location | Feature::SkipTlsVerification)
    }

    fn rank(&self) -> u32 {
        10
    }

    async fn fetch(&self, request: &FetchRequest<'_>) -> Result<Fetched, FetchError> {
        let answer = self.send(request).await?;
        // Some sites refuse a list that they do not know, though it has room for anything.
        if request.markdown && answer.status == NOT_ACCEPTABLE {
            let plain = FetchRequest { markdown: false, ..request.clone() };
            return self.send(&plain).await;
        }
        Ok(answer)
    }
}

impl HttpEngine {
    async fn send(&self, request: &FetchRequest<'_>) -> Result<Fetched, FetchError> {
        let (headers, mut warnings) = headers::build(request);
        let outgoing = net::Request {
            method: Method::GET,
            url: request.url.clone(),
            headers,
            proxy: request.proxy.clone(),
            verify_tls: !request.skip_tls_verification,
            deadline: request.deadline,
            redirects: MAX_REDIRECTS,
            keeps_credentials: may_reach,
            owner: request.owner.clone(),
        };
        let answer = self.client.send(outgoing).await?;
        let header =
            |name| answer.headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let (content_type, retry_after) = (header(CONTENT_TYPE), header(RETRY_AFTER));
        let mut url = answer.url;
        let chain: Vec<&Url> = answer.redirects.iter().chain([&url]).collect();
        if chain.windows(2).any(|hop| !may_reach(hop[0], hop[1])) && request.given.to(request.url).is_personal() {
            warnings.push(headers::LEFT_BEHIND.to_owned());
        }
        // A redirect may carry credentials of its own; they are nobody's business in an answer.
        base::address::cut_credentials(&mut url);
        let mut fetched = Fetched::new(url, answer.status.as_u16(), content_type, answer.body);
        fetched.room = answer.room;
        fetched.retry_after = retry_after;
        fetched.warnings.append(&mut warnings);
        Ok(fetched)
    }
}
