//! Bodies on their way in and out.

use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::caller::read;
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
    }
    // Any content type will do, as long as the body is JSON.
    for header in ["Content-Type: text/plain", "X: y"] {
        let answer = call(&running, "POST /v2/scrape", &[header], b"{\"url\":\"file:///etc/passwd\"}").await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "BAD_REQUEST"));
        assert_eq!(answer.json()["details"][0]["path"], "url");
    }
    let answer = call(&running, "POST /v2/scrape", &["Content-Encoding: gzip"], b"{}").await;
    assert_eq!((answer.status, answer.code().as_str()), (415, "UNSUPPORTED_MEDIA_TYPE"));
}

#[tokio::test(flavor = "multi_thread")]
async fn large_bodies_are_refused_and_the_client_sees_it() {
    let (running, _folder) = service(|_| ()).await;
    let body = vec![b'a'; 30 << 20];
    let answer = call(&running, "POST /v2/scrape", &[], &body).await;
    assert_eq!((answer.status, answer.code().as_str()), (413, "PAYLOAD_TOO_LARGE"));
    // Without a length, too.
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    stream
        .write_all(b"POST /v2/scrape HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n")
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
    stream.write_all(b"POST /v2/scrape HTTP/1.1\r\nHost: x\r\nContent-Length: 8192\r\n\r\n{").await.unwrap();
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
        b"POST /v2/scrape HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG";
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
