//! Requests of searches: bodies of clients, refusals, shape of the answer.

use chrono::NaiveDate;
use serde_json::{Value, json};
use wire::{
    AgeUnit, CategoryName, Code, Document, Enterprise, ImageResult, Metadata, NewsResult, Published, ScrapedPage,
    SearchAnswer, SearchData, SearchRequest, SearchSource, ToolDetail, WebResult, decode_search,
};

fn with_query(mut members: Value) -> Value {
    if members.get("query").is_none() {
        members["query"] = json!("granite");
    }
    members
}

#[track_caller]
fn search(members: Value) -> SearchRequest {
    let body = with_query(members);
    decode_search(body.clone()).unwrap_or_else(|invalid| panic!("{body} was refused: {invalid}"))
}

/// Asserts that a request is refused with exactly one fault, in these words.
#[track_caller]
fn refused(members: Value, message: &str) {
    let body = with_query(members);
    let invalid = decode_search(body.clone()).map(|found| panic!("{body} was accepted as {found:?}")).unwrap_err();
    assert_eq!(invalid.message, message, "{body}");
}

#[test]
fn a_search_by_default() {
    let request = search(json!({}));
    assert_eq!(request, SearchRequest::new("granite"));
    assert_eq!((request.limit, request.timeout, request.tool_detail), (5, 60_000, ToolDetail::Compact));
    assert_eq!((request.sources.as_slice(), request.highlights), ([SearchSource::Web].as_slice(), true));
    assert!(!request.is_private() && !request.wants_tools() && request.scrape_options.is_none());
    assert_eq!((request.result_country(), request.result_language()), (Some("US"), None));
    assert_eq!(search(json!({ "sources": [], "tbs": "", "categories": null, "includeDomains": [] })), request);
    assert_eq!(search(json!({ "query": "  granite\n" })), request);
    assert_eq!(decode_search(serde_json::to_value(&request).unwrap()), Ok(request));
}

#[test]
fn what_clients_send() {
    let python = search(json!({
        "query": "rust", "limit": 1, "tbs": "qdr:w", "location": "Germany", "country": "DE", "includeDomains": ["example.com"],
        "ignoreInvalidURLs": true, "categories": ["github", { "type": "research" }], "highlights": false, "timeout": 30_000,
        "origin": "python-sdk@4.55.0", "sources": ["web", { "type": "news" }, "images"],
    }));
    assert_eq!(python.sources, [SearchSource::Web, SearchSource::News, SearchSource::Images]);
    assert!(python.category(CategoryName::Github).is_some() && python.category(CategoryName::Pdf).is_none());
    assert_eq!(python.tbs.published, Some(Published::Within { count: 1, unit: AgeUnit::Week }));
    assert_eq!((python.result_country(), python.location.as_deref()), (Some("DE"), Some("Germany")));
    assert!(python.ignore_invalid_urls && !python.highlights);

    let mcp = search(json!({
        "sources": ["web", "alexandria"], "domainTools": true, "toolDetail": "compact", "filter": "x", "origin": "mcp-x@3.26.0",
    }));
    assert!(mcp.wants_tools() && mcp.wants(SearchSource::Alexandria));

    let n8n = search(json!({
        "tbs": "", "integration": "n8n", "scrapeOptions": { "formats": [{ "type": "markdown" }], "toolDetail": "full", "origin": "x" },
        "enterprise": ["zdr"], "useMock": "x", "__experimental_a": 1, "lang": "de", "languages": ["en_GB", "fr"],
        "threatProtection": { "mode": "off" }, "auditMetadata": { "username": "u" },
    }));
    assert_eq!((n8n.enterprise.as_slice(), n8n.is_private()), ([Enterprise::Zdr].as_slice(), true));
    assert_eq!(n8n.scrape_options.as_ref().map(|options| options.formats.len()), Some(1));
    assert_eq!((n8n.result_language(), n8n.languages[0].as_str()), (Some("de"), "en-GB"));
    assert_eq!(search(json!({ "languages": ["de-CH"] })).result_language(), Some("de-CH"));
    assert_eq!(search(json!({ "location": "Paris" })).result_country(), None);
    assert_eq!(search(json!({ "country": "de" })).result_country(), Some("DE"));
}

#[test]
fn domains_and_sites_are_host_names() {
    let request = search(json!({
        "includeDomains": ["Example.COM", "example.com.", "münchen.example"],
        "categories": [{ "type": "research", "sites": ["arxiv.org"] }],
    }));
    assert_eq!(request.include_domains, ["example.com", "xn--mnchen-3ya.example"]);
    assert_eq!(request.categories[0].sites, ["arxiv.org"]);
    let must = "must be a host name, such as `example.com`, without scheme, path, port or wildcard";
    for bad in ["https://example.com", "example.com/x", "*.example.com", "example.com:80", ""] {
        refused(json!({ "includeDomains": [bad] }), &format!("`includeDomains[0]` {must}"));
        refused(json!({ "excludeDomains": ["a.test", bad] }), &format!("`excludeDomains[1]` {must}"));
    }
    let many: Vec<String> = (0..51).map(|number| format!("a{number}.test")).collect();
    assert_eq!(search(json!({ "excludeDomains": many[1..] })).exclude_domains.len(), 50);
    refused(json!({ "excludeDomains": many }), "`excludeDomains` must have 0 to 50 entries, has 51");
}

#[test]
fn dates_are_read_month_first() {
    let request = search(json!({ "tbs": "cdr:1,cd_min:1/31/2026,cd_max:12/1/2026" }));
    let (from, to) = (NaiveDate::from_ymd_opt(2026, 1, 31), NaiveDate::from_ymd_opt(2026, 12, 1));
    assert_eq!(request.tbs.published, Some(Published::Between { from, to }));
    assert!(search(json!({ "tbs": "sbd:1" })).tbs.newest_first);
}

#[test]
fn what_is_refused() {
    assert_eq!(decode_search(json!({})).unwrap_err().message, "`query` is required");
    refused(json!({ "query": " \n" }), "`query` must not be blank");
    refused(json!({ "query": "" }), "`query` must not be blank");
    refused(json!({ "query": "a".repeat(501) }), "`query` must have 1 to 500 characters, has 501");
    refused(json!({ "query": 5 }), "`query` must be a string, got 5");
    refused(json!({ "limit": 0 }), "`limit` must be a whole number from 1 to 100, got 0");
    refused(json!({ "limit": 101 }), "`limit` must be a whole number from 1 to 100, got 101");
    refused(json!({ "timeout": 999 }), "`timeout` must be a whole number from 1000 to 300000, got 999");
    refused(json!({ "sources": ["web", { "type": "web" }] }), "`sources[1]` repeats the type of an earlier entry");
    refused(json!({ "sources": ["maps"] }), "`sources[0]` must be `web`, `news`, `images` or `alexandria`");
    refused(json!({ "sources": [{ "type": "web", "x": 1 }] }), "Unrecognized key in body: `sources[0].x`");
    refused(json!({ "sources": [{}] }), "`sources[0].type` is required");
    refused(json!({ "categories": ["pdf", "pdf"] }), "`categories[1]` repeats the type of an earlier entry");
    for alone in ["developer", "gov"] {
        let message = format!("`categories` must not contain another category next to `{alone}`");
        refused(json!({ "categories": ["github", alone] }), &message);
    }
    search(json!({ "categories": ["gov"] }));
    refused(
        json!({ "includeDomains": ["a.test"], "excludeDomains": ["b.test"] }),
        "`excludeDomains` cannot be combined with `includeDomains`",
    );
    refused(
        json!({ "country": "Germany" }),
        "`country` must be two capital letters (ISO 3166-1 alpha-2), such as `US`",
    );
    refused(json!({ "location": "x".repeat(201) }), "`location` must have 0 to 200 characters, has 201");
    refused(json!({ "enterprise": ["zdr", "zdr"] }), "`enterprise[1]` repeats the type of an earlier entry");
    refused(json!({ "sorces": ["web"] }), "Unrecognized key in body: `sorces` (did you mean `sources`?)");
    refused(
        json!({ "enterprise": ["zdr"], "scrapeOptions": { "formats": ["markdown", "changeTracking"] } }),
        "`scrapeOptions.formats` must not contain `changeTracking`, which stores a version of the page, \
        together with `zeroDataRetention`; leave out one of them",
    );
    refused(json!({ "scrapeOptions": { "formats": ["x"] } }), &{
        let invalid = decode_search(json!({ "query": "q", "scrapeOptions": { "formats": ["x"] } })).unwrap_err();
        assert_eq!(invalid.fields[0].path, "scrapeOptions.formats[0]");
        invalid.message
    });
    let invalid = decode_search(json!({ "query": "q", "tbs": "week" })).unwrap_err();
    assert!(invalid.message.starts_with("`tbs` must be `qdr:` with"), "{invalid}");
}

#[test]
fn tools_are_refused_in_the_words_that_clients_know() {
    let check = |members: Value, path: &str, code: Code, message: &str| {
        let needs = search(members).needs();
        assert_eq!((needs[0].path.as_str(), needs[0].code, needs[0].message()), (path, code, message));
        assert_eq!(needs.iter().filter(|need| need.code == code).count(), 1);
        assert_eq!(code.status(), 403);
    };
    let without = "This endpoint is not enabled for this team.";
    let both = json!({ "sources": ["web", "alexandria"], "domainTools": true });
    check(both, "domainTools", Code::ProviderDiscoveryDisabled, without);
    check(json!({ "sources": ["alexandria"] }), "sources", Code::ProviderDiscoveryDisabled, without);
    let private = json!({ "domainTools": true, "enterprise": ["zdr"] });
    let retains = "Provider discovery requires access and does not support zero data retention.";
    check(private, "domainTools", Code::ProviderDiscoveryRetains, retains);
    assert_eq!(search(json!({ "toolDetail": "full" })).needs(), []);
}

#[test]
fn the_scrape_options_have_needs_too() {
    let request = search(json!({
        "scrapeOptions": { "formats": ["screenshot", { "type": "question", "question": "?" }] },
        "threatProtection": { "mode": "normal" },
    }));
    let needs = request.needs();
    let paths: Vec<&str> = needs.iter().map(|need| need.path.as_str()).collect();
    assert_eq!(paths, ["threatProtection", "scrapeOptions.formats[0]", "scrapeOptions.formats[1]"]);
}

fn web(page: Option<ScrapedPage>) -> WebResult {
    let (url, title, description) = ("https://a.test/".to_owned(), "A".to_owned(), "About a".to_owned());
    WebResult { url, title, description, position: 1, category: None, page }
}

#[test]
fn items_without_content_have_no_key_of_a_document() {
    let failed = ScrapedPage::failed("https://a.test/", "timeout");
    let news =
        NewsResult { title: "N".to_owned(), url: "https://n.test/".to_owned(), position: 1, ..Default::default() };
    let image = ImageResult { image_url: "https://i.test/a.png".to_owned(), position: 1, ..Default::default() };
    let data = SearchData {
        web: Some(vec![web(None), web(Some(failed))]),
        news: Some(vec![news]),
        images: Some(vec![image]),
        ..SearchData::default()
    };
    let answer = SearchAnswer { success: true, id: "i".to_owned(), credits_used: 2, warning: None, data };
    let written = serde_json::to_value(&answer).unwrap();
    let want = json!({
        "success": true, "id": "i", "creditsUsed": 2,
        "data": {
            "web": [
                { "url": "https://a.test/", "title": "A", "description": "About a", "position": 1 },
                {
                    "url": "https://a.test/", "title": "A", "description": "About a", "position": 1,
                    "metadata": { "url": "https://a.test/", "sourceURL": "https://a.test/", "error": "timeout" },
                },
            ],
            "news": [{ "title": "N", "url": "https://n.test/", "snippet": "", "position": 1 }],
            "images": [{ "title": "", "imageUrl": "https://i.test/a.png", "url": "", "position": 1 }],
        },
    });
    assert_eq!(written, want);
    assert_eq!(serde_json::from_value::<SearchAnswer>(written).unwrap(), answer);
    let empty = SearchData { web: Some(Vec::new()), ..SearchData::default() };
    assert_eq!(serde_json::to_value(empty).unwrap(), json!({ "web": [] }));
}

#[test]
fn a_scraped_page_is_part_of_its_item() {
    let metadata = Metadata {
        url: "https://a.test/final".to_owned(),
        source_url: "https://a.test/".to_owned(),
        status_code: 200,
        scrape_id: "s".to_owned(),
        ..Metadata::default()
    };
    let document = Document { markdown: Some("# A".to_owned()), metadata, ..Document::default() };
    let item = web(Some(ScrapedPage::Document(Box::new(document))));
    let written = serde_json::to_value(&item).unwrap();
    assert_eq!((&written["markdown"], &written["metadata"]["sourceURL"]), (&json!("# A"), &json!("https://a.test/")));
    assert_eq!((&written["url"], &written["title"]), (&json!("https://a.test/"), &json!("A")));
    assert_eq!(serde_json::from_value::<WebResult>(written).unwrap(), item);
}

#[test]
fn debug_hides_the_query() {
    assert!(!format!("{:?}", search(json!({ "query": "SECRET9" }))).contains("SECRET9"));
}
