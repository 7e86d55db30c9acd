//! Results of engines, and how they become those of an answer.

use search::EngineResult;
use url::Url;
use wire::{CategoryName, ImageResult, NewsResult, WebResult};

/// Result of one source.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    /// Result of the engines.
    pub(crate) result: EngineResult,
    /// Category that the result was searched for.
    pub(crate) category: Option<CategoryName>,
}

impl Found {
    pub(crate) fn url(&self) -> &Url {
        &self.result.url
    }

    pub(crate) fn into_web(self, position: u32) -> WebResult {
        let EngineResult { url, title, text, .. } = self.result;
        WebResult { url: url.into(), title, description: text, position, category: self.category, page: None }
    }

    pub(crate) fn into_news(self, position: u32) -> NewsResult {
        let EngineResult { url, title, text, published, image, .. } = self.result;
        NewsResult {
            title,
            url: url.into(),
            snippet: text,
            date: published,
            image_url: image.map(|image| image.url.into()),
            position,
            category: self.category,
            page: None,
        }
    }

    /// Returns `None` without an image.
    pub(crate) fn into_image(self, position: u32) -> Option<ImageResult> {
        let EngineResult { url, title, image, .. } = self.result;
        let image = image?;
        Some(ImageResult {
            title,
            image_url: image.url.into(),
            image_width: image.width,
            image_height: image.height,
            url: url.into(),
            position,
        })
    }
}
