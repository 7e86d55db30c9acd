//! Optional server features that requests depend on. Features that every server has are not listed here.

use crate::batch::BatchRequest;
use crate::capability::Capability::{
    self, Answers, Browser, Catalog, Injection, Media, Model, Ocr, Profiles, Redaction, Threats,
};
use crate::code::Code;
use crate::crawl::{CrawlRequest, ParamsPreview};
use crate::format::{Format, FormatKind};
use crate::map::MapRequest;
use crate::parse::ParseRequest;
use crate::parser::{Parser, PdfMode};
use crate::scrape::{ScrapeOptions, ScrapeRequest};
use crate::search::SearchRequest;
use crate::threat::{ThreatMode, ThreatProtection};

/// Part of a request that needs an optional server feature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// Path of the field that asks for it.
    pub path: String,
    /// Capability that the server must have.
    pub capability: Capability,
    /// Error code if the server lacks the capability.
    pub code: Code,
}

impl Need {
    fn new(path: impl Into<String>, capability: Capability, code: Code) -> Self {
        Self { path: path.into(), capability, code }
    }

    /// Returns the error message for a server that lacks the capability.
    #[must_use]
    pub fn message(&self) -> &'static str {
        match self.code {
            // One client compares these words with their full stop, and goes on without the tools.
            Code::ProviderDiscoveryDisabled | Code::ProviderDiscoveryRetains => self.code.meaning(),
            code => code.meaning().trim_end_matches('.'),
        }
    }
}

const FORMATS: &[(FormatKind, Capability, Code)] = &[
    (FormatKind::Summary, Answers, Code::ScrapeSummaryNotSupported),
    (FormatKind::Screenshot, Browser, Code::ScrapeScreenshotNotSupported),
    (FormatKind::Json, Model, Code::ScrapeJsonNotSupported),
    (FormatKind::Audio, Media, Code::ScrapeAudioNotSupported),
    (FormatKind::Video, Media, Code::ScrapeVideoNotSupported),
    (FormatKind::Query, Answers, Code::ScrapeQueryNotSupported),
    (FormatKind::Question, Answers, Code::ScrapeQuestionNotSupported),
    (FormatKind::Highlights, Answers, Code::ScrapeHighlightsNotSupported),
    (FormatKind::ChangeTracking, Model, Code::ScrapeChangeTrackingNotSupported),
];

/// Whether options ask for a feature.
type Asks = fn(&ScrapeOptions) -> bool;

/// Field, condition, required capability, error code.
const OPTIONS: &[(&str, Asks, Capability, Code)] = &[
    ("actions", |options| !options.actions.is_empty(), Browser, Code::ScrapeActionsNotSupported),
    ("profile", |options| options.profile.is_some(), Profiles, Code::ScrapeProfileNotSupported),
    ("redactPII", |options| options.redact_pii.is_some(), Redaction, Code::ScrapeRedactPiiNotSupported),
    ("onlyCleanContent", |options| options.only_clean_content, Answers, Code::ScrapeOnlyCleanContentNotSupported),
    ("checkPromptInjection", wants_injection_check, Injection, Code::ScrapePromptInjectionCheckNotSupported),
    ("threatProtection", wants_threat_protection, Threats, Code::ScrapeThreatProtectionNotSupported),
    ("parsers", wants_ocr, Ocr, Code::ScrapeOcrNotSupported),
];

/// Returns the needs of scrape options. `at` is the prefix of their path in the body: empty, or the field's path and a
/// dot.
fn of_options<'a>(options: &'a ScrapeOptions, at: &'a str) -> impl Iterator<Item = Need> + 'a {
    let formats = options.formats.iter().enumerate().filter_map(move |(index, format)| {
        let (_, capability, code) = FORMATS.iter().find(|(kind, ..)| *kind == format.kind() && needs_more(format))?;
        Some(Need::new(format!("{at}formats[{index}]"), *capability, *code))
    });
    let others = OPTIONS.iter().filter(move |(_, asks, ..)| asks(options));
    formats.chain(others.map(move |(path, _, capability, code)| Need::new(format!("{at}{path}"), *capability, *code)))
}

impl ScrapeRequest {
    /// Returns what the server must support, formats first.
    #[must_use]
    pub fn needs(&self) -> Vec<Need> {
        let tools = || Need::new("domainTools", Catalog, Code::ScrapeDomainToolsNotSupported);
        of_options(&self.options, "").chain(self.domain_tools.then(tools)).collect()
    }
}

impl ScrapeOptions {
    /// Returns what the server must support.
    #[must_use]
    pub fn needs(&self) -> Vec<Need> {
        of_options(self, "").collect()
    }
}

impl ParseRequest {
    /// Returns what the server must support.
    #[must_use]
    pub fn needs(&self) -> Vec<Need> {
        of_options(&self.options, "").collect()
    }
}

impl CrawlRequest {
    /// Returns what the server must support.
    #[must_use]
    pub fn needs(&self) -> Vec<Need> {
        let prompt = || Need::new("prompt", Model, Code::CrawlPromptNotSupported);
        let prompt = self.prompt.is_some().then(prompt);
        prompt.into_iter().chain(of_options(&self.options.scrape_options, "scrapeOptions.")).collect()
    }
}

impl BatchRequest {
    /// Returns what the server must support.
    #[must_use]
    pub fn needs(&self) -> Vec<Need> {
        of_options(&self.options, "").collect()
    }
}

impl MapRequest {
    /// Returns what the server must support.
    #[must_use]
    pub fn needs(&self) -> Vec<Need> {
        let protection = || Need::new("threatProtection", Threats, Code::ScrapeThreatProtectionNotSupported);
        expects_protection(self.threat_protection.as_ref()).then(protection).into_iter().collect()
    }
}

impl SearchRequest {
    /// Returns what the server must support, the catalog first.
    #[must_use]
    pub fn needs(&self) -> Vec<Need> {
        let protection = || Need::new("threatProtection", Threats, Code::ScrapeThreatProtectionNotSupported);
        let protection = expects_protection(self.threat_protection.as_ref()).then(protection);
        let pages = self.scrape_options.iter().flat_map(|options| of_options(options, "scrapeOptions."));
        self.catalog_need().into_iter().chain(protection).chain(pages).collect()
    }

    /// Returns the need for the catalog, if provider tools are searched. A team without access to the catalog is refused
    /// with the same code and words as by a server without one, and so is every search with zero data retention.
    #[must_use]
    pub fn catalog_need(&self) -> Option<Need> {
        let code = if self.is_private() { Code::ProviderDiscoveryRetains } else { Code::ProviderDiscoveryDisabled };
        let path = if self.domain_tools { "domainTools" } else { "sources" };
        self.wants_tools().then(|| Need::new(path, Catalog, code))
    }
}

impl ParamsPreview {
    /// Returns what the server must support.
    #[must_use]
    pub fn needs(&self) -> Vec<Need> {
        vec![Need::new("prompt", Model, Code::CrawlParamsPreviewNotSupported)]
    }
}

/// Whether a format of a listed kind needs its capability. Change tracking only does where values are extracted.
fn needs_more(format: &Format) -> bool {
    !matches!(format, Format::ChangeTracking(tracking) if !tracking.extracts())
}

/// Whether the check for prompt injection is requested, in either of its two places.
fn wants_injection_check(options: &ScrapeOptions) -> bool {
    let older = |format: &Format| matches!(format, Format::Json(json) if json.check_prompt_injection);
    options.check_prompt_injection || options.formats.iter().any(older)
}

fn wants_threat_protection(options: &ScrapeOptions) -> bool {
    expects_protection(options.threat_protection.as_ref())
}

/// Whether OCR is required. An `image` entry does not count: clients always list both kinds, whatever they scrape.
fn wants_ocr(options: &ScrapeOptions) -> bool {
    let of_all = |parser: &Parser| matches!(parser, Parser::Pdf(pdf) if pdf.mode == PdfMode::Ocr);
    options.parsers.iter().flatten().any(of_all)
}

/// Whether a threat policy must be enforced. Not for mode `off` or an empty object; everything else counts, even a list
/// without a mode.
fn expects_protection(given: Option<&ThreatProtection>) -> bool {
    given.is_some_and(|given| given.mode != Some(ThreatMode::Off) && *given != ThreatProtection::default())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::decode::{ScrapeBody, decode_scrape};

    fn check(options: Value, want: &[(&str, Code)]) {
        let mut body = options;
        body["url"] = json!("https://example.com/");
        let ScrapeBody::Page(request) = decode_scrape(body).unwrap() else { panic!("a page request") };
        let found = request.needs();
        let got: Vec<(&str, Code)> = found.iter().map(|entry| (entry.path.as_str(), entry.code)).collect();
        assert_eq!(got, want);
    }

    #[test]
    fn what_every_server_can_do() {
        check(json!({}), &[]);
        let attributes = json!({ "type": "attributes", "selectors": [{ "selector": "img", "attribute": "alt" }] });
        check(json!({ "formats": ["markdown", "html", "rawHtml", "links", "images", attributes] }), &[]);
        check(json!({ "formats": ["rawBase64"] }), &[]);
        check(json!({ "formats": ["branding"] }), &[]);
        check(json!({ "formats": ["markdown", "changeTracking"] }), &[]);
        check(json!({ "formats": ["markdown", { "type": "changeTracking", "modes": ["git-diff"], "tag": "t" }] }), &[]);
        let accepted = json!({
            "waitFor": 5, "mobile": true, "location": { "country": "DE" }, "blockAds": false, "fastMode": true, "useMock": "x",
            "integration": "n8n", "origin": "cli", "auditMetadata": { "username": "u" }, "redactPII": false, "actions": [],
            "threatProtection": { "mode": "off" }, "checkPromptInjection": false, "parsers": [{ "type": "pdf", "mode": "auto" }, "image"],
        });
        check(accepted, &[]);
        check(json!({ "parsers": [{ "type": "pdf", "mode": "ocr" }] }), &[("parsers", Code::ScrapeOcrNotSupported)]);
        check(json!({ "threatProtection": {} }), &[]);
    }

    #[test]
    fn what_not_every_server_can_do() {
        check(
            json!({ "formats": ["markdown", "json", "screenshot"] }),
            &[("formats[1]", Code::ScrapeJsonNotSupported), ("formats[2]", Code::ScrapeScreenshotNotSupported)],
        );
        check(
            json!({ "formats": ["summary", "branding", "product", "menu", "audio", "video"] }),
            &[
                ("formats[0]", Code::ScrapeSummaryNotSupported),
                ("formats[4]", Code::ScrapeAudioNotSupported),
                ("formats[5]", Code::ScrapeVideoNotSupported),
            ],
        );
        let formats = json!([
            { "type": "query", "prompt": "?" }, { "type": "question", "question": "?" }, { "type": "highlights", "query": "?" },
            { "type": "changeTracking", "modes": ["json", "git-diff"], "prompt": "the price" }, "markdown",
        ]);
        check(
            json!({ "formats": formats }),
            &[
                ("formats[0]", Code::ScrapeQueryNotSupported),
                ("formats[1]", Code::ScrapeQuestionNotSupported),
                ("formats[2]", Code::ScrapeHighlightsNotSupported),
                ("formats[3]", Code::ScrapeChangeTrackingNotSupported),
            ],
        );
        check(json!({ "actions": [{ "type": "scrape" }] }), &[("actions", Code::ScrapeActionsNotSupported)]);
        let ocr = json!({ "parsers": ["image", { "type": "pdf", "mode": "ocr" }] });
        check(ocr, &[("parsers", Code::ScrapeOcrNotSupported)]);
        check(json!({ "parsers": ["pdf", "image"] }), &[]);
        check(json!({ "profile": { "name": "a" } }), &[("profile", Code::ScrapeProfileNotSupported)]);
        check(json!({ "redactPII": true }), &[("redactPII", Code::ScrapeRedactPiiNotSupported)]);
        check(json!({ "onlyCleanContent": true }), &[("onlyCleanContent", Code::ScrapeOnlyCleanContentNotSupported)]);
        let injection = [("checkPromptInjection", Code::ScrapePromptInjectionCheckNotSupported)];
        check(json!({ "checkPromptInjection": true }), &injection);
        let older = json!({ "formats": [{ "type": "json", "checkPromptInjection": true }] });
        check(older, &[("formats[0]", Code::ScrapeJsonNotSupported), injection[0]]);
        for protection in [json!({ "mode": "normal" }), json!({ "blacklist": ["a.test"] })] {
            check(
                json!({ "threatProtection": protection }),
                &[("threatProtection", Code::ScrapeThreatProtectionNotSupported)],
            );
        }
        check(json!({ "domainTools": true }), &[("domainTools", Code::ScrapeDomainToolsNotSupported)]);
    }

    #[test]
    fn jobs_name_the_place() {
        let paths = |found: Vec<Need>| found.into_iter().map(|entry| entry.path).collect::<Vec<_>>();
        let options = json!({ "formats": ["markdown", "json"], "actions": [{ "type": "scrape" }] });
        let crawl = json!({ "url": "https://example.com/", "prompt": "all", "scrapeOptions": options });
        let crawl = crate::crawl::decode_crawl(crawl).unwrap().needs();
        assert_eq!(paths(crawl), ["prompt", "scrapeOptions.formats[1]", "scrapeOptions.actions"]);
        let batch = json!({ "urls": ["https://example.com/"], "formats": ["json"] });
        assert_eq!(paths(crate::batch::decode_batch(batch).unwrap().needs()), ["formats[0]"]);
    }

    #[test]
    fn every_code_of_its_kind_is_used() {
        let in_table = |code: Code| {
            FORMATS.iter().any(|(.., other)| *other == code) || OPTIONS.iter().any(|(.., other)| *other == code)
        };
        for &code in Code::ALL.iter().filter(|code| code.as_str().ends_with("_NOT_SUPPORTED")) {
            let elsewhere = [
                Code::ProviderToolsNotSupported,
                Code::ScrapeDomainToolsNotSupported,
                Code::CrawlPromptNotSupported,
                Code::CrawlParamsPreviewNotSupported,
            ];
            assert!(in_table(code) || elsewhere.contains(&code), "{code}");
        }
    }
}
