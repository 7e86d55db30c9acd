//! How long a page must have been quiet, by what it has let us see.

use std::time::Duration;

use super::Patience;
use crate::dom::Text;

/// A page with so many words shows more than its frame.
const MANY_WORDS: usize = 80;

/// A page with fewer shows little.
const FEW_WORDS: usize = 25;

/// How long a question without an answer holds up a page that says something.
const MAX_QUESTION: Duration = Duration::from_millis(2800);
/// The same for a page that has only words.
const MAX_OPEN_QUESTION: Duration = Duration::from_secs(4);
/// The same for a page that shows little, or says that more is coming.
const MAX_URGENT_QUESTION: Duration = Duration::from_secs(12);

/// For how long after its last change what may be a poll holds up a page.
const MAX_DOUBT: Duration = Duration::from_millis(1500);
/// The same where the page says that more is coming.
const MAX_LOADING_DOUBT: Duration = Duration::from_secs(5);

/// What the page has let us see.
#[derive(Debug, Clone, Default)]
pub(super) struct Evidence {
    pub(super) text: Text,
    /// Whether that is something else than at first.
    pub(super) has_changed: bool,
    /// How many answers its scripts have got, those of workers included.
    pub(super) asked: u64,
    /// Whether its text changed after the last of them.
    pub(super) shows_answer: bool,
    /// Whether the last one was an error that has changed nothing yet.
    pub(super) has_failed: bool,
    /// Whether something is open that may send more at any time.
    pub(super) has_stream: bool,
    /// Whether a service worker gets ready to serve the page.
    pub(super) has_worker: bool,
}

/// How long nothing may have happened.
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
        // Pages repeat what failed after half a second, or one.
        1500
    } else if seen.asked > 0 {
        if seen.shows_answer { 500 } else { 1000 }
    } else if seen.text.words >= MANY_WORDS {
        250
    } else {
        // Little to see, and nothing asked for: it waits for a timer, a worker or a database of its own.
        1500
    };
    Duration::from_millis(if seen.has_stream { millis.max(1000) } else { millis })
}

/// How long a question may go without an answer.
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

/// For how long after its last change what may be a poll holds up a page.
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
