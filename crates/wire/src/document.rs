//! What a scrape returns (docs/CONTRACT.md, "Document").
//!
//! Members that were not asked for are absent, never null: a null inside a list or a map breaks a client, and the
//! presence of a key changes how some of them read the object.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::block::{PageBlocks, PageText};
use crate::branding::Branding;
use crate::menu::Menu;
use crate::metadata::Metadata;
use crate::product::Product;
use crate::words::words;

/// The answer of a page scrape.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ScrapeAnswer {
    /// Always true; how the page itself answered is in `data.metadata.statusCode`.
    #[schema(default = true)]
    pub success: bool,
    /// The page.
    pub data: Document,
    /// What the caller should know; also in `data`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

impl ScrapeAnswer {
    /// The answer that carries a document; its warning stands at both places where clients look.
    #[must_use]
    pub fn new(data: Document) -> Self {
        Self { success: true, warning: data.warning.clone(), data }
    }
}

/// One page in the formats that were asked for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Document {
    /// The page as markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub markdown: Option<String>,
    /// Cleaned HTML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
    /// The HTML as it came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_html: Option<String>,
    /// The body as it came, in base64 without a prefix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_base64: Option<String>,
    /// Links of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<Vec<String>>,
    /// Image URLs of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<Vec<String>>,
    /// Values of attributes, one entry per selector that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attributes: Option<Vec<AttributeValues>>,
    /// A summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// URL of a picture of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub screenshot: Option<String>,
    /// Extracted data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json: Option<Value>,
    /// The answer to the question or query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The parts of the text that match the query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub highlights: Option<String>,
    /// Signed URL of the sound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audio: Option<String>,
    /// Signed URL of the video.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub video: Option<String>,
    /// What the actions returned.
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
    /// The product that the page sells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub product: Option<Product>,
    /// The menu of a restaurant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub menu: Option<Menu>,
    /// What changed since the scrape before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change_tracking: Option<ChangeTracking>,
    /// Provider tools that match the domain of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Value>>,
    /// What the caller should know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// About the page and about this scrape.
    pub metadata: Metadata,
}

/// The values of one attribute of the elements that one selector finds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AttributeValues {
    /// The selector as given.
    pub selector: String,
    /// The attribute as given.
    pub attribute: String,
    /// The values in the order of the page.
    pub values: Vec<String>,
}

/// What the actions returned, each list in the order of its actions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ActionResults {
    /// URLs of pictures.
    pub screenshots: Vec<String>,
    /// Captured pages.
    pub scrapes: Vec<CapturedPage>,
    /// What the scripts returned.
    pub javascript_returns: Vec<ScriptReturn>,
    /// URLs of prints.
    pub pdfs: Vec<String>,
}

/// What a `scrape` action captured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CapturedPage {
    /// Where the browser was.
    pub url: String,
    /// What it showed.
    pub html: String,
}

/// What a script returned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ScriptReturn {
    /// The JavaScript type.
    #[serde(rename = "type")]
    pub kind: String,
    /// The value.
    pub value: Value,
}

impl ScriptReturn {
    /// Bytes that it takes in memory, about: small values take many times what they take as text.
    #[must_use]
    pub fn memory(&self) -> usize {
        memory_of(&self.value)
    }
}

/// Bytes of a member of an object, besides its name and its value.
const MEMBER: usize = 64;

fn memory_of(value: &Value) -> usize {
    let inside = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(memory_of).sum(),
        Value::Object(members) => members.iter().map(|(name, value)| MEMBER + name.len() + memory_of(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    size_of::<Value>() + inside
}

/// What changed since the scrape before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangeTracking {
    /// When the page was seen before, RFC 3339; null the first time.
    pub previous_scrape_at: Option<String>,
    /// Whether and how it changed.
    pub change_status: ChangeStatus,
    /// How the page is found.
    pub visibility: Visibility,
    /// The difference, in `git-diff` mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<Value>,
    /// Values before and now per field, in `json` mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub json: Option<Value>,
}

words! {
    /// Whether and how a page changed.
    pub enum ChangeStatus {
        /// Never seen before.
        New = "new",
        /// As before.
        Same = "same",
        /// Different.
        Changed = "changed",
        /// Gone.
        Removed = "removed",
    }
}

words! {
    /// How a page is found.
    pub enum Visibility {
        /// By links or a sitemap.
        Visible = "visible",
        /// Only known from before.
        Hidden = "hidden",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn small_values_take_more_memory_than_text() {
        let memory = |value: Value| ScriptReturn { kind: "object".to_owned(), value }.memory();
        let small = json!(vec![1; 1000]);
        assert!(small.to_string().len() < 2100 && memory(small) >= 16_000);
        assert!(memory(json!({"name": "x".repeat(5000)})) > 5000 + MEMBER);
        assert!(memory(Value::Null) > 0);
    }
}
