//! Foreign web pages in the browser of an operator: CSRF and DNS rebinding.

use boot::StartError;
use boot::config::{AuthMode, Config};
use hyper_util::rt::{TokioExecutor, TokioIo};
use quarry_server::Running;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::caller::{OPERATOR, call_at, read};
use crate::{call, service};

/// A call without side effects that needs no key in open mode.
const READ: &str = "GET /v2/crawl/active";
/// A call with side effects if its body were valid.
const START: &str = "POST /v2/crawl";

async fn status(running: &Running, line: &str, headers: &[&str]) -> u16 {
    let body: &[u8] = if line.starts_with("POST") { b"{}" } else { b"" };
    call(running, line, headers, body).await.status
}

/// Returns the key of a new team as a header.
async fn key(running: &Running) -> String {
    let operator = format!("Authorization: Bearer {OPERATOR}");
    let made = call(running, "POST /admin/teams", &[&operator, "Host: any.example"], br#"{"name":"a"}"#).await.json();
    format!("Authorization: Bearer {}", made["apiKey"].as_str().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_name_of_a_foreign_page_is_no_name_of_ours() {
    let (running, _folder) = service(|config| config.server.hosts = vec!["quarry.lan".to_owned()]).await;
    let key = key(&running).await;
    let port = running.address.port();
    for path in ["/v2/crawl/active", "/v2/team/credit-usage", "/metrics", "/openapi.json", "/", "/nothing"] {
        let line = format!("GET {path}");
        for host in [
            "evil.example".to_owned(),
            format!("evil.example:{port}"),
            format!("127.0.0.1.evil.example:{port}"),
            "10.1.2.3".to_owned(),
        ] {
            let answer = call(&running, &line, &[&format!("Host: {host}")], b"").await;
            assert_eq!((answer.status, answer.code().as_str()), (403, "FORBIDDEN"), "{path} {host}");
            assert!(answer.json()["error"].as_str().unwrap().contains("server.hosts"), "{answer:?}");
            // Unknown keys do not count, since a page can send any header.
            let more = [&format!("Host: {host}"), "Authorization: Bearer anything", "X-Forwarded-Host: localhost"];
            assert_eq!(status(&running, &line, &more).await, 403, "{path} {host}");
            let known = status(&running, &line, &[&format!("Host: {host}"), &key]).await;
            assert_eq!(known, if path == "/nothing" { 404 } else { 200 }, "{path} {host}");
        }
        for host in [
            format!("localhost:{port}"),
            "LOCALHOST.".to_owned(),
            format!("127.0.0.1:{port}"),
            format!("[::1]:{port}"),
            "Quarry.lan:80".to_owned(),
        ] {
            let known = status(&running, &line, &[&format!("Host: {host}")]).await;
            assert_eq!(known, if path == "/nothing" { 404 } else { 200 }, "{path} {host}");
        }
    }
    // Health reveals nothing, and load balancers call it by any name.
    assert_eq!(status(&running, "GET /health/ready", &["Host: any.example"]).await, 200);
    for (line, hosts) in [
        ("GET /v2/crawl/active", "Host: localhost\r\nHost: evil.example\r\n"),
        ("GET /v2/crawl/active", "Host: evil.example\r\nHost: localhost\r\n"),
        ("GET http://evil.example/v2/crawl/active", "Host: localhost\r\n"),
        ("GET http://localhost/v2/crawl/active", "Host: evil.example\r\n"),
    ] {
        let mut stream = TcpStream::connect(running.address).await.unwrap();
        stream.write_all(format!("{line} HTTP/1.1\r\n{hosts}Connection: close\r\n\r\n").as_bytes()).await.unwrap();
        let status = read(&mut stream).await.status;
        assert!(matches!(status, 400 | 403), "{line} {hosts}: {status}");
    }
    // Browsers always send a host.
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    stream.write_all(b"GET /v2/crawl/active HTTP/1.0\r\n\r\n").await.unwrap();
    assert_eq!(read(&mut stream).await.status, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn http2_has_its_host_in_the_target() {
    let (running, _folder) = service(|_| ()).await;
    let stream = TcpStream::connect(running.address).await.unwrap();
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    for (authority, host, expect) in [
        ("localhost", None, 200),
        ("evil.example", None, 403),
        ("evil.example", Some("localhost"), 403),
        ("localhost", Some("evil.example"), 403),
    ] {
        let request = axum::http::Request::get(format!("http://{authority}/v2/crawl/active"));
        let request = host.into_iter().fold(request, |request, host| request.header("host", host));
        let answer = sender.send_request(request.body(axum::body::Body::empty()).unwrap()).await.unwrap();
        assert_eq!(answer.status(), expect, "{authority} {host:?}");
    }
    let request = axum::http::Request::post("http://localhost/v2/crawl").header("sec-fetch-site", "cross-site");
    let request = request.header("content-type", "application/json").body(axum::body::Body::from("{}")).unwrap();
    assert_eq!(sender.send_request(request).await.unwrap().status(), 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_another_site_changes_nothing() {
    let (running, _folder) = service(|_| ()).await;
    let key = key(&running).await;
    let host = format!("localhost:{}", running.address.port());
    let ours = format!("Origin: http://{host}");
    let host = format!("Host: {host}");
    for from in [
        "Origin: http://evil.example",
        "Origin: null",
        "Origin: http://localhost",
        "Origin: http://localhost:1",
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
    ] {
        for line in [
            START,
            "POST /v2/scrape",
            "DELETE /v2/crawl/0193b0c1-b2d3-7e4f-8a9b-0c1d2e3f4a5b",
            "PATCH /v2/x",
            "PUT /v2/x",
        ] {
            assert_eq!(status(&running, line, &[&host, from]).await, 403, "{line} {from}");
            let unknown = [&host, from, "Authorization: Bearer anything"];
            assert_eq!(status(&running, line, &unknown).await, 403, "{line} {from}");
            assert_ne!(status(&running, line, &[&host, from, &key]).await, 403, "{line} {from} with a key");
        }
        let socket = [
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        ];
        let line = "GET /v2/crawl/0193b0c1-b2d3-7e4f-8a9b-0c1d2e3f4a5b";
        let socket: Vec<&str> =
            socket.into_iter().chain([host.as_str(), from, "Sec-WebSocket-Protocol: anything"]).collect();
        assert_eq!(status(&running, line, &socket).await, 403, "{from}");
        // Reads are allowed: the browser does not show the answer to a foreign page.
        assert_eq!(status(&running, READ, &[&host, from]).await, 200, "{from}");
    }
    for from in ["X: y", &ours, "Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: none"] {
        assert_eq!(status(&running, START, &[&host, from]).await, 400, "{from}");
    }
    // No answer has CORS headers that let foreign pages read it.
    let answer = call(&running, READ, &["Origin: http://evil.example"], b"").await;
    assert_eq!(answer.header("access-control-allow-origin"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn open_to_the_network_only_when_said() {
    let start = async |listen: &str, change: &dyn Fn(&mut Config)| {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        config.server.listen = listen.parse().unwrap();
        config.data.dir = folder.path().to_owned();
        change(&mut config);
        quarry_server::start(config).await
    };
    for listen in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "[::ffff:10.0.0.1]:0"] {
        match start(listen, &|_| ()).await {
            Err(StartError::Config(error)) => {
                let text = error.to_string();
                assert!(
                    text.starts_with("QUARRY__AUTH__OPEN_TO_NETWORK: ") && text.contains("server.listen"),
                    "{text}"
                );
            }
            _ => panic!("{listen}: it started, or failed for another reason"),
        }
    }
    for listen in ["127.0.0.1:0", "127.0.0.9:0"] {
        assert!(start(listen, &|_| ()).await.unwrap().stop().await, "{listen}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operators_side_can_have_a_port_of_its_own() {
    for mode in [AuthMode::Open, AuthMode::Keys] {
        let (running, _folder) = service(|config| {
            config.auth.mode = mode;
            config.admin.listen = Some("127.0.0.1:0".parse().unwrap());
        })
        .await;
        let own = running.admin_address.unwrap();
        let operator = format!("Authorization: Bearer {OPERATOR}");
        for path in ["/metrics", "/admin/teams"] {
            let line = format!("GET {path}");
            assert_eq!(call(&running, &line, &[&operator], b"").await.status, 404, "{path}");
            assert_eq!(call(&running, &line, &[], b"").await.status, 404, "{path}");
            assert_eq!(call_at(own, &line, &[&operator], b"").await.status, 200, "{path}");
        }
        assert_eq!(call_at(own, "GET /metrics", &[], b"").await.status, 200, "for Prometheus, without a token");
        assert_eq!(call_at(own, "GET /metrics", &["Host: evil.example"], b"").await.status, 403);
        assert_eq!(call_at(own, "GET /admin/teams", &[], b"").await.status, 401);
        for path in ["/v2/team/credit-usage", "/openapi.json", "/"] {
            assert_eq!(call_at(own, &format!("GET {path}"), &[], b"").await.status, 404, "{path}");
        }
        for address in [own, running.address] {
            assert_eq!(call_at(address, "GET /health/ready", &["Host: any.example"], b"").await.status, 200);
        }
        assert!(running.stop().await);
        assert!(TcpStream::connect(own).await.is_err());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_keys_are_counted_by_address() {
    let (running, _folder) = service(|config| {
        config.auth.mode = AuthMode::Keys;
        config.limits.refused_per_minute = 3;
        config.server.trusted_proxies = vec!["127.0.0.1/32".parse().unwrap()];
    })
    .await;
    let key = key(&running).await;
    let from = async |line: &str, address: &str, key: &str| {
        call(&running, line, &[&format!("X-Forwarded-For: {address}"), key], b"").await
    };
    let usage = "GET /v2/team/credit-usage";
    assert_eq!(from(usage, "192.0.2.1", &key).await.status, 200);
    for line in [usage, "GET /admin/teams", usage] {
        assert_eq!(from(line, "192.0.2.1", "Authorization: Bearer guess").await.status, 401);
    }
    for line in [usage, "GET /admin/teams"] {
        let refused = from(line, "192.0.2.1", "Authorization: Bearer guess").await;
        assert_eq!((refused.status, refused.code().as_str()), (429, "RATE_LIMITED"), "{line}");
        assert!(refused.header("retry-after").is_some());
    }
    // A key that was good goes on working beside the guesses, and other addresses are not touched.
    assert_eq!(from(usage, "192.0.2.1", &key).await.status, 200);
    assert_eq!(from(usage, "192.0.2.2", "Authorization: Bearer guess").await.status, 401);
}
