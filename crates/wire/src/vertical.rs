//! `/v2/search/developer` and `/v2/search/gov`: searches of one field (docs/CONTRACT.md, "Search").

mod gov;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use crate::attribution::Attribution;
use crate::error::Invalid;
use crate::query::{self, QueryParams};
use crate::read::{self, Field, Fields};
use crate::search::{host_name, query_text};
use crate::words::words;

pub use gov::*;

/// Default of `k`.
pub const DEFAULT_VERTICAL_RESULTS: u32 = 10;
/// Maximum of `k`.
pub const MAX_VERTICAL_RESULTS: u32 = 100;
/// Maximum of `passages`.
const MAX_PASSAGES: u32 = 5;
/// Maximum number of `repos`, and of `sources`.
const MAX_NAMES: usize = 20;
/// Maximum number of `topic`.
const MAX_TOPICS: usize = 8;
/// Maximum length of a name: a repository, a source, a topic, a licence, a court.
const MAX_NAME_CHARS: usize = 200;

words! {
    /// Kind of a developer page.
    pub enum DeveloperType {
        /// Page of documentation.
        Doc = "doc",
        /// Issue.
        Issue = "issue",
        /// Pull request.
        PullRequest = "pull_request",
        /// README of a repository.
        Readme = "readme",
    }
}

words! {
    /// Search of skills, which are instructions for agents.
    pub enum Skills {
        /// Skills only.
        Only = "only",
    }
}

/// Search of documentation, issues, pull requests and READMEs.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct DeveloperRequest {
    /// Query.
    #[schema(min_length = 1, max_length = 500)]
    pub query: String,
    /// Maximum number of results.
    #[schema(required = false, default = 10, minimum = 1, maximum = 100)]
    pub k: u32,
    /// Maximum number of passages per result.
    #[schema(required = false, default = 1, minimum = 1, maximum = 5)]
    pub passages: u32,
    /// Kinds of pages, each at most once; empty: all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, max_items = 4)]
    pub types: Vec<DeveloperType>,
    /// Repositories that results must belong to, as `owner/name`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, max_items = 20)]
    pub repos: Vec<String>,
    /// Web sites of documentation that results must belong to, as host names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, max_items = 20)]
    pub sources: Vec<String>,
    /// Programming language of the repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 200)]
    pub language: Option<String>,
    /// Topics of the repository.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, max_items = 8)]
    pub topic: Vec<String>,
    /// Licence of the repository, as an SPDX id.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 200)]
    pub license: Option<String>,
    /// Minimum number of stars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_stars: Option<u64>,
    /// Maximum number of stars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_stars: Option<u64>,
    /// Whether the repository is archived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
    /// Whether the repository is a fork.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fork: Option<bool>,
    /// Whether only skills are searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skills: Option<Skills>,
    /// Client that makes the call, flattened into this object.
    #[serde(flatten)]
    pub attribution: Attribution,
}

/// Decodes the body of `POST /v2/search/developer`.
///
/// # Errors
/// [`Invalid`] with every fault (up to 20), each with the path of its field.
pub fn decode_developer(body: Value) -> Result<DeveloperRequest, Invalid> {
    read::body(body, DeveloperRequest::read)
}

impl DeveloperRequest {
    /// Returns a search for this query with default options.
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            k: DEFAULT_VERTICAL_RESULTS,
            passages: 1,
            types: Vec::new(),
            repos: Vec::new(),
            sources: Vec::new(),
            language: None,
            topic: Vec::new(),
            license: None,
            min_stars: None,
            max_stars: None,
            archived: None,
            fork: None,
            skills: None,
            attribution: Attribution::default(),
        }
    }

    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let query = fields.need("query").and_then(query_text);
        let k = results(fields);
        let passages = fields.take("passages").and_then(|field| field.whole32(1..=MAX_PASSAGES)).unwrap_or(1);
        let types = fields.take("types").and_then(|field| field.one_of_each(0..=8, |kind| *kind, Field::word));
        let name = |field: Field<'_>| field.name(1..=MAX_NAME_CHARS);
        let repos = fields.take("repos").and_then(|field| field.list(0..=MAX_NAMES, |entry| entry.parse(repository)));
        let sources =
            fields.take("sources").and_then(|field| field.list(0..=MAX_NAMES, |entry| entry.parse(host_name)));
        let topic = fields.take("topic").and_then(|field| field.list(0..=MAX_TOPICS, name));
        let (language, license) = (fields.take("language").and_then(name), fields.take("license").and_then(name));
        let mut stars = |key: &'static str| fields.take(key).and_then(|field| field.whole(0..=MAX_STARS));
        let (min_stars, max_stars) = (stars("min_stars"), stars("max_stars"));
        if min_stars.zip(max_stars).is_some_and(|(least, most)| least > most) {
            fields.refuse("min_stars", "must not exceed `max_stars`");
        }
        let archived = fields.take("archived").and_then(Field::flag);
        let fork = fields.take("fork").and_then(Field::flag);
        let skills = fields.take("skills").and_then(Field::word);
        let attribution = Attribution::read(fields);
        Some(Self {
            query: query?,
            k,
            passages,
            types: types.unwrap_or_default(),
            repos: repos.unwrap_or_default(),
            sources: sources.unwrap_or_default(),
            language,
            topic: topic.unwrap_or_default(),
            license,
            min_stars,
            max_stars,
            archived,
            fork,
            skills,
            attribution,
        })
    }
}

/// Maximum of `min_stars` and `max_stars`: more than any repository has.
const MAX_STARS: u64 = 1_000_000_000;

fn results(fields: &mut Fields<'_>) -> u32 {
    let k = fields.take("k").and_then(|field| field.whole32(1..=MAX_VERTICAL_RESULTS));
    k.unwrap_or(DEFAULT_VERTICAL_RESULTS)
}

/// Reads a repository, `owner/name`.
fn repository(text: &str) -> Result<String, String> {
    let is_name = |part: &str| {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        (1..=100).contains(&part.len()) && part.bytes().all(allowed) && !part.bytes().all(|byte| byte == b'.')
    };
    match text.split_once('/') {
        Some((owner, name)) if is_name(owner) && is_name(name) => Ok(text.to_owned()),
        _ => Err("must be a repository, such as `owner/name`".to_owned()),
    }
}

/// Query parameters of `GET /v2/search/developer`.
#[derive(Debug, Clone, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DeveloperQuery {
    /// Query
    #[param(min_length = 1, max_length = 500)]
    pub query: String,
    /// Maximum number of results
    #[param(value_type = Option<u32>, minimum = 1, maximum = 100)]
    pub k: u32,
    /// Maximum number of passages per result
    #[param(value_type = Option<u32>, minimum = 1, maximum = 5)]
    pub passages: u32,
    /// Whether only skills are searched
    pub skills: Option<Skills>,
    /// Product or integration that makes the call
    pub integration: Option<String>,
    /// Client library
    pub origin: Option<String>,
}

impl QueryParams for DeveloperQuery {
    fn decode(query: &str) -> Result<Self, Invalid> {
        query::decode(query, |fields| {
            let query = fields.need("query").and_then(query_text);
            let k = fields.take("k").and_then(Field::filled);
            let k = k.and_then(|field| field.digits(1..=MAX_VERTICAL_RESULTS)).unwrap_or(DEFAULT_VERTICAL_RESULTS);
            let passages = fields.take("passages").and_then(Field::filled);
            let passages = passages.and_then(|field| field.digits(1..=MAX_PASSAGES)).unwrap_or(1);
            let skills = fields.take("skills").and_then(Field::filled).and_then(Field::word);
            let Attribution { origin, integration } = Attribution::read(fields);
            Some(Self { query: query?, k, passages, skills, integration, origin })
        })
    }
}

impl From<DeveloperQuery> for DeveloperRequest {
    fn from(query: DeveloperQuery) -> Self {
        let DeveloperQuery { query, k, passages, skills, integration, origin } = query;
        Self { k, passages, skills, attribution: Attribution { origin, integration }, ..Self::new(query) }
    }
}

/// Response of `/v2/search/developer`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DeveloperAnswer {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// Pages that were found, best first.
    pub results: Vec<DeveloperResult>,
    /// Repositories of the request, and whether this server has read them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repos: Option<Vec<RepositoryState>>,
    /// Web sites of the request, and whether this server has read them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<Vec<SourceState>>,
    /// Warning for the caller, such as a filter that cannot be applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// Page for developers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct DeveloperResult {
    /// Id of the page: its kind and its place, such as `issue:owner/name#1` or `doc:https://example.com/guide`.
    pub id: String,
    /// URL of the page.
    #[schema(format = "uri")]
    pub url: String,
    /// Title of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Passages that match the query.
    pub passages: Vec<DeveloperPassage>,
    /// Licence of the repository, as an SPDX id, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// Number of stars of the repository, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stars: Option<u64>,
}

/// Passage of a page for developers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DeveloperPassage {
    /// Text of the passage.
    pub text: String,
    /// URL of the passage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub citation_url: Option<String>,
}

/// Repository of a request, and what this server has read of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RepositoryState {
    /// Repository, as `owner/name`.
    pub repo: String,
    /// Whether this server has read pages of it.
    pub indexed: bool,
    /// Kinds of pages that were read.
    pub types: RepositoryTypes,
}

/// Kinds of pages that were read of a repository.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RepositoryTypes {
    /// Whether issues were read.
    pub issue: bool,
    /// Whether pull requests were read.
    pub pull_request: bool,
    /// Whether the README was read.
    pub readme: bool,
}

/// Web site of a request, and whether this server has read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SourceState {
    /// Web site, as a host name.
    pub source: String,
    /// Whether this server has read pages of it.
    pub indexed: bool,
}
