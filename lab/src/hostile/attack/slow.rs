//! Slow body and slow head, with the options of slowhttptest (its manual page, section "OPTIONS").

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{Outcome, Target, connect, with_health};

/// Maximum duration of an attack, regardless of the case.
const MAX_TIME: Duration = Duration::from_secs(60);
const MAX_CONNECTIONS: u32 = 5000;
/// Ignored options with a value: measurements, output files, client names.
const IGNORED: &[&str] = &["-a", "-b", "-d", "-e", "-f", "-j", "-k", "-m", "-o", "-p", "-v", "-w"];
/// Ignored options without a value.
const IGNORED_FLAGS: &[&str] = &["-1", "-g"];

/// Part of the request or answer that is transferred slowly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SlowPart {
    Body,
    Head,
    /// Reads the answer slowly.
    Answer,
}

/// Options of the slowhttptest command line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Options {
    part: SlowPart,
    connections: u32,
    /// New connections per second.
    rate: f64,
    /// Interval between two bytes.
    interval: Duration,
    content_length: u64,
    /// Method of a slow head; that of a slow body is POST unless the case sets another.
    method: Option<String>,
    /// Receive window in bytes, and bytes per read; for [`SlowPart::Answer`].
    window: u32,
    portion: usize,
    path: String,
    length: Duration,
}

impl Options {
    /// Parses the command line.
    pub(crate) fn parse(line: &str) -> Result<Self> {
        let mut options = Self {
            part: SlowPart::Head,
            connections: 50,
            rate: 50.0,
            interval: Duration::from_secs(10),
            content_length: 4096,
            method: None,
            window: 512,
            portion: 5,
            path: "/".to_owned(),
            length: MAX_TIME,
        };
        let mut words = line.split_whitespace();
        while let Some(flag) = words.next() {
            if let Some(part) = part(flag) {
                options.part = part;
                continue;
            }
            if IGNORED_FLAGS.contains(&flag) {
                continue;
            }
            let value = words.next().with_context(|| format!("slowhttptest {flag} has no value"))?;
            match flag {
                "-c" => options.connections = value.parse::<u32>()?.min(MAX_CONNECTIONS),
                "-i" | "-n" => options.interval = Duration::from_secs(value.parse()?),
                "-r" => options.rate = value.parse()?,
                "-t" => options.method = Some(value.to_owned()),
                // Maximum bytes per write: this client sends one.
                "-x" => {}
                // slowhttptest picks the window from the range -w to -y; the upper end is harder to tell from an honest
                // client.
                ignored if IGNORED.contains(&ignored) => {}
                "-y" => options.window = value.parse()?,
                "-z" => options.portion = value.parse()?,
                "-s" => options.content_length = value.parse()?,
                "-l" => options.length = Duration::from_secs(value.parse()?).min(MAX_TIME),
                "-u" => {
                    let path = value.split_once("://").and_then(|(_, rest)| rest.find('/').map(|at| &rest[at..]));
                    options.path = path.unwrap_or("/").to_owned();
                }
                other => bail!("slowhttptest {other} is not known"),
            }
        }
        Ok(options)
    }
}

fn part(flag: &str) -> Option<SlowPart> {
    match flag {
        "-B" => Some(SlowPart::Body),
        "-H" => Some(SlowPart::Head),
        "-X" => Some(SlowPart::Answer),
        _ => None,
    }
}

/// Opens the connections, transfers slowly, and measures how long the service keeps them.
pub(crate) async fn run(options: &Options, target: &Target) -> Result<Outcome> {
    let (slowest, health_ms) = with_health(target, async {
        let end = Instant::now() + options.length;
        let mut clients = tokio::task::JoinSet::new();
        for _ in 0..options.connections {
            clients.spawn(client(target.clone(), head(options, target), options.clone(), end));
            tokio::time::sleep(Duration::from_secs_f64(1.0 / options.rate)).await;
        }
        let mut slowest = 0.0_f64;
        while let Some(stayed) = clients.join_next().await {
            slowest = slowest.max(stayed?.unwrap_or(f64::INFINITY));
        }
        Ok(slowest)
    })
    .await?;
    Ok(Outcome { health_ms, slow_closed_s: Some(slowest), ..Outcome::default() })
}

fn head(options: &Options, target: &Target) -> Vec<u8> {
    let (addr, key, path, length) = (target.addr, &target.key, &options.path, options.content_length);
    let usual = if options.part == SlowPart::Body { "POST" } else { "GET" };
    let method = options.method.as_deref().unwrap_or(usual);
    match options.part {
        SlowPart::Body => format!(
            "{method} {path} HTTP/1.1\r\nHost: {addr}\r\nAuthorization: Bearer {key}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        ),
        SlowPart::Head => format!("{method} {path} HTTP/1.1\r\nHost: {addr}\r\nX-Slow: "),
        SlowPart::Answer => {
            format!("{method} {path} HTTP/1.1\r\nHost: {addr}\r\nAuthorization: Bearer {key}\r\n\r\n")
        }
    }
    .into_bytes()
}

/// Returns the seconds until the service closed the connection; `None` if it never did, or without a connection.
async fn client(target: Target, head: Vec<u8>, options: Options, end: Instant) -> Option<f64> {
    if options.part == SlowPart::Answer {
        return reader(&target, head, &options, end).await;
    }
    let mut stream = connect(&target, None).await.ok()?;
    let started = Instant::now();
    stream.write_all(&head).await.ok()?;
    let (mut reader, mut writer) = stream.split();
    let drip = async {
        loop {
            tokio::time::sleep(options.interval).await;
            if writer.write_all(b"a").await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    };
    let mut rest = Vec::new();
    // The service caused both an end of the stream and a reset.
    let closed = async {
        tokio::select! { _ = reader.read_to_end(&mut rest) => (), () = drip => () }
    };
    let left = end.saturating_duration_since(started);
    tokio::time::timeout(left, closed).await.ok().map(|()| started.elapsed().as_secs_f64())
}

/// Like [`client`], but reads the answer a few bytes at a time.
async fn reader(target: &Target, head: Vec<u8>, options: &Options, end: Instant) -> Option<f64> {
    let mut stream = connect(target, Some(options.window)).await.ok()?;
    let started = Instant::now();
    stream.write_all(&head).await.ok()?;
    let mut bytes = vec![0; options.portion];
    let closed = async {
        while matches!(stream.read(&mut bytes).await, Ok(length) if length > 0) {
            tokio::time::sleep(options.interval).await;
        }
    };
    let left = end.saturating_duration_since(started);
    tokio::time::timeout(left, closed).await.ok().map(|()| started.elapsed().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_command_line_of_the_case() {
        let options = Options::parse("-c 1000 -B -i 10 -r 200 -s 8192 -u http://127.0.0.1:1/v2/scrape -l 60").unwrap();
        let expect = Options {
            part: SlowPart::Body,
            connections: 1000,
            rate: 200.0,
            interval: Duration::from_secs(10),
            content_length: 8192,
            method: None,
            window: 512,
            portion: 5,
            path: "/v2/scrape".to_owned(),
            length: Duration::from_secs(60),
        };
        assert_eq!(options, expect);
        let slow =
            Options::parse("-c 500 -X -r 200 -w 1 -y 8 -n 5 -z 32 -u http://127.0.0.1:1/v2/crawl/x -l 60").unwrap();
        assert_eq!((slow.part, slow.window, slow.portion, slow.interval.as_secs()), (SlowPart::Answer, 8, 32, 5));
        let head =
            Options::parse("-c 9 -H -g -o out -i 10 -r 200 -t PUT -x 24 -p 3 -u http://127.0.0.1:1/x -l 60").unwrap();
        assert_eq!((head.part, head.method.as_deref(), head.path.as_str()), (SlowPart::Head, Some("PUT"), "/x"));
        assert!(Options::parse("-Q -u x").is_err());
    }
}
