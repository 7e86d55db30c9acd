//! What this server understands but cannot do yet. Each later feature takes its line out of the table.

use serde_json::Value;

use crate::batch::BatchRequest;
use crate::code::Code;
use crate::crawl::CrawlRequest;
use crate::error::ErrorBody;
use crate::format::FormatKind;
use crate::map::MapRequest;
use crate::scrape::{ScrapeOptions, ScrapeRequest};
use crate::threat::{ThreatMode, ThreatProtection};

/// A part of a request that has no engine here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    /// The field that asks for it.
    pub path: String,
    /// The code for the answer.
    pub code: Code,
    /// The sentence for the answer.
    pub message: String,
}

impl From<&Unsupported> for ErrorBody {
    fn from(unsupported: &Unsupported) -> Self {
        let fault = serde_json::json!({ "path": unsupported.path, "message": unsupported.message });
        Self::new(unsupported.code, unsupported.message.clone()).with_details(Value::Array(vec![fault]))
    }
}

/// Formats without an engine.
const FORMATS: &[(FormatKind, Code)] = &[
    (FormatKind::Summary, Code::ScrapeSummaryNotSupported),
    (FormatKind::Screenshot, Code::ScrapeScreenshotNotSupported),
    (FormatKind::Json, Code::ScrapeJsonNotSupported),
    (FormatKind::Branding, Code::ScrapeBrandingNotSupported),
    (FormatKind::Product, Code::ScrapeProductNotSupported),
    (FormatKind::Menu, Code::ScrapeMenuNotSupported),
    (FormatKind::Audio, Code::ScrapeAudioNotSupported),
    (FormatKind::Video, Code::ScrapeVideoNotSupported),
    (FormatKind::Query, Code::ScrapeQueryNotSupported),
    (FormatKind::Question, Code::ScrapeQuestionNotSupported),
    (FormatKind::Highlights, Code::ScrapeHighlightsNotSupported),
    (FormatKind::ChangeTracking, Code::ScrapeChangeTrackingNotSupported),
];

/// Whether options ask for something.
type Asks = fn(&ScrapeOptions) -> bool;

/// Options without an engine: the field, who asks for it, the code.
const OPTIONS: &[(&str, Asks, Code)] = &[
    ("actions", |options| !options.actions.is_empty(), Code::ScrapeActionsNotSupported),
    ("profile", |options| options.profile.is_some(), Code::ScrapeProfileNotSupported),
    ("redactPII", |options| options.redact_pii.is_some(), Code::ScrapeRedactPiiNotSupported),
    ("onlyCleanContent", |options| options.only_clean_content, Code::ScrapeOnlyCleanContentNotSupported),
    ("checkPromptInjection", |o| o.check_prompt_injection, Code::ScrapePromptInjectionCheckNotSupported),
    ("threatProtection", wants_threat_protection, Code::ScrapeThreatProtectionNotSupported),
];

/// Everything that a request asks for and that has no engine here, formats first. Empty for a request that can run.
#[must_use]
pub fn unsupported(request: &ScrapeRequest) -> Vec<Unsupported> {
    let tools = request.domain_tools.then(|| entry("domainTools".to_owned(), Code::ScrapeDomainToolsNotSupported));
    in_options(&request.options, "").chain(tools).collect()
}

/// The same for a crawl.
#[must_use]
pub fn unsupported_crawl(request: &CrawlRequest) -> Vec<Unsupported> {
    let prompt = request.prompt.is_some().then(|| entry("prompt".to_owned(), Code::CrawlPromptNotSupported));
    prompt.into_iter().chain(in_options(&request.options.scrape_options, "scrapeOptions.")).collect()
}

/// The same for a batch.
#[must_use]
pub fn unsupported_batch(request: &BatchRequest) -> Vec<Unsupported> {
    in_options(&request.options, "").collect()
}

/// The same for a map.
#[must_use]
pub fn unsupported_map(request: &MapRequest) -> Vec<Unsupported> {
    let protected = expects_protection(request.threat_protection.as_ref());
    protected
        .then(|| entry("threatProtection".to_owned(), Code::ScrapeThreatProtectionNotSupported))
        .into_iter()
        .collect()
}

fn in_options<'a>(options: &'a ScrapeOptions, at: &'a str) -> impl Iterator<Item = Unsupported> + 'a {
    let formats = options.formats.iter().enumerate().filter_map(move |(index, format)| {
        let (_, code) = FORMATS.iter().find(|(kind, _)| *kind == format.kind())?;
        Some(entry(format!("{at}formats[{index}]"), *code))
    });
    let others = OPTIONS.iter().filter(move |(_, asks, _)| asks(options));
    formats.chain(others.map(move |(path, _, code)| entry(format!("{at}{path}"), *code)))
}

fn entry(path: String, code: Code) -> Unsupported {
    Unsupported { path, code, message: sentence(code) }
}

/// The meaning of the code, in the shape of an error message.
fn sentence(code: Code) -> String {
    code.meaning().trim_end_matches('.').to_owned()
}

fn wants_threat_protection(options: &ScrapeOptions) -> bool {
    expects_protection(options.threat_protection.as_ref())
}

/// Mode `off` and an empty object ask for nothing; anything else, a list without a mode included, expects to be enforced.
fn expects_protection(given: Option<&ThreatProtection>) -> bool {
    given.is_some_and(|given| given.mode != Some(ThreatMode::Off) && *given != ThreatProtection::default())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::decode::{ScrapeBody, decode_scrape};

    fn check(options: Value, want: &[(&str, Code)]) {
        let mut body = options;
        body["url"] = json!("https://example.com/");
        let ScrapeBody::Page(request) = decode_scrape(body).unwrap() else { panic!("a page request") };
        let found = unsupported(&request);
        let got: Vec<(&str, Code)> = found.iter().map(|entry| (entry.path.as_str(), entry.code)).collect();
        assert_eq!(got, want);
    }

    #[test]
    fn what_runs() {
        check(json!({}), &[]);
        let attributes = json!({ "type": "attributes", "selectors": [{ "selector": "img", "attribute": "alt" }] });
        check(json!({ "formats": ["markdown", "html", "rawHtml", "links", "images", attributes] }), &[]);
        check(json!({ "formats": ["rawBase64"] }), &[]);
        let accepted = json!({
            "waitFor": 5, "mobile": true, "location": { "country": "DE" }, "blockAds": false, "fastMode": true, "useMock": "x",
            "integration": "n8n", "origin": "cli", "auditMetadata": { "username": "u" }, "redactPII": false, "actions": [],
            "threatProtection": { "mode": "off" }, "checkPromptInjection": false, "parsers": [{ "type": "pdf", "mode": "ocr" }],
        });
        check(accepted, &[]);
        check(json!({ "threatProtection": {} }), &[]);
    }

    #[test]
    fn what_does_not() {
        check(
            json!({ "formats": ["markdown", "json", "screenshot"] }),
            &[("formats[1]", Code::ScrapeJsonNotSupported), ("formats[2]", Code::ScrapeScreenshotNotSupported)],
        );
        check(
            json!({ "formats": ["summary", "branding", "product", "menu", "audio", "video"] }),
            &[
                ("formats[0]", Code::ScrapeSummaryNotSupported),
                ("formats[1]", Code::ScrapeBrandingNotSupported),
                ("formats[2]", Code::ScrapeProductNotSupported),
                ("formats[3]", Code::ScrapeMenuNotSupported),
                ("formats[4]", Code::ScrapeAudioNotSupported),
                ("formats[5]", Code::ScrapeVideoNotSupported),
            ],
        );
        let formats = json!([
            { "type": "query", "prompt": "?" }, { "type": "question", "question": "?" }, { "type": "highlights", "query": "?" },
            "changeTracking", "markdown",
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
        check(json!({ "profile": { "name": "a" } }), &[("profile", Code::ScrapeProfileNotSupported)]);
        check(json!({ "redactPII": true }), &[("redactPII", Code::ScrapeRedactPiiNotSupported)]);
        check(json!({ "onlyCleanContent": true }), &[("onlyCleanContent", Code::ScrapeOnlyCleanContentNotSupported)]);
        let injection = [("checkPromptInjection", Code::ScrapePromptInjectionCheckNotSupported)];
        check(json!({ "checkPromptInjection": true }), &injection);
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
        let paths = |found: Vec<Unsupported>| found.into_iter().map(|entry| entry.path).collect::<Vec<_>>();
        let options = json!({ "formats": ["markdown", "json"], "actions": [{ "type": "scrape" }] });
        let crawl = json!({ "url": "https://example.com/", "prompt": "all", "scrapeOptions": options });
        let crawl = unsupported_crawl(&crate::crawl::decode_crawl(crawl).unwrap());
        assert_eq!(paths(crawl), ["prompt", "scrapeOptions.formats[1]", "scrapeOptions.actions"]);
        let batch = json!({ "urls": ["https://example.com/"], "formats": ["json"] });
        assert_eq!(paths(unsupported_batch(&crate::batch::decode_batch(batch).unwrap())), ["formats[0]"]);
    }

    #[test]
    fn every_code_of_its_kind_is_used() {
        let in_table = |code: Code| {
            FORMATS.iter().any(|(_, other)| *other == code) || OPTIONS.iter().any(|(_, _, other)| *other == code)
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
