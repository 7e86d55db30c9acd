//! The request of `POST /v2/scrape` and its options (docs/CONTRACT.md, "Scrape" and "Options").

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

/// Longest `waitFor`, in milliseconds; it may also not be over half of `timeout`.
pub const MAX_WAIT_FOR_MS: u32 = 60_000;
/// `maxAge` when none is given: 2 days, in milliseconds.
pub const DEFAULT_MAX_AGE_MS: u64 = 172_800_000;
/// `maxAge` when none is given but `lockdown` is: 2 years, in milliseconds.
pub const LOCKDOWN_MAX_AGE_MS: u64 = 63_072_000_000;

/// Ages in milliseconds go up to what every JSON reader keeps exact: 2^53 - 1.
const MAX_AGE_MS: u64 = 9_007_199_254_740_991;

/// A page to scrape.
#[derive(Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScrapeRequest {
    /// The page: `http` or `https`. A host name without a scheme is taken as `https`.
    #[schema(value_type = String, format = "uri", min_length = 1, max_length = 8192)]
    pub url: Url,
    /// `url` as it was given.
    #[serde(skip)]
    pub source: SourceUrl,
    /// How to scrape it; siblings of `url` on the wire.
    #[serde(flatten)]
    pub options: ScrapeOptions,
    /// Keep nothing of this scrape. The operator enables it per team.
    #[schema(required = false, default = false)]
    pub zero_data_retention: bool,
    /// List provider tools that match the domain of the page.
    #[schema(required = false, default = false)]
    pub domain_tools: bool,
    /// How much is told about each of these tools; `summary` when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_detail: Option<ToolDetail>,
    /// Who calls; siblings of `url` on the wire.
    #[serde(flatten)]
    pub attribution: Attribution,
}

impl ScrapeRequest {
    /// A scrape of this page with nothing else asked for.
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

    /// Whether the URL must stay out of logs and tables: zero retention, or lockdown, which counts as such.
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.zero_data_retention || self.options.lockdown
    }

    pub(crate) fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let page = fields.need("url").and_then(SourceUrl::read);
        let options = ScrapeOptions::read(fields);
        let zero_data_retention = fields.flag("zeroDataRetention", false);
        if zero_data_retention && options.only_clean_content {
            fields.refuse("onlyCleanContent", "must not stand beside `zeroDataRetention`");
        }
        let domain_tools = fields.flag("domainTools", false);
        let tool_detail = fields.take("toolDetail").and_then(Field::word);
        let attribution = Attribution::read(fields);
        let (url, source) = page?;
        Some(Self { url, source, options, zero_data_retention, domain_tools, tool_detail, attribution })
    }
}

impl fmt::Debug for ScrapeRequest {
    /// Shows the host at most: paths and queries carry tokens, userinfo carries passwords.
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

/// How to scrape a page. All members are optional on the wire; a null counts as absent.
#[derive(Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ScrapeOptions {
    /// What to return, each kind at most once. An empty list returns metadata only.
    #[schema(value_type = Vec<FormatEntry>, max_items = 38)]
    pub formats: Vec<Format>,
    /// Leave out navigation, footers and the like before anything is derived.
    pub only_main_content: bool,
    /// Remove what is left of these with a model.
    pub only_clean_content: bool,
    /// CSS selectors of the only elements to keep.
    #[schema(max_items = 250)]
    pub include_tags: Vec<String>,
    /// CSS selectors of elements to drop.
    #[schema(max_items = 250)]
    pub exclude_tags: Vec<String>,
    /// Request headers for the page: at most 100, together at most 64 KiB, none that belongs to the connection.
    pub headers: BTreeMap<String, String>,
    /// Extra delay before the page is captured, in milliseconds; at most half of `timeout`.
    #[schema(minimum = 0, maximum = 60000)]
    pub wait_for: u32,
    /// Time for the whole scrape, in milliseconds.
    #[schema(minimum = 1000, maximum = 300000)]
    pub timeout: u32,
    /// Look like a mobile device.
    pub mobile: bool,
    /// Block advertisements and cookie banners.
    pub block_ads: bool,
    /// Replace embedded base64 images in the markdown by a placeholder.
    #[serde(rename = "removeBase64Images")]
    pub remove_base64_images: bool,
    /// Accept bad TLS certificates. When not given: true, but false beside `headers`, `actions` or `profile`, and for a `url`
    /// with a user name or password, as these would be sent to whoever answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip_tls_verification: Option<bool>,
    /// How the page is reached.
    pub proxy: ProxyMode,
    /// Where the visitor seems to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// A cached copy not older than this will do, in milliseconds; 0 never uses one. Under
    /// `lockdown` the default is 2 years.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 9007199254740991u64, default = 172800000)]
    pub max_age: Option<u64>,
    /// Only a cached copy at least this old will do, in milliseconds; the page is never fetched.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 9007199254740991u64)]
    pub min_age: Option<u64>,
    /// Keep the page for later scrapes. Silently off with headers, actions and other private options.
    pub store_in_cache: bool,
    /// Answer from the cache alone, without any connection to the target.
    pub lockdown: bool,
    /// Which files are read instead of returned. `["pdf"]` when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<ParserEntry>>, max_items = 2)]
    pub parsers: Option<Vec<Parser>>,
    /// Browser state to share with other scrapes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// Personal data to take out of the markdown; off leaves it in.
    #[serde(rename = "redactPII", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<RedactPiiSwitch>)]
    pub redact_pii: Option<RedactPii>,
    /// What to do on the page before it is captured. The waits may add up to 60 seconds.
    #[schema(max_items = 50)]
    pub actions: Vec<Action>,
    /// Who is behind the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit_metadata: Option<AuditMetadata>,
    /// Which sites may be visited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threat_protection: Option<ThreatProtection>,
    /// Refuse pages that try to give orders to a model.
    pub check_prompt_injection: bool,
    /// Prefer speed; a hint that changes nothing on this server.
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
    /// Whether a format is asked for.
    #[must_use]
    pub fn wants(&self, kind: FormatKind) -> bool {
        self.formats.iter().any(|format| format.kind() == kind)
    }

    /// How old a cached copy may be, in milliseconds: as asked for, or 2 days, or 2 years under `lockdown`.
    #[must_use]
    pub fn max_age_ms(&self) -> u64 {
        let default = if self.lockdown { LOCKDOWN_MAX_AGE_MS } else { DEFAULT_MAX_AGE_MS };
        self.max_age.unwrap_or(default)
    }

    /// Whether any TLS certificate will do: as the caller says. Where the caller says nothing it is so only when nothing of the
    /// caller's is sent: no headers, no actions, no profile, and no user name and password, which `has_password` tells.
    #[must_use]
    pub fn skips_tls_verification(&self, has_password: bool) -> bool {
        let is_anonymous =
            !has_password && self.headers.is_empty() && self.actions.is_empty() && self.profile.is_none();
        self.skip_tls_verification.unwrap_or(is_anonymous)
    }

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

    /// The switches; each keeps its default when it is not given.
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
        // The older place of the same switch.
        let in_json = |format: &Format| matches!(format, Format::Json(json) if json.check_prompt_injection);
        self.check_prompt_injection |= self.formats.iter().any(in_json);
    }

    /// Rules between fields.
    fn check(&self, fields: &Fields<'_>) {
        if self.wait_for > self.timeout / 2 {
            let half = self.timeout / 2;
            // Word for word what callers look for, see [`FieldError`].
            let reason = "waitFor must not exceed half of timeout";
            let (wait, need) = (self.wait_for, self.wait_for.saturating_mul(2));
            let advice = format!("waitFor is {wait} and may be {half} at most; or set timeout to {need} or more");
            fields.refuse_with_advice("waitFor", reason, advice);
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
fn selectors(fields: &mut Fields<'_>, key: &'static str) -> Vec<String> {
    let entry = |field: Field<'_>| field.text(1..=MAX_SELECTOR_CHARS);
    fields.take(key).and_then(|field| field.list(0..=MAX_SELECTORS, entry)).unwrap_or_default()
}

impl fmt::Debug for ScrapeOptions {
    /// Shows what differs from the defaults, without the values of headers.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Ok(given), Ok(plain)) = (serde_json::to_value(self), serde_json::to_value(Self::default())) else {
            return f.write_str("ScrapeOptions");
        };
        let mut shown = f.debug_struct("ScrapeOptions");
        for (key, value) in given.as_object().into_iter().flatten().filter(|(key, value)| plain.get(key) != Some(value))
        {
            match key.as_str() {
                "headers" => shown.field(key, &self.headers.keys().collect::<Vec<_>>()),
                // Typed text hides itself in `Debug`, but not in JSON.
                "actions" => shown.field(key, &self.actions),
                _ => shown.field(key, &format_args!("{value}")),
            };
        }
        shown.finish()
    }
}
