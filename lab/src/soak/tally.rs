//! Counts of requests, responses and costs.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

/// Counts by kind of request; clones share the counts.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally(Arc<Mutex<Vec<RequestTally>>>);

/// Counts of one kind of request.
#[derive(Debug, Clone, Default)]
pub(super) struct RequestTally {
    pub(super) name: &'static str,
    pub(super) requests: u64,
    /// Expected answers.
    pub(super) fine: u64,
    /// Answers with status 5xx.
    pub(super) server_errors: u64,
    /// Requests without an answer.
    pub(super) unanswered: u64,
    /// Sum of the credits in the answers.
    pub(super) credits: i64,
    /// First unexpected answer.
    pub(super) odd: Option<String>,
}

/// Result of a request.
#[derive(Debug, Default)]
pub(super) struct RequestResult {
    /// Status; `None` without an answer.
    pub(super) status: Option<u16>,
    /// Whether the answer is as expected.
    pub(super) fine: bool,
    pub(super) credits: i64,
    /// Body of the answer, for messages.
    pub(super) text: String,
}

impl Tally {
    pub(super) fn add(&self, name: &'static str, answered: &RequestResult) {
        let mut kinds = self.0.lock();
        let place = kinds.iter().position(|kind| kind.name == name).unwrap_or_else(|| {
            kinds.push(RequestTally { name, ..RequestTally::default() });
            kinds.len() - 1
        });
        let kind = &mut kinds[place];
        kind.requests += 1;
        kind.fine += u64::from(answered.fine);
        kind.server_errors += u64::from(answered.status.is_some_and(|status| status >= 500));
        kind.unanswered += u64::from(answered.status.is_none());
        kind.credits += answered.credits;
        if !answered.fine && kind.odd.is_none() {
            let text: String = answered.text.chars().take(200).collect();
            kind.odd = Some(format!("{:?} {text}", answered.status));
        }
    }

    /// Returns all counts so far.
    pub(super) fn kinds(&self) -> Vec<RequestTally> {
        self.0.lock().clone()
    }

    /// Returns the number of requests so far.
    pub(super) fn requests(&self) -> u64 {
        self.0.lock().iter().map(|kind| kind.requests).sum()
    }

    /// Returns the sum of the credits in all answers.
    pub(super) fn credits(&self) -> i64 {
        self.0.lock().iter().map(|kind| kind.credits).sum()
    }
}

impl fmt::Display for RequestTally {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, requests, fine, server_errors, unanswered, credits, odd } = self;
        write!(
            out,
            "{name}: {requests} requests, {fine} as expected, {server_errors} of 5xx, {unanswered} without an answer, {credits} credits"
        )?;
        odd.as_ref().map_or(Ok(()), |odd| write!(out, "; the first odd one: {odd}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_counted_by_kind() {
        let tally = Tally::default();
        let answered = |status, fine| RequestResult { status, fine, credits: 2, text: "why".to_owned() };
        tally.add("a", &answered(Some(200), true));
        tally.clone().add("a", &answered(Some(503), false));
        tally.add("b", &answered(None, false));
        let [a, b] = tally.kinds().try_into().unwrap();
        assert_eq!((a.requests, a.fine, a.server_errors, a.unanswered, a.credits), (2, 1, 1, 0, 4));
        assert_eq!(a.odd.as_deref(), Some("Some(503) why"));
        assert_eq!((b.requests, b.server_errors, b.unanswered), (1, 0, 1));
        assert_eq!((tally.requests(), tally.credits()), (3, 6));
    }
}
