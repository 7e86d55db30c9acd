//! Requests of the searches of one field: bodies of clients, refusals, shape of the answers.

use serde_json::{Value, json};
use wire::{
    CourtType, DeveloperAnswer, DeveloperPassage, DeveloperQuery, DeveloperRequest, DeveloperResult, DeveloperType,
    GovAnswer, GovData, QueryParams, RepositoryState, RepositoryTypes, Skills, SourceState, decode_developer,
    decode_gov,
};

#[track_caller]
fn refused(body: Value, message: &str) {
    assert_eq!(decode_developer(body).unwrap_err().message, message);
}

#[test]
fn developer_bodies() {
    let plain =
        decode_developer(json!({ "query": "tokio", "k": 1, "types": ["issue"], "origin": "js-sdk@4" })).unwrap();
    assert_eq!((plain.k, plain.passages, plain.types.as_slice()), (1, 1, [DeveloperType::Issue].as_slice()));
    assert_eq!(decode_developer(json!({ "query": "q" })), Ok(DeveloperRequest::new("q")));
    let all = decode_developer(json!({
        "query": "spawn", "k": 100, "passages": 5, "types": ["doc", "issue", "pull_request", "readme"], "repos": ["tokio-rs/tokio"],
        "sources": ["docs.rs"], "language": "Rust", "topic": ["async"], "license": "MIT", "min_stars": 10, "max_stars": 10,
        "archived": false, "fork": true, "skills": "only", "integration": "cli",
    }));
    let all = all.unwrap();
    assert_eq!((all.repos.as_slice(), all.skills), (["tokio-rs/tokio".to_owned()].as_slice(), Some(Skills::Only)));
    assert_eq!(decode_developer(serde_json::to_value(&all).unwrap()), Ok(all));
}

#[test]
fn what_is_refused() {
    refused(json!({}), "`query` is required");
    refused(json!({ "query": " " }), "`query` must not be blank");
    refused(json!({ "query": "q", "k": 101 }), "`k` must be a whole number from 1 to 100, got 101");
    refused(json!({ "query": "q", "passages": 6 }), "`passages` must be a whole number from 1 to 5, got 6");
    refused(json!({ "query": "q", "minStars": 1 }), "Unrecognized key in body: `minStars` (did you mean `min_stars`?)");
    refused(json!({ "query": "q", "min_stars": 2, "max_stars": 1 }), "`min_stars` must not exceed `max_stars`");
    for bad in ["tokio", "a/b/c", "../..", "a/", "https://github.com/a/b"] {
        refused(json!({ "query": "q", "repos": [bad] }), "`repos[0]` must be a repository, such as `owner/name`");
    }
    let topics: Vec<String> = (0..9).map(|number| number.to_string()).collect();
    refused(json!({ "query": "q", "topic": topics }), "`topic` must have 0 to 8 entries, has 9");
}

#[test]
fn developer_queries() {
    let query = DeveloperQuery::decode("query=tokio+spawn&k=3&skills=only&integration=cli&x=1").unwrap();
    assert_eq!((query.query.as_str(), query.k, query.skills), ("tokio spawn", 3, Some(Skills::Only)));
    let request = DeveloperRequest::from(query);
    assert_eq!((request.k, request.attribution.integration.as_deref()), (3, Some("cli")));
    assert_eq!(DeveloperQuery::decode("query=q&k=").unwrap().k, 10);
    let invalid = DeveloperQuery::decode("k=0&skills=all").unwrap_err();
    assert_eq!(
        invalid.message,
        "`query` is required; `k` must be a whole number from 1 to 100; `skills` must be `only`"
    );
}

#[test]
fn gov_bodies() {
    let all = decode_gov(json!({
        "query": "labor law", "k": 2, "jurisdiction": "us-ca", "court": "cacd", "courtType": "federal-district", "cites": "347 U.S. 483",
        "domain": "Courts.CA.gov", "origin": "python-sdk@4.55.0",
    }));
    let all = all.unwrap();
    assert_eq!((all.court_type, all.domain.as_deref()), (Some(CourtType::FederalDistrict), Some("courts.ca.gov")));
    assert_eq!(decode_gov(json!({ "query": "q" })).unwrap().k, 10);
    let message = |body| decode_gov(body).unwrap_err().message;
    assert_eq!(
        message(json!({ "query": "q", "jurisdiction": "de" })),
        "`jurisdiction` must be `us`, or a state such as `us-ca`"
    );
    assert!(message(json!({ "query": "q", "court_type": "military" })).contains("did you mean `courtType`?"));
}

#[test]
fn the_answers() {
    let passages = vec![DeveloperPassage { text: "t".to_owned(), citation_url: None }];
    let (id, url) = ("issue:a/b#1".to_owned(), "https://github.com/a/b/issues/1".to_owned());
    let result = DeveloperResult { id, url, passages, ..DeveloperResult::default() };
    let types = RepositoryTypes { issue: true, pull_request: false, readme: true };
    let answer = DeveloperAnswer {
        success: true,
        results: vec![result],
        repos: Some(vec![RepositoryState { repo: "a/b".to_owned(), indexed: true, types }]),
        sources: Some(vec![SourceState { source: "docs.rs".to_owned(), indexed: false }]),
        warning: None,
    };
    let want = json!({
        "success": true,
        "results": [{ "id": "issue:a/b#1", "url": "https://github.com/a/b/issues/1", "passages": [{ "text": "t" }] }],
        "repos": [{ "repo": "a/b", "indexed": true, "types": { "issue": true, "pullRequest": false, "readme": true } }],
        "sources": [{ "source": "docs.rs", "indexed": false }],
    });
    assert_eq!(serde_json::to_value(answer).unwrap(), want);
    let gov = GovAnswer { success: true, data: GovData::default(), warning: None };
    assert_eq!(serde_json::to_value(gov).unwrap(), json!({ "success": true, "data": { "web": [] } }));
}
