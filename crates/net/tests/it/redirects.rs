//! Every hop of a redirect chain is checked, and credentials do not leave their origin.

use http::header::IF_NONE_MATCH;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use net::{Error, Request};
use testkit::{Reply, Script};

use crate::world::{World, get, redirect};

#[tokio::test]
async fn redirects_to_refused_places_reach_nobody() {
    let world = World::start().await;
    let port = world.canary.addr().port();
    for status in [301, 302, 303, 307, 308] {
        world.site.respond("/r", redirect(status, &format!("http://127.0.0.1:{port}/secret")));
        let result = world.path("/r").await;
        assert!(matches!(result, Err(Error::Blocked { .. })), "{status} {result:?}");
    }
    for target in [
        "http://[::ffff:7f00:1]:PORT/",
        "http://2130706433:PORT/",
        "//127.0.0.1:PORT/",
        "file:///etc/passwd",
        "javascript:1",
    ] {
        world.site.respond("/r", redirect(302, &target.replace("PORT", &port.to_string())));
        let result = world.path("/r").await;
        assert!(matches!(result, Err(Error::Blocked { .. })), "{target} {result:?}");
    }
    assert_eq!(world.canary.connects(), 0);
}

#[tokio::test]
async fn a_chain_is_followed_and_reported() {
    let world = World::start().await;
    world.site.respond("/a", redirect(301, "b?x=1"));
    world.site.respond("/b", redirect(307, world.other_url("/c").as_str()));
    world.other.html("/c", "<p>end</p>");
    let response = world.path("/a#part").await.unwrap();
    assert_eq!(response.body, "<p>end</p>");
    assert_eq!(response.url, world.other_url("/c#part"));
    assert_eq!(response.redirects, [world.url("/a#part"), world.url("/b?x=1#part")]);
    assert_eq!(response.peer, Some(world.other.addr()));
}

#[tokio::test]
async fn the_number_of_redirects_is_limited() {
    let world = World::start().await;
    world.site.respond("/loop", redirect(302, "/loop"));
    assert_eq!(world.path("/loop").await.unwrap_err(), Error::TooManyRedirects { limit: 20 });
    assert_eq!(world.site.requests().len(), 21);
    let request = Request { redirects: 0, ..get(world.url("/loop")) };
    assert_eq!(world.client.send(request).await.unwrap_err(), Error::TooManyRedirects { limit: 0 });
}

#[tokio::test]
async fn methods_change_as_the_status_says() {
    let world = World::start().await;
    world.site.html("/end", "x");
    for (status, sent, arrives) in
        [(302, "POST", "GET"), (303, "POST", "GET"), (307, "POST", "POST"), (301, "HEAD", "HEAD")]
    {
        world.site.respond("/r", redirect(status, "/end"));
        let method = Method::from_bytes(sent.as_bytes()).unwrap();
        let response = world.client.send(Request { method, ..get(world.url("/r")) }).await.unwrap();
        assert_eq!(response.status, StatusCode::OK);
        assert_eq!(world.site.requests().last().unwrap().method, arrives, "{status}");
    }
    world.site.respond("/bad", redirect(302, "http://[::1"));
    assert!(matches!(world.path("/bad").await, Err(Error::BadRedirect { .. })));
    world.site.respond("/none", Reply { status: 302, ..Reply::default() });
    assert_eq!(world.path("/none").await.unwrap().status, StatusCode::FOUND);
}

fn credentials() -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in
        [("authorization", "Bearer SECRET"), ("cookie", "s=SECRET"), ("x-api-key", "SECRET"), ("accept-language", "de")]
    {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers
}

#[tokio::test]
async fn credentials_do_not_reach_another_origin() {
    let world = World::start().await;
    world.site.respond("/stay", redirect(302, "/leave"));
    world.site.respond("/leave", redirect(302, world.other_url("/land").as_str()));
    world.other.respond("/land", redirect(302, world.url("/back").as_str()));
    world.site.html("/back", "x");
    world.client.send(Request { headers: credentials(), ..get(world.url("/stay")) }).await.unwrap();
    let seen = world.site.requests();
    for request in &seen[..2] {
        assert_eq!(request.header("authorization"), "Bearer SECRET");
        assert_eq!(request.header("cookie"), "s=SECRET");
    }
    let away = &world.other.requests()[0];
    assert!(!String::from_utf8_lossy(&away.head).contains("SECRET"), "{away:?}");
    assert_eq!(away.header("accept-language"), "de");
    assert!(!String::from_utf8_lossy(&seen[2].head).contains("SECRET"));
}

#[tokio::test]
async fn user_names_in_urls_are_never_sent() {
    let world = World::start().await;
    let mut url = world.url("/r");
    url.set_username("user").unwrap();
    url.set_password(Some("SECRET")).unwrap();
    let mut target = world.url("/end");
    target.set_password(Some("SECRET")).unwrap();
    world.site.respond("/r", redirect(302, target.as_str()));
    world.site.html("/end", "x");
    let response = world.get(&url).await.unwrap();
    assert!(!format!("{response:?}").contains("SECRET"));
    assert!(world.site.requests().iter().all(|seen| !String::from_utf8_lossy(&seen.head).contains("SECRET")));
}

#[tokio::test]
async fn cookies_last_for_one_chain() {
    let world = World::start().await;
    let with_cookie =
        redirect(302, "/in").header("set-cookie", "session=1; Path=/").header("set-cookie", "x=2; Domain=test");
    world.site.script("/login", vec![Script::Reply(with_cookie)]);
    world.site.respond("/in", redirect(302, world.other_url("/out").as_str()));
    world.other.html("/out", "x");
    let mut request = get(world.url("/login"));
    request.headers.insert("cookie", HeaderValue::from_static("own=0; session=0"));
    world.client.send(request).await.unwrap();
    let seen = world.site.requests();
    assert_eq!(seen[0].header("cookie"), "own=0; session=0");
    assert_eq!(seen[1].header("cookie"), "own=0; session=1");
    assert_eq!(world.other.requests()[0].header("cookie"), "");
    world.path("/in").await.unwrap();
    assert_eq!(world.site.requests()[2].header("cookie"), "");
}

#[tokio::test]
async fn conditions_go_to_the_first_url_alone() {
    let world = World::start().await;
    world.site.respond("/moved", redirect(302, "/end"));
    world.site.html("/end", "x");
    let conditions: HeaderMap = [(IF_NONE_MATCH, HeaderValue::from_static("\"a\""))].into_iter().collect();
    world.client.send(Request { conditions, ..get(world.url("/moved")) }).await.unwrap();
    let seen = world.site.requests();
    assert_eq!((seen[0].header("if-none-match"), seen[1].header("if-none-match")), ("\"a\"", ""));
}
