//! The sample configurations in `docs/samples` with the real programs.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

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
use xtask::sh;

use crate::crawl::linked_site;

/// Number of attempts to start nginx on a free port, if another program takes it.
const TRIES: usize = 3;
/// Timeout until it listens.
const PATIENCE: Duration = Duration::from_secs(10);

/// nginx with the sample configuration in front of a service. It ends when dropped.
struct Nginx {
    process: Child,
    address: SocketAddr,
    folder: TempDir,
}

impl Nginx {
    /// Starts it without TLS on a free port; `None` if it is not installed.
    async fn start(service: SocketAddr) -> Option<Self> {
        let program = program()?;
        for _ in 0..TRIES {
            let mut started = Self::spawn(program, service);
            if started.listens().await {
                return Some(started);
            }
        }
        panic!("nginx has ended {TRIES} times; its errors are above");
    }

    fn spawn(program: &str, service: SocketAddr) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let file = folder.path().join("nginx.conf");
        fs::write(&file, settings(folder.path(), service, address)).unwrap();
        let process = Command::new(program).arg("-c").arg(&file).arg("-p").arg(folder.path()).spawn().unwrap();
        Self { process, address, folder }
    }

    /// Waits until it listens; false if it has ended, for example because its port is in use.
    async fn listens(&mut self) -> bool {
        let started = Instant::now();
        // It writes its pid file once its sockets are open. An answer at the port may come from another program.
        while !self.folder.path().join("pid").exists() {
            if self.process.try_wait().unwrap().is_some() {
                return false;
            }
            assert!(started.elapsed() < PATIENCE, "nginx does not listen on {}", self.address);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        true
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // The id of an ended process may have been reused.
        if !matches!(self.process.try_wait(), Ok(None)) {
            return;
        }
        // SIGTERM also ends its worker, which a kill of the main process would leave behind.
        let _ = Command::new("kill").arg(self.process.id().to_string()).status();
        let _ = self.process.wait();
    }
}

/// Returns the path of nginx, if installed. Its folder is not on the PATH of every account.
fn program() -> Option<&'static str> {
    let place = "/usr/sbin/nginx";
    if Path::new(place).is_file() { Some(place) } else { sh::on_path("nginx").then_some("nginx") }
}

/// Returns the sample with the settings that nginx needs to run from a folder.
fn settings(folder: &Path, service: SocketAddr, address: SocketAddr) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/samples/nginx.conf");
    let sample = fs::read_to_string(file).unwrap();
    let sample = sample.replace("127.0.0.1:3002", &service.to_string()).replace("443 ssl", &address.to_string());
    let sample: Vec<_> = sample.lines().filter(|line| !line.trim_start().starts_with("ssl_")).collect();
    let place = folder.display();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("{kind}_temp_path {place}/{kind};\n"))
        .concat();
    format!(
        "daemon off; pid {place}/pid; error_log stderr; worker_processes 1;\nevents {{}}\n\
         http {{ access_log off;\n{temporary}{}\n}}\n",
        sample.join("\n")
    )
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
    let Some(nginx) = Nginx::start(app.address()).await else {
        println!("left out: nginx is not installed");
        return;
    };
    let caller = Client::new(nginx.address, team.token().map(str::to_owned));

    // URLs in answers begin with the address that the client has called.
    let started = caller.post("/v2/crawl", &json!({"url": app.page("/"), "limit": 3})).await;
    assert_eq!(started.status, 200, "{}", started.body);
    let job = format!("/v2/crawl/{}", started.body["id"].as_str().unwrap());
    assert_eq!(started.body["url"], format!("http://{}{job}", nginx.address));

    // A watcher can upgrade its connection.
    let mut request = format!("ws://{}{job}", nginx.address).into_client_request().unwrap();
    let bearer = format!("Bearer {}", team.token().unwrap());
    request.headers_mut().insert("authorization", bearer.parse().unwrap());
    let (mut socket, _) = connect_async(request).await.unwrap();
    assert!(socket.next().await.unwrap().unwrap().to_text().unwrap().contains("catchup"));
    caller.ended(&job).await;

    // A file larger than the default body limit of proxies.
    let page = format!("<h1>Large</h1><!-- {} -->", "x".repeat(20 << 20));
    let form = format!(
        "--cut\r\nContent-Disposition: form-data; name=\"file\"; filename=\"large.html\"\r\n\r\n{page}\r\n--cut--\r\n"
    );
    let request = caller.request(Method::POST, "/v2/parse");
    let parsed = caller.send(request.header("content-type", "multipart/form-data; boundary=cut"), form.into()).await;
    assert_eq!((parsed.status, parsed.markdown()), (200, "# Large"), "{}", parsed.body);

    // The operator's calls are not reachable through the proxy.
    for path in ["/admin/teams", "/metrics"] {
        let status = status(&nginx, path, e2e::ADMIN_TOKEN).await;
        assert!(status.starts_with("HTTP/1.1 404"), "{path}: {status}");
    }
}

/// Returns the status line of an answer that is not JSON.
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
