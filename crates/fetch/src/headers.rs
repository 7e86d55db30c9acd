//! Request headers: the defaults of a browser, overridden by the caller's.

use base::Secret;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{ACCEPT, ACCEPT_LANGUAGE, AUTHORIZATION, UPGRADE_INSECURE_REQUESTS, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::given::HARMLESS;
use crate::{FetchRequest, language};

// Many sites answer an unknown user agent with an empty page or a refusal. These are the frozen, reduced strings that
// every Chrome of the platform sends.
const DESKTOP: &str =
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36";
const MOBILE: &str =
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Mobile Safari/537.36";

/// `Accept` for pages: HTML first, then anything, as the URL may be a file.
const PAGE: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8";

/// `Accept` with markdown first. HTML has a lower weight, as some servers pick the first known type among equals.
const MARKDOWN: &str =
    "text/markdown,text/html;q=0.9,application/xhtml+xml;q=0.9,application/xml;q=0.8,image/avif,image/webp,*/*;q=0.7";

/// Warning that headers or credentials were withheld.
pub(crate) const LEFT_BEHIND: &str =
    "headers or credentials were not sent to the page, as it has another origin than the URL that they were given for";

/// Builds the headers for the URL of the request, and the warnings for the caller.
///
/// Every header of the caller, except [`HARMLESS`], is marked sensitive.
pub(crate) fn build(request: &FetchRequest<'_>) -> (HeaderMap, Vec<String>) {
    let (agent, phone) = if request.visit.mobile { (MOBILE, "?1") } else { (DESKTOP, "?0") };
    let mut headers = HeaderMap::new();
    headers.insert(USER_AGENT, HeaderValue::from_static(agent));
    headers.insert(ACCEPT, HeaderValue::from_static(if request.markdown { MARKDOWN } else { PAGE }));
    if let Ok(languages) = HeaderValue::try_from(languages(request)) {
        headers.insert(ACCEPT_LANGUAGE, languages);
    }
    headers.insert(UPGRADE_INSECURE_REQUESTS, HeaderValue::from_static("1"));
    for (name, value) in [
        ("sec-ch-ua-mobile", phone),
        ("sec-fetch-dest", "document"),
        ("sec-fetch-mode", "navigate"),
        ("sec-fetch-site", "none"),
        ("sec-fetch-user", "?1"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let given = request.given.to(request.visit.url);
    if let Some(value) = given.basic_auth.and_then(|(user, password)| authorization(user, password)) {
        headers.insert(AUTHORIZATION, value);
    }
    let mut warnings: Vec<String> =
        given.headers.iter().filter_map(|(name, value)| set(&mut headers, name, value)).collect();
    warnings.extend(given.is_cut.then(|| LEFT_BEHIND.to_owned()));
    (headers, warnings)
}

fn languages(request: &FetchRequest<'_>) -> String {
    match request.visit.location {
        Some(location) => language::accept(Some(&location.country), &location.languages),
        None => language::accept(None, &[]),
    }
}

fn authorization(user: &str, password: &Secret) -> Option<HeaderValue> {
    let mut value = HeaderValue::try_from(basic(user, password)).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Returns the value of `Authorization` (RFC 7617).
pub(crate) fn basic(user: &str, password: &Secret) -> String {
    format!("Basic {}", STANDARD.encode(format!("{user}:{}", password.expose())))
}

/// Sets one header; returns a warning if it is invalid. The API rejects such headers earlier; a library user may not.
fn set(headers: &mut HeaderMap, name: &str, value: &str) -> Option<String> {
    let (Ok(name), Ok(mut value)) = (HeaderName::try_from(name), HeaderValue::from_bytes(value.trim().as_bytes()))
    else {
        return Some(format!("header {name:?} was not sent: its name or value is invalid"));
    };
    value.set_sensitive(!HARMLESS.contains(&name));
    headers.insert(name, value);
    None
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use base::address::BasicAuth;
    use tokio::time::Instant;
    use url::Url;
    use visit::Visit;

    use super::*;
    use crate::Given;

    /// Caller with these headers and credentials for `http://example.com/`.
    struct Caller(Url, BTreeMap<String, String>, Option<BasicAuth>);

    fn caller(headers: &[(&str, &str)]) -> Caller {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Caller(Url::parse("http://example.com/").unwrap(), headers.collect(), None)
    }

    fn request(caller: &Caller) -> FetchRequest<'_> {
        let Caller(url, headers, basic_auth) = caller;
        let deadline = Instant::now() + Duration::from_secs(1);
        FetchRequest::new(Visit::new(url, deadline), Given::new(url, headers, basic_auth.as_ref()))
    }

    #[test]
    fn a_phone_says_so() {
        let plain = caller(&[]);
        let desktop = build(&request(&plain)).0;
        assert_eq!(build(&request(&plain)).0[ACCEPT], PAGE);
        assert_eq!(build(&FetchRequest { markdown: true, ..request(&plain) }).0[ACCEPT], MARKDOWN);
        let phone = Visit { mobile: true, ..request(&plain).visit };
        let mobile = build(&FetchRequest { visit: phone, ..request(&plain) }).0;
        assert!(!desktop[USER_AGENT].to_str().unwrap().contains("Mobile"));
        assert!(mobile[USER_AGENT].to_str().unwrap().contains("Android") && mobile["sec-ch-ua-mobile"] == "?1");
        assert_eq!(desktop[ACCEPT_LANGUAGE], "en-US,en;q=0.9");
    }

    #[test]
    fn location_speaks() {
        let location = wire::Location { country: "FR".to_owned(), languages: Vec::new() };
        let plain = caller(&[]);
        let visit = Visit { location: Some(&location), ..request(&plain).visit };
        let (headers, _) = build(&FetchRequest { visit, ..request(&plain) });
        assert_eq!(headers[ACCEPT_LANGUAGE], "fr-FR,fr;q=0.9,en-US;q=0.8,en;q=0.7");
    }

    #[test]
    fn the_caller_wins() {
        let own = [("user-agent", "mine"), ("ACCEPT-LANGUAGE", "xx"), ("Cookie", "a=b"), ("X-Ü", "1"), ("x", "a\nb")];
        let user = Some(("user".to_owned(), Secret::new("pass:word")));
        let (headers, warnings) = build(&request(&Caller(caller(&[]).0, caller(&own).1, user.clone())));
        assert_eq!(
            (&headers[USER_AGENT], &headers[ACCEPT_LANGUAGE]),
            (&HeaderValue::from_static("mine"), &HeaderValue::from_static("xx"))
        );
        assert_eq!(headers[AUTHORIZATION], "Basic dXNlcjpwYXNzOndvcmQ=");
        assert!(headers["cookie"].is_sensitive() && headers[AUTHORIZATION].is_sensitive());
        assert!(!headers[USER_AGENT].is_sensitive());
        assert_eq!(warnings.len(), 2);
        let bearer = Caller(caller(&[]).0, caller(&[("authorization", "Bearer x")]).1, user);
        assert_eq!(build(&request(&bearer)).0[AUTHORIZATION], "Bearer x");
        let (own, other) = (caller(&own), Url::parse("http://other.test/").unwrap());
        let visit = Visit { url: &other, ..request(&own).visit };
        let (headers, warnings) = build(&FetchRequest { visit, ..request(&own) });
        assert!(headers[USER_AGENT] == "mine" && !headers.contains_key("cookie"));
        assert_eq!(warnings, [LEFT_BEHIND]);
    }
}
