//! Decoder of searches: first each field, then the rules between fields.

use super::{
    CategoryName, DEFAULT_SEARCH_LIMIT, MAX_FILTER_CHARS, MAX_LANGUAGES, MAX_LOCATION_CHARS, MAX_QUERY_CHARS,
    MAX_SEARCH_DOMAINS, MAX_SEARCH_LIMIT, SearchCategory, SearchRequest, SearchSource, TimeFilter, host_name,
};
use crate::attribution::Attribution;
use crate::crawl::nested_options;
use crate::option::{AuditMetadata, DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS, MIN_TIMEOUT_MS, country_of_any_case, language};
use crate::read::{Field, Fields};
use crate::threat::ThreatProtection;
use crate::tool::ToolDetail;
use crate::words::Word;

impl SearchRequest {
    pub(super) fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let query = fields.need("query").and_then(query_text);
        let mut request = Self::new(query.unwrap_or_default());
        request.read_scope(fields);
        request.read_place(fields);
        request.read_options(fields);
        request.check(fields);
        // Blank only after a fault, which is recorded.
        (!request.query.is_empty()).then_some(request)
    }

    /// Reads what is searched: number, sources, categories, domains and time.
    fn read_scope(&mut self, fields: &mut Fields<'_>) {
        let limit = fields.take("limit").and_then(|field| field.whole32(1..=MAX_SEARCH_LIMIT));
        self.limit = limit.unwrap_or(DEFAULT_SEARCH_LIMIT);
        let sources = fields.take("sources").and_then(|field| named_list(field, read_source, |source| *source));
        // Some clients send an empty list for "no choice".
        self.sources = sources.filter(|list| !list.is_empty()).unwrap_or_else(|| vec![SearchSource::Web]);
        let categories = fields.take("categories");
        let read = |field| named_list(field, SearchCategory::read, |category| category.name);
        self.categories = categories.and_then(read).unwrap_or_default();
        self.include_domains = domains(fields, "includeDomains");
        self.exclude_domains = domains(fields, "excludeDomains");
        let tbs = fields.take("tbs").and_then(|field| field.parse(TimeFilter::parse));
        self.tbs = tbs.unwrap_or_default();
    }

    /// Reads place and language.
    fn read_place(&mut self, fields: &mut Fields<'_>) {
        let location = fields.take("location").and_then(|field| field.name(0..=MAX_LOCATION_CHARS));
        self.location = location.filter(|text| !text.trim().is_empty());
        let code = |field: Field<'_>| field.parse(language);
        self.country = fields.take("country").and_then(|field| field.parse(country_of_any_case));
        self.lang = fields.take("lang").and_then(code);
        let languages = fields.take("languages").and_then(|field| field.list(0..=MAX_LANGUAGES, code));
        self.languages = languages.unwrap_or_default();
        self.filter = fields.take("filter").and_then(|field| field.name(0..=MAX_FILTER_CHARS));
    }

    fn read_options(&mut self, fields: &mut Fields<'_>) {
        self.ignore_invalid_urls = fields.flag("ignoreInvalidURLs", false);
        self.highlights = fields.flag("highlights", true);
        let timeout = fields.take("timeout").and_then(|field| field.whole32(MIN_TIMEOUT_MS..=MAX_TIMEOUT_MS));
        self.timeout = timeout.unwrap_or(DEFAULT_TIMEOUT_MS);
        self.scrape_options = fields.take("scrapeOptions").and_then(|field| field.record(nested_options));
        let enterprise = fields.take("enterprise");
        let enterprise = enterprise.and_then(|field| field.one_of_each(0..=6, |word| *word, Field::word));
        self.enterprise = enterprise.unwrap_or_default();
        self.domain_tools = fields.flag("domainTools", false);
        self.tool_detail = fields.take("toolDetail").and_then(Field::word).unwrap_or(ToolDetail::Compact);
        self.threat_protection = fields.take("threatProtection").and_then(|field| field.record(ThreatProtection::read));
        self.audit_metadata = fields.take("auditMetadata").and_then(|field| field.record(AuditMetadata::read));
        self.attribution = Attribution::read(fields);
    }

    /// Checks the rules between fields.
    fn check(&self, fields: &Fields<'_>) {
        if !self.include_domains.is_empty() && !self.exclude_domains.is_empty() {
            fields.refuse("excludeDomains", "cannot be combined with `includeDomains`");
        }
        for name in [CategoryName::Developer, CategoryName::Gov] {
            if self.categories.len() > 1 && self.category(name).is_some() {
                fields.refuse("categories", format!("must not contain another category next to `{}`", name.as_str()));
            }
        }
        if let Some(options) = self.scrape_options.as_ref().filter(|_| self.is_private()) {
            options.check_zero_retention(fields, "scrapeOptions.");
        }
    }
}

impl SearchCategory {
    pub(super) fn read(field: Field<'_>) -> Option<Self> {
        if !field.value.is_object() {
            return field.word().map(|name| Self { name, sites: Vec::new() });
        }
        let read = |fields: &mut Fields<'_>| {
            let name = fields.need("type").and_then(Field::word);
            Some(Self { name: name?, sites: domains(fields, "sites") })
        };
        field.record(read).flatten()
    }
}

/// Reads the text of a query: not blank, without surrounding whitespace.
pub(crate) fn query_text(field: Field<'_>) -> Option<String> {
    let blank = field.value.as_str().is_some_and(|text| text.trim().is_empty());
    if blank {
        return field.refuse("must not be blank");
    }
    field.text(1..=MAX_QUERY_CHARS).map(|text| text.trim().to_owned())
}

fn read_source(field: Field<'_>) -> Option<SearchSource> {
    if !field.value.is_object() {
        return field.word();
    }
    field.record(|fields| fields.need("type").and_then(Field::word)).flatten()
}

/// Reads a list of entries that are names or objects, with at most one entry of each name.
fn named_list<T, W: Word + PartialEq>(
    field: Field<'_>,
    read: fn(Field<'_>) -> Option<T>,
    name: impl Fn(&T) -> W,
) -> Option<Vec<T>> {
    // Leaves room for some repeats, because the error about a repeat is clearer than one about the length.
    field.one_of_each(0..=2 * W::WORDS.len(), name, read)
}

/// Reads a list of host names, in lower case and as they are in URLs. Repeats are dropped.
fn domains(fields: &mut Fields<'_>, key: &'static str) -> Vec<String> {
    let entry = |field: Field<'_>| field.parse(host_name);
    let list = fields.take(key).and_then(|field| field.list(0..=MAX_SEARCH_DOMAINS, entry));
    let mut unique: Vec<String> = Vec::new();
    for name in list.unwrap_or_default() {
        if !unique.contains(&name) {
            unique.push(name);
        }
    }
    unique
}
