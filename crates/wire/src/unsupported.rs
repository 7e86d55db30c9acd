//! What this server understands but cannot do yet. Each later feature takes its line out of the table.

use serde_json::Value;

use crate::code::Code;
use crate::error::ErrorBody;
use crate::format::FormatKind;
use crate::scrape::ScrapeRequest;
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

/// Whether a request asks for an option.
type Asks = fn(&ScrapeRequest) -> bool;

/// Options without an engine: the field, who asks for it, the code.
const OPTIONS: &[(&str, Asks, Code)] = &[
    ("actions", |request| !request.options.actions.is_empty(), Code::ScrapeActionsNotSupported),
    ("profile", |request| request.options.profile.is_some(), Code::ScrapeProfileNotSupported),
    ("redactPII", |request| request.options.redact_pii.is_some(), Code::ScrapeRedactPiiNotSupported),
    ("onlyCleanContent", |request| request.options.only_clean_content, Code::ScrapeOnlyCleanContentNotSupported),
    ("checkPromptInjection", |r| r.options.check_prompt_injection, Code::ScrapePromptInjectionCheckNotSupported),
    ("threatProtection", wants_threat_protection, Code::ScrapeThreatProtectionNotSupported),
    ("domainTools", |request| request.domain_tools, Code::ScrapeDomainToolsNotSupported),
];

/// Everything that a request asks for and that has no engine here, formats first. Empty for a request that can run.
#[must_use]
pub fn unsupported(request: &ScrapeRequest) -> Vec<Unsupported> {
    let entry = |path: String, code: Code| Unsupported { path, code, message: sentence(code) };
    let formats = request.options.formats.iter().enumerate().filter_map(|(index, format)| {
        let (_, code) = FORMATS.iter().find(|(kind, _)| *kind == format.kind())?;
        Some(entry(format!("formats[{index}]"), *code))
    });
    let options = OPTIONS.iter().filter(|(_, asks, _)| asks(request));
    formats.chain(options.map(|(path, _, code)| entry((*path).to_owned(), *code))).collect()
}

/// The meaning of the code, in the shape of an error message.
fn sentence(code: Code) -> String {
    code.meaning().trim_end_matches('.').to_owned()
}

/// Mode `off` and an empty object ask for nothing; anything else, a list without a mode included, expects to be enforced.
fn wants_threat_protection(request: &ScrapeRequest) -> bool {
    let protection = request.options.threat_protection.as_ref();
    protection.is_some_and(|given| given.mode != Some(ThreatMode::Off) && *given != ThreatProtection::default())
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
    fn every_code_of_its_kind_is_used() {
        let in_table = |code: Code| {
            FORMATS.iter().any(|(_, other)| *other == code) || OPTIONS.iter().any(|(_, _, other)| *other == code)
        };
        for &code in Code::ALL.iter().filter(|code| code.as_str().ends_with("_NOT_SUPPORTED")) {
            assert!(in_table(code) || code == Code::ProviderToolsNotSupported, "{code}");
        }
    }
}
