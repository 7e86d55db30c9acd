//! Forward proxies: absolute-form, CONNECT, credentials; the target is checked all the same.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use net::{Allow, Error, Limits, Proxy, Request};
use testkit::{Answer, Reply, Site};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

use crate::world::{LOOPBACK, World, get, named, redirect};

/// A CONNECT proxy that leads every tunnel to one address and writes down the heads it got.
struct Tunnel {
    addr: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Tunnel {
    async fn start(upstream: SocketAddr, answer: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&heads);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let seen = Arc::clone(&seen);
                tokio::spawn(async move {
                    let mut head = Vec::new();
                    while !head.ends_with(b"\r\n\r\n") {
                        head.push(stream.read_u8().await.unwrap());
                    }
                    seen.lock().unwrap().push(String::from_utf8(head).unwrap());
                    stream.write_all(answer.as_bytes()).await.unwrap();
                    if answer.contains(" 200 ") {
                        let mut upstream = TcpStream::connect(upstream).await.unwrap();
                        let _ = tokio::io::copy_bidirectional(&mut stream, &mut upstream).await;
                    }
                });
            }
        });
        Self { addr, heads }
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

fn proxy(addr: SocketAddr) -> Option<Proxy> {
    let url: Url = format!("http://user:PASS@127.0.0.1:{}", addr.port()).parse().unwrap();
    Some(Proxy { url })
}

/// A public name: the guard admits it, and only the proxy could reach it.
async fn public() -> World {
    let world = World::start().await;
    world.dns.set("public.test", Answer::from("93.184.216.34".parse::<std::net::IpAddr>().unwrap()));
    world
}

#[tokio::test]
async fn plain_http_goes_out_in_absolute_form() {
    let world = public().await;
    // A second origin plays the proxy; its address is not on the allow list of anything.
    let forward = Site::start().await;
    forward.html("http://public.test/page?x=1", "<p>through</p>");
    for _ in 0..2 {
        let request = Request { proxy: proxy(forward.addr()), ..get("http://public.test/page?x=1") };
        let response = world.client.send(request).await.unwrap();
        assert_eq!(response.body, "<p>through</p>");
        assert_eq!(response.peer, None);
    }
    let seen = forward.requests();
    assert_eq!(seen[0].path, "http://public.test/page?x=1");
    assert_eq!(seen[0].header("host"), "public.test");
    assert_eq!(seen[0].header("proxy-authorization"), "Basic dXNlcjpQQVNT");
    assert_eq!(forward.connections(), 1);
}

#[tokio::test]
async fn https_goes_through_a_tunnel_by_name() {
    let world = public().await;
    let site = Site::start_tls().await;
    site.html("/", "<p>tunnelled</p>");
    let tunnel = Tunnel::start(site.addr(), "HTTP/1.1 200 Connection established\r\n\r\n").await;
    let request = Request { proxy: proxy(tunnel.addr), verify_tls: false, ..get("https://public.test/") };
    assert_eq!(world.client.send(request).await.unwrap().body, "<p>tunnelled</p>");
    let head = &tunnel.heads()[0];
    assert!(head.starts_with("CONNECT public.test:443 HTTP/1.1\r\nHost: public.test:443\r\n"), "{head}");
    assert!(head.contains("Proxy-Authorization: Basic dXNlcjpQQVNT\r\n"), "{head}");
    assert_eq!(site.requests()[0].header("proxy-authorization"), "");
}

#[tokio::test]
async fn the_target_is_checked_before_the_proxy_hears_of_it() {
    let world = public().await;
    world.dns.set("inner.test", Answer::from(LOOPBACK));
    let forward = Site::start().await;
    forward.respond("http://public.test/r", redirect(302, "http://169.254.169.254/latest"));
    for url in
        ["http://127.0.0.1:9/", "https://10.0.0.1/", "http://inner.test/", "http://localhost/", "http://public.test/r"]
    {
        let result = world.client.send(Request { proxy: proxy(forward.addr()), ..get(url) }).await;
        assert!(matches!(result, Err(Error::Blocked { .. })), "{url} {result:?}");
    }
    let paths: Vec<_> = forward.requests().into_iter().map(|seen| seen.path).collect();
    assert_eq!(paths, ["http://public.test/r"]);
}

#[tokio::test]
async fn proxies_that_fail_are_told_apart() {
    let world = public().await;
    let forward = Site::start().await;
    forward.respond("http://public.test/", Reply { status: 407, ..Reply::default() });
    let dead = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let refusing = Tunnel::start(dead, "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n").await;
    let broken = Tunnel::start(dead, "what?\r\n\r\n").await;
    for (proxy, url) in [
        (proxy(forward.addr()), "http://public.test/"),
        (proxy(dead), "http://public.test/"),
        (proxy(dead), "https://public.test/"),
        (proxy(refusing.addr), "https://public.test/"),
        (proxy(broken.addr), "https://public.test/"),
        (Some(Proxy { url: "socks5://127.0.0.1:1080".parse().unwrap() }), "http://public.test/"),
    ] {
        let error = world.client.send(Request { proxy, ..get(url) }).await.unwrap_err();
        assert!(matches!(error, Error::Proxy { .. }), "{url} {error:?}");
        assert!(!error.to_string().contains("PASS") && !format!("{error:?}").contains("PASS"));
    }
}

#[tokio::test]
async fn proxied_and_direct_connections_do_not_mix() {
    let site = Site::start().await;
    let world = World::with(Limits::default(), vec![Allow::Address(site.addr())]).await;
    site.html("/", "direct");
    let url = named("http", "origin.test", site.addr(), "/");
    let forward = Site::start().await;
    forward.html(url.as_str(), "proxied");
    for _ in 0..2 {
        assert_eq!(world.get(&url).await.unwrap().body, "direct");
        let request = Request { proxy: proxy(forward.addr()), ..get(&url) };
        assert_eq!(world.client.send(request).await.unwrap().body, "proxied");
    }
    assert_eq!((site.connections(), forward.connections()), (1, 1));
}
