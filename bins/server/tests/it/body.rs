//! Request and response bodies.

use std::time::{Duration, Instant};

use boot::config::AuthMode;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::caller::{OPERATOR, read};
use crate::{call, service};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_json_is_told_so() {
    let (running, _folder) = service(|_| ()).await;
    let deep = "[".repeat(50_000);
    for body in
        [&b""[..], b"{", b"{\"url\":\"\xff\xfe\"}", b"{\"url\":\"http://x.test/\",\"timeout\":1e400}", deep.as_bytes()]
    {
        let answer = call(&running, "POST /v2/scrape", &["Content-Type: application/json"], body).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "BAD_REQUEST_INVALID_JSON"));
        let told = answer.json();
        let error = told["error"].as_str().unwrap_or_default();
        assert_eq!(told, json!({"success": false, "code": "BAD_REQUEST_INVALID_JSON", "error": error}));
        assert!(body.is_empty() || error.starts_with("Bad request, malformed JSON: "), "{error}");
    }
    let answer = call(&running, "POST /v2/scrape", &["Content-Encoding: gzip"], b"{}").await;
    assert_eq!((answer.status, answer.code().as_str()), (415, "UNSUPPORTED_MEDIA_TYPE"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_must_be_called_json() {
    for mode in [AuthMode::Open, AuthMode::Keys] {
        let (running, _folder) = service(|config| config.auth.mode = mode).await;
        let operator = format!("Authorization: Bearer {OPERATOR}");
        let made = call(&running, "POST /admin/teams", &[&operator], br#"{"name":"a"}"#).await.json();
        let key = format!("Authorization: Bearer {}", made["apiKey"].as_str().unwrap());
        let body = br#"{"url":"file:///etc/passwd"}"#;
        for kind in ["application/json", "Application/JSON; charset=utf-8", "application/vnd.x+json"] {
            let answer = call(&running, "POST /v2/scrape", &[&key, &format!("Content-Type: {kind}")], body).await;
            assert_eq!((answer.status, answer.json()["details"][0]["path"].as_str()), (400, Some("url")), "{kind}");
        }
        // Content types that a foreign page may send without a preflight request.
        for kind in [
            "text/plain",
            "text/plain;charset=UTF-8",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
            "",
        ] {
            for line in ["POST /v2/scrape", "POST /v2/crawl", "POST /v2/batch/scrape", "POST /v2/map"] {
                let answer = call(&running, line, &[&key, &format!("Content-Type: {kind}")], body).await;
                assert_eq!((answer.status, answer.code().as_str()), (415, "UNSUPPORTED_MEDIA_TYPE"), "{line} {kind}");
                assert!(answer.json()["error"].as_str().unwrap().contains("application/json"));
            }
            let answer =
                call(&running, "POST /admin/teams", &[&operator, &format!("Content-Type: {kind}")], b"{}").await;
            assert_eq!(answer.status, 415, "{kind}");
        }
        for framing in ["Content-Length: 28", "Transfer-Encoding: chunked"] {
            let mut stream = TcpStream::connect(running.address).await.unwrap();
            let head = format!(
                "POST /v2/scrape HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{key}\r\n{framing}\r\n\r\n"
            );
            let body = match framing.starts_with('C') {
                true => String::from_utf8_lossy(body).into_owned(),
                false => format!("1c\r\n{}\r\n0\r\n\r\n", String::from_utf8_lossy(body)),
            };
            stream.write_all((head + &body).as_bytes()).await.unwrap();
            assert_eq!(read(&mut stream).await.status, 415, "a body of no kind at all, {framing}");
        }
        // An empty body has no wrong content type.
        for kind in ["X: y", "Content-Type: text/plain"] {
            let answer = call(&running, "POST /v2/scrape", &[&key, kind], b"").await;
            assert_eq!((answer.status, answer.code().as_str()), (400, "BAD_REQUEST_INVALID_JSON"), "{kind}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_large_bodies_of_one_caller_are_in_nobodys_way() {
    let (running, _folder) = service(|config| config.server.body_timeout = Duration::from_secs(20)).await;
    let operator = format!("Authorization: Bearer {OPERATOR}");
    let mut held = Vec::new();
    for _ in 0..20 {
        let mut stream = TcpStream::connect(running.address).await.unwrap();
        let head = "POST /v2/scrape HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 200000\r\n\r\n";
        stream.write_all([head.as_bytes(), &[b' '; 100_000]].concat().as_slice()).await.unwrap();
        held.push(stream);
    }
    let made = call(&running, "POST /admin/teams", &[&operator], br#"{"name":"a"}"#).await.json();
    let key = format!("Authorization: Bearer {}", made["apiKey"].as_str().unwrap());
    let body = format!(r#"{{"url":"file:///etc/passwd","x":"{}"}}"#, "x".repeat(200_000));
    let started = Instant::now();
    assert_eq!(call(&running, "POST /v2/scrape", &[&key], body.as_bytes()).await.status, 400);
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn large_bodies_are_refused_and_the_client_sees_it() {
    let (running, _folder) = service(|_| ()).await;
    let body = vec![b'a'; 30 << 20];
    let answer = call(&running, "POST /v2/scrape", &[], &body).await;
    assert_eq!((answer.status, answer.code().as_str()), (413, "PAYLOAD_TOO_LARGE"));
    // Also without Content-Length.
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    stream
        .write_all(b"POST /v2/scrape HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        .await
        .unwrap();
    let chunk = [b"100000\r\n".to_vec(), vec![b'a'; 1 << 20], b"\r\n".to_vec()].concat();
    for _ in 0..15 {
        stream.write_all(&chunk).await.unwrap();
    }
    stream.write_all(b"0\r\n\r\n").await.unwrap();
    assert_eq!(read(&mut stream).await.status, 413);
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_bodies_are_given_up() {
    let (running, _folder) = service(|config| config.server.body_timeout = Duration::from_millis(300)).await;
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    stream.write_all(b"POST /v2/scrape HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 8192\r\n\r\n{").await.unwrap();
    let started = Instant::now();
    let answer = read(&mut stream).await;
    assert_eq!((answer.status, answer.code().as_str()), (400, "BAD_REQUEST"));
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_length_beside_chunks_ends_the_connection() {
    let (running, _folder) = service(|_| ()).await;
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    let smuggled =
        b"POST /v2/scrape HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG";
    stream.write_all(smuggled).await.unwrap();
    let started = Instant::now();
    assert_eq!(read(&mut stream).await.status, 400);
    assert!(started.elapsed() < Duration::from_secs(5), "the connection was kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn large_answers_are_compressed_when_asked() {
    let (running, _folder) = service(|_| ()).await;
    let plain = call(&running, "GET /openapi.json", &[], b"").await;
    assert_eq!(plain.json()["openapi"].as_str().map(|version| &version[..3]), Some("3.1"));
    let packed = call(&running, "GET /openapi.json", &["Accept-Encoding: br, gzip"], b"").await;
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    assert!(packed.body.len() < plain.body.len() / 3);
    let small = call(&running, "GET /health", &["Accept-Encoding: gzip"], b"").await;
    assert_eq!(small.header("content-encoding"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_has_a_request_id_and_metrics_count_it() {
    let (running, _folder) = service(|_| ()).await;
    assert_eq!(call(&running, "GET /health", &["x-request-id: mine"], b"").await.header("x-request-id"), Some("mine"));
    for headers in [&[][..], &["x-request-id: a b"]] {
        assert_eq!(call(&running, "GET /nothing", headers, b"").await.header("x-request-id").map(str::len), Some(36));
    }
    let metrics = call(&running, "GET /metrics", &[], b"").await;
    let text = String::from_utf8(metrics.body).unwrap();
    for part in [
        "# TYPE quarry_http_requests_total counter",
        "route=\"/health\"",
        "route=\"unmatched\"",
        "quarry_http_request_seconds_bucket",
        "quarry_build_info",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("/nothing"));
}
