//! The unsent part of an answer. Large texts of a document are serialised to JSON piece by piece while the client reads, so
//! that they are in memory only once and block no async thread for long.

use std::collections::VecDeque;
use std::io;

use axum::body::Bytes;
use serde::Serialize;
use wire::{Document, ScrapeAnswer};

/// Size in bytes from which a text is serialised piece by piece.
const LARGE: usize = 512 * 1024;
/// Size of a piece in bytes; a piece of text may grow sixfold as JSON (`\u0000`).
pub(crate) const PIECE: usize = 64 * 1024;

/// JSON that is ready, and texts that are serialised as they are read.
#[derive(Debug, Default)]
pub(crate) struct StreamedJson {
    parts: VecDeque<ResponsePart>,
    left: usize,
    room: Option<net::Room>,
}

impl StreamedJson {
    /// Serialises an answer.
    pub(crate) fn json(answer: &impl Serialize) -> serde_json::Result<Self> {
        let mut pieces = Pieces::default();
        serde_json::to_writer(&mut pieces, answer)?;
        Ok(Self::new(pieces.done().into_iter().map(ResponsePart::Json).collect(), None))
    }

    /// Serialises the answer with a document, except its large texts. `room` is released as the document is sent.
    pub(crate) fn document(mut data: Document, room: net::Room) -> serde_json::Result<Self> {
        let fields = [&mut data.markdown, &mut data.html, &mut data.raw_html, &mut data.raw_base64];
        let large: Vec<(String, String)> = fields
            .into_iter()
            .filter_map(|field| {
                let text = field.as_mut().filter(|text| text.len() > LARGE)?;
                // A random id is generated after the page was fetched, so the page cannot contain it.
                let mark = base::new_id().to_string();
                Some((mark.clone(), std::mem::replace(text, mark)))
            })
            .collect();
        if large.is_empty() {
            return Self::json(&ScrapeAnswer::new(data));
        }
        let around = serde_json::to_string(&ScrapeAnswer::new(data))?;
        let lost = || serde::ser::Error::custom("a text of the document is missing from the answer");
        Ok(Self::new(parts(&around, large).ok_or_else(lost)?, Some(room)))
    }

    /// Creates an answer from finished pieces.
    #[cfg(test)]
    pub(crate) fn ready(pieces: impl Iterator<Item = Bytes>) -> Self {
        Self::new(pieces.map(ResponsePart::Json).collect(), None)
    }

    fn new(parts: VecDeque<ResponsePart>, room: Option<net::Room>) -> Self {
        let left = parts.iter().map(ResponsePart::left).sum();
        Self { parts, left, room }
    }

    /// Returns the number of unsent bytes in memory.
    pub(crate) fn left(&self) -> usize {
        self.left
    }

    /// Returns the number of bytes that will be sent, when everything is serialised already.
    pub(crate) fn exact(&self) -> Option<usize> {
        self.parts.iter().all(|part| matches!(part, ResponsePart::Json(_))).then_some(self.left)
    }

    /// Returns the next piece.
    pub(crate) fn next(&mut self) -> Option<Bytes> {
        let piece = match self.parts.front_mut()? {
            ResponsePart::Json(json) => {
                self.left -= json.len();
                let json = std::mem::take(json);
                self.parts.pop_front();
                json
            }
            ResponsePart::Text { text, at } => {
                let end = text.floor_char_boundary(text.len().min(*at + PIECE));
                let json = escaped(&text[*at..end]);
                *at = end;
                if end == text.len() {
                    self.left -= text.len();
                    self.parts.pop_front();
                    self.room.iter().for_each(|room| room.shrink(self.left as u64));
                }
                json
            }
        };
        if self.parts.is_empty() {
            self.room = None;
        }
        Some(piece)
    }
}

/// Cuts the JSON at the marks and puts the texts in their place.
fn parts(around: &str, large: Vec<(String, String)>) -> Option<VecDeque<ResponsePart>> {
    let mut places = Vec::with_capacity(large.len());
    for (mark, text) in large {
        places.push((around.find(&mark)?, mark.len(), text));
    }
    places.sort_unstable_by_key(|(at, ..)| *at);
    let mut parts = VecDeque::new();
    let mut written = 0;
    for (at, length, text) in places {
        parts.push_back(ResponsePart::Json(Bytes::copy_from_slice(&around.as_bytes()[written..at])));
        parts.push_back(ResponsePart::Text { text, at: 0 });
        written = at + length;
    }
    parts.push_back(ResponsePart::Json(Bytes::copy_from_slice(&around.as_bytes()[written..])));
    Some(parts)
}

#[derive(Debug)]
enum ResponsePart {
    Json(Bytes),
    /// A text between its quotes, serialised up to `at`.
    Text {
        text: String,
        at: usize,
    },
}

impl ResponsePart {
    /// Returns the bytes in memory. A text counts fully until it is sent.
    fn left(&self) -> usize {
        match self {
            Self::Json(json) => json.len(),
            Self::Text { text, .. } => text.len(),
        }
    }
}

/// Returns the text as JSON without the quotes.
fn escaped(text: &str) -> Bytes {
    let mut json = serde_json::to_vec(text).unwrap_or_default();
    json.pop();
    Bytes::from(json).slice(1..)
}

/// A writer that collects its input in pieces, without a contiguous copy of the whole.
#[derive(Default)]
struct Pieces {
    full: VecDeque<Bytes>,
    open: Vec<u8>,
}

impl Pieces {
    fn done(mut self) -> VecDeque<Bytes> {
        self.full.push_back(self.open.into());
        self.full
    }
}

impl io::Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = bytes.len().min(PIECE - self.open.len());
        self.open.extend_from_slice(&bytes[..length]);
        if self.open.len() == PIECE {
            self.full.push_back(std::mem::replace(&mut self.open, Vec::with_capacity(PIECE)).into());
        }
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn rest(mut unsent: StreamedJson) -> Vec<u8> {
        let all = std::iter::from_fn(|| unsent.next()).flatten().collect();
        assert_eq!(unsent.left(), 0);
        all
    }

    #[test]
    fn the_text_is_that_of_the_whole() {
        let long = "a\"\\\u{1}\n</é€😀>".repeat(LARGE / 8);
        let documents = [
            Document::default(),
            Document { markdown: Some("short".to_owned()), ..Document::default() },
            Document { raw_html: Some(long.clone()), ..Document::default() },
            Document {
                raw_html: Some(long.clone()),
                markdown: Some(format!("{long}x")),
                html: Some("short".to_owned()),
                warning: Some("w".to_owned()),
                ..Document::default()
            },
        ];
        for document in documents {
            let expected = serde_json::to_value(ScrapeAnswer::new(document.clone())).unwrap();
            let unsent = StreamedJson::document(document, net::Room::default()).unwrap();
            assert!(serde_json::from_slice::<Value>(&rest(unsent)).unwrap() == expected);
        }
    }

    #[tokio::test]
    async fn room_is_given_back_as_the_texts_go() {
        let budget = net::InFlight::new(0, 0);
        let room = budget.room(&base::Owner::default());
        room.grow(4 << 20).await;
        let before = format!("{budget:?}");
        let long = Some("x".repeat(4 << 20));
        let unsent = StreamedJson::document(Document { raw_html: long, ..Document::default() }, room).unwrap();
        assert_eq!(format!("{budget:?}"), before);
        rest(unsent);
        let empty = net::InFlight::new(0, 0);
        assert_eq!(format!("{budget:?}"), format!("{empty:?}"));
    }
}
