//! Request body of `POST /v2/scrape` and the scrape options (docs/CONTRACT.md, "Scrape" and "Options").

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use url::Url;
use utoipa::ToSchema;

use crate::action::Action;
use crate::attribution::Attribution;
use crate::format::{Format, FormatEntry, FormatKind, MAX_SELECTOR_CHARS, MAX_SELECTORS};
use crate::headers;
use crate::option::{AuditMetadata, DEFAULT_TIMEOUT_MS, Location, MAX_TIMEOUT_MS, MIN_TIMEOUT_MS, Profile, ProxyMode};
use crate::parser::{Parser, ParserEntry};
use crate::read::{Field, Fields};
use crate::redact::{RedactPii, RedactPiiSwitch};
use crate::source::SourceUrl;
use crate::threat::ThreatProtection;
use crate::tool::ToolDetail;

/// Maximum of `waitFor`, in milliseconds. At most half of `timeout` is allowed as well.
pub const MAX_WAIT_FOR_MS: u32 = 60_000;
/// Default of `maxAge`: 2 days, in milliseconds.
pub const DEFAULT_MAX_AGE_MS: u64 = 172_800_000;
/// Default of `maxAge` with `lockdown`: 2 years, in milliseconds.
pub const LOCKDOWN_MAX_AGE_MS: u64 = 63_072_000_000;

/// Maximum of `maxAge` and `minAge`, in milliseconds: 2^53 - 1, the largest integer that every JSON parser keeps exact.
const MAX_AGE_MS: u64 = 9_007_199_254_740_991;

/// Page to scrape.
#[derive(Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScrapeRequest {
    /// URL of the page, `http` or `https`. A host name without a scheme is read as `https`.
    #[schema(value_type = String, format = "uri", min_length = 1, max_length = 8192)]
    pub url: Url,
    /// Original spelling of `url`.
    #[serde(skip)]
    pub source: SourceUrl,
    /// Scrape options, flattened into this object.
    #[serde(flatten)]
    pub options: ScrapeOptions,
    /// Whether nothing of this scrape is kept (zero data retention). The operator enables it per team.
    #[schema(required = false, default = false)]
    pub zero_data_retention: bool,
    /// Whether provider tools that match the domain of the page are listed.
    #[schema(required = false, default = false)]
    pub domain_tools: bool,
    /// Level of detail for these tools; `summary` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_detail: Option<ToolDetail>,
    /// Client that makes the call, flattened into this object.
    #[serde(flatten)]
    pub attribution: Attribution,
}

impl ScrapeRequest {
    /// Returns a scrape of this URL with default options.
    #[must_use]
    pub fn new(url: Url) -> Self {
        Self {
            url,
            source: SourceUrl::default(),
            options: ScrapeOptions::default(),
            zero_data_retention: false,
            domain_tools: false,
            tool_detail: None,
            attribution: Attribution::default(),
        }
    }

    /// Whether the URL must be kept out of logs and tables: with zero data retention, or with `lockdown`, which implies
    /// it.
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.zero_data_retention || self.options.lockdown
    }

    pub(crate) fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let page = fields.need("url").and_then(SourceUrl::read);
        let options = ScrapeOptions::read(fields);
        let zero_data_retention = fields.flag("zeroDataRetention", false);
        if zero_data_retention {
            options.check_zero_retention(fields, "");
        }
        let domain_tools = fields.flag("domainTools", false);
        let tool_detail = fields.take("toolDetail").and_then(Field::word);
        let attribution = Attribution::read(fields);
        let (url, source) = page?;
        Some(Self { url, source, options, zero_data_retention, domain_tools, tool_detail, attribution })
    }
}

impl fmt::Debug for ScrapeRequest {
    /// Shows at most the host: paths and queries may contain tokens, userinfo may contain a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = if self.is_private() { None } else { self.url.host_str() };
        f.debug_struct("ScrapeRequest")
            .field("host", &host.unwrap_or("***"))
            .field("options", &self.options)
            .field("zero_data_retention", &self.zero_data_retention)
            .field("domain_tools", &self.domain_tools)
            .finish_non_exhaustive()
    }
}

/// Scrape options. All fields are optional; null counts as absent.
#[derive(Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ScrapeOptions {
    /// Formats to return, each at most once. An empty list returns metadata only.
    #[schema(value_type = Vec<FormatEntry>, max_items = 38)]
    pub formats: Vec<Format>,
    /// Whether navigation, footers and other boilerplate are removed before any format is derived.
    pub only_main_content: bool,
    /// Whether remaining boilerplate is removed by a language model.
    pub only_clean_content: bool,
    /// CSS selectors of the elements to keep; all others are dropped.
    #[schema(max_items = 250)]
    pub include_tags: Vec<String>,
    /// CSS selectors of elements to drop.
    #[schema(max_items = 250)]
    pub exclude_tags: Vec<String>,
    /// Request headers sent to the site: at most 100, at most 64 KiB in total. Connection headers are refused.
    pub headers: BTreeMap<String, String>,
    /// Extra delay before the page is captured, in milliseconds; at most half of `timeout`.
    #[schema(minimum = 0, maximum = 60000)]
    pub wait_for: u32,
    /// Timeout of the whole scrape, in milliseconds.
    #[schema(minimum = 1000, maximum = 300000)]
    pub timeout: u32,
    /// Whether a mobile device is emulated.
    pub mobile: bool,
    /// Whether advertisements and cookie banners are blocked.
    pub block_ads: bool,
    /// Whether base64 images in the markdown are replaced by a placeholder.
    #[serde(rename = "removeBase64Images")]
    pub remove_base64_images: bool,
    /// Whether invalid TLS certificates are accepted. Default: true, but false with `headers`, `actions` or `profile`,
    /// or with credentials in `url`, because these could be sent to an impostor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip_tls_verification: Option<bool>,
    /// Proxy mode.
    pub proxy: ProxyMode,
    /// Location and languages that the site sees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// Maximum age of a cached copy, in milliseconds; 0 always fetches the page. Default: 2 days, or 2 years with
    /// `lockdown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 9007199254740991u64, default = 172800000)]
    pub max_age: Option<u64>,
    /// Minimum age of a cached copy, in milliseconds. If given, only the cache is used; the page is never fetched.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 9007199254740991u64)]
    pub min_age: Option<u64>,
    /// Whether the page is stored in the cache. Ignored for requests with headers, actions or other private options,
    /// which are never cached.
    pub store_in_cache: bool,
    /// Whether only the cache may answer. No connection to the site is made.
    pub lockdown: bool,
    /// File types to parse instead of returning the file; `["pdf"]` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<ParserEntry>>, max_items = 2)]
    pub parsers: Option<Vec<Parser>>,
    /// Browser profile to load and save.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// Redaction of personal data in the markdown; off by default.
    #[serde(rename = "redactPII", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<RedactPiiSwitch>)]
    pub redact_pii: Option<RedactPii>,
    /// Actions to perform on the page before it is captured. Their waits may total up to 60 seconds.
    #[schema(max_items = 50)]
    pub actions: Vec<Action>,
    /// Audit metadata for the operator's own records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit_metadata: Option<AuditMetadata>,
    /// Policy on which sites may be visited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threat_protection: Option<ThreatProtection>,
    /// Whether pages that attempt prompt injection are refused.
    pub check_prompt_injection: bool,
    /// Whether to prefer speed. A hint without effect on this server.
    pub fast_mode: bool,
}

impl Default for ScrapeOptions {
    fn default() -> Self {
        Self {
            formats: vec![Format::Markdown],
            only_main_content: true,
            only_clean_content: false,
            include_tags: Vec::new(),
            exclude_tags: Vec::new(),
            headers: BTreeMap::new(),
            wait_for: 0,
            timeout: DEFAULT_TIMEOUT_MS,
            mobile: false,
            block_ads: true,
            remove_base64_images: true,
            skip_tls_verification: None,
            proxy: ProxyMode::default(),
            location: None,
            max_age: None,
            min_age: None,
            store_in_cache: true,
            lockdown: false,
            parsers: None,
            profile: None,
            redact_pii: None,
            actions: Vec::new(),
            audit_metadata: None,
            threat_protection: None,
            check_prompt_injection: false,
            fast_mode: false,
        }
    }
}

impl ScrapeOptions {
    /// Whether a format is requested.
    #[must_use]
    pub fn wants(&self, kind: FormatKind) -> bool {
        self.formats.iter().any(|format| format.kind() == kind)
    }

    /// Returns the maximum age of a cached copy, in milliseconds: as requested, else 2 days, or 2 years with
    /// `lockdown`.
    #[must_use]
    pub fn max_age_ms(&self) -> u64 {
        let default = if self.lockdown { LOCKDOWN_MAX_AGE_MS } else { DEFAULT_MAX_AGE_MS };
        self.max_age.unwrap_or(default)
    }

    /// Whether invalid TLS certificates are accepted: the caller's choice, if given. Otherwise only if nothing of the
    /// caller's is sent: no headers, actions, profile or credentials in the URL (`has_password`).
    #[must_use]
    pub fn skips_tls_verification(&self, has_password: bool) -> bool {
        let is_anonymous =
            !has_password && self.headers.is_empty() && self.actions.is_empty() && self.profile.is_none();
        self.skip_tls_verification.unwrap_or(is_anonymous)
    }

    /// Reads the options from an object that may contain other fields too.
    pub(crate) fn read(fields: &mut Fields<'_>) -> Self {
        let default = Self::default();
        let mut options = Self {
            formats: fields.take("formats").and_then(Format::read_list).unwrap_or(default.formats),
            include_tags: selectors(fields, "includeTags"),
            exclude_tags: selectors(fields, "excludeTags"),
            headers: fields.take("headers").and_then(headers::read).unwrap_or_default(),
            wait_for: fields.take("waitFor").and_then(|field| field.whole32(0..=MAX_WAIT_FOR_MS)).unwrap_or(0),
            timeout: timeout(fields, default.timeout),
            skip_tls_verification: fields.take("skipTlsVerification").and_then(Field::flag),
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

    /// Reads the boolean options; each keeps its default if absent.
    fn read_flags(&mut self, fields: &mut Fields<'_>) {
        for (key, flag) in [
            ("onlyMainContent", &mut self.only_main_content),
            ("onlyCleanContent", &mut self.only_clean_content),
            ("mobile", &mut self.mobile),
            ("blockAds", &mut self.block_ads),
            ("removeBase64Images", &mut self.remove_base64_images),
            ("storeInCache", &mut self.store_in_cache),
            ("lockdown", &mut self.lockdown),
            ("checkPromptInjection", &mut self.check_prompt_injection),
            ("fastMode", &mut self.fast_mode),
        ] {
            *flag = fields.flag(key, *flag);
        }
        // `checkPromptInjection` inside the format `json` is the former place of this option.
        let in_json = |format: &Format| matches!(format, Format::Json(json) if json.check_prompt_injection);
        self.check_prompt_injection |= self.formats.iter().any(in_json);
    }

    /// Checks the rules between fields.
    fn check(&self, fields: &Fields<'_>) {
        if self.wait_for > self.timeout / 2 {
            let half = self.timeout / 2;
            // Callers match this text word for word, so the advice is separate; see [`FieldError`].
            let reason = "waitFor must not exceed half of timeout";
            let (wait, need) = (self.wait_for, self.wait_for.saturating_mul(2));
            let advice = format!("waitFor is {wait}: set it to at most {half}, or set timeout to at least {need}");
            fields.refuse_with_advice("waitFor", reason, advice);
        }
        if self.wants(FormatKind::RawBase64) {
            if self.formats.len() > 1 {
                fields.refuse("formats", "must not contain another format next to `rawBase64`");
            }
            if self.check_prompt_injection {
                fields.refuse("checkPromptInjection", "cannot be combined with the format `rawBase64`");
            }
        }
        if self.wants(FormatKind::ChangeTracking) {
            self.check_tracking(fields);
        }
    }

    /// Checks what change tracking needs: the markdown, and a page that is fetched.
    fn check_tracking(&self, fields: &Fields<'_>) {
        if !self.wants(FormatKind::Markdown) {
            fields.refuse("formats", "must contain `markdown`, which `changeTracking` needs");
        }
        if self.lockdown {
            fields.refuse("lockdown", from_cache("lockdown"));
        }
        if self.min_age.is_some() {
            fields.refuse("minAge", from_cache("minAge"));
        }
    }

    /// Refuses the options that cannot be combined with zero data retention. `at` is the prefix of their path.
    pub(crate) fn check_zero_retention(&self, fields: &Fields<'_>, at: &str) {
        if self.only_clean_content {
            fields.refuse(&format!("{at}onlyCleanContent"), "cannot be combined with `zeroDataRetention`");
        }
        if self.wants(FormatKind::ChangeTracking) {
            let reason = "must not contain `changeTracking`, which stores a version of the page, \
                together with `zeroDataRetention`; leave out one of them";
            fields.refuse(&format!("{at}formats"), reason);
        }
    }
}

/// Returns why an option that asks for a cached copy cannot be combined with change tracking.
fn from_cache(option: &str) -> String {
    format!(
        "cannot be combined with the format `changeTracking`: it compares the page as it is now, \
        and `{option}` asks for a cached copy; leave out `{option}`"
    )
}

fn timeout(fields: &mut Fields<'_>, default: u32) -> u32 {
    let given = fields.take("timeout").and_then(|field| field.whole32(MIN_TIMEOUT_MS..=MAX_TIMEOUT_MS));
    given.unwrap_or(default)
}

/// Reads CSS selectors and checks their length. Their syntax is checked by the engine.
fn selectors(fields: &mut Fields<'_>, key: &'static str) -> Vec<String> {
    let entry = |field: Field<'_>| field.text(1..=MAX_SELECTOR_CHARS);
    fields.take(key).and_then(|field| field.list(0..=MAX_SELECTORS, entry)).unwrap_or_default()
}

impl fmt::Debug for ScrapeOptions {
    /// Shows the options that differ from their defaults, without header values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Ok(given), Ok(plain)) = (serde_json::to_value(self), serde_json::to_value(Self::default())) else {
            return f.write_str("ScrapeOptions");
        };
        let mut shown = f.debug_struct("ScrapeOptions");
        for (key, value) in given.as_object().into_iter().flatten().filter(|(key, value)| plain.get(key) != Some(value))
        {
            match key.as_str() {
                "headers" => shown.field(key, &self.headers.keys().collect::<Vec<_>>()),
                // `Debug` of actions hides typed text; their JSON form does not.
                "actions" => shown.field(key, &self.actions),
                _ => shown.field(key, &format_args!("{value}")),
            };
        }
        shown.finish()
    }
}
