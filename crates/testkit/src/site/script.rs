//! What a path does when it is asked for.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;

use crate::Body;

/// How a path behaves.
#[derive(Debug, Clone)]
pub enum Script {
    /// An ordinary answer.
    Reply(Reply),
    /// 200 with the request as JSON: method, path, headers (an array of pairs), body.
    Echo,
    /// These bytes instead of an answer, then the connection is closed.
    Raw(Bytes),
    /// Nothing for that long, then the connection is closed.
    Hang(Duration),
    /// A head that never ends, one byte at a time with this pause.
    DripHead(Duration),
    /// 103 Early Hints without end (RFC 8297).
    EndlessInterim,
    /// What an HTTP/2 server would send, whatever the client speaks.
    H2(H2Attack),
    /// The answer of another server, which speaks HTTP/1.1. After a change of protocol (RFC 9110 section 7.8), as to
    /// WebSocket, everything goes to and fro.
    Forward(SocketAddr),
}

/// An ordinary answer.
#[derive(Debug, Clone)]
pub struct Reply {
    /// 100 to 999.
    pub status: u16,
    /// Written as they are. Without `content-length` and `transfer-encoding` the right one is added; a
    /// `content-length` that is wrong is sent all the same, and the connection is closed after the body.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Body,
    /// How long the answer waits.
    pub delay: Duration,
}

impl Default for Reply {
    /// An empty 200.
    fn default() -> Self {
        Self { status: 200, headers: Vec::new(), body: Body::default(), delay: Duration::ZERO }
    }
}

impl Reply {
    /// The same answer with one header more.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// What a hostile HTTP/2 server does with its first stream (RFC 9113).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum H2Attack {
    /// HEADERS without END_HEADERS, then CONTINUATION frames without end (CVE-2024-27316 class).
    ContinuationFlood,
    /// A stream window of zero, SETTINGS frames without end, and never an answer.
    ZeroWindow,
}

impl H2Attack {
    /// What comes first, and what is repeated until the client closes.
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

/// One HTTP/2 frame (RFC 9113 section 4.1).
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
