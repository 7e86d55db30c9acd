//! As much of the S3 protocol as single objects need: PUT, GET, HEAD and DELETE by path. The bucket `forbidden` answers 403.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use base::Secret;
use blobs::{Blobs, S3};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

#[derive(Default)]
struct State {
    objects: BTreeMap<String, Vec<u8>>,
    writes: usize,
}

pub(crate) struct Bucket {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl Bucket {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&shared)));
            }
        });
        Self { address, state }
    }

    pub(crate) fn open(&self, url: &str) -> Blobs {
        let s3 = S3 {
            endpoint: Some(format!("http://{}/", self.address)),
            access_key_id: Some("id".to_owned()),
            secret_access_key: Some(Secret::new("secret")),
            ..S3::default()
        };
        Blobs::open_with(url, &s3).unwrap()
    }

    pub(crate) fn keys(&self) -> Vec<String> {
        self.state.lock().unwrap().objects.keys().cloned().collect()
    }

    pub(crate) fn size(&self, key: &str) -> usize {
        self.state.lock().unwrap().objects[key].len()
    }

    pub(crate) fn writes(&self) -> usize {
        self.state.lock().unwrap().writes
    }
}

async fn serve(stream: TcpStream, state: Arc<Mutex<State>>) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(());
        }
        if line.trim().is_empty() {
            break;
        }
        lines.push(line.trim().to_ascii_lowercase());
    }
    let length = lines.iter().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    let mut words = lines[0].split(' ');
    let (method, path) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let signed = lines.iter().any(|line| line.starts_with("authorization: aws4-hmac-sha256 credential=id/"));
    let (status, answer) = answer(&state, method, path, body, signed);
    let head = format!(
        "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\nETag: \"1\"\r\nLast-Modified: Sat, 01 Jan 2028 00:00:00 GMT\r\n\r\n",
        answer.len()
    );
    stream.write_all(head.as_bytes()).await?;
    if method != "head" {
        stream.write_all(&answer).await?;
    }
    stream.shutdown().await
}

fn answer(state: &Mutex<State>, method: &str, path: &str, body: Vec<u8>, signed: bool) -> (&'static str, Vec<u8>) {
    let mut state = state.lock().unwrap();
    if !signed || path.starts_with("/forbidden") {
        return ("403 Forbidden", Vec::new());
    }
    match method {
        "put" => {
            state.writes += 1;
            state.objects.insert(path.to_owned(), body);
            ("200 OK", Vec::new())
        }
        "delete" => {
            state.objects.remove(path);
            ("204 No Content", Vec::new())
        }
        _ => match state.objects.get(path) {
            Some(found) => ("200 OK", found.clone()),
            None => ("404 Not Found", Vec::new()),
        },
    }
}
