//! Webhook events by family, such as `crawl.page`: a family and a word (docs/CONTRACT.md, "Webhooks"). A new family is a
//! row here, and a line in [`FAMILIES`].

use std::fmt;

use serde::{Serialize, Serializer};

use crate::words::choices;

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

/// Event of a family: the second part of its name, and its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventWord {
    /// Second part of the name. May contain dots.
    pub word: &'static str,
    /// Position within the job.
    pub phase: Phase,
}

/// The work has started.
pub const STARTED: EventWord = EventWord { word: "started", phase: Phase::Start };
/// A page is finished, successfully or not.
pub const PAGE: EventWord = EventWord { word: "page", phase: Phase::Progress };
/// The work has completed.
pub const COMPLETED: EventWord = EventWord { word: "completed", phase: Phase::End };
/// The work has failed.
pub const FAILED: EventWord = EventWord { word: "failed", phase: Phase::End };

/// Spelling of events in the answers of the API. Requests may use both, deliveries always have full names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// The word: `page`.
    Word,
    /// The full name: `crawl.page`.
    FullName,
}

/// Events of one kind of work, such as crawls.
#[derive(Debug, PartialEq, Eq)]
pub struct EventFamily {
    /// First part of their names.
    pub name: &'static str,
    /// Spelling in answers.
    pub spelling: Spelling,
    /// All events, each once.
    pub events: &'static [EventWord],
}

/// Events of crawls.
pub static CRAWL: EventFamily = EventFamily { name: "crawl", spelling: Spelling::Word, events: OF_PAGES };
/// Events of batch scrapes.
pub static BATCH_SCRAPE: EventFamily = EventFamily { name: "batch_scrape", spelling: Spelling::Word, events: OF_PAGES };

/// Events of the checks of monitors. Each check is a job of its own.
pub static MONITOR: EventFamily =
    EventFamily { name: "monitor", spelling: Spelling::FullName, events: &[PAGE, CHECK_COMPLETED] };

/// A check of a monitor is over.
pub const CHECK_COMPLETED: EventWord = EventWord { word: "check.completed", phase: Phase::End };

const OF_PAGES: &[EventWord] = &[STARTED, PAGE, COMPLETED, FAILED];

/// All families.
pub static FAMILIES: [&EventFamily; 3] = [&CRAWL, &BATCH_SCRAPE, &MONITOR];

impl EventFamily {
    /// Returns the event type of this word; `None` if the family does not have it.
    #[must_use]
    pub fn event(&'static self, word: EventWord) -> Option<EventType> {
        self.all().find(|event| event.word == word)
    }

    /// Returns all event types, in the order of the row.
    pub fn all(&'static self) -> impl Iterator<Item = EventType> {
        self.events.iter().map(move |&word| EventType { family: self, word })
    }

    /// Returns the event type of a word or a full name.
    pub(crate) fn parse(&'static self, name: &str) -> Option<EventType> {
        let word = name.strip_prefix(self.name).and_then(|rest| rest.strip_prefix('.')).unwrap_or(name);
        self.all().find(|event| event.word.word == word)
    }

    /// Returns the choices for error messages: "`a`, `b` or `c`".
    pub(crate) fn choices(&'static self) -> String {
        choices(self.all().map(EventType::spelled))
    }
}

/// Type of an event. Displays as its full name, such as `crawl.page`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct EventType {
    family: &'static EventFamily,
    word: EventWord,
}

impl EventType {
    /// Returns the position of such events within their job.
    #[must_use]
    pub const fn phase(self) -> Phase {
        self.word.phase
    }

    /// Returns the name as answers spell it.
    #[must_use]
    pub fn spelled(self) -> String {
        match self.family.spelling {
            Spelling::Word => self.word.word.to_owned(),
            Spelling::FullName => self.to_string(),
        }
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.family.name, self.word.word)
    }
}

impl fmt::Debug for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for EventType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.spelled())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_has_a_name_of_its_own_and_is_found_by_both_spellings() {
        let mut names: Vec<String> = Vec::new();
        for family in FAMILIES {
            for event in family.all() {
                assert_eq!(family.parse(&event.to_string()), Some(event));
                assert_eq!(family.parse(event.word.word), Some(event));
                assert_eq!(family.event(event.word), Some(event));
                names.push(event.to_string());
            }
            assert!(family.events.iter().any(|event| event.phase == Phase::End), "{} never ends", family.name);
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn an_event_of_another_family_is_not_found() {
        let check = |name: &str| assert_eq!(CRAWL.parse(name), None, "{name}");
        ["batch_scrape.page", "crawler.page", "crawl.", "crawl", ".page", "crawl.crawl.page", "PAGE", "action"]
            .into_iter()
            .for_each(check);
        let action = EventWord { word: "action", phase: Phase::Progress };
        assert_eq!(CRAWL.event(action), None);
    }
}
