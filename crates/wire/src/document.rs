//! The document that a scrape returns (docs/CONTRACT.md, "Document").
//!
//! Fields that were not requested are absent, never null: a null inside a list or a map breaks a client, and some
//! clients branch on the presence of a key.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::block::{PageBlocks, PageText};
use crate::branding::Branding;
use crate::menu::Menu;
use crate::metadata::Metadata;
use crate::product::Product;
use crate::words::words;

/// Response of a page scrape.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ScrapeAnswer {
    /// Always true. The HTTP status of the page itself is in `data.metadata.statusCode`.
    #[schema(default = true)]
    pub success: bool,
    /// The scraped page.
    pub data: Document,
    /// Warning for the caller; repeated in `data.warning`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

impl ScrapeAnswer {
    /// Builds the response for a document. Copies its warning to the top level, because clients look in both places.
    #[must_use]
    pub fn new(data: Document) -> Self {
        Self { success: true, warning: data.warning.clone(), data }
    }
}

/// One page in the requested formats. Formats that were not requested are absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Document {
    /// Page content as markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub markdown: Option<String>,
    /// Cleaned HTML: without scripts, styles and head, with absolute URLs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
    /// HTML as received, or as it stands after the page's scripts ran in a browser.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_html: Option<String>,
    /// Response body as received, base64-encoded, without a `data:` prefix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_base64: Option<String>,
    /// URLs of the links on the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<Vec<String>>,
    /// URLs of the images on the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<Vec<String>>,
    /// Attribute values, one entry per requested selector.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attributes: Option<Vec<AttributeValues>>,
    /// Summary of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// URL of the screenshot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub screenshot: Option<String>,
    /// Extracted structured data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json: Option<Value>,
    /// Answer to the question or query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Passages of the page that match the query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub highlights: Option<String>,
    /// Signed URL of the audio file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audio: Option<String>,
    /// Signed URL of the video file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub video: Option<String>,
    /// Results of the actions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actions: Option<ActionResults>,
    /// Markdown per physical page of a PDF.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<Vec<PageText>>,
    /// Layout blocks per physical page of a PDF.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Vec<PageBlocks>>,
    /// Brand identity and design system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branding: Option<Branding>,
    /// Product that the page sells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub product: Option<Product>,
    /// Menu of a restaurant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub menu: Option<Menu>,
    /// Changes since the previous scrape; null where the page could not be compared, for a reason in `warning`.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "nullable")]
    #[schema(value_type = Option<ChangeTracking>)]
    pub change_tracking: Option<Option<ChangeTracking>>,
    /// Provider tools that match the domain of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Value>>,
    /// Warning for the caller, such as pages that could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// Metadata of the page and of this scrape.
    pub metadata: Metadata,
}

/// Reads a member that is present: null is a value of it.
fn nullable<'de, D: Deserializer<'de>, T: Deserialize<'de>>(value: D) -> Result<Option<T>, D::Error> {
    T::deserialize(value).map(Some)
}

/// Values of one attribute, taken from all elements that match one selector.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AttributeValues {
    /// CSS selector, as given in the request.
    pub selector: String,
    /// Attribute name, as given in the request.
    pub attribute: String,
    /// Attribute values in document order.
    pub values: Vec<String>,
}

/// Results of the actions; each list is in the order of its actions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ActionResults {
    /// URLs of the screenshots.
    pub screenshots: Vec<String>,
    /// URL and HTML captured by `scrape` actions.
    pub scrapes: Vec<CapturedPage>,
    /// Return values of `executeJavascript` actions.
    pub javascript_returns: Vec<ScriptReturn>,
    /// URLs of the PDF files.
    pub pdfs: Vec<String>,
}

/// URL and HTML captured by a `scrape` action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CapturedPage {
    /// URL of the page at that moment.
    pub url: String,
    /// HTML of the page at that moment.
    pub html: String,
}

/// Return value of a script.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ScriptReturn {
    /// JavaScript type of the value.
    #[serde(rename = "type")]
    pub kind: String,
    /// The value as JSON.
    pub value: Value,
}

impl ScriptReturn {
    /// Returns the approximate size in memory, in bytes. Small values take several times the size of their JSON text.
    #[must_use]
    pub fn memory(&self) -> usize {
        memory_of(&self.value)
    }
}

/// Approximate overhead of one object member, in bytes, without its name and value.
const MEMBER: usize = 64;

/// Returns the approximate size of a value in memory, in bytes.
#[must_use]
pub fn memory_of(value: &Value) -> usize {
    let inside = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(memory_of).sum(),
        Value::Object(members) => members.iter().map(|(name, value)| MEMBER + name.len() + memory_of(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    size_of::<Value>() + inside
}

/// Changes since the previous scrape of the page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangeTracking {
    /// Time of the previous scrape, RFC 3339; null the first time.
    pub previous_scrape_at: Option<String>,
    /// Whether the page is new, unchanged, changed or removed.
    pub change_status: ChangeStatus,
    /// Whether links or a sitemap lead to the page.
    pub visibility: Visibility,
    /// Unified diff, in `git-diff` mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<Value>,
    /// Previous and current value of each field, in `json` mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub json: Option<Value>,
}

words! {
    /// Result of comparing a page with its previous scrape.
    pub enum ChangeStatus {
        /// No previous scrape exists.
        New = "new",
        /// The page is unchanged.
        Same = "same",
        /// The page has changed.
        Changed = "changed",
        /// The page no longer exists.
        Removed = "removed",
    }
}

words! {
    /// How a page is discovered.
    pub enum Visibility {
        /// Found through links or a sitemap.
        Visible = "visible",
        /// Known only from an earlier scrape.
        Hidden = "hidden",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_page_that_was_not_compared_says_null() {
        let plain = serde_json::to_value(Document::default()).unwrap();
        assert!(plain.get("changeTracking").is_none(), "{plain}");
        let document = Document { change_tracking: Some(None), ..Document::default() };
        let written = serde_json::to_value(&document).unwrap();
        assert_eq!(written.get("changeTracking"), Some(&Value::Null));
        assert_eq!(serde_json::from_value::<Document>(written).unwrap(), document);
    }

    #[test]
    fn small_values_take_more_memory_than_text() {
        let memory = |value: Value| ScriptReturn { kind: "object".to_owned(), value }.memory();
        let small = json!(vec![1; 1000]);
        assert!(small.to_string().len() < 2100 && memory(small) >= 16_000);
        assert!(memory(json!({"name": "x".repeat(5000)})) > 5000 + MEMBER);
        assert!(memory(Value::Null) > 0);
    }
}
