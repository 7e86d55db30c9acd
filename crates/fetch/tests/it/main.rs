//! The HTTP engine against a real server on loopback.

use std::collections::BTreeMap;
use std::time::Duration;

use base::Secret;
use fetch::{BasicAuth, BodyKind, Engine, FetchError, FetchRequest, Fetched, Given, HttpEngine, Visit};
use testkit::{Reply, Script, Site};
use tokio::time::Instant;
use url::Url;

/// Returns an engine that may reach these sites on loopback.
#[cfg(test)]
fn engine(sites: &[&Site]) -> HttpEngine {
    let allow = sites.iter().map(|site| site.addr().to_string().parse().unwrap()).collect();
    let config = net::Config { egress: net::Egress { allow, ..net::Egress::default() }, ..net::Config::default() };
    HttpEngine::new(net::Client::new(config).unwrap())
}

/// Request of a caller: a page, and the credentials given for its site.
#[cfg(test)]
struct Asked {
    url: Url,
    site: Url,
    headers: BTreeMap<String, String>,
    basic_auth: Option<BasicAuth>,
}

#[cfg(test)]
fn ask(site: &Site, path: &str) -> Asked {
    Asked { url: site.url(path), site: site.url("/"), headers: BTreeMap::new(), basic_auth: None }
}

#[cfg(test)]
impl Asked {
    fn with(mut self, headers: &[(&str, &str)], user: &str, password: &str) -> Self {
        self.headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        self.basic_auth = Some((user.to_owned(), Secret::new(password)));
        self
    }

    fn request(&self) -> FetchRequest<'_> {
        let given = Given::new(&self.site, &self.headers, self.basic_auth.as_ref());
        FetchRequest::new(Visit::new(&self.url, Instant::now() + Duration::from_secs(10)), given)
    }

    fn with_visit<'a>(&'a self, change: impl FnOnce(Visit<'a>) -> Visit<'a>) -> FetchRequest<'a> {
        let request = self.request();
        FetchRequest { visit: change(request.visit.clone()), ..request }
    }
}

#[cfg(test)]
async fn get(site: &Site, path: &str) -> Result<Fetched, FetchError> {
    engine(&[site]).fetch(&ask(site, path).request()).await
}

#[cfg(test)]
fn html(body: impl Into<testkit::Body>) -> Reply {
    Reply { body: body.into(), ..Reply::default() }.header("content-type", "text/html")
}

#[tokio::test]
async fn redirects_lead_to_the_final_url() {
    let site = Site::start().await;
    let to = |path: &str| Reply { status: 302, ..Reply::default() }.header("location", path);
    site.respond("/a", to("/b"));
    site.respond("/b", to(&format!("http://user:pass@{}/c", site.addr())));
    site.html("/c", "<p>here");
    let page = get(&site, "/a").await.unwrap();
    assert_eq!((page.url.as_str(), page.status, &*page.text()), (site.url("/c").as_str(), 200, "<p>here"));
    site.respond("/loop", to("/loop"));
    assert!(matches!(get(&site, "/loop").await, Err(FetchError::TooManyRedirects)));
}

#[tokio::test]
async fn the_refresh_header_leads_on() {
    let (site, other) = (Site::start().await, Site::start().await);
    let leads = |status, to: &str| Reply { status, ..html("<p>Moved") }.header("refresh", to);
    site.respond("/a", leads(200, "0; url=/b"));
    site.respond("/b", leads(200, &format!("1;url='{}'", other.url("/c"))));
    other.html("/c", "<p>here");
    let asked = ask(&site, "/a").with(&[("x-mine", "secret")], "user", "pass");
    let page = engine(&[&site, &other]).fetch(&asked.request()).await.unwrap();
    assert_eq!((page.url.as_str(), &*page.text()), (other.url("/c").as_str(), "<p>here"));
    let seen = other.requests();
    assert!(
        seen.iter()
            .all(|request| !request.headers.contains_key("x-mine") && !request.headers.contains_key("authorization"))
    );
    site.respond("/missing", leads(404, "0; url=/b"));
    assert_eq!(get(&site, "/missing").await.unwrap().status, 404);
    site.respond("/round", leads(200, "0; url=/trip"));
    site.respond("/trip", leads(200, "0; url=/round"));
    assert_eq!(get(&site, "/round").await.unwrap().status, 200);
}

#[tokio::test]
async fn a_page_that_has_not_changed_is_not_sent_again() {
    let site = Site::start().await;
    let replies = [html("<p>here").header("etag", "\"a\""), Reply { status: 304, ..Reply::default() }];
    site.script("/", replies.map(Script::Reply).into());
    let page = get(&site, "/").await.unwrap();
    assert_eq!((page.validators.etag.as_deref(), page.not_modified), (Some("\"a\""), false));
    let asked = ask(&site, "/");
    let request = FetchRequest { validators: Some(&page.validators), ..asked.request() };
    let same = engine(&[&site]).fetch(&request).await.unwrap();
    assert_eq!((same.status, same.not_modified), (304, true));
    let unasked = get(&site, "/").await.unwrap();
    assert_eq!((unasked.status, unasked.not_modified), (304, false));
    // The validators belong to the first page, not to the one that its `Refresh` header leads to.
    site.respond("/leads", html("<p>Moved").header("refresh", "0; url=/"));
    let asked = ask(&site, "/leads");
    let request = FetchRequest { validators: Some(&page.validators), ..asked.request() };
    let led = engine(&[&site]).fetch(&request).await.unwrap();
    assert_eq!((led.status, led.not_modified), (304, false));
    let asked: Vec<bool> = site.requests().iter().map(|seen| seen.header("if-none-match") == "\"a\"").collect();
    assert_eq!(asked, [false, true, false, true, false]);
}

#[tokio::test]
async fn what_was_left_behind_does_not_come_back() {
    let (site, other) = (Site::start().await, Site::start().await);
    let refresh = |to: &Url| html("<p>Moved").header("refresh", &format!("0; url={to}"));
    let redirect = |to: &Url| Reply { status: 302, ..Reply::default() }.header("location", to.as_str());
    site.respond("/refresh", refresh(&other.url("/refresh")));
    site.respond("/redirect", redirect(&other.url("/refresh")));
    site.respond("/both", refresh(&other.url("/redirect")));
    site.respond("/round", redirect(&other.url("/round")));
    other.respond("/refresh", refresh(&site.url("/on")));
    other.respond("/redirect", redirect(&site.url("/on")));
    other.respond("/round", redirect(&site.url("/on")));
    site.respond("/on", refresh(&site.url("/goal")));
    site.html("/goal", "<p>here");
    let engine = engine(&[&site, &other]);
    let own = [("Authorization", "Bearer x"), ("Cookie", "a=b"), ("User-Agent", "mine")];
    for path in ["/refresh", "/redirect", "/both", "/round"] {
        let before = site.requests().len();
        let asked = ask(&site, path).with(&own, "user", "pass");
        let page = engine.fetch(&asked.request()).await.unwrap();
        assert_eq!((page.url.as_str(), page.warnings.len()), (site.url("/goal").as_str(), 1), "{path}: {page:?}");
        let seen = site.requests().split_off(before);
        let names = ["authorization", "cookie", "user-agent"];
        let sent: Vec<_> = seen.iter().map(|request| names.map(|name| request.header(name))).collect();
        assert_eq!(sent, [["Bearer x", "a=b", "mine"], ["", "", "mine"], ["", "", "mine"]], "{path}");
    }
    // A chain that never leaves the origin keeps the credentials.
    let asked = ask(&site, "/on").with(&own, "user", "pass");
    let page = engine.fetch(&asked.request()).await.unwrap();
    assert!(page.warnings.is_empty(), "{:?}", page.warnings);
    assert_eq!(site.requests().pop().unwrap().header("authorization"), "Bearer x");
}

#[tokio::test]
async fn an_error_page_is_a_page() {
    let site = Site::start().await;
    for status in [404, 500, 403, 429] {
        site.respond("/x", Reply { status, ..html("<h1>sorry") });
        let page = get(&site, "/x").await.unwrap();
        assert_eq!(
            (page.status, page.kind, page.is_loaded(), &*page.text()),
            (status, BodyKind::Html, false, "<h1>sorry")
        );
    }
}

#[tokio::test]
async fn charsets() {
    let site = Site::start().await;
    let utf16: Vec<u8> = [0xFF, 0xFE].into_iter().chain("<p>žluť".encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let table: [(&str, &[u8], &str); 6] = [
        ("text/html; charset=windows-1251", b"<p>\xcf\xf0\xe8\xe2\xe5\xf2", "<p>Привет"),
        ("text/html", b"<meta charset=shift_jis><p>\x93\xfa\x96\x7b", "日本"),
        ("text/html; charset=iso-8859-1", &utf16, "<p>žluť"),
        (
            "text/html",
            b"<meta http-equiv=content-type content='text/html; charset=koi8-r'>\xf0\xd2\xc9\xd7\xc5\xd4",
            "Привет",
        ),
        ("text/html", "<p>plain ütf-8 без заголовка".as_bytes(), "<p>plain ütf-8 без заголовка"),
        ("text/html", b"<p>\xcf\xf0\xe8\xe2\xe5\xf2, \xea\xe0\xea \xe4\xe5\xeb\xe0", "<p>Привет, как дела"),
    ];
    for (content_type, body, expect) in table {
        let reply = Reply { body: body.to_vec().into(), ..Reply::default() }.header("content-type", content_type);
        site.respond("/", reply);
        let text = get(&site, "/").await.unwrap().text().into_owned();
        assert!(text.ends_with(expect), "{content_type}: {text}");
    }
}

#[tokio::test]
async fn the_site_sees_a_browser_and_the_callers_headers() {
    let site = Site::start().await;
    site.html("/", "x");
    let location = wire::Location { country: "DE".to_owned(), languages: Vec::new() };
    let asked = ask(&site, "/").with(&[("X-Token", "1")], "user", "p:w");
    let request = asked.with_visit(|visit| Visit { mobile: true, location: Some(&location), ..visit });
    let page = engine(&[&site]).fetch(&request).await.unwrap();
    assert!(page.warnings.is_empty(), "{:?}", page.warnings);
    let seen = site.requests().remove(0);
    assert_eq!(seen.flaw, None);
    assert_eq!((seen.header("x-token"), seen.header("authorization")), ("1", "Basic dXNlcjpwOnc="));
    assert_eq!(seen.header("accept-language"), "de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7");
    assert!(seen.header("user-agent").contains("Mobile Safari") && seen.header("accept").starts_with("text/html"));
}

#[tokio::test]
async fn credentials_stay_with_their_origin() {
    let (first, second) = (Site::start().await, Site::start().await);
    first.respond("/", Reply { status: 301, ..Reply::default() }.header("location", second.url("/x").as_str()));
    second.html("/x", "x");
    let own = [("X-Token", "1"), ("Cookie", "a=b"), ("User-Agent", "mine")];
    let asked = ask(&first, "/").with(&own, "user", "pass");
    let page = engine(&[&first, &second]).fetch(&asked.request()).await.unwrap();
    assert_eq!(page.warnings.len(), 1, "{:?}", page.warnings);
    let seen = second.requests().remove(0);
    assert_eq!(["x-token", "cookie", "authorization"].map(|name| seen.header(name)), ["", "", ""]);
    assert_eq!(seen.header("user-agent"), "mine");
}

#[tokio::test]
async fn failures_have_their_kind() {
    let site = Site::start().await;
    let guarded = engine(&[]).fetch(&ask(&site, "/").request()).await;
    assert!(matches!(guarded, Err(FetchError::Blocked { .. })));
    assert_eq!(site.connections(), 0);
    site.script("/raw", vec![Script::Raw("not http at all\r\n\r\n".into())]);
    assert!(matches!(get(&site, "/raw").await, Err(FetchError::Site { .. })));
    site.script("/hang", vec![Script::Hang(Duration::from_secs(60))]);
    let asked = ask(&site, "/hang");
    let short = asked.with_visit(|visit| Visit { deadline: Instant::now() + Duration::from_millis(200), ..visit });
    assert!(matches!(engine(&[&site]).fetch(&short).await, Err(FetchError::Timeout)));
}

#[tokio::test]
async fn tls_verification_is_the_callers_choice() {
    let site = Site::start_tls().await;
    site.html("/", "secret");
    let (engine, asked) = (engine(&[&site]), ask(&site, "/"));
    assert_eq!(engine.fetch(&asked.request()).await.unwrap().status, 200);
    let strict = asked.with_visit(|visit| Visit { skip_tls_verification: false, ..visit });
    let error = engine.fetch(&strict).await.unwrap_err();
    assert!(matches!(error, FetchError::Certificate { .. }), "{error}");
    assert!(error.to_string().contains("`skipTlsVerification: true`"), "{error}");
}

#[tokio::test]
async fn a_proxy_stands_in_for_the_site() {
    let (site, proxy) = (Site::start().await, Site::start().await);
    proxy.respond(site.url("/").as_str(), html("by proxy"));
    let proxy = net::Proxy { url: proxy.url("/"), resolves: true };
    let asked = ask(&site, "/");
    let request = asked.with_visit(|visit| Visit { proxy: Some(proxy), ..visit });
    let page = engine(&[&site]).fetch(&request).await.unwrap();
    assert_eq!((&*page.text(), site.connections()), ("by proxy", 0));
}
