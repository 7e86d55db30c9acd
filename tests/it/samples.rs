//! The sample configurations of `docs/samples` with the real programs.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use boot::config::AuthMode;
use e2e::{Client, TestApp};
use futures_util::StreamExt;
use http::Method;
use serde_json::json;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use crate::crawl::linked_site;

/// nginx with the sample in front of a service. It ends when dropped.
struct Nginx {
    process: Child,
    address: SocketAddr,
    _folder: TempDir,
}

impl Nginx {
    /// Starts it, without TLS and on a port of its own.
    async fn start(service: SocketAddr) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let sample =
            fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/samples/nginx.conf")).unwrap();
        let sample = sample.replace("127.0.0.1:3002", &service.to_string()).replace("443 ssl", &address.to_string());
        let sample: Vec<_> = sample.lines().filter(|line| !line.trim_start().starts_with("ssl_")).collect();
        let place = folder.path().display();
        let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|kind| format!("{kind}_temp_path {place}/{kind};\n"))
            .concat();
        let whole = format!(
            "daemon off; pid {place}/pid; error_log stderr; worker_processes 1;\nevents {{}}\n\
             http {{ access_log off;\n{temporary}{}\n}}\n",
            sample.join("\n")
        );
        let file = folder.path().join("nginx.conf");
        fs::write(&file, whole).unwrap();
        let program = if Path::new("/usr/sbin/nginx").is_file() { "/usr/sbin/nginx" } else { "nginx" };
        let process = Command::new(program).arg("-c").arg(&file).arg("-p").arg(folder.path()).spawn().unwrap();
        let started = Self { process, address, _folder: folder };
        for _ in 0..500 {
            if TcpStream::connect(address).await.is_ok() {
                return started;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("nginx does not listen on {address}");
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // SIGTERM ends its worker too, which a kill of the main process would leave behind.
        let _ = Command::new("kill").arg(self.process.id().to_string()).status();
        let _ = self.process.wait();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nginx_lets_through_what_clients_need() {
    let app = TestApp::with(|config| {
        config.auth.mode = AuthMode::Keys;
        config.server.trusted_proxies = vec!["127.0.0.1/32".parse().unwrap()];
    })
    .await;
    linked_site(&app, 3);
    let team = app.team(None, json!({})).await;
    let nginx = Nginx::start(app.address()).await;
    let caller = Client::new(nginx.address, team.token().map(str::to_owned));

    // Addresses in answers are those that the client has typed.
    let started = caller.post("/v2/crawl", &json!({"url": app.page("/"), "limit": 3})).await;
    assert_eq!(started.status, 200, "{}", started.body);
    let job = format!("/v2/crawl/{}", started.body["id"].as_str().unwrap());
    assert_eq!(started.body["url"], format!("http://{}{job}", nginx.address));

    // A watcher gets its upgrade.
    let mut request = format!("ws://{}{job}", nginx.address).into_client_request().unwrap();
    let bearer = format!("Bearer {}", team.token().unwrap());
    request.headers_mut().insert("authorization", bearer.parse().unwrap());
    let (mut socket, _) = connect_async(request).await.unwrap();
    assert!(socket.next().await.unwrap().unwrap().to_text().unwrap().contains("catchup"));
    caller.ended(&job).await;

    // A file larger than what proxies let through by themselves.
    let page = format!("<h1>Large</h1><!-- {} -->", "x".repeat(20 << 20));
    let form = format!(
        "--cut\r\nContent-Disposition: form-data; name=\"file\"; filename=\"large.html\"\r\n\r\n{page}\r\n--cut--\r\n"
    );
    let request = caller.request(Method::POST, "/v2/parse");
    let parsed = caller.send(request.header("content-type", "multipart/form-data; boundary=cut"), form.into()).await;
    assert_eq!((parsed.status, parsed.markdown()), (200, "# Large"), "{}", parsed.body);

    // The operator's calls stay inside.
    for path in ["/admin/teams", "/metrics"] {
        let status = status(&nginx, path, e2e::ADMIN_TOKEN).await;
        assert!(status.starts_with("HTTP/1.1 404"), "{path}: {status}");
    }
}

/// The first line of an answer that is not JSON.
async fn status(nginx: &Nginx, path: &str, token: &str) -> String {
    let mut stream = TcpStream::connect(nginx.address).await.unwrap();
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n",
        nginx.address
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_owned()
}
