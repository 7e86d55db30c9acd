//! `/v2/search/developer`: documentation, issues, pull requests and READMEs.

use kernel::auth::Caller;
use tokio::time::Instant;
use url::Url;
use wire::{
    CategoryName, DeveloperAnswer, DeveloperPassage, DeveloperRequest, DeveloperResult, DeveloperType,
    MAX_SEARCH_LIMIT, RepositoryState, RepositoryTypes, SearchCategory, SearchRequest, SourceState,
};

use super::{joined, passages, unapplied};
use crate::found::Found;
use crate::operation::{Finished, Wanted, found};
use crate::own::OwnPages;
use crate::sites::{GITHUB, is_within};
use crate::{SearchError, Searches};

/// Results asked for beyond the number that is wanted, where only some kinds are.
const SPARE: u32 = 3;
/// Number of pages that are looked at to say which kinds of pages of a repository were read.
const LOOKED_AT: usize = 50;
/// File name of a skill.
const SKILL_FILE: &str = "skill.md";

/// Searches documentation, issues, pull requests and READMEs.
///
/// # Errors
/// [`SearchError`]; see its variants.
#[crate::boxed]
pub async fn developer(
    searches: &Searches,
    caller: &Caller,
    request: DeveloperRequest,
) -> Result<DeveloperAnswer, SearchError> {
    let is_wanted = |url: &Url| is_of_kind(&request, url);
    let wanted = Wanted { request: of_request(&request), is_wanted: &is_wanted, most: request.k };
    let Finished { search, mut gathered, .. } = found(searches, caller, wanted).await?;
    let warning = search.warning(&gathered);
    let mut found: Vec<Found> = gathered.web.take().unwrap_or_default();
    let passages = passages::of(&search, &mut found, usize::try_from(request.passages).unwrap_or(1)).await;
    let results = found.iter().zip(passages).map(|(found, passages)| result(found, passages)).collect();
    let held = Held { own: searches.own(), team: searches.team_of(caller), deadline: search.deadline };
    let warnings: Vec<String> = warning.into_iter().chain(cannot_filter(&request)).collect();
    Ok(DeveloperAnswer {
        success: true,
        results,
        repos: held.repositories(&request.repos).await,
        sources: held.sources(&request.sources).await,
        warning: joined(&warnings),
    })
}

/// Returns the search that a request means: repositories and sources are `site:` operators.
fn of_request(request: &DeveloperRequest) -> SearchRequest {
    let mut query = request.query.clone();
    for repo in &request.repos {
        query.push_str(&format!(" site:{GITHUB}/{repo}"));
    }
    for source in &request.sources {
        query.push_str(&format!(" site:{source}"));
    }
    let is_everywhere = request.repos.is_empty() && request.sources.is_empty();
    let category = SearchCategory { name: CategoryName::Developer, sites: Vec::new() };
    let is_choosy = !request.types.is_empty() || request.skills.is_some() || !request.repos.is_empty();
    SearchRequest {
        limit: if is_choosy { request.k.saturating_mul(SPARE).min(MAX_SEARCH_LIMIT) } else { request.k },
        categories: if is_everywhere { vec![category] } else { Vec::new() },
        attribution: request.attribution.clone(),
        ..SearchRequest::new(query)
    }
}

/// Returns a warning about facts of repositories, which this server does not know.
fn cannot_filter(request: &DeveloperRequest) -> Option<String> {
    unapplied(&[
        ("language", request.language.is_some()),
        ("topic", !request.topic.is_empty()),
        ("license", request.license.is_some()),
        ("min_stars", request.min_stars.is_some()),
        ("max_stars", request.max_stars.is_some()),
        ("archived", request.archived.is_some()),
        ("fork", request.fork.is_some()),
    ])
}

fn is_of_kind(request: &DeveloperRequest, url: &Url) -> bool {
    let name = url.path_segments().and_then(|mut parts| parts.next_back());
    let is_skill = name.is_some_and(|name| name.eq_ignore_ascii_case(SKILL_FILE));
    (request.types.is_empty() || request.types.contains(&Place::of(url).kind))
        && (request.skills.is_none() || is_skill)
        && is_of_places(request, url)
}

/// Whether a page belongs to one of the repositories and sources, if there are any. Engines know `site:` for hosts only.
fn is_of_places(request: &DeveloperRequest, url: &Url) -> bool {
    let place = Place::of(url);
    let is_repo = |name: &String| place.repo.as_ref().is_some_and(|repo| repo.eq_ignore_ascii_case(name));
    let is_source = |source: &String| url.host_str().is_some_and(|host| is_within(host, source));
    (request.repos.is_empty() && request.sources.is_empty())
        || request.repos.iter().any(is_repo)
        || request.sources.iter().any(is_source)
}

/// Returns a web result as one for developers.
pub(crate) fn developer_result(found: &Found) -> DeveloperResult {
    let text = Some(found.result.text.clone()).filter(|text| !text.is_empty());
    result(found, text.into_iter().collect())
}

fn result(found: &Found, passages: Vec<String>) -> DeveloperResult {
    let url = found.url().to_string();
    let passage = |text| DeveloperPassage { text, citation_url: Some(url.clone()) };
    DeveloperResult {
        id: Place::of(found.url()).id(found.url()),
        title: Some(found.result.title.clone()).filter(|title| !title.is_empty()),
        passages: passages.into_iter().map(passage).collect(),
        url,
        license: None,
        stars: None,
    }
}

/// Place of a page among those for developers.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    kind: DeveloperType,
    /// Repository, `owner/name`, and number of the issue or pull request.
    repo: Option<String>,
    number: Option<u64>,
}

impl Place {
    /// Reads the place from an address.
    fn of(url: &Url) -> Self {
        let doc = Self { kind: DeveloperType::Doc, repo: None, number: None };
        if !url.host_str().is_some_and(|host| is_within(host, GITHUB)) {
            return doc;
        }
        let parts: Vec<&str> = url.path().split('/').filter(|part| !part.is_empty()).collect();
        let [owner, name, rest @ ..] = parts.as_slice() else { return doc };
        let repo = Some(format!("{owner}/{name}"));
        let number = rest.get(1).and_then(|part| part.parse().ok());
        let is_readme = |file: &&str| file.to_ascii_lowercase().starts_with("readme");
        let kind = match rest.first().copied() {
            Some("issues") if number.is_some() => DeveloperType::Issue,
            Some("pull") if number.is_some() => DeveloperType::PullRequest,
            None => DeveloperType::Readme,
            Some("blob" | "tree" | "raw") if rest.last().is_some_and(is_readme) => DeveloperType::Readme,
            Some(_) => DeveloperType::Doc,
        };
        Self { kind, repo, number }
    }

    fn id(&self, url: &Url) -> String {
        let kind = self.kind.as_str();
        match (&self.repo, self.number, self.kind) {
            (Some(repo), Some(number), DeveloperType::Issue | DeveloperType::PullRequest) => {
                format!("{kind}:{repo}#{number}")
            }
            (Some(repo), _, DeveloperType::Readme) => format!("{kind}:{repo}"),
            _ => format!("{kind}:{url}"),
        }
    }
}

/// Look-up of what this server has read.
#[derive(Clone, Copy)]
struct Held<'a> {
    own: Option<&'a OwnPages>,
    team: &'a str,
    deadline: Instant,
}

impl Held<'_> {
    /// Says of each repository which kinds of its pages were read; `None` without repositories.
    async fn repositories(self, repos: &[String]) -> Option<Vec<RepositoryState>> {
        let mut states = Vec::new();
        for repo in repos {
            let places = self.places(&format!("{GITHUB}/{repo}")).await;
            let has = |kind| places.iter().any(|place| place.kind == kind);
            let types = RepositoryTypes {
                issue: has(DeveloperType::Issue),
                pull_request: has(DeveloperType::PullRequest),
                readme: has(DeveloperType::Readme),
            };
            states.push(RepositoryState { repo: repo.clone(), indexed: !places.is_empty(), types });
        }
        (!repos.is_empty()).then_some(states)
    }

    /// Says of each web site whether pages of it were read; `None` without sites.
    async fn sources(self, sources: &[String]) -> Option<Vec<SourceState>> {
        let mut states = Vec::new();
        for source in sources {
            states.push(SourceState { source: source.clone(), indexed: !self.places(source).await.is_empty() });
        }
        (!sources.is_empty()).then_some(states)
    }

    /// Returns the places of pages that were read of a site.
    async fn places(self, site: &str) -> Vec<Place> {
        let Some(own) = self.own else { return Vec::new() };
        own.of_site(self.team, site, LOOKED_AT, self.deadline).await.iter().map(Place::of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_say_what_a_page_is() {
        let check = |url: &str, id: &str| {
            let url = Url::parse(url).unwrap();
            assert_eq!(Place::of(&url).id(&url), id);
        };
        check("https://github.com/o/r/issues/12", "issue:o/r#12");
        check("https://github.com/o/r/pull/3/files", "pull_request:o/r#3");
        check("https://github.com/o/r/", "readme:o/r");
        check("https://github.com/o/r/blob/main/README.md", "readme:o/r");
        check("https://github.com/o/r/issues", "doc:https://github.com/o/r/issues");
        check("https://github.com/o", "doc:https://github.com/o");
        check("https://docs.rs/tokio/latest/", "doc:https://docs.rs/tokio/latest/");
    }

    #[test]
    fn repositories_and_sources_are_operators_of_the_query() {
        let mut request = DeveloperRequest::new("spawn_blocking");
        assert_eq!(of_request(&request).categories[0].name, CategoryName::Developer);
        (request.repos, request.sources) = (vec!["tokio-rs/tokio".to_owned()], vec!["docs.rs".to_owned()]);
        request.types = vec![DeveloperType::Issue];
        let search = of_request(&request);
        assert_eq!(search.query, "spawn_blocking site:github.com/tokio-rs/tokio site:docs.rs");
        assert!(search.categories.is_empty() && search.limit == 30);
        let url = |text| Url::parse(text).unwrap();
        assert!(is_of_kind(&request, &url("https://github.com/tokio-rs/tokio/issues/12")));
        assert!(!is_of_kind(&request, &url("https://github.com/o/r/issues/12")));
        assert!(!is_of_kind(&request, &url("https://docs.rs/tokio/")));
        assert!(cannot_filter(&request).is_none());
        request.license = Some("MIT".to_owned());
        assert!(cannot_filter(&request).unwrap().contains("license"));
    }
}
