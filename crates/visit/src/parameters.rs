//! Parameters of a visit, and the only translation of scrape options to them.

use std::time::Duration;

use base::Owner;
use tokio::time::Instant;
use url::Url;
use wire::{Format, FormatKind, ScrapeOptions};

use crate::State;

/// Parameters of a visit: navigate, wait until the page has settled, act, capture. Has no `Debug` because it may hold
/// secrets. The headers of the caller are not among them: each request of a page gets its own.
///
/// An engine without a browser serves the parameters of the request (`url`, `mobile`, `location`, `proxy`,
/// `skip_tls_verification`, `owner`, `deadline`) and ignores the others.
#[derive(Clone)]
pub struct Visit<'a> {
    /// URL of the page, `http` or `https`, without user name and password.
    pub url: &'a Url,
    /// Whether to present itself as a phone: user agent, window, touch, scale.
    pub mobile: bool,
    /// Apparent location of the visitor: languages, time zone, geolocation.
    pub location: Option<&'a wire::Location>,
    /// Forward proxy; `None` means direct connections.
    pub proxy: Option<net::Proxy>,
    /// Whether invalid certificates are accepted.
    pub skip_tls_verification: bool,
    /// Whether advertisements and consent notices are blocked.
    pub block_ads: bool,
    /// Extra wait after the page has settled.
    pub wait_for: Duration,
    /// Actions before the capture, in order.
    pub actions: &'a [wire::Action],
    /// Options of the screenshot after all actions; `None` means no screenshot.
    pub screenshot: Option<&'a wire::ScreenshotOptions>,
    /// Whether computed styles are sampled ([`Rendered::styles`](crate::Rendered::styles)).
    pub styles: bool,
    /// Cookies and storage to restore before the visit.
    pub state: Option<&'a State>,
    /// Whether cookies and storage are saved at the end ([`Rendered::state`](crate::Rendered::state)).
    pub keeps_state: bool,
    /// Owner of the visit, for fair queueing.
    pub owner: Owner,
    /// Deadline of the visit, including the time in the queue.
    pub deadline: Instant,
}

impl<'a> Visit<'a> {
    /// Returns a visit with defaults: desktop, no proxy, any certificate, ads blocked, no owner.
    #[must_use]
    pub fn new(url: &'a Url, deadline: Instant) -> Self {
        Self {
            url,
            mobile: false,
            location: None,
            proxy: None,
            skip_tls_verification: true,
            block_ads: true,
            wait_for: Duration::ZERO,
            actions: &[],
            screenshot: None,
            styles: false,
            state: None,
            keeps_state: false,
            owner: Owner::default(),
            deadline,
        }
    }

    /// Returns the visit that these scrape options ask for. `has_password` says that the caller gave credentials in the
    /// URL. Proxy, state and owner do not follow from the options alone and keep their defaults.
    #[must_use]
    pub fn for_scrape(url: &'a Url, options: &'a ScrapeOptions, has_password: bool, deadline: Instant) -> Self {
        let screenshot = options.formats.iter().find_map(|format| match format {
            Format::Screenshot(how) => Some(how),
            _ => None,
        });
        Self {
            mobile: options.mobile,
            location: options.location.as_ref(),
            skip_tls_verification: options.skips_tls_verification(has_password),
            block_ads: options.block_ads,
            wait_for: Duration::from_millis(options.wait_for.into()),
            actions: &options.actions,
            screenshot,
            styles: options.wants(FormatKind::Branding),
            ..Self::new(url, deadline)
        }
    }

    /// Returns a visit of the same URL by the same visitor that only loads it: without state, waiting, actions and
    /// captures. For resources of a page.
    #[must_use]
    pub fn only_loading(self) -> Self {
        let Self { url, mobile, location, proxy, skip_tls_verification, owner, deadline, .. } = self;
        Self { mobile, location, proxy, skip_tls_verification, owner, ..Self::new(url, deadline) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn url() -> Url {
        "https://example.com/".parse().unwrap()
    }

    /// Checks which visit the options make, given as JSON, with or without a password in the URL.
    fn check(options: &Value, has_password: bool, is_right: impl Fn(&Visit<'_>) -> bool) {
        let (url, decoded) = (url(), wire::decode_options(options.clone()).unwrap());
        assert!(is_right(&Visit::for_scrape(&url, &decoded, has_password, Instant::now())), "{options}");
    }

    #[test]
    fn every_option_that_a_browser_acts_on_is_translated() {
        check(&json!({}), false, |visit| {
            let is_plain = visit.actions.is_empty() && visit.screenshot.is_none() && !visit.styles;
            is_plain && !visit.mobile && visit.block_ads && visit.skip_tls_verification && visit.location.is_none()
        });
        check(&json!({ "mobile": true, "blockAds": false }), false, |visit| visit.mobile && !visit.block_ads);
        check(&json!({ "waitFor": 30 }), false, |visit| visit.wait_for == Duration::from_millis(30));
        check(&json!({ "location": { "country": "DE" } }), false, |visit| {
            visit.location.is_some_and(|location| location.country == "DE")
        });
        check(&json!({}), true, |visit| !visit.skip_tls_verification);
        check(&json!({ "skipTlsVerification": true }), true, |visit| visit.skip_tls_verification);
        check(&json!({ "actions": [{ "type": "scrape" }] }), false, |visit| {
            visit.actions == [wire::Action::Scrape] && !visit.skip_tls_verification
        });
        check(&json!({ "formats": [{ "type": "screenshot", "fullPage": true }, "branding"] }), false, |visit| {
            visit.screenshot.is_some_and(|how| how.full_page) && visit.styles
        });
    }

    #[test]
    fn a_resource_is_only_loaded_by_the_same_visitor() {
        let options = json!({ "mobile": true, "location": { "country": "DE" }, "skipTlsVerification": false,
            "waitFor": 9, "actions": [{ "type": "scrape" }], "formats": ["screenshot", "branding"] });
        let (url, options, state) = (url(), wire::decode_options(options).unwrap(), State::default());
        let proxy = Some(net::Proxy::new("http://proxy.test/".parse().unwrap()));
        let visit = Visit::for_scrape(&url, &options, false, Instant::now());
        let visit = Visit { proxy, state: Some(&state), keeps_state: true, owner: Owner::of_team("a"), ..visit };
        let loading = visit.only_loading();
        assert!(loading.mobile && loading.location.is_some() && loading.proxy.is_some() && &*loading.owner.team == "a");
        assert!(!loading.skip_tls_verification && loading.wait_for.is_zero() && loading.actions.is_empty());
        assert!(loading.screenshot.is_none() && !loading.styles && loading.state.is_none() && !loading.keeps_state);
    }
}
