//! Answers of engines.

use base::Timestamp;
use url::Url;

/// Answer of one engine.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EngineAnswer {
    /// Results, best first.
    pub results: Vec<EngineResult>,
    /// Warnings for the caller, such as parts of the engine that did not answer.
    pub warnings: Vec<String>,
}

/// One result.
#[derive(Debug, Clone, PartialEq)]
pub struct EngineResult {
    /// URL of the page; of an image, the page that shows it.
    pub url: Url,
    /// Title: plain text on one line, at most 300 characters.
    pub title: String,
    /// Text of the engine about the page: plain text on one line, at most 1000 characters.
    pub text: String,
    /// Publication date: RFC 3339, or as the engine gave it.
    pub published: Option<String>,
    /// Publication time, if it can be told from the date.
    pub published_at: Option<Timestamp>,
    /// The image, of an image; the picture of an article, of news.
    pub image: Option<EngineImage>,
    /// Text of this server's own copy of the page, from its index.
    pub copy: Option<String>,
}

/// Image of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineImage {
    /// URL of the image.
    pub url: Url,
    /// Width, in pixels.
    pub width: Option<u32>,
    /// Height, in pixels.
    pub height: Option<u32>,
}

impl EngineResult {
    /// Returns a result with a URL and a title.
    pub fn new(url: Url, title: impl Into<String>) -> Self {
        Self {
            url,
            title: title.into(),
            text: String::new(),
            published: None,
            published_at: None,
            image: None,
            copy: None,
        }
    }
}
