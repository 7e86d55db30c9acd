//! Fusion of the answers of several engines.

use std::collections::HashMap;

use crawl_frontier::{KeyRules, UrlKey, url_key};

use crate::answer::EngineResult;
use crate::query::Source;

/// Constant of reciprocal rank fusion: the usual one, with which the first places of one list do not outweigh results that
/// are in several.
const RANKS: f64 = 60.0;

/// Order of the fused results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// By the ranks of the engines.
    Rank,
    /// The newest first, those without a date last.
    Newest,
}

/// Fuses lists of results by their ranks (reciprocal rank fusion). The same page in several lists is one result: the first
/// one, with what it lacks from the others.
#[must_use]
pub fn fuse(lists: Vec<Vec<EngineResult>>, source: Source, order: Order) -> Vec<EngineResult> {
    let mut places: HashMap<UrlKey, usize> = HashMap::new();
    let mut fused: Vec<(f64, EngineResult)> = Vec::new();
    for list in lists {
        for (rank, result) in (1_u32..).zip(list) {
            let score = 1.0 / (RANKS + f64::from(rank));
            match places.get(&key(&result, source)).copied() {
                Some(place) => {
                    fused[place].0 += score;
                    complete(&mut fused[place].1, result);
                }
                None => {
                    places.insert(key(&result, source), fused.len());
                    fused.push((score, result));
                }
            }
        }
    }
    // Stable: of equal scores the earlier list wins.
    fused.sort_by(|one, other| other.0.total_cmp(&one.0));
    let mut results: Vec<EngineResult> = fused.into_iter().map(|(_, result)| result).collect();
    if order == Order::Newest {
        results.sort_by_key(|result| std::cmp::Reverse(result.published_at));
    }
    results
}

fn key(result: &EngineResult, source: Source) -> UrlKey {
    let image = result.image.as_ref().filter(|_| source == Source::Images);
    url_key(image.map_or(&result.url, |image| &image.url), KeyRules::default())
}

/// Fills what a result lacks.
fn complete(result: &mut EngineResult, other: EngineResult) {
    if result.text.is_empty() {
        result.text = other.text;
    }
    if result.published_at.is_none() && (other.published_at.is_some() || result.published.is_none()) {
        (result.published, result.published_at) = (other.published, other.published_at);
    }
    result.image = result.image.take().or(other.image);
    result.copy = result.copy.take().or(other.copy);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(urls: &[&str]) -> Vec<EngineResult> {
        urls.iter().map(|url| EngineResult::new(url.parse().unwrap(), *url)).collect()
    }

    fn urls(results: &[EngineResult]) -> Vec<&str> {
        results.iter().map(|result| result.url.as_str()).collect()
    }

    #[test]
    fn pages_of_several_lists_come_first() {
        let one = list(&["http://a.test/", "http://b.test/", "http://c.test/"]);
        let mut other = list(&["http://d.test/", "https://www.c.test/?utm_source=x", "http://e.test/"]);
        other[1].text = "text".to_owned();
        other[1].copy = Some("copy".to_owned());
        let fused = fuse(vec![one, other], Source::Web, Order::Rank);
        assert_eq!(
            urls(&fused),
            ["http://c.test/", "http://a.test/", "http://d.test/", "http://b.test/", "http://e.test/"]
        );
        assert_eq!((fused[0].text.as_str(), fused[0].copy.as_deref()), ("text", Some("copy")));
    }

    #[test]
    fn one_list_keeps_its_order() {
        let one = list(&["http://z.test/", "http://a.test/", "http://m.test/"]);
        assert_eq!(fuse(vec![one.clone(), Vec::new()], Source::Web, Order::Rank), one);
    }

    #[test]
    fn the_newest_first_if_asked_for() {
        let mut one = list(&["http://a.test/", "http://b.test/", "http://c.test/"]);
        one[1].published_at = Some("2026-01-01T00:00:00Z".parse().unwrap());
        one[2].published_at = Some("2026-02-01T00:00:00Z".parse().unwrap());
        let sorted = fuse(vec![one], Source::News, Order::Newest);
        assert_eq!(urls(&sorted), ["http://c.test/", "http://b.test/", "http://a.test/"]);
    }
}
