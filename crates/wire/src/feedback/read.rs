//! Decoders of feedback.

use serde_json::{Map, Value};

use super::{
    CapabilityFeedback, FeedbackEndpoint, JobFeedback, MissingContent, ProviderFeedback, RequestedWebsite,
    SearchFeedback, ToolFeedback, ValuableSource,
};
use crate::attribution::Attribution;
use crate::read::{Field, Fields};

/// Maximum number of `valuableSources`.
const MAX_SOURCES: usize = 50;
/// Maximum number of `missingContent`.
const MAX_MISSING: usize = 20;
/// Maximum length of a topic, in characters.
const MAX_TOPIC_CHARS: usize = 200;
/// Maximum length of an explanation, in characters.
const MAX_REASON_CHARS: usize = 2000;
/// Maximum length of a note, in characters.
const MAX_NOTE_CHARS: usize = 4000;
/// Maximum number of issues, and of tags.
const MAX_CODES: usize = 20;
/// Maximum length of an issue or tag, in characters.
const MAX_CODE_CHARS: usize = 80;
/// Maximum number of page numbers.
const MAX_PAGES: usize = 100;
/// Maximum size of `metadata` as JSON, in bytes.
const MAX_METADATA_BYTES: usize = 8 << 10;
/// Maximum length of a URL, in characters.
const MAX_URL_CHARS: usize = 8192;
/// Maximum number of providers, and of capabilities, that one feedback is about.
const MAX_TOOLS: usize = 50;
/// Maximum length of a name, in characters.
const MAX_NAME_CHARS: usize = 200;

impl SearchFeedback {
    pub(super) fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let rating = fields.need("rating").and_then(Field::word);
        let sources = list(fields, "valuableSources", MAX_SOURCES, ValuableSource::read);
        let missing_content = list(fields, "missingContent", MAX_MISSING, MissingContent::read);
        let query_suggestions = text(fields, "querySuggestions", MAX_REASON_CHARS);
        let attribution = Attribution::read(fields);
        Some(Self { rating: rating?, valuable_sources: sources, missing_content, query_suggestions, attribution })
    }
}

impl JobFeedback {
    pub(super) fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let endpoint = fields.need("endpoint").and_then(endpoint);
        let job_id = fields.need("jobId").and_then(Field::id);
        let feedback = SearchFeedback::read(fields);
        let mut codes = |key: &'static str| {
            let entry = |field: Field<'_>| field.parse(code);
            fields.take(key).and_then(|field| field.list(0..=MAX_CODES, entry)).unwrap_or_default()
        };
        let (issues, tags) = (codes("issues"), codes("tags"));
        let note = text(fields, "note", MAX_NOTE_CHARS);
        let url = text(fields, "url", MAX_URL_CHARS);
        let number = |field: Field<'_>| field.whole32(1..=u32::MAX);
        let page_numbers = fields.take("pageNumbers").and_then(|field| field.list(0..=MAX_PAGES, number));
        let metadata = fields.take("metadata").and_then(metadata).unwrap_or_default();
        Some(Self {
            endpoint: endpoint?,
            job_id: job_id?,
            feedback: feedback?,
            issues,
            tags,
            note,
            url,
            page_numbers: page_numbers.unwrap_or_default(),
            metadata,
        })
    }
}

impl ToolFeedback {
    pub(super) fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let endpoint = fields.need("endpoint").and_then(Field::word);
        let rating = fields.take("rating").and_then(Field::word);
        let rationale = text(fields, "rationale", MAX_NOTE_CHARS);
        let website = fields.take("requestedWebsite").and_then(|field| field.record(RequestedWebsite::read).flatten());
        let provider_feedback = list(fields, "providerFeedback", MAX_TOOLS, ProviderFeedback::read);
        let capability_feedback = list(fields, "capabilityFeedback", MAX_TOOLS, CapabilityFeedback::read);
        let attribution = Attribution::read(fields);
        Some(Self {
            endpoint: endpoint?,
            rating,
            rationale,
            requested_website: website,
            provider_feedback,
            capability_feedback,
            attribution,
        })
    }
}

impl ValuableSource {
    pub(super) fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let url = fields.need("url").and_then(|field| field.text(1..=MAX_URL_CHARS));
        let reason = text(fields, "reason", MAX_REASON_CHARS);
        Some(Self { url: url?, reason })
    }
}

impl MissingContent {
    pub(super) fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let topic = fields.need("topic").and_then(|field| field.text(1..=MAX_TOPIC_CHARS));
        let description = text(fields, "description", MAX_REASON_CHARS);
        Some(Self { topic: topic?, description })
    }
}

impl RequestedWebsite {
    pub(super) fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let url = fields.need("url").and_then(|field| field.text(1..=MAX_URL_CHARS));
        let requested_functionality = text(fields, "requestedFunctionality", MAX_REASON_CHARS);
        Some(Self { url: url?, requested_functionality })
    }
}

impl ProviderFeedback {
    pub(super) fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let name = fields.need("name").and_then(|field| field.name(1..=MAX_NAME_CHARS));
        let (issue, why) = (text(fields, "issue", MAX_REASON_CHARS), text(fields, "why", MAX_REASON_CHARS));
        Some(Self { name: name?, issue, why })
    }
}

impl CapabilityFeedback {
    pub(super) fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let name = fields.need("name").and_then(|field| field.name(1..=MAX_NAME_CHARS));
        let provider = fields.need("provider").and_then(|field| field.name(1..=MAX_NAME_CHARS));
        let (issue, why) = (text(fields, "issue", MAX_REASON_CHARS), text(fields, "why", MAX_REASON_CHARS));
        let requested_functionality = text(fields, "requestedFunctionality", MAX_REASON_CHARS);
        Some(Self { name: name?, provider: provider?, issue, why, requested_functionality })
    }
}

fn text(fields: &mut Fields<'_>, key: &'static str, most: usize) -> Option<String> {
    fields.take(key).and_then(|field| field.text(0..=most))
}

fn list<T>(fields: &mut Fields<'_>, key: &'static str, most: usize, read: fn(&mut Fields<'_>) -> Option<T>) -> Vec<T> {
    let entry = |field: Field<'_>| field.record(read).flatten();
    fields.take(key).and_then(|field| field.list(0..=most, entry)).unwrap_or_default()
}

/// Reads the endpoint of a job; the refusal names provider tools too.
fn endpoint(field: Field<'_>) -> Option<FeedbackEndpoint> {
    field.parse(|text| {
        let found = FeedbackEndpoint::ALL.iter().copied().find(|endpoint| endpoint.as_str() == text);
        found.ok_or_else(|| "must be `search`, `scrape`, `parse`, `map` or `alexandria`".to_owned())
    })
}

/// Reads an issue or tag: it may become a label of a metric or a column.
fn code(text: &str) -> Result<String, String> {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
    if (1..=MAX_CODE_CHARS).contains(&text.len()) && text.bytes().all(allowed) {
        return Ok(text.to_owned());
    }
    Err(format!("must be a code of 1 to {MAX_CODE_CHARS} letters a to z, digits, `_` or `-`"))
}

fn metadata(field: Field<'_>) -> Option<Map<String, Value>> {
    let bytes = field.value.to_string().len();
    if bytes > MAX_METADATA_BYTES {
        return field.refuse(format!("must not exceed {MAX_METADATA_BYTES} bytes as JSON, has {bytes}"));
    }
    field.map()
}
