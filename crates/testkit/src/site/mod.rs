//! A scriptable web server for tests, path by path, also with hostile behaviour.

mod request;
mod script;
mod serve;
mod tls;

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};
use tokio_rustls::TlsAcceptor;
use url::Url;

pub use request::Seen;
pub use script::{H2Attack, Reply, Script, h2_frame};

/// A scriptable web server. It speaks HTTP/1.1, and TLS on the same port when started with [`Site::start_tls`]. Paths
/// without a script answer 404.
#[derive(Debug)]
pub struct Site {
    addr: SocketAddr,
    scheme: &'static str,
    shared: Arc<Shared>,
    task: AbortHandle,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    connections: AtomicUsize,
    /// Number of bytes written to all connections.
    sent: AtomicU64,
}

#[derive(Default)]
struct State {
    routes: HashMap<String, Route>,
    /// Scripts by path prefix; the longest matching prefix applies.
    prefixes: HashMap<String, Route>,
    others: Option<Others>,
    seen: Vec<Seen>,
    h2: Option<H2Attack>,
}

/// Function that generates the response for a path without a script.
type Others = Arc<dyn Fn(&Seen) -> Option<Script> + Send + Sync>;

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").field("routes", &self.routes).field("seen", &self.seen.len()).finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct Route {
    scripts: Vec<Arc<Script>>,
    served: usize,
}

impl Site {
    /// Listens on a free port of 127.0.0.1, without TLS.
    ///
    /// # Panics
    /// When loopback has no free port.
    pub async fn start() -> Self {
        match Self::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await {
            Ok(site) => site,
            Err(error) => panic!("cannot start a site: {error}"),
        }
    }

    /// Starts a site like [`Site::start`], also with TLS: self-signed for `origin.test`, `localhost` and 127.0.0.1, ALPN h2
    /// and http/1.1. [`Site::url`] returns https URLs.
    ///
    /// # Panics
    /// When loopback has no free port.
    pub async fn start_tls() -> Self {
        let mut site = Self::start().await;
        site.scheme = "https";
        site
    }

    /// Listens on the given address. The first byte of a connection decides between TLS and plain text.
    ///
    /// # Errors
    /// When the address is in use.
    pub async fn bind(addr: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(addr).await?;
        let addr = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let task = tokio::spawn(accept(listener, Arc::clone(&shared), tls::acceptor()?)).abort_handle();
        Ok(Self { addr, scheme: "http", shared, task })
    }

    /// Returns the listening address.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Returns the URL of a path, with the IP address as host.
    ///
    /// # Panics
    /// When `path` is invalid.
    #[must_use]
    pub fn url(&self, path: &str) -> Url {
        match Url::parse(&format!("{}://{}{path}", self.scheme, self.addr)) {
            Ok(url) => url,
            Err(error) => panic!("{path} is not a path: {error}"),
        }
    }

    /// Answers `path` with an HTML page.
    pub fn html(&self, path: &str, body: impl AsRef<[u8]>) {
        let headers = vec![("content-type".to_owned(), "text/html; charset=utf-8".to_owned())];
        self.respond(path, Reply { headers, body: body.as_ref().to_vec().into(), ..Reply::default() });
    }

    /// Sets the response of `path`, which may have a query; a path without a query applies to all queries.
    pub fn respond(&self, path: &str, reply: Reply) {
        self.script(path, vec![Script::Reply(reply)]);
    }

    /// Sets the response of `path`, which is held back until the returned sender is dropped.
    ///
    /// For tests that do something while a request is under way, however long that takes.
    #[must_use = "the response is held back only as long as this lives"]
    pub fn hold(&self, path: &str, reply: Reply) -> watch::Sender<()> {
        let (sender, held) = watch::channel(());
        self.script(path, vec![Script::Held(reply, held)]);
        sender
    }

    /// Sets the scripts of `path`, one per request; the last one is repeated.
    pub fn script(&self, path: &str, scripts: Vec<Script>) {
        let scripts = scripts.into_iter().map(Arc::new).collect();
        self.shared.state.lock().routes.insert(path.to_owned(), Route { scripts, served: 0 });
    }

    /// Sets the scripts, like [`Site::script`], of all paths that begin with `prefix` and have no script of their own.
    pub fn script_below(&self, prefix: &str, scripts: Vec<Script>) {
        let scripts = scripts.into_iter().map(Arc::new).collect();
        self.shared.state.lock().prefixes.insert(prefix.to_owned(), Route { scripts, served: 0 });
    }

    /// Sets the function that generates responses for all paths without a script, for sites of any size. `None` gives 404.
    pub fn others(&self, make: impl Fn(&Seen) -> Option<Reply> + Send + Sync + 'static) {
        self.others_by_script(move |seen| make(seen).map(Script::Reply));
    }

    /// Sets the function that generates scripts for all paths without one of their own. `None` gives 404.
    pub fn others_by_script(&self, make: impl Fn(&Seen) -> Option<Script> + Send + Sync + 'static) {
        self.shared.state.lock().others = Some(Arc::new(make));
    }

    /// Sets the attack on HTTP/2 connections; `None` for normal HTTP/2.
    pub fn attack_h2(&self, attack: Option<H2Attack>) {
        self.shared.state.lock().h2 = attack;
    }

    /// Removes all scripts and recorded requests.
    pub fn reset(&self) {
        *self.shared.state.lock() = State::default();
        self.shared.connections.store(0, Ordering::SeqCst);
        self.shared.sent.store(0, Ordering::SeqCst);
    }

    /// Returns all requests so far, in the order in which their heads were complete.
    #[must_use]
    pub fn requests(&self) -> Vec<Seen> {
        self.shared.state.lock().seen.clone()
    }

    /// Removes and returns the recorded requests, so that a site with millions of requests does not keep them all.
    #[must_use]
    pub fn take_requests(&self) -> Vec<Seen> {
        std::mem::take(&mut self.shared.state.lock().seen)
    }

    /// Returns the number of bytes written so far: heads, bodies and TLS overhead, including data in the system's buffers.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.shared.sent.load(Ordering::SeqCst)
    }

    /// Returns the number of accepted connections.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Shared {
    /// Records a request and returns its script.
    fn turn(&self, seen: &Seen) -> Option<Arc<Script>> {
        let mut state = self.state.lock();
        let path = seen.path.clone();
        state.seen.push(seen.clone());
        let bare = path.split('?').next().unwrap_or_default();
        let key = if state.routes.contains_key(&path) { path.as_str() } else { bare };
        let State { routes, prefixes, others, .. } = &mut *state;
        let below = prefixes.iter_mut().filter(|(prefix, _)| path.starts_with(*prefix));
        let below = below.max_by_key(|(prefix, _)| prefix.len()).map(|(_, route)| route);
        let Some(route) = routes.get_mut(key).or(below) else {
            let make = others.clone()?;
            // Generating a large page takes time, so the lock is released before.
            drop(state);
            return make(seen).map(Arc::new);
        };
        let script = route.scripts.get(route.served).or(route.scripts.last()).cloned();
        route.served += 1;
        script
    }

    fn h2(&self) -> Option<H2Attack> {
        self.state.lock().h2
    }
}

/// Accepts connections into a `JoinSet`, so that they end with this task.
async fn accept(listener: TcpListener, shared: Arc<Shared>, tls: TlsAcceptor) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        shared.connections.fetch_add(1, Ordering::SeqCst);
        connections.spawn(serve::connection(stream, Arc::clone(&shared), tls.clone()));
        while connections.try_join_next().is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::time::Duration;

    use hyper_util::rt::{TokioExecutor, TokioIo};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;
    use tokio::time::timeout;

    use super::*;
    use crate::{Body, Encoding};

    /// Sends a request and returns everything received until the site closes.
    async fn ask(site: &Site, request: &str) -> String {
        let mut stream = TcpStream::connect(site.addr()).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut out = Vec::new();
        stream.read_to_end(&mut out).await.unwrap();
        String::from_utf8_lossy(&out).into_owned()
    }

    #[tokio::test]
    async fn answers_path_by_path_on_one_connection() {
        let site = Site::start().await;
        site.html("/a", "<p>a");
        site.respond("/a?x=1", Reply { status: 500, ..Reply::default() }.header("X", "1"));
        let last = "GET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        let both = format!("GET /a?x=2 HTTP/1.1\r\nHost: x\r\n\r\nGET /a?x=1 HTTP/1.1\r\nHost: x\r\n\r\n{last}");
        let text = ask(&site, &both).await;
        let found = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part:?} in {text}"));
        assert!(found("content-length: 4\r\n\r\n<p>a") < found("500 Internal Server Error\r\nX: 1\r\n"));
        assert!(found("X: 1\r\n") < found("404 Not Found"));
        assert_eq!((site.requests().len(), site.connections(), site.sent()), (3, 1, text.len() as u64));
        assert_eq!((site.take_requests().len(), site.requests().len()), (3, 0));
    }

    #[tokio::test]
    async fn scripts_take_turns_and_the_last_one_stays() {
        let site = Site::start().await;
        let raw = |text: &'static str| Script::Raw(text.into());
        site.script("/", vec![raw("one"), raw("two")]);
        for expect in ["one", "two", "two"] {
            assert_eq!(ask(&site, "GET / HTTP/1.1\r\nHost: x\r\n\r\n").await, expect);
        }
    }

    #[tokio::test]
    async fn what_is_held_back_comes_when_it_is_let_go() {
        let site = Site::start().await;
        let held = site.hold("/", Reply { body: "late".into(), ..Reply::default() });
        let mut asked = pin!(ask(&site, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
        assert!(timeout(Duration::from_millis(100), asked.as_mut()).await.is_err());
        drop(held);
        assert!(asked.await.ends_with("late"));
    }

    #[tokio::test]
    async fn other_paths_are_made_when_they_are_asked_for() {
        let site = Site::start().await;
        site.html("/a", "<p>a");
        site.others(|seen| {
            let number = seen.path.strip_prefix("/n/")?;
            Some(Reply { body: format!("<p>{number}").into(), ..Reply::default() })
        });
        for (path, expect) in [("/a", "<p>a"), ("/n/7", "<p>7"), ("/x", "404")] {
            let text = ask(&site, &format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")).await;
            assert!(text.contains(expect), "{text}");
        }
    }

    #[tokio::test]
    async fn the_longest_beginning_of_a_path_answers() {
        let site = Site::start().await;
        site.html("/a/own", "own");
        site.script_below("/a/", vec![Script::Raw("short".into())]);
        site.script_below("/a/b", vec![Script::Raw("long".into())]);
        for (path, expect) in [("/a/own", "own"), ("/a/x", "short"), ("/a/bc?d", "long"), ("/", "404")] {
            let text = ask(&site, &format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")).await;
            assert!(text.contains(expect), "{path}: {text}");
        }
    }

    #[tokio::test]
    async fn another_server_answers_what_is_handed_on() {
        let (site, other) = (Site::start().await, Site::start().await);
        site.html("/a", "own");
        site.script_below("/far/", vec![Script::Forward(other.addr())]);
        other.script("/far/e", vec![Script::Echo]);
        other.script("/far/ws", vec![Script::Raw("HTTP/1.1 101 Switching Protocols\r\n\r\nhello".into())]);
        let text = ask(&site, "POST /far/e HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi").await;
        assert!(text.contains(r#""body":"hi""#), "{text}");
        let text = ask(&site, "GET /far/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: y\r\n\r\n").await;
        assert!(text.ends_with("hello"), "{text}");
        assert_eq!(other.requests()[1].header("connection"), "Upgrade");
    }

    #[tokio::test]
    async fn a_false_length_is_sent_and_the_connection_closed() {
        let site = Site::start().await;
        site.respond("/", Reply { body: "short".into(), ..Reply::default() }.header("Content-Length", "1000"));
        let text = ask(&site, "GET / HTTP/1.1\r\nHost: x\r\n\r\n").await;
        assert!(text.ends_with("Content-Length: 1000\r\n\r\nshort"), "{text}");
    }

    #[tokio::test]
    async fn what_has_no_known_length_comes_in_chunks() {
        let site = Site::start().await;
        let body = Body::Zeros { bytes: 1000, encodings: vec![Encoding::Gzip] };
        site.respond("/", Reply { body, ..Reply::default() });
        let text = ask(&site, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
        assert!(text.contains("transfer-encoding: chunked\r\n\r\n") && text.ends_with("\r\n0\r\n\r\n"), "{text}");
    }

    #[tokio::test]
    async fn echoes_the_request() {
        let site = Site::start().await;
        site.script("/e", vec![Script::Echo]);
        let request = "POST /e HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi";
        let text = ask(&site, request).await;
        assert!(text.contains(r#""body":"hi""#) && text.contains(r#"["host","x"]"#), "{text}");
    }

    #[tokio::test]
    async fn slow_and_endless_heads_last_until_the_client_leaves() {
        let site = Site::start().await;
        site.script("/slow", vec![Script::DripHead(Duration::from_millis(1))]);
        site.script("/interim", vec![Script::EndlessInterim]);
        for (path, begin) in [("/slow", "HTTP/1.1 200 OK\r\nX-Slow: aaa"), ("/interim", "HTTP/1.1 103 Early Hints\r\n")]
        {
            let mut stream = TcpStream::connect(site.addr()).await.unwrap();
            stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).await.unwrap();
            let mut start = vec![0; begin.len()];
            stream.read_exact(&mut start).await.unwrap();
            assert_eq!(String::from_utf8(start).unwrap(), begin);
        }
    }

    #[tokio::test]
    async fn speaks_honest_http2() {
        let site = Site::start().await;
        site.html("/a", "<p>two");
        let stream = TokioIo::new(TcpStream::connect(site.addr()).await.unwrap());
        let (mut client, connection) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), stream).await.unwrap();
        tokio::spawn(connection);
        let request = http::Request::get("http://x/a").body(http_body_util::Empty::<bytes::Bytes>::new()).unwrap();
        let answer = client.send_request(request).await.unwrap();
        let body = http_body_util::BodyExt::collect(answer.into_body()).await.unwrap().to_bytes();
        assert_eq!((body.as_ref(), site.requests()[0].path.as_str()), (&b"<p>two"[..], "/a"));
    }

    #[tokio::test]
    async fn floods_over_http2() {
        let site = Site::start().await;
        site.attack_h2(Some(H2Attack::ContinuationFlood));
        let stream = TokioIo::new(TcpStream::connect(site.addr()).await.unwrap());
        let (mut client, connection) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), stream).await.unwrap();
        tokio::spawn(connection);
        let request = http::Request::get("http://x/").body(http_body_util::Empty::<bytes::Bytes>::new()).unwrap();
        let error = client.send_request(request).await.unwrap_err();
        assert!(format!("{error:?}").contains("ENHANCE_YOUR_CALM"), "{error:?}");
    }
}
