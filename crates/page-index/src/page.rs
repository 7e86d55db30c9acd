//! Pages as the index takes them.

use serde::{Deserialize, Serialize};

/// One copy of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct IndexedPage {
    /// Id of the copy: unique, and later copies have greater ids, as UUIDv7 in text has them.
    pub copy: String,
    /// Scope whose queries find the page: the id of a team, or a mark for all.
    pub scope: String,
    /// Key that all spellings of the address share. A newer copy of the same scope and key replaces the older one.
    pub page_key: String,
    /// Address of the page, absolute.
    pub url: String,
    /// Title, plain text.
    pub title: String,
    /// Headings, plain text, one a line.
    pub headings: String,
    /// Description that the page gives of itself, plain text.
    pub description: String,
    /// Main text, plain, its paragraphs on lines. What is beyond [`crate::MOST_TEXT`] bytes is left out.
    pub text: String,
    /// Language tag of the page, such as `pt-BR`, if it is known.
    pub language: Option<String>,
    /// Kind of the page.
    pub kind: PageKind,
    /// Whether the page is an article. With a date it is found as news.
    pub is_news: bool,
    /// Time of publication, Unix time in ms.
    pub published: Option<i64>,
    /// Time when the copy was read, Unix time in ms.
    pub fetched: i64,
    /// Images in the order of the page, of which the first [`crate::MOST_IMAGES`] are kept.
    pub images: Vec<PageImage>,
    /// Links from the page to others, whose texts help to find those.
    pub links: Vec<AnchorText>,
}

/// Kind of a page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PageKind {
    /// Page of a site.
    #[default]
    Page,
    /// Document: PDF, office file, book.
    Document,
}

/// Image of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PageImage {
    /// Address of the image, absolute.
    pub url: String,
    /// Alternative text, plain; may be empty.
    pub alt: String,
    /// Width in CSS pixels, if the page says it.
    pub width: Option<u32>,
    /// Height in CSS pixels, if the page says it.
    pub height: Option<u32>,
}

/// Link to another page, with its text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AnchorText {
    /// Page key of the target.
    pub target: String,
    /// Text of the link, plain.
    pub text: String,
}
