//! The interface of an engine, and the request that it serves.

use async_trait::async_trait;
use visit::Visit;

use crate::{FetchError, Fetched, Given, Validators};

/// Request for one page by one step of the [`Plan`](crate::Plan). Has no `Debug`: headers and the URL may hold
/// secrets.
#[derive(Clone)]
pub struct FetchRequest<'a> {
    /// The page, and what is done with it. An engine without scripts only loads it.
    pub visit: Visit<'a>,
    /// Headers and credentials of the caller. They override the engine's own where they may be sent. The scrape options
    /// are not part of the request, so this is the only way to them.
    pub given: Given<'a>,
    /// Whether markdown is preferred over HTML where the site offers both.
    pub markdown: bool,
    /// Validators of the cached version, for a conditional request by an engine that runs no scripts. The response may
    /// then be [`Fetched::not_modified`].
    pub validators: Option<&'a Validators>,
    /// Name under which the page stays open afterwards, for engines that can keep pages.
    pub hold: Option<&'a str>,
}

impl<'a> FetchRequest<'a> {
    /// Creates an unconditional request for the page as HTML, which is not kept open.
    #[must_use]
    pub fn new(visit: Visit<'a>, given: Given<'a>) -> Self {
        Self { visit, given, markdown: false, validators: None, hold: None }
    }
}

/// Capability that a request needs beyond fetching the bytes at a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// Presenting itself as a phone.
    Mobile,
    /// Presenting a country and languages.
    Location,
    /// Accepting any certificate.
    SkipTlsVerification,
    /// Waiting while scripts run. Soft: a page without it is better than none.
    WaitFor,
    /// Running actions on the page.
    Actions,
    /// Taking a screenshot.
    Screenshot,
    /// Sampling the computed styles. Soft: the declared styles tell most of it.
    Styles,
    /// Starting with the cookies and storage of a profile, and returning them.
    Profile,
    /// Running the scripts of the page. Never requested: the page itself shows whether it needs this.
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

    /// Name for logs and metrics.
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

    /// Returns the warning for the caller when the page was fetched without this feature.
    pub(crate) fn lack(self) -> Option<&'static str> {
        match self {
            Self::WaitFor => Some("waitFor had no effect: the page was fetched without running its scripts"),
            _ => None,
        }
    }
}

/// A way to fetch a page.
#[async_trait]
pub trait Engine: Send + Sync {
    /// Returns a short name for logs and metrics.
    fn name(&self) -> &'static str;

    /// Whether this engine supports the feature.
    fn offers(&self, feature: Feature) -> bool;

    /// Returns the place in the order of attempts; lower comes first. Cheap engines have low ranks.
    fn rank(&self) -> u32;

    /// Fetches the page. A response with an error status is a page all the same. Dropping the future cancels the
    /// attempt and closes everything that it has opened.
    ///
    /// # Errors
    /// When no usable response arrived before the deadline.
    async fn fetch(&self, request: &FetchRequest<'_>) -> Result<Fetched, FetchError>;
}
