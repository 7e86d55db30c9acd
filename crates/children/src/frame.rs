//! Messages between a child and its parent.
//!
//! A frame is the length of its head and the length of its body, each in eight bytes, little-endian; then the head, a
//! message in JSON; then the body, a file, which only some messages have.

use std::io::{self, Read};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Bytes before the head.
const LENGTHS: usize = 16;
/// Length in bytes above which a message is parsed on a blocking thread, as it may contain the text of a whole
/// document.
const LONG: usize = 1 << 20;

/// Received message.
#[derive(Debug)]
pub struct Frame<T> {
    /// The message.
    pub message: T,
    /// The file that came with it.
    pub body: Vec<u8>,
}

/// Returns lengths and head of a message, to be followed by a body of this length.
///
/// # Errors
/// When the message cannot be serialized.
pub fn head(message: &impl Serialize, body: usize) -> io::Result<Vec<u8>> {
    let mut frame = vec![0; LENGTHS];
    serde_json::to_writer(&mut frame, message)?;
    let head = (frame.len() - LENGTHS) as u64;
    frame[..8].copy_from_slice(&head.to_le_bytes());
    frame[8..LENGTHS].copy_from_slice(&(body as u64).to_le_bytes());
    Ok(frame)
}

/// Reads the next message of a parent, which is trusted: its lengths are not limited. Returns `None` when the parent
/// has closed the connection.
///
/// # Errors
/// When the connection fails or the message cannot be parsed.
pub fn from_parent<T: DeserializeOwned>(input: &mut impl Read) -> io::Result<Option<Frame<T>>> {
    let mut bytes = [0; LENGTHS];
    match input.read_exact(&mut bytes) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let (head, body) = lengths(bytes, usize::MAX, usize::MAX)?;
    let mut exactly = |length| {
        // Not grown step by step, which would take twice the memory for a moment.
        let mut bytes = vec![0; length];
        input.read_exact(&mut bytes).map(|()| bytes)
    };
    let message = serde_json::from_slice(&exactly(head)?)?;
    Ok(Some(Frame { message, body: exactly(body)? }))
}

/// Reads the next message of a child, which is not trusted: it has no body, and its head has at most `max` bytes.
///
/// # Errors
/// When the connection fails or ends, or the message is too long or cannot be parsed.
pub async fn from_child<T>(output: &mut (impl AsyncRead + Unpin), max: usize) -> io::Result<T>
where
    T: DeserializeOwned + Send + 'static,
{
    let mut bytes = [0; LENGTHS];
    output.read_exact(&mut bytes).await?;
    let (head, _) = lengths(bytes, max, 0)?;
    let mut bytes = Vec::new();
    // The buffer grows with the received bytes, so an untrusted length cannot allocate memory.
    output.take(head as u64).read_to_end(&mut bytes).await?;
    if bytes.len() > LONG {
        return tokio::task::spawn_blocking(move || Ok(serde_json::from_slice(&bytes)?)).await?;
    }
    Ok(serde_json::from_slice(&bytes)?)
}

/// Returns the lengths of head and body, checked against the limits.
fn lengths(bytes: [u8; LENGTHS], max_head: usize, max_body: usize) -> io::Result<(usize, usize)> {
    let length = |at: usize, most: usize| {
        let bytes = bytes[at..at + 8].try_into().unwrap_or_default();
        let length = usize::try_from(u64::from_le_bytes(bytes)).ok().filter(|length| *length <= most);
        length.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the message is too long"))
    };
    Ok((length(0, max_head)?, length(8, max_body)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_frame_says_how_long_it_is() {
        let mut frame = head(&"seven", 3).unwrap();
        assert_eq!(lengths(frame[..LENGTHS].try_into().unwrap(), 7, 3).unwrap(), (7, 3));
        frame.extend(b"abc");
        let read = from_parent::<String>(&mut frame.as_slice()).unwrap().unwrap();
        assert_eq!((read.message.as_str(), read.body.as_slice()), ("seven", b"abc".as_slice()));
        assert!(from_parent::<String>(&mut frame[..frame.len() - 1].as_ref()).is_err());
        assert!(from_parent::<String>(&mut [].as_slice()).unwrap().is_none());
        assert!(from_child::<String>(&mut frame.as_slice(), 7).await.is_err(), "a body");
        let frame = head(&"seven", 0).unwrap();
        assert_eq!(from_child::<String>(&mut frame.as_slice(), 7).await.unwrap(), "seven");
        assert!(from_child::<String>(&mut frame.as_slice(), 6).await.is_err(), "too long");
        assert!(from_child::<String>(&mut frame[..frame.len() - 1].as_ref(), 7).await.is_err(), "cut");
        assert!(from_child::<String>(&mut [0xff; 20].as_slice(), usize::MAX).await.is_err(), "longer than any");
    }
}
