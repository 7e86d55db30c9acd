//! Scripts of paths.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;

use crate::Body;

/// Behaviour of a path.
#[derive(Debug, Clone)]
pub enum Script {
    /// An ordinary response.
    Reply(Reply),
    /// An ordinary response, sent once the sender of the channel is dropped.
    Held(Reply, watch::Receiver<()>),
    /// 200 with the request as JSON: method, path, headers (an array of pairs), body.
    Echo,
    /// Raw bytes instead of a response, then the connection is closed.
    Raw(Bytes),
    /// No data for that long, then the connection is closed.
    Hang(Duration),
    /// An endless head, one byte at a time with this pause.
    DripHead(Duration),
    /// Endless 103 Early Hints (RFC 8297).
    EndlessInterim,
    /// HTTP/2 frames, whichever protocol the client speaks.
    H2(H2Attack),
    /// The response of another HTTP/1.1 server. After a change of protocol (RFC 9110 section 7.8), such as to WebSocket,
    /// bytes are copied in both directions.
    Forward(SocketAddr),
}

/// An ordinary response.
#[derive(Debug, Clone)]
pub struct Reply {
    /// Status from 100 to 999.
    pub status: u16,
    /// Headers, sent unchanged. Without `content-length` and `transfer-encoding` the correct one is added; a wrong
    /// `content-length` is sent as it is, and the connection is closed after the body.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: Body,
    /// Delay before the response.
    pub delay: Duration,
}

impl Default for Reply {
    /// Creates an empty 200.
    fn default() -> Self {
        Self { status: 200, headers: Vec::new(), body: Body::default(), delay: Duration::ZERO }
    }
}

impl Reply {
    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// Attack of a hostile HTTP/2 server on the first stream (RFC 9113).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum H2Attack {
    /// HEADERS without END_HEADERS, then endless CONTINUATION frames (CVE-2024-27316 class).
    ContinuationFlood,
    /// A stream window of zero, endless SETTINGS frames, and no response.
    ZeroWindow,
}

impl H2Attack {
    /// Returns the first bytes, and those repeated until the client closes.
    pub(super) fn frames(self) -> (Vec<u8>, Vec<u8>) {
        const SETTINGS: u8 = 4;
        const HEADERS: u8 = 1;
        const CONTINUATION: u8 = 9;
        match self {
            Self::ContinuationFlood => {
                // `:status 200`, then literal headers without indexing: `x: aaa…`.
                let field = [b"\x00\x01x\x7f\xf2\x7e".as_slice(), &[b'a'; 16_369]].concat();
                let start = [h2_frame(SETTINGS, 0, 0, &[]), h2_frame(HEADERS, 0, 1, &[0x88])].concat();
                (start, h2_frame(CONTINUATION, 0, 1, &field))
            }
            Self::ZeroWindow => {
                let zero_window = [0, 4, 0, 0, 0, 0];
                (h2_frame(SETTINGS, 0, 0, &zero_window), h2_frame(SETTINGS, 0, 0, &zero_window))
            }
        }
    }
}

/// Returns one HTTP/2 frame (RFC 9113 section 4.1).
#[must_use]
pub fn h2_frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap_or(0).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_frame_fits_the_default_frame_size() {
        let (_, again) = H2Attack::ContinuationFlood.frames();
        assert!(again.len() <= 9 + 16_384);
        assert_eq!(&again[..9], &[0, 0x3f, 0xf7, 9, 0, 0, 0, 0, 1]);
    }
}
