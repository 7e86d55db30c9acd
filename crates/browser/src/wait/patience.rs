//! Quiet periods and time limits, depending on what is known of the page.

use std::time::Duration;

use crate::dom::Text;

/// Number of words from which a page shows more than its frame.
const MANY_WORDS: usize = 80;

/// Number of words below which a page shows little.
const FEW_WORDS: usize = 25;

/// Time limit for an unanswered question of a page that shows sentences or many words.
const MAX_QUESTION: Duration = Duration::from_millis(2800);
/// Time limit for an unanswered question of a page with only some words.
const MAX_OPEN_QUESTION: Duration = Duration::from_secs(4);
/// Time limit for an unanswered question of a page that shows little or is loading.
const MAX_URGENT_QUESTION: Duration = Duration::from_secs(12);

/// Time after the last change for which possible polls delay a page.
const MAX_DOUBT: Duration = Duration::from_millis(1500);
/// Time after the last change for which possible polls delay a page that is loading.
const MAX_LOADING_DOUBT: Duration = Duration::from_secs(5);

/// Situation in which the wait happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    /// A page that has just been opened.
    Page,
    /// The effects of an action or of scrolling.
    Step,
}

/// Observations of the page.
#[derive(Debug, Clone, Default)]
pub(super) struct Evidence {
    pub(super) text: Text,
    /// Whether the text has changed since it was first read.
    pub(super) has_changed: bool,
    /// Number of answers to its scripts, including those of workers.
    pub(super) asked: u64,
    /// Whether the text changed after the last answer.
    pub(super) shows_answer: bool,
    /// Whether the last answer was an error that has changed nothing yet.
    pub(super) has_failed: bool,
    /// Whether a stream is open.
    pub(super) has_stream: bool,
    /// Whether a service worker is about to control the page.
    pub(super) has_worker: bool,
}

/// Returns the length of the quiet period.
pub(super) fn window(patience: Patience, seen: &Evidence) -> Duration {
    if !seen.text.has_scripts {
        return Duration::ZERO;
    }
    if patience == Patience::Step {
        return Duration::from_millis(if seen.text.is_loading { 700 } else { 250 });
    }
    let millis = if seen.text.is_loading {
        2000
    } else if seen.has_failed || seen.has_worker {
        // Pages retry failed requests after half a second or a second.
        1500
    } else if seen.asked > 0 {
        if seen.shows_answer { 500 } else { 1000 }
    } else if seen.text.words >= MANY_WORDS {
        250
    } else {
        // Little text and no requests: the page waits for a timer, a worker or its own database.
        1500
    };
    Duration::from_millis(if seen.has_stream { millis.max(1000) } else { millis })
}

/// Returns the time limit for an unanswered question.
pub(super) fn longest_question(seen: &Evidence) -> Duration {
    let text = &seen.text;
    let is_bare = text.words < FEW_WORDS && !text.has_sentence && !seen.has_changed && seen.asked == 0;
    if text.is_loading || is_bare {
        MAX_URGENT_QUESTION
    } else if text.has_sentence || text.words >= MANY_WORDS {
        MAX_QUESTION
    } else {
        MAX_OPEN_QUESTION
    }
}

/// Returns the time after the last change for which possible polls delay the page.
pub(super) fn doubt(seen: &Evidence) -> Duration {
    if seen.text.is_loading { MAX_LOADING_DOUBT } else { MAX_DOUBT }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(words: usize, asked: u64) -> Evidence {
        let text = Text { words, has_scripts: true, ..Text::default() };
        Evidence { text, asked, shows_answer: true, ..Evidence::default() }
    }

    #[test]
    fn the_less_a_page_shows_the_longer_it_gets() {
        let check = |evidence: &Evidence, millis: u64| {
            assert_eq!(window(Patience::Page, evidence), Duration::from_millis(millis), "{evidence:?}");
        };
        check(&Evidence::default(), 0);
        check(&seen(10, 0), 1500);
        check(&seen(300, 0), 250);
        check(&seen(10, 1), 500);
        check(&Evidence { shows_answer: false, ..seen(10, 1) }, 1000);
        check(&Evidence { has_failed: true, ..seen(10, 1) }, 1500);
        check(&Evidence { has_stream: true, ..seen(300, 1) }, 1000);
    }

    #[test]
    fn a_page_that_says_something_waits_less_for_an_answer() {
        let check = |evidence: &Evidence, longest: Duration| assert_eq!(longest_question(evidence), longest);
        let with = |has_sentence: bool, is_loading: bool| {
            let text = Text { has_sentence, is_loading, ..seen(18, 0).text };
            Evidence { text, ..Evidence::default() }
        };
        check(&with(false, false), MAX_URGENT_QUESTION);
        check(&with(true, false), MAX_QUESTION);
        check(&with(true, true), MAX_URGENT_QUESTION);
        check(&seen(40, 1), MAX_OPEN_QUESTION);
        check(&seen(90, 1), MAX_QUESTION);
    }
}
