//! Result of a fetch.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use http::StatusCode;
use url::Url;

use crate::charset::{self, Hints};
use crate::{BodyKind, Rendered, Validators, detect};

/// Page or file as it arrived, after redirects and content decoding.
#[derive(Clone)]
pub struct Fetched {
    /// Final URL after redirects.
    pub url: Url,
    /// HTTP status of the page itself.
    pub status: u16,
    /// The `Content-Type` header as it was sent.
    pub content_type: Option<String>,
    /// Kind of the body.
    pub kind: BodyKind,
    /// The decoded body.
    pub body: Bytes,
    /// Label of the character encoding from the `Content-Type` header.
    pub charset: Option<String>,
    /// Strength of the proxy that was used; `Basic` also means no proxy. Set by the caller of the engine.
    pub proxy: wire::ProxyUsed,
    /// The `Retry-After` header as it was sent.
    pub retry_after: Option<String>,
    /// Validators of this version of the page.
    pub validators: Validators,
    /// Whether the cached version is still current ([`FetchRequest::validators`](crate::FetchRequest::validators)). The
    /// status is then 304 and `body` is empty. A 304 to an unconditional request is an ordinary page.
    pub not_modified: bool,
    /// Warnings for the caller about the fetch.
    pub warnings: Vec<String>,
    /// Share of the memory budget that the body holds. Moves with the body, or with its derived data.
    pub room: net::Room,
    /// Results of an engine that runs scripts. Their DOM is that of a page of HTML only.
    pub rendered: Option<Box<Rendered>>,
}

/// Body as text: the original bytes if they are UTF-8, else a decoded copy.
#[derive(Debug, Clone)]
pub enum Text {
    /// The body itself: valid UTF-8 without its byte order mark.
    Same(Bytes),
    /// Decoded copy.
    Decoded(String),
}

impl Text {
    /// Returns the text. For [`Text::Same`] the bytes are validated on each call.
    #[must_use]
    pub fn as_str(&self) -> Cow<'_, str> {
        match self {
            // Strict validation is ten times as fast as the lossy one and succeeds here.
            Self::Same(bytes) => {
                std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
            }
            Self::Decoded(text) => Cow::Borrowed(text),
        }
    }

    /// Returns the text as a `String`, without a copy where the body is not shared.
    #[must_use]
    pub fn into_string(self) -> String {
        match self {
            Self::Same(bytes) => String::from_utf8(bytes.into())
                .unwrap_or_else(|broken| String::from_utf8_lossy(broken.as_bytes()).into_owned()),
            Self::Decoded(text) => text,
        }
    }
}

impl Fetched {
    /// Creates a result for a body that came without an enhanced proxy; kind and charset follow from the arguments.
    #[must_use]
    pub fn new(url: Url, status: u16, content_type: Option<String>, body: Bytes) -> Self {
        let kind = detect(content_type.as_deref(), &body);
        let charset = content_type.as_deref().and_then(charset::parameter).map(str::to_owned);
        let proxy = wire::ProxyUsed::Basic;
        Self {
            url,
            status,
            content_type,
            kind,
            body,
            charset,
            proxy,
            retry_after: None,
            validators: Validators::default(),
            not_modified: false,
            warnings: Vec::new(),
            room: net::Room::default(),
            rendered: None,
        }
    }

    /// Returns the DOM after the page's scripts have run, as HTML in UTF-8; `None` if no scripts have run.
    #[must_use]
    pub fn dom(&self) -> Option<&Bytes> {
        self.rendered.as_ref()?.dom.as_ref()
    }

    /// Returns the page as text: the DOM if there is one, else the body, decoded by byte order mark, header,
    /// declaration in the page, and detection, in this order.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        if let Some(dom) = self.dom() {
            return String::from_utf8_lossy(dom);
        }
        let tld = self.url.domain().and_then(|domain| domain.trim_end_matches('.').rsplit('.').next());
        let markup = matches!(self.kind, BodyKind::Html | BodyKind::Xml);
        charset::decode(&self.body, Hints { header: self.charset.as_deref(), markup, tld })
    }

    /// Takes the page as text like [`Fetched::text`]. Drops body and DOM, so that a large page is not in memory twice.
    #[must_use]
    pub fn take_text(&mut self) -> Text {
        let dom = self.rendered.as_mut().and_then(|rendered| rendered.dom.take());
        let text = match dom {
            Some(dom) => Text::Same(dom),
            None => match self.text() {
                Cow::Borrowed(text) => Text::Same(self.body.slice_ref(text.as_bytes())),
                Cow::Owned(text) => Text::Decoded(text),
            },
        };
        self.body = Bytes::new();
        text
    }

    /// Whether the server declares the body as some kind of XML, so that browsers use the XML parser.
    #[must_use]
    pub fn is_sent_as_xml(&self) -> bool {
        let essence = self.content_type.as_deref().unwrap_or_default().split(';').next().unwrap_or_default();
        let essence = essence.trim().to_ascii_lowercase();
        essence.ends_with("+xml") || essence.ends_with("/xml")
    }

    /// Whether the page counts as loaded: 2xx or 304 (docs/CONTRACT.md, "Answers").
    #[must_use]
    pub fn is_loaded(&self) -> bool {
        matches!(self.status, 200..=299 | 304)
    }

    /// Whether the status suggests that the site rejects the visitor (401, 403, 429).
    #[must_use]
    pub fn is_refused(&self) -> bool {
        matches!(self.status, 401 | 403 | 429)
    }

    /// Returns the registered reason phrase of the status, if there is one.
    #[must_use]
    pub fn reason(&self) -> Option<&'static str> {
        StatusCode::from_u16(self.status).ok()?.canonical_reason()
    }
}

/// Shows neither the body nor the URL, as either may be private.
impl fmt::Debug for Fetched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { status, kind, charset, proxy, body, .. } = self;
        write!(f, "Fetched {{ {status} {kind:?} charset {charset:?} proxy {proxy:?} {} bytes }}", body.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fetched(status: u16, content_type: &str, body: &[u8]) -> Fetched {
        let url = Url::parse("https://пример.рф/secret").unwrap();
        Fetched::new(url, status, Some(content_type.to_owned()), Bytes::copy_from_slice(body))
    }

    #[test]
    fn kind_and_charset_follow_from_header_and_body() {
        let page = fetched(200, "text/html; charset=koi8-r", b"\xc4\xc1");
        assert_eq!((page.kind, page.charset.as_deref(), &*page.text()), (BodyKind::Html, Some("koi8-r"), "да"));
        let plain = fetched(200, "text/plain", "<meta charset=koi8-r>да".as_bytes());
        assert_eq!(plain.text(), "<meta charset=koi8-r>да");
    }

    #[test]
    fn text_is_taken_without_a_copy_where_it_can_be() {
        let body = Bytes::from(b"\xef\xbb\xbf<p>\xd0\xb4\xd0\xb0".to_vec());
        let place = body.as_ptr();
        let mut page = Fetched::new(Url::parse("http://a.test/").unwrap(), 200, None, body);
        let text = page.take_text();
        assert!(page.body.is_empty());
        assert_eq!(text.as_str(), "<p>да");
        let text = text.into_string();
        assert_eq!((text.as_str(), text.as_ptr()), ("<p>да", place));
        let mut other = fetched(200, "text/html; charset=koi8-r", b"\xc4\xc1");
        assert_eq!(other.take_text().into_string(), "да");
    }

    #[test]
    fn the_text_is_what_the_scripts_have_made() {
        let mut page = fetched(200, "text/html; charset=koi8-r", b"<div id=app>");
        page.rendered = Some(Box::new(Rendered { dom: Some("<p>\u{436}".into()), ..Rendered::default() }));
        assert_eq!((page.text().as_ref(), page.body.len()), ("<p>\u{436}", 12));
        assert_eq!(page.take_text().into_string(), "<p>\u{436}");
        assert!(page.body.is_empty() && page.dom().is_none() && page.rendered.is_some());
    }

    #[test]
    fn status() {
        assert!(fetched(304, "", b"").is_loaded() && !fetched(404, "", b"").is_loaded());
        assert_eq!(fetched(404, "", b"").reason(), Some("Not Found"));
        assert_eq!(fetched(799, "", b"").reason(), None);
    }

    #[test]
    fn xml_is_what_the_server_says() {
        for (sent, is_xml) in [
            ("application/xhtml+xml; charset=utf-8", true),
            ("Text/XML", true),
            ("application/rss+xml", true),
            ("text/html", false),
            ("", false),
        ] {
            assert_eq!(fetched(200, sent, b"<html>").is_sent_as_xml(), is_xml, "{sent}");
        }
    }

    #[test]
    fn debug_shows_neither_url_nor_body() {
        let text = format!("{:?}", fetched(200, "text/html", b"hidden"));
        assert!(!text.contains("secret") && !text.contains("hidden"), "{text}");
    }
}
