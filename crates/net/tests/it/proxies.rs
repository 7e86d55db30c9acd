//! Forward proxies: CONNECT to the checked address, or the name where the operator says so; credentials.

use std::net::SocketAddr;

use net::{Allow, Error, Limits, Proxy, Request};
use testkit::{Answer, Reply, Site, Tunnel};
use tokio::net::TcpListener;
use url::Url;

use crate::world::{LOOPBACK, World, get, named, redirect};

fn proxy(addr: SocketAddr) -> Option<Proxy> {
    let url: Url = format!("http://user:PASS@127.0.0.1:{}", addr.port()).parse().unwrap();
    Some(Proxy::new(url))
}

/// One that the operator trusts with names.
fn resolving(addr: SocketAddr) -> Option<Proxy> {
    proxy(addr).map(|proxy| Proxy { resolves: true, ..proxy })
}

/// A proxy that leads every tunnel to one address.
async fn tunnel_to(upstream: SocketAddr) -> Tunnel {
    Tunnel::start(move |_| Ok(upstream)).await
}

/// A public name: the guard admits it, and only the proxy could reach it.
async fn public() -> World {
    let world = World::start().await;
    world.dns.set("public.test", Answer::from("93.184.216.34".parse::<std::net::IpAddr>().unwrap()));
    world
}

#[tokio::test]
async fn a_proxy_that_resolves_gets_plain_http_in_absolute_form() {
    let world = public().await;
    // A second origin plays the proxy; its address is not on the allow list of anything.
    let forward = Site::start().await;
    forward.html("http://public.test/page?x=1", "<p>through</p>");
    for _ in 0..2 {
        let request = Request { proxy: resolving(forward.addr()), ..get("http://public.test/page?x=1") };
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
async fn https_goes_through_a_tunnel() {
    let world = public().await;
    let site = Site::start_tls().await;
    site.html("/", "<p>tunnelled</p>");
    for (proxy, expect) in [(proxy as fn(_) -> _, "93.184.216.34:443"), (resolving, "public.test:443")] {
        let tunnel = tunnel_to(site.addr()).await;
        let request = Request { proxy: proxy(tunnel.addr()), verify_tls: false, ..get("https://public.test/") };
        assert_eq!(world.client.send(request).await.unwrap().body, "<p>tunnelled</p>");
        let head = &tunnel.heads()[0];
        assert!(head.starts_with(&format!("CONNECT {expect} HTTP/1.1\r\nHost: {expect}\r\n")), "{head}");
        assert!(head.contains("Proxy-Authorization: Basic dXNlcjpQQVNT\r\n"), "{head}");
    }
    assert!(site.requests().iter().all(|seen| seen.header("proxy-authorization").is_empty()));
}

/// The proxy would resolve every name to a place that is refused: it must never hear one outside a tunnel.
#[tokio::test]
async fn a_proxy_hears_no_names() {
    let world = public().await;
    let six: std::net::IpAddr = "2606:2800:220:1::1".parse().unwrap();
    world.dns.set("six.test", Answer::from(six));
    let site = Site::start_tls().await;
    site.html("/", "<p>here</p>");
    site.respond("/r", redirect(302, "http://public.test:8080/"));
    let tunnel = tunnel_to(site.addr()).await;
    for (url, expect) in [
        ("http://public.test/", "93.184.216.34:80"),
        ("http://public.test/r", "93.184.216.34:8080"),
        ("https://public.test/", "93.184.216.34:443"),
        ("http://six.test/", "[2606:2800:220:1::1]:80"),
        ("https://six.test:8443/", "[2606:2800:220:1::1]:8443"),
        ("http://[2606:2800:220:1::1]/", "[2606:2800:220:1::1]:80"),
    ] {
        let request = Request { proxy: proxy(tunnel.addr()), verify_tls: false, ..get(url) };
        assert_eq!(world.client.send(request).await.unwrap().body, "<p>here</p>", "{url}");
        let last = tunnel.heads().pop().unwrap();
        assert!(last.starts_with(&format!("CONNECT {expect} HTTP/1.1\r\nHost: {expect}\r\n")), "{url}: {last}");
    }
    assert!(tunnel.heads().iter().all(|head| head.starts_with("CONNECT ") && !head.contains(".test")));
    let seen = site.requests();
    assert_eq!((seen[0].path.as_str(), seen[0].header("host")), ("/", "public.test"));
    assert!(seen.iter().all(|seen| seen.header("proxy-authorization").is_empty()));
}

/// What answers inside a tunnel is the target: a 407 of it is an answer.
#[tokio::test]
async fn a_407_in_a_tunnel_is_the_targets() {
    let world = public().await;
    let site = Site::start().await;
    site.respond("/", Reply { status: 407, ..Reply::default() });
    let tunnel = tunnel_to(site.addr()).await;
    let answer = world.client.send(Request { proxy: proxy(tunnel.addr()), ..get("http://public.test/") }).await;
    assert_eq!(answer.unwrap().status, 407);
}

/// A tunnel leads to one address, so it serves only requests whose name has that address still.
#[tokio::test]
async fn a_kept_tunnel_is_checked_again() {
    let world = public().await;
    let site = Site::start().await;
    site.html("/", "x");
    let tunnel = tunnel_to(site.addr()).await;
    let ask = async |name: &str| {
        let request = Request { proxy: proxy(tunnel.addr()), ..get(format!("http://{name}/")) };
        world.client.send(request).await.map(|answer| answer.body)
    };
    for _ in 0..2 {
        assert_eq!(ask("public.test").await.unwrap(), "x");
    }
    assert_eq!(tunnel.heads().len(), 1, "the tunnel was kept");
}

/// One address of several fails behind the proxy: the next one is told.
#[tokio::test]
async fn the_next_address_is_told_when_one_fails() {
    let world = public().await;
    let both = ["93.184.216.34", "93.184.216.35"].map(|text| text.parse::<std::net::IpAddr>().unwrap());
    world.dns.set("two.test", both.into_iter().collect());
    let refusing = Tunnel::start(|_| Err("HTTP/1.1 503 no route\r\n\r\n")).await;
    let error =
        world.client.send(Request { proxy: proxy(refusing.addr()), ..get("http://two.test/") }).await.unwrap_err();
    assert!(error.to_string().contains("503"), "{error}");
    let heads = refusing.heads();
    let told: std::collections::BTreeSet<_> = heads.iter().map(|head| head.split(' ').nth(1).unwrap()).collect();
    assert_eq!(told, ["93.184.216.34:80", "93.184.216.35:80"].into());
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
        let result = world.client.send(Request { proxy: resolving(forward.addr()), ..get(url) }).await;
        assert!(matches!(result, Err(Error::Blocked { .. })), "{url} {result:?}");
        if !url.ends_with("/r") {
            let result = world.client.send(Request { proxy: proxy(forward.addr()), ..get(url) }).await;
            assert!(matches!(result, Err(Error::Blocked { .. })), "{url} {result:?}");
        }
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
    let refusing = Tunnel::start(|_| Err("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")).await;
    let broken = Tunnel::start(|_| Err("what?\r\n\r\n")).await;
    for (proxy, url) in [
        (resolving(forward.addr()), "http://public.test/"),
        (proxy(forward.addr()), "http://public.test/"),
        (proxy(dead), "http://public.test/"),
        (proxy(dead), "https://public.test/"),
        (proxy(refusing.addr()), "https://public.test/"),
        (proxy(broken.addr()), "https://public.test/"),
        (Some(Proxy::new("socks5://127.0.0.1:1080".parse().unwrap())), "http://public.test/"),
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
        let request = Request { proxy: resolving(forward.addr()), ..get(&url) };
        assert_eq!(world.client.send(request).await.unwrap().body, "proxied");
    }
    assert_eq!((site.connections(), forward.connections()), (1, 1));
}
