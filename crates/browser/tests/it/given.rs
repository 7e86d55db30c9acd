//! Tests of where the caller's headers and cookies are sent.

use browser::Visit;
use testkit::{Reply, Seen};
use url::Url;

use crate::world::{World, dom, plain};

fn header<'a>(seen: &'a [Seen], path: &str, name: &str) -> &'a str {
    seen.iter().find(|seen| seen.path == path).unwrap_or_else(|| panic!("{path} was not asked for")).header(name)
}

#[tokio::test]
async fn headers_and_cookies_reach_the_own_origin_only() {
    let world = World::start().await;
    let page = format!(
        "<link rel=stylesheet href=/a.css><img src=/away><img src={other}><script>
        fetch('/own'); fetch('/away?fetch', {{mode: 'no-cors'}}); new Worker('/w.js');
        document.body.append(Object.assign(document.createElement('iframe'), {{src: '{frame}'}}))</script>",
        other = world.other_url("/img"),
        frame = world.other_url("/frame")
    );
    world.site.html("/page", page);
    world.other.html("/frame", "<p>frame");
    let script = Reply { body: "fetch('/worker')".into(), ..Reply::default() };
    world.site.respond("/w.js", script.header("content-type", "text/javascript"));
    world.site.respond(
        "/away",
        Reply { status: 302, ..Reply::default() }.header("location", world.other_url("/landed").as_str()),
    );
    let own = world.url("/page");
    let headers = |url: &Url| match url.origin() == own.origin() {
        true => vec![("X-Secret".to_owned(), "1".to_owned()), ("Cookie".to_owned(), "sid=7; b=x=y".to_owned())],
        false => vec![],
    };
    let url = world.url("/page");
    let visit = Visit { wait_for: std::time::Duration::from_millis(700), ..plain(&url) };
    world.browser.visit(&visit, &headers).await.unwrap();
    let seen = world.site.requests();
    for path in ["/page", "/a.css", "/own", "/away", "/away?fetch", "/w.js"] {
        assert_eq!(header(&seen, path, "x-secret"), "1", "{path}");
        assert_eq!(header(&seen, path, "cookie"), "sid=7; b=x=y", "{path}");
    }
    let seen = world.other.requests();
    for path in ["/img", "/frame", "/landed"] {
        let found: Vec<_> = seen.iter().filter(|seen| seen.path == path).collect();
        assert!(!found.is_empty(), "{path}");
        assert!(
            found.iter().all(|seen| seen.header("x-secret").is_empty() && seen.header("cookie").is_empty()),
            "{path}"
        );
    }
}

#[tokio::test]
async fn a_visit_knows_nothing_of_the_one_before() {
    let world = World::start().await;
    let page = "<p id=a><script>a.textContent = [document.cookie, localStorage.x, sessionStorage.x].join('|');
        document.cookie = 'c=1; max-age=999'; localStorage.x = sessionStorage.x = 2</script>";
    world.site.respond(
        "/page",
        Reply { body: page.into(), ..Reply::default() }
            .header("content-type", "text/html")
            .header("set-cookie", "s=1; max-age=999")
            .header("cache-control", "max-age=999"),
    );
    for _ in 0..2 {
        let visited = world.path("/page").await.unwrap();
        assert!(dom(&visited).contains(">s=1||<"));
    }
    let pages: Vec<_> = world.site.requests().into_iter().filter(|seen| seen.path == "/page").collect();
    assert_eq!((pages.len(), pages[1].header("cookie")), (2, ""));
    assert_eq!(world.browser.counts().launched, 1);
}

/// Cookies ignore the port of a host, but another port may belong to somebody else.
#[tokio::test]
async fn cookies_of_the_caller_reach_no_other_port_of_the_host() {
    let world = World::start().await;
    let other = format!("http://origin.test:{}", world.other.addr().port());
    let page = format!(
        "<img src={other}/img><script src={other}/s.js></script><iframe src={other}/frame></iframe><script>
        document.cookie = 'made=1';
        fetch('/own');
        fetch('{other}/fetch', {{mode: 'no-cors', credentials: 'include'}});
        fetch('/away', {{mode: 'no-cors', credentials: 'include'}});
        navigator.sendBeacon('{other}/beacon', 'x');
        new WebSocket('{socket}/socket');
        new Worker('/w.js')</script>",
        socket = other.replace("http", "ws"),
    );
    let reply = Reply { body: page.into(), ..Reply::default() }.header("content-type", "text/html");
    world.site.respond("/page", reply.header("set-cookie", "set=1"));
    let away = |path: &str| Reply { status: 302, ..Reply::default() }.header("location", &format!("{other}{path}"));
    world.site.respond("/away", away("/landed"));
    world.site.respond("/leaves", away("/left"));
    world.other.html("/frame", "<img src=/in-frame>");
    world.other.html("/left", "<p>left<img src=/after>");
    let script = format!("fetch('{other}/worker', {{mode: 'no-cors', credentials: 'include'}})");
    let script = Reply { body: script.into(), ..Reply::default() };
    world.site.respond("/w.js", script.header("content-type", "text/javascript"));
    let own = world.url("/page");
    let headers = |url: &Url| match url.origin() == own.origin() {
        true => vec![("Cookie".to_owned(), "sid=7; set=0".to_owned())],
        false => vec![],
    };
    for path in ["/page", "/leaves"] {
        let url = world.url(path);
        let visit = Visit { wait_for: std::time::Duration::from_millis(700), ..plain(&url) };
        world.browser.visit(&visit, &headers).await.unwrap();
    }
    let seen = world.site.requests();
    assert_eq!(
        (header(&seen, "/page", "cookie"), header(&seen, "/leaves", "cookie")),
        ("sid=7; set=0", "sid=7; set=0")
    );
    let own: std::collections::BTreeSet<_> = header(&seen, "/own", "cookie").split("; ").collect();
    assert_eq!(own, ["made=1", "set=1", "sid=7"].into());
    let seen = world.other.requests();
    for path in [
        "/img",
        "/s.js",
        "/frame",
        "/in-frame",
        "/fetch",
        "/landed",
        "/beacon",
        "/socket",
        "/worker",
        "/left",
        "/after",
    ] {
        let found: Vec<_> = seen.iter().filter(|seen| seen.path == path).collect();
        assert!(!found.is_empty(), "{path} was not asked for");
        for seen in found {
            assert!(!seen.header("cookie").contains("sid"), "{path}: {}", seen.header("cookie"));
        }
    }
}
