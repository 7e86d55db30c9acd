//! A fake S3-compatible store, with the part of the protocol for single objects.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

/// A store in memory with PUT, GET including a single range, HEAD, DELETE by path, and listing. A request must be signed
/// with [`Bucket::KEY`], in a header or in its URL; the signature itself is not verified. The bucket `forbidden` answers
/// 403, `narrow` does so for everything outside `own/`, `missing` does not exist.
#[derive(Debug)]
pub struct Bucket {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    objects: BTreeMap<String, Vec<u8>>,
    writes: usize,
    outage: Option<StoreOutage>,
}

/// Kind of an outage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreOutage {
    /// Connections are closed at once.
    Closed,
    /// Requests are accepted and never answered.
    Silent,
    /// There is no space for another object.
    Full,
}

impl Bucket {
    /// Access key id and secret for signing.
    pub const KEY: (&str, &str) = ("id", "secret");

    /// Starts an empty store on a free port. Any bucket name works.
    ///
    /// # Panics
    /// When the system gives no port.
    #[expect(clippy::expect_used, reason = "a test without its fake has failed")]
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&shared)));
            }
        });
        Self { address, state }
    }

    /// Returns the `endpoint` for an S3 client.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the names of all objects as `/bucket/key`.
    #[must_use]
    pub fn keys(&self) -> Vec<String> {
        self.state.lock().objects.keys().cloned().collect()
    }

    /// Returns the bytes of an object, by its `/bucket/key`.
    #[must_use]
    pub fn object(&self, key: &str) -> Option<Vec<u8>> {
        self.state.lock().objects.get(key).cloned()
    }

    /// Starts an outage, or ends it with `None`. Objects are kept.
    pub fn set_outage(&self, outage: Option<StoreOutage>) {
        self.state.lock().outage = outage;
    }

    /// Returns the number of writes.
    #[must_use]
    pub fn writes(&self) -> usize {
        self.state.lock().writes
    }
}

struct Request {
    method: String,
    url: Url,
    /// Header names and values in lower case.
    headers: Vec<String>,
    body: Vec<u8>,
}

struct Answer {
    status: &'static str,
    headers: String,
    body: Vec<u8>,
}

impl Answer {
    fn of(status: &'static str) -> Self {
        Self { status, headers: String::new(), body: Vec::new() }
    }
}

async fn serve(stream: TcpStream, state: Arc<Mutex<State>>) -> std::io::Result<()> {
    let outage = state.lock().outage;
    match outage {
        Some(StoreOutage::Closed) => return Ok(()),
        Some(StoreOutage::Silent) => std::future::pending().await,
        Some(StoreOutage::Full) | None => {}
    }
    let mut stream = BufReader::new(stream);
    let Some(request) = read(&mut stream).await? else { return Ok(()) };
    let is_head = request.method == "HEAD";
    let Answer { status, headers, body } = answer(&mut state.lock(), request);
    let head = format!(
        "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\nETag: \"1\"\r\n\
         Last-Modified: Sat, 01 Jan 2028 00:00:00 GMT\r\n{headers}\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    if !is_head {
        stream.write_all(&body).await?;
    }
    stream.shutdown().await
}

async fn read(stream: &mut BufReader<TcpStream>) -> std::io::Result<Option<Request>> {
    let mut first = String::new();
    stream.read_line(&mut first).await?;
    let mut words = first.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let Ok(url) = Url::parse(&format!("http://bucket{target}")) else { return Ok(None) };
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(None);
        }
        match line.trim() {
            "" => break,
            line => headers.push(line.to_ascii_lowercase()),
        }
    }
    let mut request = Request { method: method.to_owned(), url, headers, body: Vec::new() };
    let length = request.header("content-length").and_then(|value| value.parse().ok()).unwrap_or(0);
    request.body.resize(length, 0);
    stream.read_exact(&mut request.body).await?;
    Ok(Some(request))
}

impl Request {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim()))
    }

    fn query(&self, name: &str) -> Option<String> {
        self.url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
    }

    fn is_signed(&self) -> bool {
        let by = |credential: &str| credential.starts_with(&format!("{}/", Bucket::KEY.0));
        let header = self.header("authorization").and_then(|value| value.strip_prefix("aws4-hmac-sha256 credential="));
        let in_address = self.query("X-Amz-Credential").filter(|_| self.query("X-Amz-Signature").is_some());
        header.is_some_and(by) || in_address.is_some_and(|credential| by(&credential))
    }

    /// Returns whether the request is for an object in this folder of its bucket, or for a list of it.
    fn is_under(&self, folder: &str) -> bool {
        let key = self.url.path().trim_start_matches('/').split_once('/').map(|(_, key)| key.to_owned());
        self.query("prefix").or(key).is_some_and(|asked| asked.starts_with(folder))
    }

    /// Returns first and last byte of `bytes=FIRST-LAST`.
    fn range(&self) -> Option<(usize, usize)> {
        let (first, last) = self.header("range")?.strip_prefix("bytes=")?.split_once('-')?;
        Some((first.parse().ok()?, last.parse().ok()?))
    }

    /// Returns the response headers that the URL requests.
    fn wanted(&self) -> String {
        ["content-type", "content-disposition", "cache-control"]
            .into_iter()
            .filter_map(|name| Some(format!("{name}: {}\r\n", self.query(&format!("response-{name}"))?)))
            .collect()
    }
}

fn answer(state: &mut State, request: Request) -> Answer {
    let path = request.url.path().to_owned();
    let is_elsewhere = path.starts_with("/narrow") && !request.is_under("own/");
    if !request.is_signed() || path.starts_with("/forbidden") || is_elsewhere {
        return Answer::of("403 Forbidden");
    }
    if path.starts_with("/missing") {
        let body = "<Error><Code>NoSuchBucket</Code><Message>The bucket does not exist</Message></Error>";
        return Answer { body: body.into(), ..Answer::of("404 Not Found") };
    }
    match request.method.as_str() {
        "GET" if request.query("list-type").is_some() => Answer { body: list(state, &request), ..Answer::of("200 OK") },
        "PUT" if state.outage == Some(StoreOutage::Full) => {
            let body = "<Error><Code>XMinioStorageFull</Code><Message>Storage is full</Message></Error>";
            Answer { body: body.into(), ..Answer::of("507 Insufficient Storage") }
        }
        "PUT" => {
            state.writes += 1;
            state.objects.insert(path, request.body);
            Answer::of("200 OK")
        }
        "DELETE" => {
            state.objects.remove(&path);
            Answer::of("204 No Content")
        }
        _ => match state.objects.get(&path) {
            Some(object) => found(&request, object),
            None => Answer::of("404 Not Found"),
        },
    }
}

/// Returns the first thousand keys of a bucket after `start-after` with this `prefix`, as in ListObjectsV2.
fn list(state: &State, request: &Request) -> Vec<u8> {
    let folder = format!("{}/", request.url.path().trim_end_matches('/'));
    let (prefix, after) =
        (request.query("prefix").unwrap_or_default(), request.query("start-after").unwrap_or_default());
    let keys = state.objects.iter().filter_map(|(path, body)| Some((path.strip_prefix(&folder)?, body.len())));
    let keys = keys.filter(|(key, _)| key.starts_with(&prefix) && *key > after.as_str()).take(1000);
    let entry = |(key, size): (&str, usize)| {
        format!(
            "<Contents><Key>{key}</Key><LastModified>2028-01-01T00:00:00.000Z</LastModified><ETag>\"1\"</ETag>\
             <Size>{size}</Size></Contents>"
        )
    };
    let entries: String = keys.map(entry).collect();
    format!("<ListBucketResult><IsTruncated>false</IsTruncated>{entries}</ListBucketResult>").into_bytes()
}

fn found(request: &Request, object: &[u8]) -> Answer {
    let headers = request.wanted();
    let Some((first, last)) = request.range() else {
        return Answer { status: "200 OK", headers, body: object.to_vec() };
    };
    if first >= object.len() || first > last {
        return Answer::of("416 Range Not Satisfiable");
    }
    let last = last.min(object.len() - 1);
    let headers = format!("{headers}Content-Range: bytes {first}-{last}/{}\r\n", object.len());
    Answer { status: "206 Partial Content", headers, body: object[first..=last].to_vec() }
}
