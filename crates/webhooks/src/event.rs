//! What there is to tell, and which hooks want to hear it.

/// Every event, by its name on the wire (docs/CONTRACT.md, "Webhooks"). Each kind of job brings its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventType {
    /// `crawl.started`.
    CrawlStarted,
    /// `crawl.page`.
    CrawlPage,
    /// `crawl.completed`.
    CrawlCompleted,
    /// `crawl.failed`.
    CrawlFailed,
    /// `batch_scrape.started`.
    BatchStarted,
    /// `batch_scrape.page`.
    BatchPage,
    /// `batch_scrape.completed`.
    BatchCompleted,
    /// `batch_scrape.failed`.
    BatchFailed,
}

/// The kinds of job that tell of a start, of pages and of an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobKind {
    /// A crawl.
    Crawl,
    /// A batch scrape.
    Batch,
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

impl EventType {
    /// Its name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CrawlStarted => "crawl.started",
            Self::CrawlPage => "crawl.page",
            Self::CrawlCompleted => "crawl.completed",
            Self::CrawlFailed => "crawl.failed",
            Self::BatchStarted => "batch_scrape.started",
            Self::BatchPage => "batch_scrape.page",
            Self::BatchCompleted => "batch_scrape.completed",
            Self::BatchFailed => "batch_scrape.failed",
        }
    }

    /// Where it stands among the events of its job.
    #[must_use]
    pub const fn phase(self) -> Phase {
        match self {
            Self::CrawlStarted | Self::BatchStarted => Phase::Start,
            Self::CrawlPage | Self::BatchPage => Phase::Progress,
            Self::CrawlCompleted | Self::CrawlFailed | Self::BatchCompleted | Self::BatchFailed => Phase::End,
        }
    }
}

impl JobKind {
    /// Its event of the start.
    #[must_use]
    pub const fn started(self) -> EventType {
        match self {
            Self::Crawl => EventType::CrawlStarted,
            Self::Batch => EventType::BatchStarted,
        }
    }

    /// Its event of one page.
    #[must_use]
    pub const fn page(self) -> EventType {
        match self {
            Self::Crawl => EventType::CrawlPage,
            Self::Batch => EventType::BatchPage,
        }
    }

    /// Its event of a good end.
    #[must_use]
    pub const fn completed(self) -> EventType {
        match self {
            Self::Crawl => EventType::CrawlCompleted,
            Self::Batch => EventType::BatchCompleted,
        }
    }

    /// Its event of a bad end.
    #[must_use]
    pub const fn failed(self) -> EventType {
        match self {
            Self::Crawl => EventType::CrawlFailed,
            Self::Batch => EventType::BatchFailed,
        }
    }
}

/// Whether a hook with this `events` list wants an event. No list means everything, an empty one nothing. A word of the
/// list is the full name (`crawl.page`), its second part (`page`) or everything behind its first dot
/// (docs/CONTRACT.md, "Webhooks").
#[must_use]
pub fn selects(events: Option<&[String]>, event: EventType) -> bool {
    let name = event.as_str();
    let rest = name.split_once('.').map_or(name, |(_, rest)| rest);
    let second = rest.split('.').next().unwrap_or(rest);
    let last = rest.rsplit('.').next().unwrap_or(rest);
    events.is_none_or(|events| events.iter().any(|word| [name, rest, second, last].contains(&word.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_select_by_short_and_full_name() {
        let check = |events: Option<&[&str]>, event: EventType, expect: bool| {
            let events = events.map(|words| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
            assert_eq!(selects(events.as_deref(), event), expect, "{events:?} {event:?}");
        };
        check(None, EventType::CrawlPage, true);
        check(Some(&[]), EventType::CrawlPage, false);
        check(Some(&["page"]), EventType::CrawlPage, true);
        check(Some(&["page"]), EventType::BatchPage, true);
        check(Some(&["page"]), EventType::CrawlStarted, false);
        check(Some(&["crawl.page"]), EventType::CrawlPage, true);
        check(Some(&["crawl.page"]), EventType::BatchPage, false);
        check(Some(&["started", "batch_scrape.failed"]), EventType::BatchFailed, true);
        check(Some(&["Page", "crawl", ""]), EventType::CrawlPage, false);
    }

    #[test]
    fn starts_come_before_pages_before_ends() {
        for kind in [JobKind::Crawl, JobKind::Batch] {
            let phases = [kind.started(), kind.page(), kind.completed()].map(EventType::phase);
            assert!(phases.is_sorted() && phases[0] != phases[2]);
            assert_eq!(kind.failed().phase(), Phase::End);
            let family = kind.page().as_str().split('.').next().unwrap();
            for event in [kind.started(), kind.completed(), kind.failed()] {
                assert!(event.as_str().starts_with(family), "{event:?}");
            }
        }
    }
}
