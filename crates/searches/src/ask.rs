//! Questions of a search: one for each source, and for each category of it.

use base::Timestamp;
use chrono::{Days, Months, NaiveTime, TimeDelta};
use search::{Domains, EngineQuery, Operators, Source, TimeWindow, Words};
use tokio::time::Instant;
use url::Url;
use wire::{AgeUnit, CategoryName, Published, SearchCategory, SearchRequest, SearchSource};

use crate::settings::Sites;
use crate::sites::{GITHUB, common, is_within};

/// File type of the category `pdf`.
const PDF: &str = "pdf";

/// Question to engines.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ask {
    /// Source to search.
    pub(crate) source: SearchSource,
    /// Category that the results belong to.
    pub(crate) category: Option<CategoryName>,
    /// Whether only the own index is asked.
    pub(crate) is_own: bool,
    operators: Operators,
    domains: Option<Domains>,
}

/// Common part of all questions of a search.
#[derive(Clone, Copy)]
pub(crate) struct Common<'a> {
    pub(crate) request: &'a SearchRequest,
    /// Words of the query, without its operators.
    pub(crate) text: &'a str,
    /// Id of the team whose pages may be found; empty for none.
    pub(crate) team: &'a str,
    pub(crate) now: Timestamp,
    pub(crate) deadline: Instant,
}

impl Ask {
    /// Returns the question as engines take it; `None` for a source that no engine has.
    pub(crate) fn query<'a>(&'a self, common: &Common<'a>) -> Option<EngineQuery<'a>> {
        let request = common.request;
        Some(EngineQuery {
            team: common.team,
            text: common.text,
            operators: &self.operators,
            source: source_of(self.source)?,
            limit: usize::try_from(request.limit).unwrap_or(usize::MAX),
            domains: self.domains.as_ref(),
            time: request.tbs.published.map(|published| window(published, common.now)),
            sort_by_date: request.tbs.newest_first,
            country: request.result_country(),
            language: request.result_language(),
            location: request.location.as_deref(),
            safe: false,
            deadline: common.deadline,
            private: request.is_private(),
        })
    }
}

/// Returns a source as engines name it; `None` for one that no engine has.
pub(crate) fn source_of(source: SearchSource) -> Option<Source> {
    match source {
        SearchSource::Web => Some(Source::Web),
        SearchSource::News => Some(Source::News),
        SearchSource::Images => Some(Source::Images),
        SearchSource::Alexandria => None,
    }
}

/// Returns the questions of a request. A source may have none: when its categories and `includeDomains` have no site in
/// common.
pub(crate) fn asks(request: &SearchRequest, words: &Words, sites: &Sites) -> Vec<Ask> {
    let mut asks = Vec::new();
    for source in request.sources.iter().copied().filter(|source| *source != SearchSource::Alexandria) {
        if request.categories.is_empty() {
            asks.extend(ask(request, words, source, &Scope::default()));
        }
        for category in &request.categories {
            for scope in Scope::of(category, sites) {
                asks.extend(ask(request, words, source, &scope));
            }
        }
    }
    asks
}

/// Part of the web that a category covers.
#[derive(Default)]
struct Scope {
    category: Option<CategoryName>,
    sites: Option<Vec<String>>,
    is_pdf: bool,
    is_own: bool,
}

impl Scope {
    /// Returns the parts of a category. Pages for developers that this instance has read may be of any site, as its
    /// operator has chosen what it reads.
    fn of(category: &SearchCategory, sites: &Sites) -> Vec<Self> {
        let of_category = match category.name {
            CategoryName::Github => Some(vec![GITHUB.to_owned()]),
            CategoryName::Research => Some(sites.research.clone()),
            CategoryName::Developer => Some(sites.developer.clone()),
            CategoryName::Gov => Some(sites.gov.clone()),
            CategoryName::Pdf => None,
        };
        let named = Some(category.sites.clone()).filter(|sites| !sites.is_empty());
        let is_free = category.name == CategoryName::Developer && named.is_none();
        let of = |sites, is_own| Self {
            category: Some(category.name),
            sites,
            is_pdf: category.name == CategoryName::Pdf,
            is_own,
        };
        let mut scopes = vec![of(named.or(of_category), false)];
        scopes.extend(is_free.then(|| of(None, true)));
        scopes
    }
}

fn ask(request: &SearchRequest, words: &Words, source: SearchSource, scope: &Scope) -> Option<Ask> {
    let mut operators = words.operators.clone();
    if scope.is_pdf {
        operators.file_types = vec![PDF.to_owned()];
    }
    let domains = domains(request, scope.sites.as_deref())?;
    Some(Ask { source, category: scope.category, is_own: scope.is_own, operators, domains })
}

/// Returns the condition on hosts, if any; `None` if no host can meet it.
fn domains(request: &SearchRequest, sites: Option<&[String]>) -> Option<Option<Domains>> {
    let included = Some(request.include_domains.as_slice()).filter(|list| !list.is_empty());
    let excluded = &request.exclude_domains;
    match common(included, sites) {
        Some(mut only) => {
            only.retain(|domain| !excluded.iter().any(|excluded| is_within(domain, excluded)));
            (!only.is_empty()).then_some(Some(Domains::Include(only)))
        }
        None if excluded.is_empty() => Some(None),
        None => Some(Some(Domains::Exclude(excluded.clone()))),
    }
}

/// Whether a result of this address may be returned: its host is in `includeDomains` and not in `excludeDomains`.
pub(crate) fn is_wanted(request: &SearchRequest, url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let is_in = |domains: &[String]| domains.iter().any(|domain| is_within(host, domain));
    (request.include_domains.is_empty() || is_in(&request.include_domains)) && !is_in(&request.exclude_domains)
}

/// Returns the span of time that a filter means now.
fn window(published: Published, now: Timestamp) -> TimeWindow {
    match published {
        Published::Within { count, unit } => {
            let from = match unit {
                AgeUnit::Hour => now.checked_sub_signed(TimeDelta::hours(count.into())),
                AgeUnit::Day => now.checked_sub_days(Days::new(count.into())),
                AgeUnit::Week => now.checked_sub_days(Days::new(7 * u64::from(count))),
                AgeUnit::Month => now.checked_sub_months(Months::new(count)),
                AgeUnit::Year => now.checked_sub_months(Months::new(12 * count)),
            };
            TimeWindow { from, to: None }
        }
        Published::Between { from, to } => {
            let from = from.map(|day| day.and_time(NaiveTime::MIN).and_utc());
            let end = to.and_then(|day| day.checked_add_days(Days::new(1)));
            let to = end.map(|day| day.and_time(NaiveTime::MIN).and_utc() - TimeDelta::milliseconds(1));
            TimeWindow { from, to }
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use serde_json::{Value, json};
    use wire::TimeFilter;

    use super::*;

    fn planned(body: Value) -> Vec<Ask> {
        let request = wire::decode_search(body).unwrap();
        asks(&request, &Words::parse(&request.query), &Sites::default())
    }

    fn only(ask: &Ask) -> Vec<&str> {
        match &ask.domains {
            Some(Domains::Include(list)) => list.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn each_source_and_each_category_is_a_question() {
        let asks = planned(json!({ "query": "x", "sources": ["web", "images"] }));
        assert_eq!(asks.iter().map(|ask| ask.source).collect::<Vec<_>>(), [SearchSource::Web, SearchSource::Images]);
        assert!(asks.iter().all(|ask| ask.domains.is_none() && ask.category.is_none() && !ask.is_own));
        let asks = planned(json!({ "query": "x", "categories": ["github", "research", "pdf"] }));
        assert_eq!(only(&asks[0]), ["github.com"]);
        assert!(only(&asks[1]).contains(&"arxiv.org") && only(&asks[1]).len() == 14);
        assert_eq!((asks[2].operators.file_types.as_slice(), &asks[2].domains), (["pdf".to_owned()].as_slice(), &None));
    }

    #[test]
    fn domains_narrow_categories() {
        let asks =
            planned(json!({ "query": "x", "categories": ["github", "research"], "includeDomains": ["example.com"] }));
        assert_eq!(asks, []);
        let asks = planned(json!({ "query": "x", "categories": ["gov"], "includeDomains": ["nasa.gov", "a.test"] }));
        assert_eq!(only(&asks[0]), ["nasa.gov"]);
        let asks = planned(json!({ "query": "x", "categories": ["research"], "excludeDomains": ["nature.com"] }));
        assert!(!only(&asks[0]).contains(&"nature.com") && only(&asks[0]).len() == 13);
        let asks = planned(json!({ "query": "x", "excludeDomains": ["nature.com"] }));
        assert_eq!(asks[0].domains, Some(Domains::Exclude(vec!["nature.com".to_owned()])));
    }

    #[test]
    fn pages_for_developers_that_were_read_may_be_of_any_site() {
        let asks = planned(json!({ "query": "x", "categories": ["developer"] }));
        assert!(only(&asks[0]).contains(&"docs.rs") && !asks[0].is_own);
        assert!(asks[1].domains.is_none() && asks[1].is_own);
        let asks = planned(json!({ "query": "x", "categories": [{ "type": "developer", "sites": ["a.test"] }] }));
        assert_eq!((asks.len(), only(&asks[0])), (1, vec!["a.test"]));
    }

    #[test]
    fn results_of_other_hosts_are_dropped() {
        let request = wire::decode_search(json!({ "query": "x", "includeDomains": ["a.test"] })).unwrap();
        let wanted = |url: &str| is_wanted(&request, &Url::parse(url).unwrap());
        assert!(wanted("https://a.test/") && wanted("https://www.a.test/x") && !wanted("https://ba.test/"));
    }

    #[test]
    fn times_are_spans() {
        let at = |text: &str| Some(DateTime::parse_from_rfc3339(text).unwrap().to_utc());
        let now = at("2026-03-31T12:00:00Z").unwrap();
        let check = |tbs: &str, from: Option<Timestamp>, to: Option<Timestamp>| {
            let published = TimeFilter::parse(tbs).unwrap().published.unwrap();
            assert_eq!(window(published, now), TimeWindow { from, to }, "{tbs}");
        };
        check("qdr:h2", at("2026-03-31T10:00:00Z"), None);
        check("qdr:d", at("2026-03-30T12:00:00Z"), None);
        check("qdr:w2", at("2026-03-17T12:00:00Z"), None);
        check("qdr:m", at("2026-02-28T12:00:00Z"), None);
        check("qdr:y", at("2025-03-31T12:00:00Z"), None);
        check("cdr:1,cd_min:1/1/2026,cd_max:1/31/2026", at("2026-01-01T00:00:00Z"), at("2026-01-31T23:59:59.999Z"));
        check("cdr:1,cd_max:1/31/2026", None, at("2026-01-31T23:59:59.999Z"));
    }
}
