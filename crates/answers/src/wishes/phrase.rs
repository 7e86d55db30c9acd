//! Phrases: sequences of words with alternatives, by which wishes are recognised.
//!
//! A phrase is written as words with spaces between them. `a|b` is either word, `a_b` is two words, a final `?` makes a
//! word optional. `#` is a number, `$` a unit of time. A name in capitals means the words of [`CLASSES`].

use super::tokens::{Kind, Token};

/// Classes of words.
const CLASSES: &[(&str, &str)] = &[
    ("VERB", "crawl|scrape|get|fetch|index|grab|collect|visit|spider|download"),
    ("PAGES", "page|pages|url|urls|webpage|webpages|web_pages|documents"),
    ("LEVELS", "level|levels|hop|hops|click|clicks"),
    ("SITE", "site|website|domain|web_site"),
    ("OFSITE", "of_the_site|of_this_site|of_the_website|of_this_website|on_the_site|on_this_site|on_the_website"),
    (
        "MOST",
        "at_most|up_to|no_more_than|not_more_than|a_maximum_of|maximum_of|max|maximum|only|just|limit_to|\
            limit_it_to|limit_the_crawl_to|limited_to|stop_after|and_stop_after",
    ),
    ("TOP", "at_most|max|maximum|at_the_most|in_total|only|total"),
    ("NEVER", "do_not|never"),
    ("SKIP", "ignore|ignoring|without|skip|skipping|drop|strip|no|exclude|excluding|disregard"),
    ("INCLUDE", "include|including|also_include|allow|also_crawl|also_follow|follow|plus"),
    (
        "BETWEEN",
        "between_pages|between_requests|between_the_pages|between_the_requests|between_each_page|\
            between_each_request|between_scrapes|between_every_page|between_every_request|between_two_pages|\
            between_two_requests|between_page_loads|between_fetches|before_each_page|before_each_request|\
            after_each_page|after_each_request|before_every_request|after_every_page|per_page|per_request",
    ),
];

/// Units of time in seconds.
const UNITS: &[(&str, f64)] = &[
    ("s", 1.0),
    ("sec", 1.0),
    ("secs", 1.0),
    ("second", 1.0),
    ("seconds", 1.0),
    ("ms", 0.001),
    ("millisecond", 0.001),
    ("milliseconds", 0.001),
    ("min", 60.0),
    ("minute", 60.0),
    ("minutes", 60.0),
];

/// Match of a phrase.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Match {
    /// Number of tokens.
    pub(super) length: usize,
    /// The number in it, in seconds if a unit follows.
    pub(super) number: Option<f64>,
}

/// Matches a phrase at the beginning of tokens. An optional word is taken where it is there.
pub(super) fn find(phrase: &str, tokens: &[Token]) -> Option<Match> {
    let mut found = Match { length: 0, number: None };
    for part in phrase.split(' ') {
        let (part, is_optional) = part.strip_suffix('?').map_or((part, false), |part| (part, true));
        let rest = &tokens[found.length..];
        match (part, rest.first().map(|token| &token.kind)) {
            ("#", Some(Kind::Number(number))) => {
                found.number = Some(*number);
                found.length += 1;
            }
            ("$", Some(Kind::Word(word))) => {
                let (_, seconds) = UNITS.iter().find(|(unit, _)| unit == word)?;
                found.number = Some(found.number.unwrap_or(1.0) * seconds);
                found.length += 1;
            }
            _ => match longest(part, rest) {
                Some(length) => found.length += length,
                None if is_optional => {}
                None => return None,
            },
        }
    }
    Some(found)
}

/// Returns the number of words of the longest alternative at the beginning of tokens.
fn longest(alternatives: &str, tokens: &[Token]) -> Option<usize> {
    let class = |name: &str| CLASSES.iter().find(|(class, _)| *class == name).map(|(_, words)| *words);
    let length = |words: &str| match class(words) {
        Some(words) => words.split('|').filter_map(|words| is_there(words, tokens)).max(),
        None => is_there(words, tokens),
    };
    alternatives.split('|').filter_map(length).max()
}

fn is_there(words: &str, tokens: &[Token]) -> Option<usize> {
    let mut count = 0;
    for word in words.split('_') {
        match tokens.get(count).map(|token| &token.kind) {
            Some(Kind::Word(found)) if found == word => count += 1,
            // `one` is read as a number.
            Some(Kind::Number(number)) if word == "one" && *number == 1.0 => count += 1,
            Some(Kind::Number(number)) if word == "two" && *number == 2.0 => count += 1,
            _ => return None,
        }
    }
    Some(count)
}
