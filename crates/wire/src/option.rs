//! Options that are small objects or enums: proxy, location, profile, audit metadata.

use serde::Serialize;
use utoipa::ToSchema;

use crate::read::{Field, Fields};
use crate::words::words;

/// Minimum of `timeout`, in milliseconds.
pub const MIN_TIMEOUT_MS: u32 = 1000;
/// Default of `timeout`, in milliseconds.
pub const DEFAULT_TIMEOUT_MS: u32 = 60_000;
/// Maximum of `timeout`, in milliseconds.
pub const MAX_TIMEOUT_MS: u32 = 300_000;

words! {
    /// Proxy mode: which of the server's proxies fetches the page.
    #[derive(Default)]
    pub enum ProxyMode {
        /// Ordinary proxy or none, for sites without bot protection.
        Basic = "basic",
        /// Enhanced proxy of the server, for sites that refuse the ordinary one.
        Enhanced = "enhanced",
        /// Former name of `enhanced`, still sent by clients.
        Stealth = "stealth",
        /// Basic first, then enhanced after a failure or refusal.
        #[default]
        Auto = "auto",
    }
}

/// Location and languages that the site sees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(default)]
pub struct Location {
    /// Country code (ISO 3166-1 alpha-2), upper case.
    #[schema(pattern = "^[A-Z]{2}$")]
    pub country: String,
    /// Locale codes in order of preference, such as `de-CH`. Empty: the language of the country.
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
    Err("must be two capital letters (ISO 3166-1 alpha-2), such as `US`".to_owned())
}

/// Reads a country code in any case and returns it in upper case.
pub(crate) fn country_of_any_case(text: &str) -> Result<String, String> {
    country(&text.to_ascii_uppercase())
}

/// Checks a locale code, because it becomes part of a request header. `en_US` is common and is read as `en-US`.
pub(crate) fn language(text: &str) -> Result<String, String> {
    let part = |part: &str| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let text = text.replace('_', "-");
    if text.len() <= 35 && (text == "*" || text.split('-').all(part)) {
        return Ok(text);
    }
    Err("must be a locale code, such as `en-US`".to_owned())
}

/// Browser profile: cookies and storage shared by scrapes that name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Profile {
    /// Name of the profile.
    #[schema(min_length = 1, max_length = 128)]
    pub name: String,
    /// Whether changes are saved to the profile at the end. `false` loads it read-only.
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

/// Audit metadata: the user behind a request, for the operator's records.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(default)]
pub struct AuditMetadata {
    /// User on whose behalf the request is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 1024)]
    pub username: Option<String>,
}

impl AuditMetadata {
    pub(crate) fn read(fields: &mut Fields<'_>) -> Self {
        Self { username: fields.take("username").and_then(|field| field.name(0..=1024)) }
    }
}
