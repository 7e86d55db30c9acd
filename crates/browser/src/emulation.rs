//! Emulated machine of a page. All of it is set for each page, because Chromium's own values reveal a headless browser.

use cdp::{CdpError, Session};
use serde_json::{Value, json};
use visit::Visit;

use crate::place::Place;
use crate::process::user_agent;
use crate::visited::HeadersFor;

const DESKTOP: (u32, u32) = (1920, 1080);
const PHONE: (u32, u32) = (390, 844);
/// Country of a visitor if the caller names none.
const HOME: &str = "US";

/// Machine that a page sees.
#[derive(Debug, Clone)]
pub(crate) struct Emulation {
    agent: Value,
    window: Value,
    mobile: bool,
    place: Place,
    /// Whether pages may read the geolocation: only if the visit names a country.
    tells_place: bool,
    locale: String,
    any_certificate: bool,
}

impl Emulation {
    /// Returns what a visit asks for; a user agent among the caller's `headers` wins. `version` is Chromium's own, such
    /// as `156.0.8078.79`.
    pub(crate) fn of(visit: &Visit<'_>, headers: &HeadersFor<'_>, version: &str) -> Self {
        let place = Place::of(visit.location.map_or(HOME, |location| location.country.as_str()));
        let languages = languages(visit, place);
        let named = visit.screenshot.and_then(|options| options.viewport).map(|size| (size.width, size.height));
        let (width, height) = named.unwrap_or(if visit.mobile { PHONE } else { DESKTOP });
        let scale = if visit.mobile { 3 } else { 1 };
        Self {
            agent: agent(visit, headers, version, &languages.join(",")),
            window: json!({"width": width, "height": height, "deviceScaleFactor": scale, "mobile": visit.mobile,
                "screenWidth": width, "screenHeight": height}),
            mobile: visit.mobile,
            place,
            tells_place: visit.location.is_some(),
            locale: languages.first().map_or_else(|| "en-US".to_owned(), Clone::clone),
            any_certificate: visit.skip_tls_verification,
        }
    }

    /// Returns the IANA name of the time zone.
    pub(crate) fn timezone(&self) -> &'static str {
        self.place.timezone
    }

    /// Returns the call that sets up the workers of the page, which have sessions of their own.
    pub(crate) fn for_workers(&self) -> (&'static str, Value) {
        ("Emulation.setUserAgentOverride", self.agent.clone())
    }

    /// Applies the emulation to a page before its first navigation.
    ///
    /// # Errors
    /// Errors of the protocol calls.
    pub(crate) async fn apply(&self, browser: &Session, context: &str, page: &Session) -> Result<(), CdpError> {
        let mut calls = vec![
            self.for_workers(),
            ("Emulation.setDeviceMetricsOverride", self.window.clone()),
            ("Emulation.setFocusEmulationEnabled", json!({"enabled": true})),
            ("Emulation.setLocaleOverride", json!({"locale": self.locale.replace('-', "_")})),
            ("Emulation.setTimezoneOverride", json!({"timezoneId": self.place.timezone})),
        ];
        if self.mobile {
            calls.push(("Emulation.setTouchEmulationEnabled", json!({"enabled": true, "maxTouchPoints": 5})));
        }
        if self.any_certificate {
            // Applies to this page only, until its session ends.
            calls.push(("Security.setIgnoreCertificateErrors", json!({"ignore": true})));
        }
        if self.tells_place {
            let Place { latitude, longitude, .. } = self.place;
            let spot = json!({"latitude": latitude, "longitude": longitude, "accuracy": 50});
            calls.push(("Emulation.setGeolocationOverride", spot));
            let grant = json!({"permissions": ["geolocation"], "browserContextId": context});
            browser.call("Browser.grantPermissions", grant).await?;
        }
        let calls = calls.into_iter().map(|(method, params)| page.call(method, params));
        futures_util::future::try_join_all(calls).await.map(drop)
    }
}

/// Returns the languages by priority, each regional one followed by its base, as browsers send them.
fn languages(visit: &Visit<'_>, place: Place) -> Vec<String> {
    let asked = visit.location.map(|location| location.languages.as_slice()).unwrap_or_default();
    let mut tags: Vec<String> = asked.iter().filter(|tag| *tag != "*").cloned().collect();
    if tags.is_empty() {
        tags = place.languages().map(str::to_owned).collect();
    }
    let mut all: Vec<String> = Vec::new();
    for tag in tags {
        let base = tag.split('-').next().unwrap_or_default().to_owned();
        for tag in [tag, base] {
            if !all.iter().any(|known| known.eq_ignore_ascii_case(&tag)) {
                all.push(tag);
            }
        }
    }
    all.truncate(20);
    all
}

/// Returns user agent, languages and client hints (W3C User-Agent Client Hints), which must be consistent.
fn agent(visit: &Visit<'_>, headers: &HeadersFor<'_>, version: &str, languages: &str) -> Value {
    let given = headers(visit.url).into_iter().find(|(name, _)| name.eq_ignore_ascii_case("user-agent"));
    if let Some((_, text)) = given {
        return json!({"userAgent": text, "acceptLanguage": languages});
    }
    let major = version.split('.').next().unwrap_or(version);
    let text = user_agent(version, visit.mobile);
    let platform = if visit.mobile { "Linux armv81" } else { "Linux x86_64" };
    let brands = |version: &str, other: &str| {
        json!([{"brand": "Not)A;Brand", "version": other}, {"brand": "Chromium", "version": version},
            {"brand": "Google Chrome", "version": version}])
    };
    let hints = json!({
        "brands": brands(major, "8"), "fullVersionList": brands(version, "8.0.0.0"), "fullVersion": version,
        "platform": if visit.mobile { "Android" } else { "Linux" },
        "platformVersion": if visit.mobile { "10.0.0" } else { "6.12.0" },
        "architecture": if visit.mobile { "" } else { "x86" }, "bitness": if visit.mobile { "" } else { "64" },
        "model": if visit.mobile { "K" } else { "" }, "mobile": visit.mobile, "wow64": false,
    });
    json!({"userAgent": text, "acceptLanguage": languages, "platform": platform, "userAgentMetadata": hints})
}
