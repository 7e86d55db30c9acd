//! Ranking of URLs by a search, for `search` of map.

use std::cmp::Ordering;

use base::Stop;

use crate::spelling;

/// A URL with metadata of its page.
#[derive(Debug, Clone, Copy, Default)]
pub struct Candidate<'a> {
    /// Complete URL.
    pub url: &'a str,
    /// Title of the page.
    pub title: Option<&'a str>,
    /// Description of the page.
    pub description: Option<&'a str>,
}

/// Weights of a word by its position.
const IN_TITLE: f64 = 1.2;
const IN_PATH: f64 = 1.0;
const IN_DESCRIPTION: f64 = 0.5;
const IN_QUERY: f64 = 0.4;
const IN_HOST: f64 = 0.2;
/// Weights of a word by the kind of match.
const WHOLE: f64 = 1.0;
const BEGINNING: f64 = 0.7;
const PART: f64 = 0.35;
/// Maximum number of words of a search; further ones are ignored.
const MAX_WORDS: usize = 16;
/// Number of bytes of a URL or text that are searched, small because there may be a hundred thousand candidates.
const MAX_TEXT: usize = 512;

/// Returns the indices of `candidates` ordered by how well they match `query`, best first. Candidates that do not match
/// follow in their original order. Rare words count more than common ones; of equal scores the shorter URL comes first. The
/// order is deterministic, except when the work is stopped.
#[must_use]
pub fn rank(query: &str, candidates: &[Candidate<'_>], stop: &Stop) -> Vec<usize> {
    let mut wanted: Vec<String> = Vec::new();
    for word in words(query) {
        if wanted.len() < MAX_WORDS && !wanted.contains(&word) {
            wanted.push(word);
        }
    }
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    if wanted.is_empty() {
        return order;
    }
    let found: Vec<Vec<f64>> =
        candidates.iter().take_while(|_| !stop.is_set()).map(|candidate| matches(&wanted, candidate)).collect();
    if found.len() < candidates.len() {
        return order;
    }
    let scores = weighed(&found, wanted.len());
    order.sort_by(|&one, &other| {
        let by_score = scores[other].partial_cmp(&scores[one]).unwrap_or(Ordering::Equal);
        let by_length = || match scores[one] > 0.0 {
            true => candidates[one].url.len().cmp(&candidates[other].url.len()),
            false => Ordering::Equal,
        };
        by_score.then_with(by_length)
    });
    order
}

/// Returns the score of each word for one candidate, 0 without a match.
fn matches(wanted: &[String], candidate: &Candidate<'_>) -> Vec<f64> {
    let mut best = vec![0.0; wanted.len()];
    let after_scheme = candidate.url.split_once("://").map_or(candidate.url, |(_, rest)| rest);
    let (place, query) = after_scheme.split_once('?').unwrap_or((after_scheme, ""));
    let (host, path) = place.split_once('/').unwrap_or((place, ""));
    let fields = [
        (IN_HOST, host),
        (IN_PATH, path),
        (IN_QUERY, query),
        (IN_TITLE, candidate.title.unwrap_or_default()),
        (IN_DESCRIPTION, candidate.description.unwrap_or_default()),
    ];
    for (weight, text) in fields.into_iter().filter(|(_, text)| !text.is_empty()) {
        let text = &text[..text.floor_char_boundary(MAX_TEXT)];
        let text = spelling::readable(text).to_lowercase();
        for (word, best) in wanted.iter().zip(&mut best) {
            let score = weight * likeness(word, &text);
            // A word in two places scores slightly more than in the better one alone.
            *best = f64::max(*best, score) + f64::min(*best, score) * 0.1;
        }
    }
    best
}

/// Returns the weight of the best match of a word in a text: as a whole word, at the beginning of one, or within one.
fn likeness(word: &str, text: &str) -> f64 {
    let mut best = 0.0;
    let mut from = 0;
    while let Some(at) = text[from..].find(word) {
        let (start, end) = (from + at, from + at + word.len());
        let open = !text[..start].ends_with(char::is_alphanumeric);
        let shut = !text[end..].starts_with(char::is_alphanumeric);
        match (open, shut) {
            (true, true) => return WHOLE,
            (true, false) => best = f64::max(best, BEGINNING),
            _ => best = f64::max(best, PART),
        }
        from = end;
    }
    // `pages` also matches `page`.
    if best < BEGINNING
        && let Some(singular) = word.strip_suffix('s').filter(|singular| singular.chars().count() >= 3)
        && likeness(singular, text) >= WHOLE
    {
        best = BEGINNING;
    }
    best
}

/// Returns one score per candidate: the matches weighted by the rarity of the words, with a bonus for matching all.
fn weighed(found: &[Vec<f64>], words: usize) -> Vec<f64> {
    #[expect(clippy::cast_precision_loss, reason = "counts of pages are far below 2^52")]
    let rarity: Vec<f64> = (0..words)
        .map(|word| {
            let having = found.iter().filter(|scores| scores[word] > 0.0).count() as f64;
            (1.0 + (found.len() as f64 - having + 0.5) / (having + 0.5)).ln() + 0.1
        })
        .collect();
    found
        .iter()
        .map(|scores| {
            let sum: f64 = scores.iter().zip(&rarity).map(|(score, rarity)| score * rarity).sum();
            let all = scores.iter().all(|score| *score > 0.0);
            if all { sum * 1.5 } else { sum }
        })
        .collect()
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(query: &str, urls: &[&str], expect: &[usize]) {
        let candidates: Vec<Candidate> = urls.iter().map(|url| Candidate { url, ..Default::default() }).collect();
        assert_eq!(rank(query, &candidates, &Stop::new()), expect, "{query}");
    }

    #[test]
    fn by_the_url() {
        let urls = [
            "https://docs.test/",
            "https://docs.test/install/linux",
            "https://docs.test/api/webhooks",
            "https://docs.test/webhook",
            "https://docs.test/blog?tag=webhook",
        ];
        check("Webhook", &urls, &[3, 2, 4, 0, 1]);
        check("webhooks", &urls, &[2, 3, 4, 0, 1]);
        check("linux install", &urls, &[1, 0, 2, 3, 4]);
        check("", &urls, &[0, 1, 2, 3, 4]);
        check("nothing at all", &urls[..1], &[0]);
        check("café", &["https://a.test/x", "https://a.test/caf%C3%A9"], &[1, 0]);
        check("製品", &["https://a.test/x", "https://a.test/%E6%96%B0%E8%A3%BD%E5%93%81"], &[1, 0]);
    }

    #[test]
    fn by_title_and_description() {
        let page = |url, title, description| Candidate { url, title: Some(title), description: Some(description) };
        let pages = [
            page("https://a.test/1", "Prices", "what things cost"),
            page("https://a.test/2", "About us", "prices of our company"),
            page("https://a.test/3", "Team", "people"),
        ];
        assert_eq!(rank("prices", &pages, &Stop::new()), [0, 1, 2]);
        assert_eq!(rank("company", &pages, &Stop::new()), [1, 0, 2]);
    }

    #[test]
    fn rare_words_count_more() {
        check(
            "docs billing",
            &["https://a.test/docs/one", "https://a.test/docs/two", "https://a.test/billing"],
            &[2, 0, 1],
        );
    }
}
