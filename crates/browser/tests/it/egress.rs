//! Tests that the browser can only reach what the guard admits, whatever channel a page uses.

use std::net::SocketAddr;
use std::time::Duration;

use browser::{Browser, Settings, Visit, Visited};
use net::{Client, Config, Egress, Limits};
use testkit::{Answer, Canary, Dns, Reply, Site, Tunnel};

use crate::world::{LOOPBACK, World, dom, plain};

/// Ways to request a URL, each with a marker. `TO` is replaced by the destination.
const CHANNELS: &[(&str, &str)] = &[
    ("img", "<img src=TO/img>"),
    ("srcset", "<img srcset='TO/srcset 1x'>"),
    ("css", "<link rel=stylesheet href=TO/css>"),
    ("import", "<style>@import url(TO/import);</style>"),
    ("font", "<style>@font-face{font-family:x;src:url(TO/font)}b{font-family:x}</style><b>b</b>"),
    ("background", "<div style='background:url(TO/background)'>x</div>"),
    ("icon", "<link rel=icon href=TO/icon>"),
    ("prefetch", "<link rel=prefetch href=TO/prefetch>"),
    ("preload", "<link rel=preload as=script href=TO/preload>"),
    ("script", "<script src=TO/script></script>"),
    ("module", "<script type=module>import 'TO/module'</script>"),
    ("iframe", "<iframe src=TO/iframe></iframe>"),
    ("object", "<object data=TO/object></object>"),
    ("embed", "<embed src=TO/embed>"),
    ("video", "<video src=TO/video autoplay muted></video>"),
    ("audio", "<audio src=TO/audio preload=auto></audio>"),
    ("track", "<video crossorigin><track default kind=subtitles src=TO/track></video>"),
    ("fetch", "<script>fetch('TO/fetch',{mode:'no-cors'})</script>"),
    ("xhr", "<script>x=new XMLHttpRequest();x.open('GET','TO/xhr');x.send()</script>"),
    ("beacon", "<script>navigator.sendBeacon('TO/beacon','x')</script>"),
    ("ping", "<a id=pinger ping=TO/ping href=#x>x</a><script>pinger.click()</script>"),
    ("events", "<script>new EventSource('TO/events')</script>"),
    ("socket", "<script>new WebSocket('WS/socket')</script>"),
    ("worker", "<script>new Worker(URL.createObjectURL(new Blob([\"fetch('TO/worker',{mode:'no-cors'})\"])))</script>"),
    (
        "shared",
        "<script>new SharedWorker(URL.createObjectURL(new Blob([\"fetch('TO/shared',{mode:'no-cors'})\"])))</script>",
    ),
    (
        "form",
        "<iframe name=f></iframe><form id=m target=f method=post action=TO/form></form><script>m.submit()</script>",
    ),
    ("refresh", "<iframe srcdoc=\"<meta http-equiv=refresh content='0;url=TO/refresh'>\"></iframe>"),
    ("redirect", "<img src='/redirect?TO/redirect'>"),
    ("frame-redirect", "<iframe src='/redirect?TO/frame-redirect'></iframe>"),
    ("service", "<script>navigator.serviceWorker.register('/service.js?TO/service')</script>"),
];

/// Channels that never reach a destination, admitted or not; no listener could count them.
const OTHERS: &str = "<script>
    window.open('TO/popup');
    Object.assign(document.createElement('a'), {href: 'TO/download', download: 'x'}).click();
    const peer = new RTCPeerConnection({iceServers: [{urls: 'stun:127.0.0.1:UDP'}, {urls: 'stun:stun.leak.test:UDP'},
        {urls: 'turn:127.0.0.1:UDP', username: 'a', credential: 'b'}]});
    peer.createDataChannel('x'); peer.createOffer().then((offer) => peer.setLocalDescription(offer));
    try { new WebTransport('https://127.0.0.1:UDP/') } catch {}
    for (const port of [9222, 9223, 9229]) fetch(`http://127.0.0.1:${port}/json/version`, {mode: 'no-cors'});
    </script><iframe src=file:///etc/passwd></iframe><iframe src=chrome://version></iframe>
    <img src=http://169.254.169.254/latest/meta-data/><img src=http://2130706433:PORT/decimal><img src=http://[::1]:PORT/six>
    <img src=http://localhost:PORT/name><link rel=dns-prefetch href=//prefetch.leak.test>
    <link rel=preconnect href=http://127.0.0.1:PORT>";

fn page(to: SocketAddr) -> String {
    let all: String = CHANNELS.iter().map(|(_, html)| *html).collect();
    format!("<html><body>{}", all.replace("TO", &format!("http://{to}")).replace("WS", &format!("ws://{to}")))
}

fn helpers(world: &World, to: SocketAddr) {
    let target = format!("http://{to}");
    world.site.others(move |seen| {
        let path = seen.path.strip_prefix("/redirect?")?;
        Some(Reply { status: 302, ..Reply::default() }.header("location", path)).filter(|_| path.starts_with(&target))
    });
    let script = format!("fetch('http://{to}/service', {{mode: 'no-cors'}}); self.onfetch = () => {{}}");
    world.site.respond(
        "/service.js",
        Reply { body: script.into(), ..Reply::default() }.header("content-type", "text/javascript"),
    );
}

async fn visit(world: &World, html: &str) {
    world.site.html("/page", html);
    // By address: loopback is a secure context, which service workers need.
    let url = world.site.url("/page");
    let visit = Visit { wait_for: Duration::from_millis(2500), ..plain(&url) };
    world.visit(&visit).await.unwrap();
}

/// Proves that the channels work, so that the next test cannot pass trivially.
#[tokio::test]
async fn every_channel_reaches_what_is_admitted() {
    let world = World::start().await;
    let other = world.other.addr();
    helpers(&world, other);
    visit(&world, &page(other)).await;
    let asked: Vec<String> = world.other.requests().into_iter().map(|seen| seen.path).collect();
    // A headless browser requests no icons.
    let missing: Vec<_> = CHANNELS
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| *name != "icon")
        .filter(|name| !asked.contains(&format!("/{name}")))
        .collect();
    assert!(missing.is_empty(), "{missing:?} of {asked:?}");
}

#[tokio::test]
async fn no_channel_reaches_what_is_not() {
    let world = World::start().await;
    let canary = world.canary.addr();
    helpers(&world, canary);
    let others = OTHERS.replace("TO", &format!("http://{canary}")).replace("PORT", &canary.port().to_string());
    let others = others.replace("UDP", &world.canary.udp_addr().port().to_string());
    visit(&world, &(page(canary) + &others)).await;
    assert_eq!((world.canary.connects(), world.canary.packets()), (0, 0));
    let asked: Vec<String> = world.dns.queries().into_iter().map(|query| query.name).collect();
    assert!(!asked.iter().any(|name| name.starts_with("stun.")), "{asked:?}");
    assert!(world.asked().iter().any(|path| path.starts_with("/redirect?")));
}

/// DNS rebinding: the name first resolves to an admitted address, then to another.
#[tokio::test]
async fn a_name_that_changes_its_mind_leads_nowhere_else() {
    let site = Site::start().await;
    let port = site.addr().port();
    let inside = SocketAddr::from(([127, 0, 0, 2], port));
    let canary = Canary::bind(inside, SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
    let dns = Dns::start().await;
    let sequence = vec![vec![LOOPBACK], vec![inside.ip()]];
    dns.set("rebind.test", Answer { sequence, ..Answer::default() });
    let egress = Egress {
        allow: vec![site.addr().to_string().parse().unwrap()],
        resolvers: vec![dns.addr()],
        ..Egress::default()
    };
    let client = Client::new(Config { egress, limits: Limits::default() }).unwrap();
    let browser = Browser::new(Settings::default(), client, cpu::Cpu::new(2));
    site.html(
        "/page",
        "<p>first<script>let n = 0; setInterval(() => fetch('/again?' + n++).then((r) => r.text()).then((t) =>
        document.body.append(t)), 100)</script>",
    );
    let url = format!("http://rebind.test:{port}/page").parse().unwrap();
    let visit = Visit { wait_for: Duration::from_millis(1500), ..plain(&url) };
    let visited = browser.visit(&visit, &|_| Vec::new()).await.unwrap();
    assert!(!dom(&visited).contains("CANARY"));
    assert_eq!(canary.connects(), 0);
    assert!(dns.queries().len() > 1, "it was asked again: {:?}", dns.queries());
}

#[tokio::test]
async fn redirects_of_the_page_itself_are_checked() {
    let world = World::start().await;
    let secret = format!("http://127.0.0.1:{}/secret", world.canary.addr().port());
    world.site.respond("/r", Reply { status: 302, ..Reply::default() }.header("location", &secret));
    let error = world.path("/r").await.err().unwrap();
    assert!(matches!(error, browser::BrowserError::Blocked { .. }), "{error}");
    for html in [
        format!("<script>location = '{secret}'</script>"),
        format!("<meta http-equiv=refresh content='0;url={secret}'>"),
    ] {
        let result = world.page(&html).await;
        let is_shown = |visited: Visited| visited.rendered.dom.is_some() && dom(&visited).contains("CANARY");
        assert!(!result.is_ok_and(is_shown));
    }
    assert_eq!(world.canary.connects(), 0);
}

#[tokio::test]
async fn files_of_this_machine_are_not_shown() {
    let world = World::start().await;
    let html = "<p>page<iframe src=file:///etc/passwd></iframe><script>
        const say = (text) => document.body.append(text);
        fetch('file:///etc/passwd').then((r) => r.text()).then(say, () => say('refused'));
        setTimeout(() => { location = 'file:///etc/passwd' }, 50)</script>";
    world.site.html("/page", html);
    let url = world.url("/page");
    let visit = Visit { wait_for: Duration::from_millis(500), ..plain(&url) };
    let visited = world.visit(&visit).await.unwrap();
    let text = dom(&visited);
    assert!(text.contains("refused") && !text.contains("root:"), "{text}");
}

#[tokio::test]
async fn the_proxy_of_a_visit_carries_everything() {
    let world = World::start().await;
    let (site, other) = (world.site.addr(), world.other.addr());
    let tunnel = Tunnel::start(move |target| target.parse().map_err(|_| "HTTP/1.1 400 no\r\n\r\n")).await;
    let proxy = format!("http://user:PASS@{}", tunnel.addr()).parse().unwrap();
    world.site.html("/page", format!("<p>x<script src=https://other.test:{}/x.js></script>", other.port()));
    let url = world.url("/page");
    let visit = Visit { proxy: Some(net::Proxy::new(proxy)), skip_tls_verification: true, ..plain(&url) };
    world.visit(&visit).await.unwrap();
    let heads = tunnel.heads();
    for target in [site, other] {
        assert!(heads.iter().any(|head| head.starts_with(&format!("CONNECT {target} "))), "{heads:?}");
    }
    assert!(heads.iter().all(|head| head.contains("Basic dXNlcjpQQVNT")));
    assert_eq!(world.site.connections() + world.other.connections(), heads.len());
}
