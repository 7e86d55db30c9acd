//! Tests of ordinary pages.

use std::time::Duration;

use browser::BrowserError;
use testkit::{Body, Reply, Script};
use tokio::time::Instant;

use crate::world::{World, dom, plain};

#[tokio::test]
async fn scripts_run_and_the_servers_bytes_are_kept_beside() {
    let world = World::start().await;
    let html = "<!doctype html><title>t</title><p id=a>before<script>a.textContent = 'made by ' + 'script'</script>";
    world.site.html("/page", html);
    let visited = world.path("/page").await.unwrap();
    assert!(dom(&visited).contains("made by script"), "{}", dom(&visited));
    assert_eq!((visited.body.as_ref(), visited.status), (html.as_bytes(), 200));
    assert_eq!((visited.url, visited.content_type.as_deref()), (world.url("/page"), Some("text/html; charset=utf-8")));
}

#[tokio::test]
async fn redirects_of_every_make_end_at_the_last_document() {
    let world = World::start().await;
    world.site.respond("/a", Reply { status: 302, ..Reply::default() }.header("location", "/b"));
    world.site.html("/b", "<p>b<script>location.replace('/c?x=1')</script>");
    let gone = Reply { status: 404, body: "<p>c<script>document.title = 'drawn'</script>".into(), ..Reply::default() };
    world.site.respond("/c", gone.header("content-type", "text/html").header("retry-after", "7"));
    let visited = world.path("/a").await.unwrap();
    assert_eq!((&visited.url, visited.status), (&world.url("/c?x=1"), 404));
    assert_eq!(visited.retry_after.as_deref(), Some("7"));
    assert!(dom(&visited).contains("drawn"));
    let visited = world.page("<p>x<script>history.pushState(0, '', '/elsewhere#there')</script>").await.unwrap();
    assert_eq!((visited.url, visited.status), (world.url("/elsewhere#there"), 200));
}

/// With another charset and in chunks: the body is unchanged, or its content type declares UTF-8.
#[tokio::test]
async fn bytes_and_charset_belong_together() {
    let world = World::start().await;
    let latin = |body: Vec<u8>| {
        Reply { body: body.into(), ..Reply::default() }.header("content-type", "text/html; charset=iso-8859-1")
    };
    let long = [b"<p>gr\xfc\xdfe".as_slice(), &b" word".repeat(100_000)].concat();
    world.site.respond("/short", latin(b"<p>gr\xfc\xdfe".to_vec()));
    world.site.respond("/long", latin(long));
    for path in ["/short", "/long"] {
        let visited = world.path(path).await.unwrap();
        let is_utf8 = visited.content_type.as_deref().is_some_and(|kind| kind.ends_with("utf-8"));
        let expect: &[u8] = if is_utf8 { "<p>grüße".as_bytes() } else { b"<p>gr\xfc\xdfe" };
        assert!(visited.body.starts_with(expect), "{path} {:?}", visited.content_type);
        assert!(dom(&visited).contains("grüße"), "{path}");
    }
}

#[tokio::test]
async fn a_url_that_is_a_file_brings_its_bytes() {
    let world = World::start().await;
    let pdf = b"%PDF-1.4 not really\0\xff".to_vec();
    world.site.respond(
        "/f.pdf",
        Reply { body: pdf.clone().into(), ..Reply::default() }.header("content-type", "application/pdf"),
    );
    let csv = Reply { body: "a,b\n1,2\n".into(), ..Reply::default() };
    world
        .site
        .respond("/f.csv", csv.clone().header("content-type", "text/html").header("content-disposition", "attachment"));
    world.site.respond("/r", Reply { status: 301, ..Reply::default() }.header("location", "/f.csv"));
    let visited = world.path("/f.pdf").await.unwrap();
    assert_eq!((visited.body.as_ref(), visited.rendered.dom.is_none()), (pdf.as_slice(), true));
    assert_eq!(visited.content_type.as_deref(), Some("application/pdf"));
    let visited = world.path("/r").await.unwrap();
    assert_eq!((visited.body.as_ref(), visited.url), (&b"a,b\n1,2\n"[..], world.url("/f.csv")));
    // Without a declared type Chromium sniffs the content.
    let zip = [b"PK\x03\x04".as_slice(), &[0_u8; 2000]].concat();
    world.site.respond("/f", Reply { body: zip.clone().into(), ..Reply::default() });
    let visited = world.path("/f").await.unwrap();
    assert_eq!(visited.body.as_ref(), zip.as_slice());
}

#[tokio::test]
async fn a_file_that_a_page_starts_changes_nothing() {
    let world = World::start().await;
    world
        .site
        .respond("/f.zip", Reply { body: "PK".into(), ..Reply::default() }.header("content-type", "application/zip"));
    let visited = world.page("<p>stays<script>location = '/f.zip'</script>").await.unwrap();
    assert!(dom(&visited).contains("stays"));
    assert_eq!((visited.url, visited.status), (world.url("/page"), 200));
}

#[tokio::test]
async fn files_are_bounded() {
    let limits = net::Limits { body_decoded: 1 << 20, ..net::Limits::default() };
    let world = World::limited(browser::Settings::default(), limits).await;
    let endless = Body::Repeat { prefix: "".into(), unit: "0123456789".into(), bytes: None, suffix: "".into() };
    world.site.respond("/f", Reply { body: endless, ..Reply::default() }.header("content-type", "application/zip"));
    let refused = world.path("/f").await.err().unwrap();
    assert!(matches!(refused, BrowserError::TooLarge { .. } | BrowserError::Site { .. }), "{refused}");
    assert!(world.site.sent() < 64 << 20);
}

#[tokio::test]
async fn why_there_is_no_page_is_said() {
    let world = World::start().await;
    world.site.script("/cut", vec![Script::Raw("".into())]);
    world.site.script("/hang", vec![Script::Hang(Duration::from_secs(60))]);
    let port = world.canary.addr().port();
    let check = async |url: &str| {
        let url = url.parse().unwrap();
        let visit = browser::Visit { deadline: Instant::now() + Duration::from_secs(10), ..plain(&url) };
        world.visit(&visit).await.err().unwrap()
    };
    for scheme in ["http", "https"] {
        let error = check(&format!("{scheme}://127.0.0.1:{port}/")).await;
        assert!(matches!(&error, BrowserError::Blocked { host, reason: "loopback" } if host == "127.0.0.1"), "{error}");
        let error = check(&format!("{scheme}://nowhere.test/")).await;
        let is_unknown = matches!(&error, BrowserError::Net(net::Error::Dns { host, .. }) if host == "nowhere.test");
        assert!(is_unknown && error.to_string().contains("no such name"), "{error}");
    }
    let error = check(world.url("/cut").as_str()).await;
    assert!(matches!(error, BrowserError::Site { .. }), "{error}");
    let error = check(&format!("https://other.test:{}/", world.other.addr().port())).await;
    let is_bad = |host: &str, reason: &str| host == "other.test" && reason.contains("CERT");
    let BrowserError::Net(net::Error::Tls { host, reason, is_certificate: true }) = &error else { panic!("{error}") };
    assert!(is_bad(host, reason), "{error}");
    world.site.respond("/circle", Reply { status: 302, ..Reply::default() }.header("location", "/circle"));
    let error = check(world.url("/circle").as_str()).await;
    assert!(matches!(error, BrowserError::Net(net::Error::TooManyRedirects { .. })), "{error}");
    let url = world.url("/hang");
    let visit = browser::Visit { deadline: Instant::now() + Duration::from_secs(2), ..plain(&url) };
    assert!(matches!(world.visit(&visit).await.err(), Some(BrowserError::Timeout)));
    assert_eq!(world.canary.connects(), 0);
}

#[tokio::test]
async fn empty_answers_are_pages() {
    let world = World::start().await;
    world.site.respond("/500", Reply { status: 500, ..Reply::default() });
    let visited = world.path("/500").await.unwrap();
    assert_eq!((visited.status, visited.body.len()), (500, 0));
    world.site.html("/empty", "");
    assert_eq!(world.path("/empty").await.unwrap().status, 200);
}
