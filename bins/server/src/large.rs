//! The answer with a large page: its texts become JSON piece by piece while the client reads, so that they are in memory
//! once and no async thread is busy with them for long.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::Json;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use hyper::body::Frame;
use wire::{Code, Document, ScrapeAnswer};

use crate::error::Failure;

/// Bytes of a text from which on it is written out piece by piece.
const LARGE: usize = 512 * 1024;
/// Bytes of a text that are written at once; as JSON they may be six times as many.
const PIECE: usize = 64 * 1024;

/// The answer that carries a document. `room` is given back as the document is sent.
pub(crate) fn answer(mut data: Document, room: net::Room) -> Response {
    let fields = [&mut data.markdown, &mut data.html, &mut data.raw_html, &mut data.raw_base64];
    let large: Vec<(String, String)> = fields
        .into_iter()
        .filter_map(|field| {
            let text = field.as_mut().filter(|text| text.len() > LARGE)?;
            // The page was fetched before this was drawn: it cannot have it.
            let mark = base::new_id().to_string();
            Some((mark.clone(), std::mem::replace(text, mark)))
        })
        .collect();
    if large.is_empty() {
        return Json(ScrapeAnswer::new(data)).into_response();
    }
    let parts = serde_json::to_string(&ScrapeAnswer::new(data)).ok().and_then(|around| parts(&around, large));
    let Some(parts) = parts else {
        return Failure::new(Code::UnknownError, "unexpected error").into_response();
    };
    let mut response = Body::new(Pieces { parts, room: Some(room) }).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// The JSON around the texts, cut where their marks stand, and the texts in between.
fn parts(around: &str, large: Vec<(String, String)>) -> Option<VecDeque<Part>> {
    let mut places = Vec::with_capacity(large.len());
    for (mark, text) in large {
        places.push((around.find(&mark)?, mark.len(), text));
    }
    places.sort_unstable_by_key(|(at, ..)| *at);
    let mut parts = VecDeque::new();
    let mut written = 0;
    for (at, length, text) in places {
        parts.push_back(Part::Json(Bytes::copy_from_slice(&around.as_bytes()[written..at])));
        parts.push_back(Part::Text { text, at: 0 });
        written = at + length;
    }
    parts.push_back(Part::Json(Bytes::copy_from_slice(&around.as_bytes()[written..])));
    Some(parts)
}

enum Part {
    Json(Bytes),
    /// A text between its quotes, written up to `at`.
    Text {
        text: String,
        at: usize,
    },
}

/// A body that is made as it is taken.
struct Pieces {
    parts: VecDeque<Part>,
    room: Option<net::Room>,
}

impl Pieces {
    fn next(&mut self) -> Option<Bytes> {
        match self.parts.front_mut()? {
            Part::Json(json) => {
                let json = std::mem::take(json);
                self.parts.pop_front();
                Some(json)
            }
            Part::Text { text, at } => {
                let end = text.floor_char_boundary(text.len().min(*at + PIECE));
                let json = escaped(&text[*at..end]);
                *at = end;
                if end == text.len() {
                    self.parts.pop_front();
                    self.shrink();
                }
                Some(json)
            }
        }
    }

    fn shrink(&mut self) {
        let length = |part: &Part| match part {
            Part::Json(json) => json.len(),
            Part::Text { text, .. } => text.len(),
        };
        let left = self.parts.iter().map(length).sum::<usize>();
        self.room.iter().for_each(|room| room.shrink(left as u64));
    }
}

/// What stands between the quotes of a JSON text.
fn escaped(text: &str) -> Bytes {
    let mut json = serde_json::to_vec(text).unwrap_or_default();
    json.pop();
    Bytes::from(json).slice(1..)
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = self.next();
        if piece.is_none() {
            self.room = None;
        }
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.parts.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;
    use serde_json::Value;

    use super::*;

    #[tokio::test]
    async fn the_text_is_that_of_the_whole() {
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
            let answer = answer(document, net::Room::default());
            assert_eq!(answer.headers()["content-type"], "application/json");
            let text = answer.into_body().collect().await.unwrap().to_bytes();
            assert!(serde_json::from_slice::<Value>(&text).unwrap() == expected);
        }
    }

    #[tokio::test]
    async fn room_is_given_back_as_the_texts_go() {
        let budget = net::InFlight::new(0, 0);
        let room = budget.room();
        room.grow(4 << 20).await;
        let before = format!("{budget:?}");
        let long = Some("x".repeat(4 << 20));
        let answer = answer(Document { raw_html: long, ..Document::default() }, room);
        assert_eq!(format!("{budget:?}"), before);
        answer.into_body().collect().await.unwrap();
        let empty = net::InFlight::new(0, 0);
        assert_eq!(format!("{budget:?}"), format!("{empty:?}"));
    }
}
