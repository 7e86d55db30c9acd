//! Queries, as engines get them.

use base::Timestamp;
use chrono::{Days, NaiveTime, TimeDelta};
use tokio::time::Instant;

use crate::operators::Operators;

/// Kind of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// Web pages.
    Web,
    /// News articles.
    News,
    /// Images.
    Images,
}

impl Source {
    /// Returns the word for messages.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Web => "web pages",
            Self::News => "news",
            Self::Images => "images",
        }
    }
}

/// Host names that results must or must not belong to, subdomains included.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Domains {
    /// Only these.
    Include(Vec<String>),
    /// None of these.
    Exclude(Vec<String>),
}

impl Domains {
    /// Whether results of a host pass.
    ///
    /// ```
    /// let domains = search::Domains::Include(vec!["example.com".to_owned()]);
    /// assert!(domains.admits("docs.example.com") && !domains.admits("notexample.com"));
    /// ```
    #[must_use]
    pub fn admits(&self, host: &str) -> bool {
        match self {
            Self::Include(names) => names.iter().any(|name| is_below(host, name)),
            Self::Exclude(names) => !names.iter().any(|name| is_below(host, name)),
        }
    }
}

/// Whether a host is a domain or one of its subdomains. Both are in lower case.
pub(crate) fn is_below(host: &str, domain: &str) -> bool {
    let host = host.trim_end_matches('.');
    host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// Publication time that results must have, both ends inclusive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct TimeWindow {
    /// Earliest time.
    pub from: Option<Timestamp>,
    /// Latest time.
    pub to: Option<Timestamp>,
}

impl TimeWindow {
    /// Whether a time is in the window.
    #[must_use]
    pub fn has(&self, time: Timestamp) -> bool {
        self.from.is_none_or(|from| time >= from) && self.to.is_none_or(|to| time <= to)
    }

    /// Returns the time from the beginning of the window to now, for engines that know ages only.
    pub(crate) fn age(&self, now: Timestamp) -> Option<TimeDelta> {
        self.from.map(|from| (now - from).max(TimeDelta::zero()))
    }
}

/// A query. Text and operators are apart, because every engine has its own way to say them.
#[derive(Debug, Clone, Copy)]
pub struct EngineQuery<'a> {
    /// Team of the caller; only an index of own pages needs it, and no engine of the web learns it.
    pub team: &'a str,
    /// Words, `"exact words"` and `-word` of the query.
    pub text: &'a str,
    /// Operators of the query.
    pub operators: &'a Operators,
    /// Kind of results.
    pub source: Source,
    /// Maximum number of results.
    pub limit: usize,
    /// Domains of the request, besides the operators.
    pub domains: Option<&'a Domains>,
    /// Publication time of the request, besides the operators.
    pub time: Option<TimeWindow>,
    /// Whether the newest results come first.
    pub sort_by_date: bool,
    /// Country that results are relevant to (ISO 3166-1 alpha-2), upper case.
    pub country: Option<&'a str>,
    /// Language of the results, such as `de` or `de-CH`.
    pub language: Option<&'a str>,
    /// Place that results are relevant to, by name.
    pub location: Option<&'a str>,
    /// Whether adult content is left out.
    pub safe: bool,
    /// Deadline of the answer.
    pub deadline: Instant,
    /// Whether nothing of the query may be kept (zero data retention).
    pub private: bool,
}

impl EngineQuery<'_> {
    /// Returns the publication time by the request and the operators `before:` and `after:` together.
    #[must_use]
    pub fn window(&self) -> Option<TimeWindow> {
        let asked = self.time.unwrap_or_default();
        let start = |date: chrono::NaiveDate| date.and_time(NaiveTime::MIN).and_utc();
        // `before:` a date leaves its day out, `after:` a date takes it in, as engines of the web do.
        let after = self.operators.after.map(start);
        let before = self.operators.before.map(|date| start(date) - TimeDelta::seconds(1));
        let window = TimeWindow {
            from: asked.from.into_iter().chain(after).max(),
            to: asked.to.into_iter().chain(before).min(),
        };
        (window != TimeWindow::default()).then_some(window)
    }
}

/// Returns the days that a window spans, the first and the last one included; without an end until the day of `now`.
pub(crate) fn days(window: TimeWindow, now: Timestamp) -> Option<[chrono::NaiveDate; 2]> {
    let earliest = chrono::NaiveDate::from_ymd_opt(1990, 1, 1)?;
    let from = window.from.map_or(earliest, |from| from.date_naive());
    let to = window.to.map_or(now.date_naive() + Days::new(1), |to| to.date_naive());
    Some([from, to.max(from)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subdomains_belong_to_a_domain() {
        let include = Domains::Include(vec!["a.test".to_owned(), "b.test".to_owned()]);
        let exclude = Domains::Exclude(vec!["a.test".to_owned()]);
        for (host, in_include, in_exclude) in [
            ("a.test", true, false),
            ("a.test.", true, false),
            ("x.y.a.test", true, false),
            ("xa.test", false, true),
            ("b.test", true, true),
            ("test", false, true),
        ] {
            assert_eq!((include.admits(host), exclude.admits(host)), (in_include, in_exclude), "{host}");
        }
    }
}
