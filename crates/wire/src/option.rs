//! Options that are small objects or words: proxy, location, profile, audit metadata.

use serde::Serialize;
use utoipa::ToSchema;

use crate::read::{Field, Fields};
use crate::words::words;

/// Shortest `timeout`, in milliseconds.
pub const MIN_TIMEOUT_MS: u32 = 1000;
/// `timeout` when none is given, in milliseconds.
pub const DEFAULT_TIMEOUT_MS: u32 = 60_000;
/// Longest `timeout`, in milliseconds.
pub const MAX_TIMEOUT_MS: u32 = 300_000;

words! {
    /// How the page is reached.
    #[derive(Default)]
    pub enum ProxyMode {
        /// The plain way, for sites that do not mind.
        Basic = "basic",
        /// The way for sites that refuse the plain one.
        Enhanced = "enhanced",
        /// The old name of `enhanced`, still offered by every client.
        Stealth = "stealth",
        /// Basic, then enhanced when that fails.
        #[default]
        Auto = "auto",
    }
}

/// Where the visitor seems to be, and which languages they read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(default)]
pub struct Location {
    /// Country by ISO 3166-1 alpha-2, upper case.
    #[schema(pattern = "^[A-Z]{2}$")]
    pub country: String,
    /// Locale codes by priority, as `de-CH`. Empty means the language of the country.
    #[schema(max_items = 20)]
    pub languages: Vec<String>,
}

impl Default for Location {
    fn default() -> Self {
        Self { country: "US".to_owned(), languages: Vec::new() }
    }
}

impl Location {
    pub(crate) fn read(fields: &mut Fields<'_>) -> Self {
        let default = Self::default();
        let language = |field: Field<'_>| field.parse(language);
        Self {
            country: fields.take("country").and_then(|field| field.parse(country)).unwrap_or(default.country),
            languages: fields.take("languages").and_then(|field| field.list(0..=20, language)).unwrap_or_default(),
        }
    }
}

fn country(text: &str) -> Result<String, String> {
    if text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return Ok(text.to_owned());
    }
    Err("must be two capital letters (ISO 3166-1 alpha-2), as `US`".to_owned())
}

/// A locale goes into a request header, so its characters are checked; `en_US` is common and means `en-US`.
fn language(text: &str) -> Result<String, String> {
    let part = |part: &str| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let text = text.replace('_', "-");
    if text.len() <= 35 && (text == "*" || text.split('-').all(part)) {
        return Ok(text);
    }
    Err("must be a locale code, as `en-US`".to_owned())
}

/// Browser state that scrapes of the same name share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Profile {
    /// The name of the profile.
    #[schema(min_length = 1, max_length = 128)]
    pub name: String,
    /// Whether the state is saved back; false only loads it.
    #[schema(required = false, default = true)]
    pub save_changes: bool,
}

impl Profile {
    pub(crate) fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let name = fields.need("name").and_then(|field| field.name(1..=128));
        let save_changes = fields.flag("saveChanges", true);
        Some(Self { name: name?, save_changes })
    }
}

/// Who is behind a request, for the operator's own records.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(default)]
pub struct AuditMetadata {
    /// The user on whose behalf the call is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 1024)]
    pub username: Option<String>,
}

impl AuditMetadata {
    pub(crate) fn read(fields: &mut Fields<'_>) -> Self {
        Self { username: fields.take("username").and_then(|field| field.name(0..=1024)) }
    }
}
