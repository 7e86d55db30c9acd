//! Names of webhook events, such as `crawl.page`: a family and an event word (docs/CONTRACT.md, "Webhooks").

use std::fmt;

use crate::words::{Word as _, words};

words! {
    /// Events of a job, named by the second part. The full names (`crawl.page`) are accepted too.
    pub enum WebhookEvent {
        /// The job has started.
        Started = "started",
        /// A page is finished, successfully or not.
        Page = "page",
        /// The job has completed.
        Completed = "completed",
        /// The job has failed.
        Failed = "failed",
    }
}

words! {
    /// Family of an event: the first part of its name.
    pub enum EventFamily {
        /// Crawls.
        Crawl = "crawl",
        /// Batch scrapes.
        BatchScrape = "batch_scrape",
    }
}

/// Position of an event within its job. Start is delivered first and end last; events in between have no order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Delivered before all others.
    Start,
    /// Delivered in any order between start and end.
    Progress,
    /// Delivered after all others.
    End,
}

/// Type of an event. Displays as its full name, such as `crawl.page`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EventType {
    /// First part of the name.
    pub family: EventFamily,
    /// Second part of the name.
    pub word: WebhookEvent,
}

impl WebhookEvent {
    /// Returns the position of such events within their job.
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
    /// Returns the event type of this family with the given word.
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

/// Returns the second part of a full event name, or `None` if it does not begin with a known family.
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
