//! What a way to get a page must be able to do.

use std::time::Duration;

use async_trait::async_trait;
use base::Owner;
use tokio::time::Instant;
use url::Url;

use crate::{FetchError, Fetched, Given, State, Validators};

/// One page that is wanted, over one step of the [`Plan`](crate::Plan). Has no `Debug`: headers and the URL may hold
/// secrets.
#[derive(Clone)]
pub struct FetchRequest<'a> {
    /// The page, `http` or `https`, without user name and password.
    pub url: &'a Url,
    /// Headers and credentials of the caller, which win over the engine's own where they may be sent. The options of the
    /// scrape are not here as a whole, so that this is the only way to them.
    pub given: Given<'a>,
    /// Whether to look like a phone.
    pub mobile: bool,
    /// Where the visitor seems to be.
    pub location: Option<&'a wire::Location>,
    /// The proxy to go through; none means a direct connection.
    pub proxy: Option<net::Proxy>,
    /// Whether any certificate will do.
    pub skip_tls_verification: bool,
    /// When the answer must be complete, everything included.
    pub deadline: Instant,
    /// Whether an answer in markdown does as well as the page; a site that has both then gives the markdown.
    pub markdown: bool,
    /// What names the version that is at hand, for a conditional request by an engine that runs no scripts.
    /// The answer may be [`Fetched::not_modified`] then.
    pub validators: Option<&'a Validators>,
    /// How long scripts may work before the page is taken, once it has settled.
    pub wait_for: Duration,
    /// Whether advertisements and consent notices are kept out, by engines that load them.
    pub block_ads: bool,
    /// What to do on the page before it is taken, in order.
    pub actions: &'a [wire::Action],
    /// The picture that is wanted of the page.
    pub screenshot: Option<&'a wire::ScreenshotOptions>,
    /// Whether a sample of the computed styles is wanted.
    pub styles: bool,
    /// Cookies and storage to begin with.
    pub state: Option<&'a State>,
    /// Whether they are wanted back at the end.
    pub keeps_state: bool,
    /// Where this is given, the page stays open under this name for a while, if the engine has pages that do.
    pub hold: Option<&'a str>,
    /// Whose turn it is, where places are few.
    pub owner: Owner,
}

impl<'a> FetchRequest<'a> {
    /// This page and nothing else: a desktop, no proxy, any certificate, no waiting, nobody's place.
    #[must_use]
    pub fn new(url: &'a Url, given: Given<'a>, deadline: Instant) -> Self {
        Self {
            url,
            given,
            mobile: false,
            location: None,
            proxy: None,
            skip_tls_verification: true,
            deadline,
            markdown: false,
            validators: None,
            wait_for: Duration::ZERO,
            block_ads: true,
            actions: &[],
            screenshot: None,
            styles: false,
            state: None,
            keeps_state: false,
            hold: None,
            owner: Owner::default(),
        }
    }
}

/// Something a request needs beyond the bytes at a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// Looking like a phone.
    Mobile,
    /// Looking like a visitor from a place.
    Location,
    /// Taking any certificate.
    SkipTlsVerification,
    /// Letting scripts work for a while. Soft: a page without it is better than none.
    WaitFor,
    /// Doing something on the page.
    Actions,
    /// Taking a picture of the page.
    Screenshot,
    /// Telling which styles are in force. Soft: what the page declares says much as well.
    Styles,
    /// Beginning with cookies and storage of before, and giving them back.
    Profile,
    /// Running the scripts of the page. No request asks for it: the page shows whether it needs it.
    Scripts,
}

impl Feature {
    /// Whether an engine without this feature cannot serve the request at all.
    #[must_use]
    pub fn is_hard(self) -> bool {
        match self {
            Self::Mobile | Self::Location | Self::SkipTlsVerification => true,
            Self::Actions | Self::Screenshot | Self::Profile => true,
            Self::WaitFor | Self::Styles | Self::Scripts => false,
        }
    }

    /// The word for it, for logs and metrics.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mobile => "mobile",
            Self::Location => "location",
            Self::SkipTlsVerification => "skipTlsVerification",
            Self::WaitFor => "waitFor",
            Self::Actions => "actions",
            Self::Screenshot => "screenshot",
            Self::Styles => "branding",
            Self::Profile => "profile",
            Self::Scripts => "scripts",
        }
    }

    /// What the caller is told when the page was fetched without it.
    pub(crate) fn lack(self) -> Option<&'static str> {
        match self {
            Self::WaitFor => Some("waitFor had no effect: the page was fetched without running its scripts"),
            _ => None,
        }
    }
}

/// A way to get a page.
#[async_trait]
pub trait Engine: Send + Sync {
    /// A short name for logs and metrics.
    fn name(&self) -> &'static str;

    /// Whether this engine can do it.
    fn offers(&self, feature: Feature) -> bool;

    /// Place in the order of trial; lower comes first. Cheap engines have low ranks.
    fn rank(&self) -> u32;

    /// Gets the page. A page that answers with an error status is a page all the same. Dropping the future ends the
    /// attempt, with everything that it has opened.
    ///
    /// # Errors
    /// When nothing that could be called a page arrived before the deadline.
    async fn fetch(&self, request: &FetchRequest<'_>) -> Result<Fetched, FetchError>;
}
