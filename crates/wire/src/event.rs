//! Events of work that a client has started: the one list of their names. A name is a family and a word, as in `crawl.page`
//! (docs/CONTRACT.md, "Webhooks").

use std::fmt;

use crate::words::{Word as _, words};

words! {
    /// Events of a job, by the second part of their names. The full names (`crawl.page`) are accepted too.
    pub enum WebhookEvent {
        /// The job starts.
        Started = "started",
        /// A page is done.
        Page = "page",
        /// The job has ended well.
        Completed = "completed",
        /// The job has failed.
        Failed = "failed",
    }
}

words! {
    /// What events are about: the first part of their names.
    pub enum EventFamily {
        /// Crawls.
        Crawl = "crawl",
        /// Batch scrapes.
        BatchScrape = "batch_scrape",
    }
}

/// Where an event stands among those of its job. A receiver hears of the start first and of the end last; what lies
/// between has no order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Before everything else.
    Start,
    /// Between.
    Progress,
    /// After everything else.
    End,
}

/// An event by its name. Prints as that name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EventType {
    /// The first part.
    pub family: EventFamily,
    /// The second part.
    pub word: WebhookEvent,
}

impl WebhookEvent {
    /// Where such events stand among those of their job.
    #[must_use]
    pub const fn phase(self) -> Phase {
        match self {
            Self::Started => Phase::Start,
            Self::Page => Phase::Progress,
            Self::Completed | Self::Failed => Phase::End,
        }
    }
}

impl EventFamily {
    /// Its event of this word.
    #[must_use]
    pub const fn event(self, word: WebhookEvent) -> EventType {
        EventType { family: self, word }
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.family.as_str(), self.word.as_str())
    }
}

/// The word of a full name; `None` when it is not one of a family's.
pub(crate) fn word_of(name: &str) -> Option<&str> {
    let of_family = |family: &str| name.strip_prefix(family)?.strip_prefix('.');
    EventFamily::WORDS.iter().find_map(|(family, _)| of_family(family))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_has_a_start_and_an_end() {
        for (name, family) in EventFamily::WORDS {
            for (word, event) in WebhookEvent::WORDS {
                let full = family.event(*event).to_string();
                assert_eq!(full, format!("{name}.{word}"));
                assert_eq!(word_of(&full), Some(*word));
            }
        }
        let phases = WebhookEvent::WORDS.iter().map(|(_, event)| event.phase());
        assert!(phases.clone().is_sorted() && phases.clone().min() < phases.max());
        assert_eq!([word_of("page"), word_of("crawler.page"), word_of("batch.page")], [None; 3]);
    }
}
