//! The sieve: what of an engine's answer is returned. Engines ignore parts of a query, so all of it is checked again.

use std::collections::HashSet;

use base::Timestamp;
use crawl_frontier::{KeyRules, UrlKey, url_key};
use url::Url;

use crate::answer::{EngineImage, EngineResult};
use crate::place::{has_type, place};
use crate::plain::plain;
use crate::query::{EngineQuery, Source, is_below};
use crate::when::when;

/// Maximum length of a title, in characters.
const MAX_TITLE: usize = 300;
/// Maximum length of a snippet, in characters.
const MAX_TEXT: usize = 1000;

/// Result as an engine gives it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Raw {
    pub(crate) url: String,
    pub(crate) title: String,
    pub(crate) text: String,
    pub(crate) published: Option<String>,
    pub(crate) image: Option<RawImage>,
}

/// Image of a result, as an engine gives it.
#[derive(Debug, Clone, Default)]
pub(crate) struct RawImage {
    pub(crate) url: String,
    pub(crate) width: Option<u32>,
    pub(crate) height: Option<u32>,
}

/// Results that passed so far.
pub(crate) struct Sieve<'a> {
    query: &'a EngineQuery<'a>,
    pages: &'a net::Client,
    now: Timestamp,
    seen: HashSet<UrlKey>,
    results: Vec<EngineResult>,
    /// Number of results whose age is not known, although the query asks for an age.
    undated: usize,
}

impl<'a> Sieve<'a> {
    pub(crate) fn new(query: &'a EngineQuery<'a>, pages: &'a net::Client, now: Timestamp) -> Self {
        Self { query, pages, now, seen: HashSet::new(), results: Vec::new(), undated: 0 }
    }

    /// Takes a result, unless it is unusable, was asked to be left out, or came before. Returns whether it is new.
    pub(crate) fn take(&mut self, raw: Raw) -> bool {
        let Some(result) = self.result(raw) else { return false };
        let known_by = result.image.as_ref().filter(|_| self.query.source == Source::Images);
        let url = known_by.map_or(&result.url, |image| &image.url);
        if !self.seen.insert(url_key(url, KeyRules::default())) || !self.is_wanted(&result) {
            return false;
        }
        if self.query.window().is_some() && result.published_at.is_none() {
            self.undated += 1;
        }
        self.results.push(result);
        true
    }

    /// Whether the wanted number of results is there.
    pub(crate) fn is_full(&self) -> bool {
        self.results.len() >= self.query.limit
    }

    /// Returns the results, and a warning about ages that are not known.
    pub(crate) fn finish(mut self) -> (Vec<EngineResult>, Option<String>) {
        self.results.truncate(self.query.limit);
        let undated = self.undated;
        let warning = (undated > 0).then(|| format!("results whose date is not known: {undated}"));
        (self.results, warning)
    }

    fn result(&self, raw: Raw) -> Option<EngineResult> {
        let url = place(&raw.url, self.pages)?;
        let image = raw.image.and_then(|image| self.image(image));
        if self.query.source == Source::Images && image.is_none() {
            return None;
        }
        let mut title = plain(&raw.title, MAX_TITLE);
        if title.is_empty() {
            title = untitled(&url);
        }
        let date = raw.published.and_then(|date| when(&date, self.now));
        Some(EngineResult {
            text: plain(&raw.text, MAX_TEXT),
            published_at: date.as_ref().and_then(|date| date.time),
            published: date.map(|date| date.text),
            image,
            ..EngineResult::new(url, title)
        })
    }

    fn image(&self, image: RawImage) -> Option<EngineImage> {
        let RawImage { url, width, height } = image;
        Some(EngineImage { url: place(&url, self.pages)?, width, height })
    }

    /// Whether a result is what the query asks for.
    fn is_wanted(&self, result: &EngineResult) -> bool {
        let operators = self.query.operators;
        let host = result.url.host_str().unwrap_or_default();
        let is_at = |names: &[String]| names.iter().any(|name| is_below(host, name));
        let url = result.url.as_str().to_lowercase();
        self.query.domains.is_none_or(|domains| domains.admits(host))
            && (operators.sites.is_empty() || is_at(&operators.sites))
            && !is_at(&operators.not_sites)
            && (operators.file_types.is_empty() || operators.file_types.iter().any(|kind| has_type(&result.url, kind)))
            && operators.in_url.iter().all(|word| url.contains(&word.to_lowercase()))
            && self.query.window().is_none_or(|window| result.published_at.is_none_or(|time| window.has(time)))
    }
}

/// Returns a title for a page without one: host and path.
fn untitled(url: &Url) -> String {
    let path = url.path().trim_end_matches('/');
    plain(&format!("{}{path}", url.host_str().unwrap_or_default()), MAX_TITLE)
}
