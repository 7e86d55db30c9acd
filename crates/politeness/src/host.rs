//! Scheduling of requests to one host. The state is a plain value, stored in a database row; the time is a parameter.

use std::time::Duration;

use base::Timestamp;
use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

/// Longest `Crawl-delay` that is honoured; longer ones are capped.
pub const MAX_CRAWL_DELAY: Duration = Duration::from_secs(30);

/// Default number of concurrent requests to one host.
const IN_FLIGHT: u32 = 4;
/// Longest gap between two starts that slow or failing servers can cause.
const MAX_GAP: Duration = Duration::from_secs(60);
/// First back-off pause after a refusal without `Retry-After`; it doubles with each consecutive refusal.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// Number of good answers that restore one slot lost to refusals.
const GOOD_FOR_A_SLOT: u32 = 10;
/// Limit of requests reserved ahead of those in flight: as many as the host answers in this time.
const MAX_AHEAD: Duration = Duration::from_millis(30);
/// Time without reservations after another worker wanted to use the host.
const SHARED: Duration = Duration::from_secs(1);

/// Limits for requests to one host, from robots.txt and the crawl. Constant for a crawl, so not part of the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    crawl_delay: Option<Duration>,
    capped: bool,
    delay: Option<Duration>,
    most: u32,
}

/// State of one host while it is crawled. All workers share it: read it, decide and write it in one transaction.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct HostState {
    /// Number of running requests, including those reserved ahead.
    in_flight: u32,
    /// The worker that sends all of them, if it is only one.
    worker: Option<String>,
    /// Time until which no request is reserved ahead, because another worker wants to use this host.
    shared_until: Option<Timestamp>,
    last_start: Option<Timestamp>,
    last_end: Option<Timestamp>,
    /// End of the back-off pause; no request starts earlier.
    paused_until: Option<Timestamp>,
    /// Moving average of the response time in microseconds; failures only increase it.
    latency: u64,
    /// Number of slots lost to refusals.
    lost_slots: u32,
    /// Gap between starts caused by refusals, in microseconds.
    gap: u64,
    /// Number of refusals since the last good answer.
    refusals: u32,
    /// Number of good answers since the last refusal or restored slot.
    good: u32,
}

/// Decision on the start of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartDecision {
    /// The request may start now; record it with [`HostState::started`].
    Now,
    /// Retry at this time.
    At(Timestamp),
    /// Retry when a running request to this host has ended.
    WhenOneEnds,
}

/// Outcome of a request to a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostAnswer {
    /// Any answer other than a refusal, such as 200 or 404, with the response time.
    Answered(Duration),
    /// A server error or no answer, with the time until the failure.
    Failed(Duration),
    /// A refusal, 429 or 503, with its `Retry-After` ([`retry_after`](crate::retry_after)).
    Refused(Option<Duration>),
    /// Unknown: the worker was lost, or the page came from the cache.
    Unknown,
}

impl Pace {
    /// Creates the pace for a host: `crawl_delay` from its robots.txt, `delay` from the crawl request, and `most`
    /// concurrent requests (default 4). With either delay requests run one at a time.
    #[must_use]
    pub fn new(crawl_delay: Option<Duration>, delay: Option<Duration>, most: Option<u32>) -> Self {
        let nonzero = |time: Duration| !time.is_zero();
        let crawl_delay = crawl_delay.filter(|time| nonzero(*time));
        Self {
            crawl_delay: crawl_delay.map(|time| time.min(MAX_CRAWL_DELAY)),
            capped: crawl_delay.is_some_and(|time| time > MAX_CRAWL_DELAY),
            delay: delay.filter(|time| nonzero(*time)),
            most: most.unwrap_or(IN_FLIGHT).max(1),
        }
    }

    /// Returns whether robots.txt requests more than [`MAX_CRAWL_DELAY`], which deserves a warning to the crawl's owner.
    #[must_use]
    pub fn is_capped(&self) -> bool {
        self.capped
    }

    fn slots(&self, lost: u32) -> u32 {
        let most = if self.has_delay() { 1 } else { self.most };
        most.saturating_sub(lost).max(1)
    }

    fn has_delay(&self) -> bool {
        self.crawl_delay.is_some() || self.delay.is_some()
    }
}

impl HostState {
    /// Decides whether a request may start now, and otherwise when to retry.
    #[must_use]
    pub fn next_start(&self, pace: &Pace, now: Timestamp) -> StartDecision {
        let after = |time: Option<Timestamp>, wait: Duration| time.and_then(|time| plus(time, wait));
        let earliest = [
            self.paused_until,
            after(self.last_start, self.gap(pace)),
            after(self.last_start, pace.crawl_delay.unwrap_or_default()),
            after(self.last_end, pace.delay.unwrap_or_default()),
        ];
        // With all slots taken, the next start depends on the end of a request, whose time is unknown.
        if self.in_flight >= pace.slots(self.lost_slots) {
            return StartDecision::WhenOneEnds;
        }
        match earliest.into_iter().flatten().max() {
            Some(time) if time > now => StartDecision::At(time),
            _ => StartDecision::Now,
        }
    }

    /// Reserves a request ahead when all slots are taken ([`StartDecision::WhenOneEnds`]): returns the time from which
    /// `worker` may start it after one of its own has ended, without another transaction. The worker itself must keep to
    /// [`HostState::slots`] concurrent requests.
    ///
    /// `None` for a host that several workers use or want to use, that needs care (a delay, a refusal, a pause), or that is
    /// slow, where a reservation gains nothing.
    pub fn ahead(&mut self, pace: &Pace, worker: &str, now: Timestamp) -> Option<Timestamp> {
        if pace.has_delay() || self.worker.as_deref() != Some(worker) {
            self.shared_until = plus(now, SHARED);
            return None;
        }
        let is_later = |time: Option<Timestamp>| time.is_some_and(|time| time > now);
        let is_careful = self.lost_slots > 0 || self.gap > 0 || is_later(self.paused_until);
        if is_careful || is_later(self.shared_until) || self.latency == 0 {
            return None;
        }
        let slots = self.slots(pace);
        let ahead = micros(MAX_AHEAD) * u64::from(slots) / self.latency;
        if u64::from(self.in_flight.saturating_sub(slots)) >= ahead {
            return None;
        }
        let next = self.last_start.and_then(|time| plus(time, self.gap(pace)));
        Some(next.map_or(now, |time| time.max(now)))
    }

    /// Returns the number of requests that may run at the same time.
    #[must_use]
    pub fn slots(&self, pace: &Pace) -> u32 {
        pace.slots(self.lost_slots)
    }

    /// Records the worker of the next counted request; `None` for a sender that reserves no requests ahead.
    pub fn sent_by(&mut self, worker: Option<&str>) {
        if self.in_flight == 0 {
            self.worker = worker.map(str::to_owned);
        } else if self.worker.as_deref() != worker {
            self.worker = None;
        }
    }

    /// Records the start of a request.
    pub fn started(&mut self, now: Timestamp) {
        self.in_flight += 1;
        self.last_start = Some(now);
    }

    /// Records the end of a request and adapts to its outcome.
    pub fn ended(&mut self, pace: &Pace, answer: HostAnswer, now: Timestamp) {
        self.in_flight = self.in_flight.saturating_sub(1);
        // Ends can be recorded out of order by several workers.
        self.last_end = self.last_end.max(Some(now));
        match answer {
            HostAnswer::Answered(time) => {
                self.latency = smoothed(self.latency, micros(time));
                self.refusals = 0;
                self.recover();
            }
            // Fast failures must not make the host look fast.
            HostAnswer::Failed(time) => self.latency = self.latency.max(smoothed(self.latency, micros(time))),
            HostAnswer::Refused(wait) => self.back_off(pace, wait, now),
            HostAnswer::Unknown => {}
        }
    }

    /// Returns the number of running requests, including those reserved ahead.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Estimates the time until one more request may start when all slots are in use.
    #[must_use]
    pub fn turn(&self, pace: &Pace) -> Duration {
        let even = Duration::from_micros(self.latency / u64::from(pace.slots(self.lost_slots)));
        let asked = pace.crawl_delay.unwrap_or_default().max(pace.delay.unwrap_or_default());
        even.max(asked).max(self.gap(pace))
    }

    /// Returns the gap between starts: spreads them over half the response time, and further after refusals.
    fn gap(&self, pace: &Pace) -> Duration {
        let even = self.latency / u64::from(pace.slots(self.lost_slots)) / 2;
        Duration::from_micros(even.max(self.gap)).min(MAX_GAP)
    }

    /// Halves the rate and pauses.
    fn back_off(&mut self, pace: &Pace, wait: Option<Duration>, now: Timestamp) {
        let slots = pace.slots(self.lost_slots);
        let halved = (slots / 2).max(1);
        self.lost_slots += slots - halved;
        // With one slot left, only a longer gap reduces the rate.
        if slots == 1 {
            self.gap = (self.gap.max(self.latency / 2).max(micros(FIRST_PAUSE) / 4) * 2).min(micros(MAX_GAP));
        }
        self.good = 0;
        self.refusals = self.refusals.saturating_add(1);
        let pause = match wait {
            Some(wait) => wait.min(crate::MAX_RETRY_AFTER),
            None => (FIRST_PAUSE * (1 << (self.refusals - 1).min(6))).min(MAX_GAP),
        };
        self.paused_until = self.paused_until.max(plus(now, pause));
    }

    fn recover(&mut self) {
        self.good += 1;
        self.gap -= self.gap / 8;
        if self.gap < 1000 {
            self.gap = 0;
        }
        if self.good >= GOOD_FOR_A_SLOT {
            self.good = 0;
            self.lost_slots = self.lost_slots.saturating_sub(1);
        }
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX).min(3_600_000_000)
}

fn smoothed(old: u64, new: u64) -> u64 {
    if old == 0 { new } else { (old * 7 + new) / 8 }
}

fn plus(time: Timestamp, wait: Duration) -> Option<Timestamp> {
    time.checked_add_signed(TimeDelta::from_std(wait).ok()?)
}

#[cfg(test)]
mod tests;
