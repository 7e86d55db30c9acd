//! Tests of faulty answers, and of pages whose requests are refused.

use std::time::Duration;

use browser::{BrowserError, Visit, Visited};
use testkit::{Reply, Script};
use tokio::time::Instant;

use crate::world::{World, dom, plain};

/// Visits the page with a deadline of 20 s, which it must not need.
async fn soon(world: &World, path: &str) -> Result<Visited, BrowserError> {
    let began = Instant::now();
    let result = world.path(path).await;
    assert!(began.elapsed() < Duration::from_secs(8), "{path} took {:?}", began.elapsed());
    result
}

#[tokio::test]
async fn a_page_that_breaks_off_is_no_page() {
    let world = World::start().await;
    let html = || Reply { body: "<p>short ".repeat(50).into(), ..Reply::default() }.header("content-type", "text/html");
    world.site.respond("/length", html().header("content-length", "10000000"));
    world.site.script(
        "/chunks",
        vec![Script::Raw("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\n<p>short \r\nffff\r\n<p>".into())],
    );
    for path in ["/length", "/chunks"] {
        let error = soon(&world, path).await.err().unwrap();
        assert!(
            matches!(&error, BrowserError::Site { reason } if reason.contains("MISMATCH") || reason.contains("CHUNKED")),
            "{error}"
        );
    }
    // Loading stopped by the page itself is no error, nor is a truncated subresource.
    world.site.html("/stops", "<p>stopped<script>window.stop()</script><p>more");
    assert!(dom(&soon(&world, "/stops").await.unwrap()).contains("stopped"));
    world.site.html("/page", "<p>whole<script src=/length></script><iframe src=/length></iframe>");
    assert!(dom(&soon(&world, "/page").await.unwrap()).contains("whole"));
}

#[tokio::test]
async fn a_download_from_where_nobody_may_go_changes_nothing() {
    let world = World::start().await;
    let to = world.canary.addr();
    for html in [
        format!(
            "<p>stays<script>a=document.createElement('a');a.href='http://{to}/x';a.download='x';a.click()</script>"
        ),
        format!(
            "<p>stays<script>onload=()=>{{a=document.createElement('a');a.href='http://{to}/x';a.download='x';a.click()}}</script>"
        ),
        format!(
            "<title>stays</title><script>a=document.createElement('a');a.href='http://{to}/x';a.download='x';a.click()</script>"
        ),
        "<p>stays<script>a=document.createElement('a');a.href='/f.zip';a.download='x';a.click()</script>".to_owned(),
        format!("<p>stays<script>location='http://{to}/x'</script>"),
    ] {
        let zip = Reply { body: "PK".into(), ..Reply::default() }.header("content-type", "application/zip");
        world.site.respond("/f.zip", zip);
        world.site.html("/page", &html);
        let visited = soon(&world, "/page").await.unwrap_or_else(|error| panic!("{error}: {html}"));
        assert!(dom(&visited).contains("stays"), "{html}");
        assert_eq!((visited.url, visited.status), (world.url("/page"), 200), "{html}");
    }
    assert_eq!(world.canary.connects(), 0);
}

#[tokio::test]
async fn who_asks_for_a_password_gets_none() {
    let world = World::start().await;
    let asks = |status, name: &str| {
        let body = "<p>who are you".into();
        Reply { status, body, ..Reply::default() }.header("content-type", "text/html").header(name, "Basic realm=x")
    };
    world.site.respond("/401", asks(401, "www-authenticate"));
    world.site.respond("/407", asks(407, "proxy-authenticate"));
    let visited = soon(&world, "/401").await.unwrap();
    assert_eq!(visited.status, 401);
    assert!(dom(&visited).contains("who are you"));
    // Chromium takes a 407 for an answer of its proxy.
    if let Ok(visited) = soon(&world, "/407").await {
        assert_eq!(visited.status, 407);
    }
    world.site.html(
        "/page",
        "<p id=a>whole<iframe src=/401></iframe><img src=/401><script>fetch('/401').then((answer) => a.append(' ' + answer.status))</script>",
    );
    let visited = soon(&world, "/page").await.unwrap();
    assert!(dom(&visited).contains("whole") && dom(&visited).contains(" 401"), "{}", dom(&visited));
}

#[tokio::test]
async fn where_windows_were_to_go_is_said() {
    let world = World::start().await;
    world.site.html(
        "/page",
        "<a id=link target=_blank href=/linked>x</a><script>open('/a'); open('/a'); open('about:blank'); open('/b?1'); link.click()</script>",
    );
    let visited = soon(&world, "/page").await.unwrap();
    let windows: Vec<_> = visited.rendered.windows.iter().map(|url| (url.path(), url.query())).collect();
    assert_eq!(windows, [("/a", None), ("/b", Some("1")), ("/linked", None)]);
    assert_eq!(world.asked(), ["/page"]);
}

/// All captured parts belong to one document, even if the page navigates at that moment.
#[tokio::test]
async fn a_page_is_taken_where_it_stands() {
    let world = World::start().await;
    world.site.html("/next", "<p>next");
    for after in [1400, 1500, 1600, 1700, 1800] {
        world.site.html("/page", format!("<p>first<script>setTimeout(() => location = '/next', {after})</script>"));
        let visited = soon(&world, "/page").await.unwrap();
        let (dom, path) = (dom(&visited), visited.url.path());
        assert!(
            dom.contains("<p>next") && path == "/next" || dom.contains("<p>first") && path == "/page",
            "{path} {dom}"
        );
    }
}

#[tokio::test]
async fn a_picture_that_never_comes_holds_no_screenshot_for_long() {
    let world = World::start().await;
    world.site.script("/hang", vec![Script::Hang(Duration::from_secs(60))]);
    world.site.html("/page", "<img src=/hang><p>text here");
    world.site.html("/warm", "<p>warm");
    world.path("/warm").await.unwrap();
    let (url, options) = (world.url("/page"), wire::ScreenshotOptions::default());
    let began = Instant::now();
    let visited = world.visit(&Visit { screenshot: Some(&options), ..plain(&url) }).await.unwrap();
    assert!(visited.rendered.screenshot.is_some() && dom(&visited).contains("text here"));
    assert!(began.elapsed() < Duration::from_millis(5500), "{:?}", began.elapsed());
}
