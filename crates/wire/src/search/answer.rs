//! Answer of a search.
//!
//! One client reads every item that has a key of a document (`markdown`, `html`, `links` and so on, even null) as a
//! document, and loses the URL of the item. Items whose page was not scraped have none of these keys.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::CategoryName;
use crate::document::Document;
use crate::vertical::DeveloperResult;

/// Response of `POST /v2/search`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchAnswer {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// Search id, for feedback.
    #[schema(value_type = String, format = "uuid")]
    pub id: String,
    /// Credits charged for the search and the pages it scraped.
    #[schema(minimum = 0)]
    pub credits_used: i64,
    /// Warning for the caller, such as a search engine that did not answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// Results by source.
    pub data: SearchData,
}

/// Results by source: a list for each source of the request, empty if nothing was found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct SearchData {
    /// Web pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub web: Option<Vec<WebResult>>,
    /// News articles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub news: Option<Vec<NewsResult>>,
    /// Images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<Vec<ImageResult>>,
    /// Provider tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Value>>,
    /// Papers, for the category `research`: records as `GET /v2/search/research/papers` returns them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub research: Option<Vec<Value>>,
    /// Results for the category `developer`, as `POST /v2/search/developer` returns them. They are in `web` too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub developer: Option<Vec<DeveloperResult>>,
}

/// Web page that was found. With `scrapeOptions`, the members of its document are members of this object too.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct WebResult {
    /// URL of the page.
    #[schema(format = "uri")]
    pub url: String,
    /// Title of the page.
    pub title: String,
    /// Description of the page, or passages of it that match the query.
    pub description: String,
    /// Place among the web results, counted from 1.
    #[schema(minimum = 1)]
    pub position: u32,
    /// Category that the page belongs to, if the search was narrowed to one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<CategoryName>,
    /// Scraped page, flattened into this object.
    // A failed page is a document too: nothing but some metadata.
    #[serde(flatten, deserialize_with = "scraped")]
    #[schema(value_type = Document)]
    pub page: Option<ScrapedPage>,
}

/// News article that was found. With `scrapeOptions`, the members of its document are members of this object too.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct NewsResult {
    /// Title of the article.
    pub title: String,
    /// URL of the article.
    #[schema(format = "uri")]
    pub url: String,
    /// Beginning of the article, or passages of it that match the query.
    pub snippet: String,
    /// Publication date: RFC 3339, or as the search engine gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// URL of the picture of the article.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_url: Option<String>,
    /// Place among the news, counted from 1.
    #[schema(minimum = 1)]
    pub position: u32,
    /// Category that the article belongs to, if the search was narrowed to one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<CategoryName>,
    /// Scraped page, flattened into this object.
    // A failed page is a document too: nothing but some metadata.
    #[serde(flatten, deserialize_with = "scraped")]
    #[schema(value_type = Document)]
    pub page: Option<ScrapedPage>,
}

/// Image that was found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ImageResult {
    /// Title or alternative text of the image.
    pub title: String,
    /// URL of the image.
    #[schema(format = "uri")]
    pub image_url: String,
    /// Width, in pixels, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_width: Option<u32>,
    /// Height, in pixels, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_height: Option<u32>,
    /// URL of the page that shows the image.
    #[schema(format = "uri")]
    pub url: String,
    /// Place among the images, counted from 1.
    #[schema(minimum = 1)]
    pub position: u32,
}

/// Page of a result, scraped with `scrapeOptions`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum ScrapedPage {
    /// Page that was scraped, in the requested formats.
    Document(Box<Document>),
    /// Page that could not be scraped. It is not charged.
    Failed {
        /// URL of the page, and the reason.
        metadata: FailedPage,
    },
}

/// Metadata of a page that could not be scraped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailedPage {
    /// URL of the page.
    pub url: String,
    /// URL of the page, as found by the search.
    #[serde(rename = "sourceURL")]
    pub source_url: String,
    /// Reason why the page could not be scraped.
    pub error: String,
}

impl ScrapedPage {
    /// Returns the page at this URL as failed.
    pub fn failed(url: &str, error: impl Into<String>) -> Self {
        let (url, error) = (url.to_owned(), error.into());
        Self::Failed { metadata: FailedPage { source_url: url.clone(), url, error } }
    }
}

/// Reads the members of a scraped page; `None` without `metadata`, which every scraped page has.
fn scraped<'de, D: Deserializer<'de>>(input: D) -> Result<Option<ScrapedPage>, D::Error> {
    let members = Map::<String, Value>::deserialize(input)?;
    let Some(metadata) = members.get("metadata") else { return Ok(None) };
    let page = if metadata.get("scrapeId").is_some() {
        serde_json::from_value(Value::Object(members)).map(ScrapedPage::Document)
    } else {
        serde_json::from_value(metadata.clone()).map(|metadata| ScrapedPage::Failed { metadata })
    };
    page.map(Some).map_err(serde::de::Error::custom)
}
