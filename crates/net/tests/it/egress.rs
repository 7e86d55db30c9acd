//! No connections to blocked addresses, in any spelling.

use net::{Allow, Client, Config, Destination, Egress, Error, Limits};
use testkit::{Answer, Site};

use crate::world::{LOOPBACK, World, get, redirect};

fn is_blocked(result: &Result<net::Response, Error>) -> bool {
    matches!(result, Err(Error::Blocked { .. }))
}

#[tokio::test]
async fn every_spelling_of_loopback_is_refused() {
    let world = World::start().await;
    let port = world.canary.addr().port();
    for host in [
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "127.8.9.10",
        "2130706433",
        "0x7f000001",
        "0x7f.0x0.0x0.0x1",
        "0177.0.0.1",
        "017700000001",
        "127.000.000.001",
        "0",
        "0.0.0.0",
        "localhost",
        "LOCALHOST.",
        "a.localhost",
        "[::1]",
        "[::]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[64:ff9b:1::7f00:1]",
        "[2002:7f00:1::]",
        "[2001:0:7f00:1::80ff:fffe]",
        "[fc00::1]",
        "[fec0::1]",
        "[fe80::1]",
        "１２７.0.0.1",
        "①②⑦.0.0.1",
        "%31%32%37.0.0.1",
        "169.254.169.254",
        "100.100.100.200",
        "192.0.0.192",
        "10.0.0.1",
        "255.255.255.255",
        "[3fff::1]",
        "example.com@127.0.0.1",
    ] {
        let result = world.get(format!("http://{host}:{port}/secret")).await;
        assert!(is_blocked(&result), "{host} {result:?}");
    }
    for url in
        ["http:\\\\127.0.0.1:PORT/", "http:///127.0.0.1:PORT/", "hTtP://127.0.0.1:PORT/", "http://127.\t0.0.\n1:PORT/"]
    {
        let result = world.get(url.replace("PORT", &port.to_string())).await;
        assert!(is_blocked(&result), "{url} {result:?}");
    }
    assert_eq!(world.canary.connects(), 0);
    assert!(world.dns.queries().is_empty());
}

#[tokio::test]
async fn an_admitted_address_admits_no_other_spelling_of_its_port() {
    let world = World::start().await;
    world.site.html("/", "<p>in</p>");
    let port = world.site.addr().port();
    assert_eq!(world.get(world.site.url("/")).await.unwrap().body, "<p>in</p>");
    assert_eq!(world.get(format!("http://2130706433:{port}/")).await.unwrap().body, "<p>in</p>");
    // A name of this address that needs no DNS is admitted; other spellings are not.
    assert_eq!(world.get(format!("http://localhost:{port}/")).await.unwrap().body, "<p>in</p>");
    for host in ["[::ffff:127.0.0.1]", "127.0.0.2", "[::1]"] {
        let result = world.get(format!("http://{host}:{port}/")).await;
        assert!(is_blocked(&result), "{host} {result:?}");
    }
    assert!(world.dns.queries().is_empty());
}

#[tokio::test]
async fn other_schemes_are_refused() {
    let world = World::start().await;
    for url in [
        "file:///etc/passwd",
        "ftp://origin.test/",
        "data:text/html,x",
        "view-source:http://127.0.0.1/",
        "ws://origin.test/",
    ] {
        let result = world.get(url).await;
        assert!(is_blocked(&result), "{url} {result:?}");
    }
}

#[tokio::test]
async fn our_own_addresses_are_refused_even_when_admitted() {
    let site = Site::start().await;
    site.html("/", "<p>me</p>");
    for own in [site.addr(), format!("0.0.0.0:{}", site.addr().port()).parse().unwrap()] {
        let egress = Egress { allow: vec!["127.0.0.0/8".parse().unwrap()], refuse: vec![own], ..Egress::default() };
        let client = Client::new(Config { egress, limits: Limits::default() }).unwrap();
        let result = client.send(get(site.url("/"))).await;
        assert_eq!(result.unwrap_err(), Error::Blocked { host: "127.0.0.1".into(), reason: "own listen address" });
    }
    assert_eq!(site.connections(), 0);
}

/// The database and the like: by name, by the addresses of the name, by another name that leads there, in a redirect.
#[tokio::test]
async fn servers_of_the_deployment_are_refused_even_when_admitted() {
    let world = World::with(Limits::default(), vec!["127.0.0.0/8".parse::<Allow>().unwrap()]).await;
    let own = Site::start().await;
    own.html("/", "<p>me</p>");
    let port = own.addr().port();
    world.dns.set("stranger.test", Answer::from(LOOPBACK));
    world.site.respond("/r", redirect(302, own.url("/").as_str()));
    for (host, port) in [("localhost".to_owned(), port), ("127.0.0.1".to_owned(), port)] {
        let egress = Egress {
            allow: vec!["127.0.0.0/8".parse().unwrap()],
            resolvers: vec![world.dns.addr()],
            refuse_hosts: vec![(host.clone(), port)],
            ..Egress::default()
        };
        let client = Client::new(Config { egress, limits: Limits::default() }).unwrap();
        let addresses = ["127.0.0.1", "localhost", "0.0.0.0", "2130706433", "stranger.test"];
        for url in addresses.map(|host| format!("http://{host}:{port}/")) {
            let result = client.send(get(&url)).await;
            assert!(matches!(result, Err(Error::Blocked { .. })), "{host}: {url}: {result:?}");
        }
        let result = client.send(get(world.site.url("/r"))).await;
        assert!(matches!(result, Err(Error::Blocked { .. })), "{host}: {result:?}");
        assert!(client.send(get(world.site.url("/"))).await.is_ok(), "other ports are as before");
    }
    assert_eq!(own.connections(), 0);
}

/// A client of one server, such as the endpoint of a model: that server may be private, and nothing else is reached.
#[tokio::test]
async fn a_client_of_one_server_reaches_that_server_alone() {
    let world = World::with(Limits::default(), vec!["127.0.0.0/8".parse::<Allow>().unwrap()]).await;
    world.dns.set("model.internal", Answer::from(LOOPBACK));
    let port = world.site.addr().port();
    for host in ["model.internal", "127.0.0.1", "localhost"] {
        let egress = Egress {
            resolvers: vec![world.dns.addr()],
            deny: vec!["127.0.0.0/8".parse().unwrap()],
            only: Some(Destination { host: host.to_owned(), port }),
            ..Egress::default()
        };
        let client = Client::new(Config { egress, limits: Limits::default() }).unwrap();
        world.site.respond("/away", redirect(302, world.other_url("/").as_str()));
        assert!(client.send(get(format!("http://{host}:{port}/"))).await.is_ok(), "{host}");
        for url in [format!("http://{host}:{port}/away"), "http://origin.test/".into(), world.other.url("/").into()] {
            let result = client.send(get(&url)).await;
            assert!(is_blocked(&result), "{host}: {url}: {result:?}");
        }
    }
    assert_eq!(world.other.connections(), 0);
}

#[tokio::test]
async fn names_of_private_networks_need_an_open_network() {
    let closed = World::start().await;
    assert!(is_blocked(&closed.get("http://wiki.internal/").await));
    assert!(closed.dns.queries().is_empty());
    let open = World::with(Limits::default(), vec!["10.0.0.0/8".parse::<Allow>().unwrap()]).await;
    assert!(matches!(open.get("http://wiki.internal/").await, Err(Error::Dns { .. })));
    assert!(!open.dns.queries().is_empty());
}

#[tokio::test]
async fn the_request_is_well_formed_whatever_the_caller_sets() {
    let world = World::start().await;
    world.site.html("/e", "ok");
    let mut request = get(world.url("/e?x=1#frag"));
    for (name, value) in [
        ("host", "internal.test"),
        ("content-length", "7"),
        ("transfer-encoding", "chunked"),
        ("connection", "close, x-keep"),
        ("proxy-authorization", "Basic x"),
        ("te", "trailers"),
        ("x-keep", "1"),
        ("user-agent", "quarry"),
    ] {
        request.headers.insert(name, value.parse().unwrap());
    }
    world.client.send(request).await.unwrap();
    let seen = &world.site.requests()[0];
    assert_eq!(seen.flaw, None);
    assert_eq!((seen.method.as_str(), seen.path.as_str()), ("GET", "/e?x=1"));
    assert_eq!(seen.header("host"), format!("origin.test:{}", world.site.addr().port()));
    assert_eq!((seen.header("x-keep"), seen.header("user-agent")), ("1", "quarry"));
    assert_eq!(seen.header("accept-encoding"), "gzip, deflate, br, zstd");
    for name in ["content-length", "transfer-encoding", "proxy-authorization", "te", "connection"] {
        assert!(!seen.headers.contains_key(name), "{name}");
    }
}
