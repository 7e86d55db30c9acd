//! The plain HTTP engine: no scripts, no rendering, fast.

use std::collections::BTreeMap;

use async_trait::async_trait;
use http::header::{REFRESH, RETRY_AFTER};
use http::{Method, StatusCode};
use url::Url;
use visit::Visit;

use crate::given::HARMLESS;
use crate::{
    Engine, Feature, FetchError, FetchRequest, Fetched, Given, Validators, disposition, headers, may_reach, refresh,
};

/// Engine that sends plain HTTP requests.
pub struct HttpEngine {
    client: net::Client,
}

/// Status of a site that offers none of the types in `Accept`.
const NOT_ACCEPTABLE: u16 = 406;
/// Limit of redirects; browsers use 20 as well.
const MAX_REDIRECTS: usize = 20;
/// Limit of consecutive `Refresh` headers that are followed.
const MAX_REFRESHES: usize = 5;

impl HttpEngine {
    /// Creates an engine over this client.
    #[must_use]
    pub fn new(client: net::Client) -> Self {
        Self { client }
    }

    /// Loads the page with its redirects, and finds the target of its `Refresh` header.
    async fn load(&self, request: &FetchRequest<'_>) -> Result<LoadedPage, FetchError> {
        let visit = &request.visit;
        let (headers, mut warnings) = headers::build(request);
        let conditions = request.validators.map(Validators::conditions).unwrap_or_default();
        let is_conditional = !conditions.is_empty();
        let outgoing = net::Request {
            method: Method::GET,
            url: visit.url.clone(),
            headers,
            conditions,
            proxy: visit.proxy.clone(),
            verify_tls: !visit.skip_tls_verification,
            deadline: visit.deadline,
            redirects: MAX_REDIRECTS,
            keeps_credentials: may_reach,
            owner: visit.owner.clone(),
        };
        let answer = self.client.send(outgoing).await?;
        let header =
            |name| answer.headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let (retry_after, refresh) = (header(RETRY_AFTER), header(REFRESH));
        let content_type = disposition::content_type(&answer.headers);
        let validators = Validators::of(&answer.headers);
        let not_modified = is_conditional && answer.status == StatusCode::NOT_MODIFIED && answer.redirects.is_empty();
        let mut url = answer.url;
        let chain: Vec<&Url> = answer.redirects.iter().chain([&url]).collect();
        let has_left = chain.windows(2).any(|hop| !may_reach(hop[0], hop[1]));
        if has_left && request.given.to(visit.url).is_personal() {
            warnings.push(headers::LEFT_BEHIND.to_owned());
        }
        // A redirect may carry credentials of its own, which must not appear in the response.
        base::address::cut_credentials(&mut url);
        let refresh = refresh.filter(|_| answer.status.is_success());
        let next = refresh.and_then(|header| refresh::target(&header, &url, answer.body.len()));
        let mut fetched = Fetched::new(url, answer.status.as_u16(), content_type, answer.body);
        fetched.room = answer.room;
        fetched.retry_after = retry_after;
        (fetched.validators, fetched.not_modified) = (validators, not_modified);
        fetched.warnings.append(&mut warnings);
        Ok(LoadedPage { fetched, next, has_left })
    }

    /// Loads the page, and once more without asking for markdown if the site answers 406. Some sites do so although the
    /// list contains `*/*`.
    async fn load_accepted(&self, request: &FetchRequest<'_>) -> Result<LoadedPage, FetchError> {
        let loaded = self.load(request).await?;
        if !request.markdown || loaded.fetched.status != NOT_ACCEPTABLE {
            return Ok(loaded);
        }
        // The cached version may be the markdown, so its validators do not apply to this request.
        self.load(&FetchRequest { markdown: false, validators: None, ..request.clone() }).await
    }
}

struct LoadedPage {
    fetched: Fetched,
    next: Option<Url>,
    /// Whether a redirect led to an origin that must not get the caller's data.
    has_left: bool,
}

/// Returns the caller's headers that may go to every origin.
fn harmless(request: &FetchRequest<'_>) -> BTreeMap<String, String> {
    let own = request.given.to(request.visit.url).headers.into_iter();
    let own = own.filter(|(name, _)| HARMLESS.iter().any(|harmless| harmless.as_str().eq_ignore_ascii_case(name)));
    own.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
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
        let mut loaded = self.load_accepted(request).await?;
        let harmless = harmless(request);
        let mut given = request.given;
        for _ in 0..MAX_REFRESHES {
            let Some(url) = loaded.next.take() else { break };
            let mut warnings = std::mem::take(&mut loaded.fetched.warnings);
            // As with redirects, withheld headers stay withheld: another site may have chosen the address.
            if loaded.has_left || !may_reach(&loaded.fetched.url, &url) {
                given = Given::new(request.visit.url, &harmless, None);
                let is_cut = request.given.to(request.visit.url).is_personal();
                warnings.extend(is_cut.then(|| headers::LEFT_BEHIND.to_owned()));
            }
            let visit = Visit { url: &url, ..request.visit.clone() };
            let next = FetchRequest { visit, given, validators: None, ..request.clone() };
            loaded = self.load_accepted(&next).await?;
            for warning in warnings {
                if !loaded.fetched.warnings.contains(&warning) {
                    loaded.fetched.warnings.push(warning);
                }
            }
        }
        Ok(loaded.fetched)
    }
}
