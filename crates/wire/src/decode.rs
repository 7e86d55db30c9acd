//! From a JSON body to a checked request: field by field, then the rules between fields.

use serde::Serialize;
use serde_json::Value;
use url::Url;
use utoipa::ToSchema;

use crate::action::Action;
use crate::error::Invalid;
use crate::format::{Format, FormatKind, MAX_SELECTOR_CHARS, MAX_SELECTORS};
use crate::headers;
use crate::option::{AuditMetadata, Location, Profile};
use crate::parser::Parser;
use crate::read::{self, Field, Fields};
use crate::redact::RedactPii;
use crate::scrape::{MAX_TIMEOUT_MS, MAX_WAIT_FOR_MS, MIN_TIMEOUT_MS, ScrapeOptions, ScrapeRequest};
use crate::source::SourceUrl;
use crate::target::target_url;
use crate::threat::ThreatProtection;
use crate::tool::ToolRequest;

/// Keys that clients send and that mean nothing here: accepted with any value, so that no client breaks.
/// Keys that mean something but change nothing yet (`fastMode`, `blockAds`, `origin`, …) are fields instead.
pub const HARMLESS_KEYS: &[&str] = &["useMock"];

/// Ages in milliseconds go up to what every JSON reader keeps exact: 2^53 - 1.
const MAX_AGE_MS: u64 = 9_007_199_254_740_991;

/// The two things that `POST /v2/scrape` does.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum ScrapeBody {
    /// Scrape a page.
    Page(Box<ScrapeRequest>),
    /// Call provider tools.
    Tools(Box<ToolRequest>),
}

/// Decodes the body of `POST /v2/scrape`.
///
/// # Errors
/// [`Invalid`] with every fault (up to 20), each with the path of its field: a wrong type, a value out of bounds, a
/// missing or unknown key, options that exclude each other.
///
/// ```
/// let body = serde_json::json!({ "url": "https://example.com", "fromats": ["html"] });
/// let invalid = wire::decode_scrape(body).unwrap_err();
/// assert_eq!(invalid.message, "Unrecognized key in body: `fromats`");
/// ```
pub fn decode_scrape(body: Value) -> Result<ScrapeBody, Invalid> {
    read::body(body, |fields| {
        for key in HARMLESS_KEYS {
            let _ignored = fields.take(key);
        }
        if fields.has("alexandria") {
            return ToolRequest::read(fields).map(|request| ScrapeBody::Tools(Box::new(request)));
        }
        ScrapeRequest::read(fields).map(|request| ScrapeBody::Page(Box::new(request)))
    })
}

impl ScrapeRequest {
    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let page = fields.need("url").and_then(page);
        let options = ScrapeOptions::read(fields);
        let zero_data_retention = fields.flag("zeroDataRetention", false);
        if zero_data_retention && options.only_clean_content {
            fields.refuse("onlyCleanContent", "must not stand beside `zeroDataRetention`");
        }
        let domain_tools = fields.flag("domainTools", false);
        let tool_detail = fields.take("toolDetail").and_then(Field::word);
        let (origin, integration) = attribution(fields);
        let (url, source) = page?;
        Some(Self { url, source, options, zero_data_retention, domain_tools, tool_detail, origin, integration })
    }
}

/// The URL of a page, and how it was spelled.
pub(crate) fn page(field: Field<'_>) -> Option<(Url, SourceUrl)> {
    field.parse(|text| match target_url(text) {
        Ok(url) => Ok((url, SourceUrl::new(text))),
        Err(error) => Err(error.to_string()),
    })
}

/// `origin` and `integration`, which clients add to every body.
pub(crate) fn attribution(fields: &mut Fields<'_>) -> (Option<String>, Option<String>) {
    let mut name = |key: &str| fields.take(key).and_then(|field| field.name(0..=1000));
    (name("origin"), name("integration"))
}

impl ScrapeOptions {
    /// Reads the options out of an object that may hold other fields too.
    pub(crate) fn read(fields: &mut Fields<'_>) -> Self {
        let default = Self::default();
        let mut options = Self {
            formats: fields.take("formats").and_then(Format::read_list).unwrap_or(default.formats),
            include_tags: selectors(fields, "includeTags"),
            exclude_tags: selectors(fields, "excludeTags"),
            headers: fields.take("headers").and_then(headers::read).unwrap_or_default(),
            wait_for: fields.take("waitFor").and_then(|field| field.whole32(0..=MAX_WAIT_FOR_MS)).unwrap_or(0),
            timeout: timeout(fields, default.timeout),
            proxy: fields.take("proxy").and_then(Field::word).unwrap_or_default(),
            location: fields.take("location").and_then(|field| field.record(Location::read)),
            max_age: fields.take("maxAge").and_then(|field| field.whole(0..=MAX_AGE_MS)),
            min_age: fields.take("minAge").and_then(|field| field.whole(0..=MAX_AGE_MS)),
            parsers: fields.take("parsers").and_then(Parser::read_list),
            profile: fields.take("profile").and_then(|field| field.record(Profile::read).flatten()),
            redact_pii: fields.take("redactPII").and_then(RedactPii::read),
            actions: Action::read_list(fields).unwrap_or_default(),
            audit_metadata: fields.take("auditMetadata").and_then(|field| field.record(AuditMetadata::read)),
            threat_protection: fields.take("threatProtection").and_then(|field| field.record(ThreatProtection::read)),
            ..Self::default()
        };
        options.read_flags(fields);
        options.check(fields);
        options
    }

    /// The switches; each keeps its default when it is not given.
    fn read_flags(&mut self, fields: &mut Fields<'_>) {
        for (key, flag) in [
            ("onlyMainContent", &mut self.only_main_content),
            ("onlyCleanContent", &mut self.only_clean_content),
            ("mobile", &mut self.mobile),
            ("blockAds", &mut self.block_ads),
            ("removeBase64Images", &mut self.remove_base64_images),
            ("skipTlsVerification", &mut self.skip_tls_verification),
            ("storeInCache", &mut self.store_in_cache),
            ("lockdown", &mut self.lockdown),
            ("checkPromptInjection", &mut self.check_prompt_injection),
            ("fastMode", &mut self.fast_mode),
        ] {
            *flag = fields.flag(key, *flag);
        }
        // The older place of the same switch.
        let in_json = |format: &Format| matches!(format, Format::Json(json) if json.check_prompt_injection);
        self.check_prompt_injection |= self.formats.iter().any(in_json);
    }

    /// Rules between fields.
    fn check(&self, fields: &Fields<'_>) {
        if self.wait_for > self.timeout / 2 {
            let half = self.timeout / 2;
            // Word for word what callers look for, see [`FieldError`].
            let reason = format!("waitFor must not exceed half of timeout ({half} ms), got {}", self.wait_for);
            fields.refuse("waitFor", reason);
        }
        if self.wants(FormatKind::RawBase64) {
            if self.formats.len() > 1 {
                fields.refuse("formats", "must not have another format beside `rawBase64`");
            }
            if self.check_prompt_injection {
                fields.refuse("checkPromptInjection", "must not stand beside the format `rawBase64`");
            }
        }
        if self.wants(FormatKind::ChangeTracking) && !self.wants(FormatKind::Markdown) {
            fields.refuse("formats", "must have `markdown` beside `changeTracking`");
        }
    }
}

fn timeout(fields: &mut Fields<'_>, default: u32) -> u32 {
    let given = fields.take("timeout").and_then(|field| field.whole32(MIN_TIMEOUT_MS..=MAX_TIMEOUT_MS));
    given.unwrap_or(default)
}

/// Whether they are valid CSS is for the engine to say; here they get a size.
fn selectors(fields: &mut Fields<'_>, key: &str) -> Vec<String> {
    let entry = |field: Field<'_>| field.text(1..=MAX_SELECTOR_CHARS);
    fields.take(key).and_then(|field| field.list(0..=MAX_SELECTORS, entry)).unwrap_or_default()
}
