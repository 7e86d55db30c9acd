//! The local proxy for programs with their own HTTP stack: it connects only to addresses that the guard allows.

use std::net::SocketAddr;
use std::time::Duration;

use net::{EgressPass, EgressProxy, Error, Limits, Proxy};
use testkit::{Answer, Reply, Script, Site, Tunnel};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

use crate::world::{LOOPBACK, World, redirect};

const PASS: EgressPass = EgressPass { proxy: None, bytes: 10 << 20, deadline: None, admits: None };

async fn open(world: &World) -> EgressProxy {
    world.client.egress_proxy(PASS).await.unwrap()
}

/// Sends bytes to the proxy and reads until the end.
async fn say(proxy: SocketAddr, text: &str) -> String {
    let mut stream = TcpStream::connect(proxy).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut answer)).await;
    assert!(read.is_ok(), "no end after {:?}", String::from_utf8_lossy(&answer));
    String::from_utf8_lossy(&answer).into_owned()
}

async fn get(proxy: &EgressProxy, url: &str) -> String {
    let request = format!("GET {url} HTTP/1.1\r\nHost: wrong.test\r\nConnection: close\r\n\r\n");
    say(proxy.addr(), &request).await
}

async fn connect(proxy: &EgressProxy, target: &str) -> (TcpStream, String) {
    let mut stream = TcpStream::connect(proxy.addr()).await.unwrap();
    stream.write_all(format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n").as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => break,
        }
    }
    (stream, String::from_utf8(head).unwrap())
}

#[tokio::test]
async fn requests_with_a_whole_address_are_forwarded() {
    let world = World::start().await;
    world.site.respond(
        "/a",
        Reply { body: "<p>a".into(), ..Reply::default() }.header("connection", "x-hop").header("x-hop", "1"),
    );
    world.site.script("/e", vec![Script::Echo]);
    let proxy = open(&world).await;
    let answer = get(&proxy, world.url("/a?x=1").as_str()).await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("<p>a") && !answer.contains("x-hop"), "{answer}");
    let body = "POST ".to_owned()
        + world.url("/e").as_str()
        + " HTTP/1.1\r\nHost: x\r\nConnection: close, x-mine\r\n\
        X-Mine: 1\r\nProxy-Authorization: Basic x\r\nProxy-Connection: keep-alive\r\nX-Other: 2\r\n\
        Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    let answer = say(proxy.addr(), &body).await;
    assert!(answer.contains(r#""body":"abcde""#), "{answer}");
    let seen = world.site.requests();
    assert_eq!((seen[0].path.as_str(), seen[0].flaw.as_ref()), ("/a?x=1", None));
    assert_eq!(seen[0].header("host"), format!("origin.test:{}", world.site.addr().port()));
    for name in ["x-mine", "proxy-authorization", "proxy-connection", "connection"] {
        assert!(!seen[1].headers.contains_key(name), "{name}");
    }
    assert_eq!(seen[1].header("x-other"), "2");
}

#[tokio::test]
async fn connections_to_a_target_are_used_again() {
    let world = World::start().await;
    world.site.html("/a", "<p>a");
    let proxy = open(&world).await;
    let request = format!("GET {} HTTP/1.1\r\nHost: x\r\n\r\n", world.url("/a"));
    let last = format!("GET {} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", world.url("/a"));
    let answer = say(proxy.addr(), &format!("{request}{request}{last}")).await;
    assert_eq!(answer.matches("<p>a").count(), 3);
    assert_eq!((world.site.requests().len(), world.site.connections()), (3, 1));
}

#[tokio::test]
async fn whatever_the_guard_refuses_is_refused_here() {
    let world = World::start().await;
    let port = world.canary.addr().port();
    world.dns.set("inside.test", Answer::from(LOOPBACK));
    let proxy = open(&world).await;
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f.1",
        "017700000001",
        "0.0.0.0",
        "localhost",
        "a.localhost",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::]",
        "169.254.169.254",
        "10.0.0.1",
        "inside.test",
    ] {
        let (_, head) = connect(&proxy, &format!("{host}:{port}")).await;
        assert!(head.starts_with("HTTP/1.1 403"), "CONNECT {host}: {head}");
        let answer = get(&proxy, &format!("http://{host}:{port}/secret")).await;
        assert!(answer.starts_with("HTTP/1.1 403") && !answer.contains(host), "{host}: {answer}");
        assert!(answer.contains("proxy-status: quarry; error=destination_ip_prohibited"), "{answer}");
    }
    assert_eq!(world.canary.connects(), 0);
    let why = proxy.failure("127.0.0.1", port);
    assert!(matches!(why, Some(Error::Blocked { reason: "loopback", .. })), "{why:?}");
    assert!(matches!(proxy.failure("inside.test", port), Some(Error::Blocked { .. })));
    assert_eq!(proxy.failure("origin.test", port), None);
}

#[tokio::test]
async fn a_name_that_leads_elsewhere_the_second_time_stays_where_it_was_checked() {
    let world = World::start().await;
    world.site.html("/", "<p>in");
    world.site.respond("/r", redirect(302, &format!("http://127.0.0.1:{}/", world.canary.addr().port())));
    let proxy = open(&world).await;
    assert!(get(&proxy, world.url("/").as_str()).await.ends_with("<p>in"));
    // The program follows redirects itself, and its next request is refused.
    assert!(get(&proxy, world.url("/r").as_str()).await.starts_with("HTTP/1.1 302"));
    let target = format!("127.0.0.1:{}", world.canary.addr().port());
    assert!(get(&proxy, &format!("http://{target}/")).await.starts_with("HTTP/1.1 403"));
    assert_eq!(world.canary.connects(), 0);
}

#[tokio::test]
async fn a_tunnel_leads_bytes_both_ways() {
    let world = World::start().await;
    let echo = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = echo.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = echo.accept().await.unwrap();
        let (mut read, mut write) = stream.split();
        let _ = tokio::io::copy(&mut read, &mut write).await;
    });
    let world =
        World { client: World::with(Limits::default(), vec![addr.to_string().parse().unwrap()]).await.client, ..world };
    let proxy = open(&world).await;
    let (mut stream, head) = connect(&proxy, &addr.to_string()).await;
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    stream.write_all(b"anything, not http").await.unwrap();
    let mut back = [0; 18];
    stream.read_exact(&mut back).await.unwrap();
    assert_eq!(&back, b"anything, not http");
    drop(proxy);
    let end = tokio::time::timeout(Duration::from_secs(2), stream.read(&mut back)).await.unwrap();
    assert!(matches!(end, Ok(0) | Err(_)), "the tunnel ends with the proxy");
}

/// RFC 6455: the handshake over a request with a whole address.
#[tokio::test]
async fn a_switch_of_protocols_is_passed_on() {
    let world = World::start().await;
    let switched = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello";
    world.site.script("/ws", vec![Script::Raw(switched.into())]);
    let proxy = open(&world).await;
    let request = format!(
        "GET {} HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n\r\n",
        world.url("/ws")
    );
    let answer = say(proxy.addr(), &request).await;
    assert!(answer.starts_with("HTTP/1.1 101") && answer.ends_with("\r\n\r\nhello"), "{answer}");
    let seen = &world.site.requests()[0];
    assert_eq!((seen.header("upgrade"), seen.header("sec-websocket-key")), ("websocket", "x"));
    let plain = format!("GET {} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", world.url("/ws"));
    let answer = say(proxy.addr(), &plain).await;
    assert!(answer.starts_with("HTTP/1.1 502"), "nobody asked to switch: {answer}");
}

#[tokio::test]
async fn nothing_can_be_smuggled_in() {
    let world = World::start().await;
    world.site.script("/e", vec![Script::Echo]);
    let proxy = open(&world).await;
    let url = world.url("/e");
    for head in [
        "Content-Length: 5\r\nContent-Length: 6\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Content-Length: +5\r\n",
        "Content-Length : 5\r\n",
        "X: a\r\n b\r\nTransfer-Encoding:\u{b}chunked\r\n",
    ] {
        let text =
            format!("POST {url} HTTP/1.1\r\nHost: x\r\n{head}\r\n0\r\n\r\nGET http://127.0.0.1:1/ HTTP/1.1\r\n\r\n");
        let answer = say(proxy.addr(), &text).await;
        assert!(answer.starts_with("HTTP/1.1 400") || answer.is_empty(), "{head:?}: {answer}");
    }
    // Both framings: the length is dropped and the chunks count (RFC 9112 section 6.3).
    let text = format!(
        "POST {url} HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n"
    );
    let answer = say(proxy.addr(), &text).await;
    assert!(answer.contains(r#""body":"""#) || answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert!(world.site.requests().iter().all(|seen| seen.flaw.is_none()));
    for line in [
        "GET /relative HTTP/1.1",
        "GET https://origin.test/ HTTP/1.1",
        "CONNECT origin.test HTTP/1.1",
        "CONNECT u@a.test:1 HTTP/1.1",
    ] {
        let answer = say(proxy.addr(), &format!("{line}\r\nHost: origin.test\r\nConnection: close\r\n\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{line}: {answer}");
    }
}

#[tokio::test]
async fn when_the_bytes_are_used_up_everything_is_closed() {
    let world = World::start().await;
    world.site.respond("/big", Reply { body: vec![b'x'; 1 << 20].into(), ..Reply::default() });
    let proxy = world.client.egress_proxy(EgressPass { bytes: 1500 << 10, ..PASS }).await.unwrap();
    assert!(get(&proxy, world.url("/big").as_str()).await.len() > 1 << 20);
    assert!(!proxy.is_spent());
    assert!(get(&proxy, world.url("/big").as_str()).await.len() < 1 << 20);
    assert!(proxy.is_spent());
    assert!(TcpStream::connect(proxy.addr()).await.is_err() || proxy.is_closed());
}

#[tokio::test]
async fn the_deadline_closes_everything() {
    let world = World::start().await;
    world.site.script("/slow", vec![Script::Hang(Duration::from_secs(60))]);
    let deadline = Some(Instant::now() + Duration::from_millis(300));
    let proxy = world.client.egress_proxy(EgressPass { deadline, ..PASS }).await.unwrap();
    let began = Instant::now();
    assert_eq!(get(&proxy, world.url("/slow").as_str()).await, "");
    assert!(began.elapsed() < Duration::from_secs(3));
    assert!(TcpStream::connect(proxy.addr()).await.is_err());
}

#[tokio::test]
async fn connections_are_bounded() {
    let world = World::start().await;
    let proxy = open(&world).await;
    let mut all = Vec::new();
    for _ in 0..256 {
        all.push(TcpStream::connect(proxy.addr()).await.unwrap());
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    let mut one_more = TcpStream::connect(proxy.addr()).await.unwrap();
    let mut byte = [0];
    let end = tokio::time::timeout(Duration::from_secs(2), one_more.read(&mut byte)).await.unwrap();
    assert!(matches!(end, Ok(0) | Err(_)));
    drop(all);
    tokio::time::sleep(Duration::from_millis(200)).await;
    world.site.html("/", "<p>room again");
    assert!(get(&proxy, world.url("/").as_str()).await.ends_with("room again"));
}

#[tokio::test]
async fn the_proxy_behind_gets_a_checked_address_or_the_name() {
    let world = World::start().await;
    world.dns.set("public.test", Answer::from("93.184.216.34".parse::<std::net::IpAddr>().unwrap()));
    world.site.html("/", "<p>through");
    let upstream = world.site.addr();
    let tunnel = Tunnel::start(move |_| Ok(upstream)).await;
    let url = format!("http://user:PASS@127.0.0.1:{}", tunnel.addr().port()).parse().unwrap();
    let behind = Proxy::new(url);
    let proxy = world.client.egress_proxy(EgressPass { proxy: Some(behind.clone()), ..PASS }).await.unwrap();
    assert!(get(&proxy, "http://public.test/").await.ends_with("<p>through"));
    let (_, head) = connect(&proxy, "public.test:443").await;
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let (_, head) = connect(&proxy, &format!("127.0.0.1:{}", world.canary.addr().port())).await;
    assert!(head.starts_with("HTTP/1.1 403"), "{head}");
    let heads = tunnel.heads();
    assert!(
        heads[0].starts_with("CONNECT 93.184.216.34:80 ") && heads[1].starts_with("CONNECT 93.184.216.34:443 "),
        "{heads:?}"
    );
    let trusted = Proxy { resolves: true, ..behind };
    let forward = Site::start().await;
    forward.html("http://public.test/", "<p>forwarded");
    let url = format!("http://user:PASS@127.0.0.1:{}", forward.addr().port()).parse().unwrap();
    let trusted = Proxy { url, ..trusted };
    let proxy = world.client.egress_proxy(EgressPass { proxy: Some(trusted), ..PASS }).await.unwrap();
    assert!(get(&proxy, "http://public.test/").await.ends_with("<p>forwarded"));
    assert_eq!(forward.requests()[0].header("proxy-authorization"), "Basic dXNlcjpQQVNT");
}
