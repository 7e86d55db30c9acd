//! Idle connections: the client sends nothing, or does not read the response.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{Outcome, Target, connect, with_health};

/// Maximum duration of an attack.
const MAX_TIME: Duration = Duration::from_secs(45);
/// Maximum number of connections of an attack.
const MAX_CONNECTIONS: u64 = 20_000;
/// Receive window of a client that does not read, in bytes.
const WINDOW: u32 = 4096;

/// Reading behaviour of a client: not at all, completely or slowly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Reading {
    All,
    Never,
    /// Rate in bytes per second.
    Rate(f64),
}

impl Reading {
    /// Parses `read` of a case: true, false, a number of bytes per second, or one of the words for these.
    pub(crate) fn of(read: Option<&Value>) -> Result<Self> {
        Ok(match read {
            None | Some(Value::Null | Value::Bool(true)) => Self::All,
            Some(Value::Bool(false)) => Self::Never,
            Some(Value::Number(rate)) if rate.as_f64() == Some(0.0) => Self::Never,
            Some(Value::Number(rate)) => Self::Rate(rate.as_f64().unwrap_or(1.0)),
            Some(Value::String(word)) => match word.as_str() {
                "never" | "no" | "none" | "nothing" => Self::Never,
                "slow" | "slowly" => Self::Rate(1.0),
                "all" | "yes" => Self::All,
                other => bail!("read {other:?} is not known"),
            },
            Some(other) => bail!("read {other} is not known"),
        })
    }
}

/// Opens the connections, sends `bytes` on each, and measures how long the service keeps them.
pub(crate) async fn run(number: u64, bytes: Vec<u8>, reading: Reading, target: &Target) -> Result<Outcome> {
    if number > MAX_CONNECTIONS {
        bail!("{number} connections are more than {MAX_CONNECTIONS}");
    }
    let (stayed, health_ms) = with_health(target, async {
        let end = Instant::now() + MAX_TIME;
        let mut clients = tokio::task::JoinSet::new();
        for opened in 0..number {
            clients.spawn(client(target.clone(), bytes.clone(), reading, end));
            if opened % 100 == 99 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
        let mut slowest = 0.0_f64;
        while let Some(stayed) = clients.join_next().await {
            slowest = slowest.max(stayed?.unwrap_or(f64::INFINITY));
        }
        Ok(slowest)
    })
    .await?;
    Ok(Outcome { closed: stayed.is_finite(), health_ms, slow_closed_s: Some(stayed), ..Outcome::default() })
}

/// Returns the seconds until the service closed the connection; `None` if it never did.
async fn client(target: Target, bytes: Vec<u8>, reading: Reading, end: Instant) -> Option<f64> {
    let started = Instant::now();
    let left = || end.saturating_duration_since(Instant::now());
    let stream = async {
        let mut stream = connect(&target, (reading != Reading::All).then_some(WINDOW)).await?;
        stream.write_all(&bytes).await?;
        Ok::<_, std::io::Error>(stream)
    };
    // A refused connection does not count as kept.
    let Ok(Ok(mut stream)) = tokio::time::timeout(left(), stream).await else {
        return Some(started.elapsed().as_secs_f64());
    };
    let closed = async {
        match reading {
            Reading::All => drop(stream.read_to_end(&mut Vec::new()).await),
            Reading::Never => cut(&stream).await,
            Reading::Rate(rate) => {
                while stream.read_u8().await.is_ok() {
                    tokio::time::sleep(Duration::from_secs_f64(1.0 / rate)).await;
                }
            }
        }
    };
    tokio::time::timeout(left(), closed).await.ok().map(|()| started.elapsed().as_secs_f64())
}

/// Waits for the reset of a connection, a socket error, without reading from it.
async fn cut(stream: &TcpStream) {
    while !matches!(stream.take_error(), Ok(Some(_)) | Err(_)) {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reads_what_a_case_says_of_reading() {
        for (read, expect) in [
            (json!(true), Reading::All),
            (json!(false), Reading::Never),
            (json!(0), Reading::Never),
            (json!("never"), Reading::Never),
            (json!(8), Reading::Rate(8.0)),
        ] {
            assert_eq!(Reading::of(Some(&read)).unwrap(), expect, "{read}");
        }
        assert_eq!(Reading::of(None).unwrap(), Reading::All);
        assert!(Reading::of(Some(&json!("moon"))).is_err());
    }
}
