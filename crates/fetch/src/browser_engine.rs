//! Browser engine: pages after their scripts have run, screenshots, actions. A hundred times the work of plain HTTP.

use std::sync::Arc;

use async_trait::async_trait;
use browser::{Browser, OwnHeaders, Visited};
use http::header::{ACCEPT, AUTHORIZATION};
use url::Url;

use crate::{BodyKind, Engine, Feature, FetchError, FetchRequest, Fetched, Given, headers, may_reach};

/// Engine that loads pages in a real browser. The browser starts on the first request.
pub struct BrowserEngine {
    browser: Arc<Browser>,
}

impl BrowserEngine {
    /// Creates an engine over this browser. Its bodies count towards the memory budget of the browser's client.
    #[must_use]
    pub fn new(browser: Arc<Browser>) -> Self {
        Self { browser }
    }
}

#[async_trait]
impl Engine for BrowserEngine {
    fn name(&self) -> &'static str {
        "browser"
    }

    fn offers(&self, _: Feature) -> bool {
        true
    }

    fn rank(&self) -> u32 {
        50
    }

    async fn fetch(&self, request: &FetchRequest<'_>) -> Result<Fetched, FetchError> {
        let FetchRequest { ref visit, given, hold, .. } = *request;
        let visited = match hold {
            Some(name) => self.browser.visit_and_keep(visit, own_headers(given, visit.url), name).await?,
            None => self.browser.visit(visit, &|url| sent(given, visit.url, url)).await?,
        };
        let mut fetched = fetched(visited);
        if !may_reach(visit.url, &fetched.url) && given.to(visit.url).is_personal() {
            fetched.warnings.push(headers::LEFT_BEHIND.to_owned());
        }
        Ok(fetched)
    }
}

/// Returns the caller's headers that may be sent to `url`, a request of the page `page`. `Accept` describes the page,
/// so its subresources do not get it.
fn sent(given: Given<'_>, page: &Url, url: &Url) -> Vec<(String, String)> {
    let sent = given.to(url);
    let is_for = |name: &str| url == page || !name.eq_ignore_ascii_case(ACCEPT.as_str());
    let own = sent.headers.iter().filter(|(name, _)| is_for(name));
    let mut headers: Vec<_> = own.map(|(name, value)| ((*name).to_owned(), value.trim().to_owned())).collect();
    if let Some((user, password)) = sent.basic_auth
        && !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(AUTHORIZATION.as_str()))
    {
        headers.push((AUTHORIZATION.to_string(), headers::basic(user, password)));
    }
    headers
}

/// Returns a function that gives the caller's headers for each URL that the page `page` requests while it stays open.
#[must_use]
pub fn own_headers(given: Given<'_>, page: &Url) -> OwnHeaders {
    let (for_url, headers, basic_auth) = given.into_owned();
    let page = page.clone();
    Arc::new(move |url| sent(Given::new(&for_url, &headers, basic_auth.as_ref()), &page, url))
}

fn fetched(visited: Visited) -> Fetched {
    let Visited { mut url, status, content_type, retry_after, body, mut rendered, warnings, room } = visited;
    // A redirect may carry credentials of its own, which must not appear in the response.
    base::address::cut_credentials(&mut url);
    rendered.windows.iter_mut().for_each(base::address::cut_credentials);
    let mut fetched = Fetched::new(url, status, content_type, body);
    // For JSON, text and feeds the browser's DOM is its own viewer page; the body is used instead.
    rendered.dom = rendered.dom.filter(|_| fetched.kind == BodyKind::Html);
    fetched.retry_after = retry_after;
    fetched.warnings = warnings;
    fetched.room = room;
    fetched.rendered = Some(Box::new(rendered));
    fetched
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use base::Secret;
    use visit::Rendered;

    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn visited(content_type: &str, body: &'static str) -> Visited {
        Visited {
            url: url("http://me:pw@a.test/x#/route"),
            status: 404,
            content_type: Some(content_type.to_owned()),
            retry_after: None,
            body: body.into(),
            rendered: Rendered {
                dom: Some("<p>seen".into()),
                timezone: Some("Europe/Berlin".to_owned()),
                windows: vec![url("http://me:pw@b.test/")],
                waited: Duration::from_millis(3),
                ..Rendered::default()
            },
            warnings: vec!["late".to_owned()],
            room: net::Room::default(),
        }
    }

    #[test]
    fn the_dom_stands_for_a_page_of_html_alone() {
        let page = fetched(visited("text/html; charset=koi8-r", "<div id=app>"));
        assert_eq!((page.text().as_ref(), &*page.body, page.status), ("<p>seen", &b"<div id=app>"[..], 404));
        assert_eq!((page.url.as_str(), page.warnings.as_slice()), ("http://a.test/x#/route", &["late".to_owned()][..]));
        let rendered = page.rendered.unwrap();
        assert_eq!(rendered.windows, [url("http://b.test/")]);
        assert_eq!((rendered.timezone.as_deref(), rendered.waited.as_millis()), (Some("Europe/Berlin"), 3));
        for (content_type, body) in [("application/json", "{}"), ("text/plain", "x"), ("application/pdf", "%PDF-1.4")] {
            let page = fetched(visited(content_type, body));
            assert_eq!((page.text().as_ref(), page.dom()), (body, None), "{content_type}");
        }
    }

    #[test]
    fn each_url_gets_what_may_be_sent_there() {
        let names = ["accept", "cookie", "user-agent", "x-token"];
        let headers: BTreeMap<_, _> = names.map(|name| (name.to_owned(), " 1 ".to_owned())).into();
        let (page, user) = (url("https://a.test/"), ("me".to_owned(), Secret::new("pw")));
        let given = Given::new(&page, &headers, Some(&user));
        let names = |target: &str| {
            let sent = sent(given, &page, &url(target));
            assert!(sent.iter().all(|(_, value)| value == "1" || value == "Basic bWU6cHc="), "{target}");
            assert_eq!(own_headers(given, &page)(&url(target)), sent);
            sent.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(names("https://a.test/"), ["accept", "cookie", "user-agent", "x-token", "authorization"]);
        assert_eq!(names("https://a.test/app.js"), ["cookie", "user-agent", "x-token", "authorization"]);
        assert_eq!(names("https://cdn.test/app.js"), ["user-agent"]);
        assert_eq!(names("http://a.test/"), ["user-agent"]);
    }
}
