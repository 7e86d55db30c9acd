//! The engine `index`: pages that this instance has read.

use std::sync::Arc;

use async_trait::async_trait;
use base::Timestamp;
use chrono::{DateTime, SecondsFormat};
use indexing::{Indexing, IndexingError, Question};
use page_index::{Domains as Hosts, Hit, PER_SITE, Query, Source as Kind, Window};
use search::{Domains, EngineAnswer, EngineError, EngineImage, EngineQuery, EngineResult, SearchEngine, Source};
use url::Url;

/// Name of the engine in the settings.
pub(crate) const NAME: &str = "index";
/// Characters at the beginning of a text that take the place of a description that the page does not give.
const BEGINNING: usize = 200;

/// The index as a search engine. Its results hold our own copies of the pages.
pub(crate) struct OwnPages(Indexing);

impl OwnPages {
    pub(crate) fn new(index: Indexing) -> Arc<Self> {
        Arc::new(Self(index))
    }

    /// Whether pages of a site were read that the team may see, and which: up to `limit` of their addresses. What cannot
    /// be looked up counts as not read.
    pub(crate) async fn of_site(
        &self,
        team: &str,
        site: &str,
        limit: usize,
        deadline: tokio::time::Instant,
    ) -> Vec<Url> {
        let query = Query { sites: vec![site.to_owned()], ..Query::default() };
        let question = Question { limit, per_site: None, ..Question::new(query) };
        let hits = self.0.find(team, question, deadline).await.unwrap_or_default();
        hits.iter().filter_map(|hit| Url::parse(&hit.url).ok()).collect()
    }
}

#[async_trait]
impl SearchEngine for OwnPages {
    fn name(&self) -> &'static str {
        NAME
    }

    fn offers(&self, _: Source) -> bool {
        true
    }

    async fn search(&self, query: &EngineQuery<'_>) -> Result<EngineAnswer, EngineError> {
        let found = self.0.find(query.team, question(query), query.deadline).await;
        let hits = found.map_err(failure)?;
        let results = hits.into_iter().filter_map(|hit| result(hit, query.source)).collect();
        Ok(EngineAnswer { results, warnings: Vec::new() })
    }
}

/// Returns what a caller may know of an error. Others are logged: they may name folders of this machine.
fn failure(error: IndexingError) -> EngineError {
    match error {
        IndexingError::Timeout => EngineError::Timeout,
        IndexingError::Lost => EngineError::Index("it was damaged and is built again".to_owned()),
        other => {
            if !other.is_outage() {
                tracing::warn!(error = %other, "could not search the index of pages");
            }
            EngineError::Index("unexpected error".to_owned())
        }
    }
}

fn question(query: &EngineQuery<'_>) -> Question {
    let operators = query.operators;
    let words = Query {
        sites: operators.sites.clone(),
        excluded_sites: operators.not_sites.clone(),
        in_title: operators.in_title.clone(),
        in_url: operators.in_url.clone(),
        file_types: operators.file_types.clone(),
        ..Query::parse(query.text)
    };
    let names_sites = !operators.sites.is_empty() || matches!(query.domains, Some(Domains::Include(_)));
    let milliseconds = |at: Timestamp| at.timestamp_millis();
    Question {
        source: match query.source {
            Source::Web => Kind::Web,
            Source::News => Kind::News,
            Source::Images => Kind::Images,
        },
        limit: query.limit,
        domains: query.domains.map(|domains| match domains {
            Domains::Include(hosts) => Hosts::Only(hosts.clone()),
            Domains::Exclude(hosts) => Hosts::Without(hosts.clone()),
        }),
        // The operators `before:` and `after:` are part of the window.
        published: query
            .window()
            .map(|window| Window { from: window.from.map(milliseconds), until: window.to.map(milliseconds) }),
        // Callers who name the sites want more than a few pages of them.
        per_site: (!names_sites).then_some(PER_SITE),
        newest_first: query.sort_by_date,
        ..Question::new(words)
    }
}

/// Reads a hit; `None` if an address of it is none.
fn result(hit: Hit, source: Source) -> Option<EngineResult> {
    let published_at = hit.published.and_then(DateTime::from_timestamp_millis);
    let image = match hit.image {
        Some(image) => {
            let alt = Some(image.alt).filter(|alt| !alt.is_empty());
            Url::parse(&image.url).ok().map(|url| (EngineImage { url, width: image.width, height: image.height }, alt))
        }
        None => None,
    };
    let (image, alt) = image.unzip();
    if source == Source::Images && image.is_none() {
        return None;
    }
    let alt = alt.flatten().filter(|_| source == Source::Images);
    Some(EngineResult {
        text: if hit.description.is_empty() { beginning(&hit.text) } else { hit.description },
        published: published_at.map(|at| at.to_rfc3339_opts(SecondsFormat::Secs, true)),
        published_at,
        image,
        copy: Some(hit.text),
        ..EngineResult::new(Url::parse(&hit.url).ok()?, alt.unwrap_or(hit.title))
    })
}

/// Returns the beginning of a text on one line, whole words.
fn beginning(text: &str) -> String {
    let mut out = String::new();
    let mut chars = 0;
    for word in text.split_whitespace() {
        chars += word.chars().count() + 1;
        if chars > BEGINNING {
            break;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

#[cfg(test)]
mod tests {
    use page_index::PageImage;
    use search::{Operators, Words};
    use tokio::time::Instant;

    use super::*;

    fn asked<'a>(words: &'a Words, operators: &'a Operators) -> EngineQuery<'a> {
        EngineQuery {
            team: "red",
            text: &words.text,
            operators,
            source: Source::Web,
            limit: 7,
            domains: None,
            time: None,
            sort_by_date: false,
            country: None,
            language: None,
            location: None,
            safe: false,
            deadline: Instant::now(),
            private: false,
        }
    }

    #[test]
    fn queries_become_questions() {
        let words = Words::parse("granite \"hard rock\" -basalt site:a.test filetype:pdf after:2026-01-31");
        let question = question(&asked(&words, &words.operators));
        assert_eq!((question.limit, question.per_site), (7, None), "a site is named");
        assert_eq!(
            (question.query.sites.as_slice(), question.query.file_types.len()),
            (["a.test".to_owned()].as_slice(), 1)
        );
        let after = DateTime::parse_from_rfc3339("2026-01-31T00:00:00Z").unwrap().timestamp_millis();
        assert_eq!(question.published, Some(Window { from: Some(after), until: None }));
        let words = Words::parse("granite");
        assert_eq!(super::question(&asked(&words, &words.operators)).per_site, Some(PER_SITE));
    }

    fn hit() -> Hit {
        Hit {
            copy: "1".to_owned(),
            scope: "red".to_owned(),
            url: "http://a.test/x".to_owned(),
            title: "Granite".to_owned(),
            description: String::new(),
            text: "Granite is\na hard stone.".to_owned(),
            language: None,
            kind: page_index::PageKind::Page,
            published: Some(0),
            fetched: 0,
            score: 1.0,
            images: Vec::new(),
            image: Some(PageImage {
                url: "http://a.test/x.png".to_owned(),
                alt: "A block".to_owned(),
                ..PageImage::default()
            }),
        }
    }

    #[test]
    fn hits_become_results() {
        let web = result(hit(), Source::Web).unwrap();
        assert_eq!((web.title.as_str(), web.text.as_str()), ("Granite", "Granite is a hard stone."));
        assert_eq!(web.published.as_deref(), Some("1970-01-01T00:00:00Z"));
        assert_eq!(web.copy.as_deref(), Some("Granite is\na hard stone."));
        assert_eq!(result(hit(), Source::Images).unwrap().title, "A block");
        assert_eq!(result(Hit { image: None, ..hit() }, Source::Images), None);
        assert_eq!(result(Hit { url: "x".to_owned(), ..hit() }, Source::Web), None);
    }
}
