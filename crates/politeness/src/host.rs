//! When the next request to one host may start. A plain value that a database row can hold; time comes in.

use std::time::Duration;

use base::Timestamp;
use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

/// The longest `Crawl-delay` that is kept; longer ones are cut to it.
pub const MAX_CRAWL_DELAY: Duration = Duration::from_secs(30);

/// How many requests to one host run at a time when nothing else is said.
const IN_FLIGHT: u32 = 4;
/// The longest gap between two starts that slow or failing servers can lead to.
const MAX_GAP: Duration = Duration::from_secs(60);
/// The first pause after a refusal that names no time; it doubles with each refusal in a row.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// How many good answers in a row give back one slot that refusals took.
const GOOD_FOR_A_SLOT: u32 = 10;
/// Requests that wait behind those in flight are at most as many as the host answers in this time.
const MAX_AHEAD: Duration = Duration::from_millis(30);
/// How long nobody goes ahead after somebody else was sent away.
const SHARED: Duration = Duration::from_secs(1);

/// What is asked of the crawler for one host. The same for all its pages, so it is not part of the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    crawl_delay: Option<Duration>,
    capped: bool,
    delay: Option<Duration>,
    most: u32,
}

/// What is known about one host while it is crawled. Shared by all workers: read it, decide and write it in one
/// transaction.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct HostState {
    /// Requests that have started and not ended, and those that were taken ahead.
    in_flight: u32,
    /// Who sends all of them, when that is one.
    worker: Option<String>,
    /// Until then nothing is taken ahead: somebody else wants to ask this host.
    shared_until: Option<Timestamp>,
    last_start: Option<Timestamp>,
    last_end: Option<Timestamp>,
    /// Nothing starts before this.
    paused_until: Option<Timestamp>,
    /// Smoothed time of a good answer in microseconds; errors only make it longer.
    latency: u64,
    /// Slots that refusals took away.
    lost_slots: u32,
    /// Gap between starts that refusals made, in microseconds.
    gap: u64,
    /// Refusals since the last good answer.
    refusals: u32,
    /// Good answers since the last refusal or since a slot came back.
    good: u32,
}

/// Whether a request may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// It may start now; say so with [`HostState::started`].
    Now,
    /// Ask again at this time.
    At(Timestamp),
    /// Ask again when a running request of this host has ended.
    WhenOneEnds,
}

/// How a host answered a request, or that it did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostAnswer {
    /// With any answer but a refusal, a 404 included, after this time.
    Answered(Duration),
    /// With a server error or no answer, after this time.
    Failed(Duration),
    /// With 429 or 503, and what `Retry-After` asked for ([`retry_after`](crate::retry_after)).
    Refused(Option<Duration>),
    /// Nobody knows: the worker was lost, or the page came from the cache.
    Unknown,
}

impl Pace {
    /// The pace for a host: `crawl_delay` from its robots.txt, `delay` from the crawl request, `most` requests at a time
    /// (4 if not said). Either delay means one request at a time.
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

    /// Whether robots.txt asked for more than [`MAX_CRAWL_DELAY`], which the crawl's owner should be told.
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
    /// Whether a request may start now, and if not, when to ask again.
    #[must_use]
    pub fn next_start(&self, pace: &Pace, now: Timestamp) -> Start {
        let after = |time: Option<Timestamp>, wait: Duration| time.and_then(|time| plus(time, wait));
        let earliest = [
            self.paused_until,
            after(self.last_start, self.gap(pace)),
            after(self.last_start, pace.crawl_delay.unwrap_or_default()),
            after(self.last_end, pace.delay.unwrap_or_default()),
        ];
        // With all slots taken the end of a request comes first, whenever that is.
        if self.in_flight >= pace.slots(self.lost_slots) {
            return Start::WhenOneEnds;
        }
        match earliest.into_iter().flatten().max() {
            Some(time) if time > now => Start::At(time),
            _ => Start::Now,
        }
    }

    /// With all slots taken ([`Start::WhenOneEnds`]): from when one more request of `worker` may follow one of its own that
    /// ends, without asking again. Whoever takes such a request keeps to [`HostState::slots`] at a time by itself.
    ///
    /// `None` for a host that others ask as well or want to ask, for one that is to be asked with care (a delay, a refusal, a
    /// pause), and for one that is slow: there nothing is gained.
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

    /// How many requests may run at a time.
    #[must_use]
    pub fn slots(&self, pace: &Pace) -> u32 {
        pace.slots(self.lost_slots)
    }

    /// Says who sends the request that is counted next; `None` for somebody who takes nothing ahead.
    pub fn sent_by(&mut self, worker: Option<&str>) {
        if self.in_flight == 0 {
            self.worker = worker.map(str::to_owned);
        } else if self.worker.as_deref() != worker {
            self.worker = None;
        }
    }

    /// Counts a request that starts now.
    pub fn started(&mut self, now: Timestamp) {
        self.in_flight += 1;
        self.last_start = Some(now);
    }

    /// Counts a request that ended now, and learns from the answer.
    pub fn ended(&mut self, pace: &Pace, answer: HostAnswer, now: Timestamp) {
        self.in_flight = self.in_flight.saturating_sub(1);
        // Who writes it down later may have looked at the clock before.
        self.last_end = self.last_end.max(Some(now));
        match answer {
            HostAnswer::Answered(time) => {
                self.latency = smoothed(self.latency, micros(time));
                self.refusals = 0;
                self.recover();
            }
            // A server that fails fast is not a fast server.
            HostAnswer::Failed(time) => self.latency = self.latency.max(smoothed(self.latency, micros(time))),
            HostAnswer::Refused(wait) => self.back_off(pace, wait, now),
            HostAnswer::Unknown => {}
        }
    }

    /// How many requests have started and not ended, with those that were taken ahead.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// About how long it takes, with all slots in use, until one more request may start.
    #[must_use]
    pub fn turn(&self, pace: &Pace) -> Duration {
        let even = Duration::from_micros(self.latency / u64::from(pace.slots(self.lost_slots)));
        let asked = pace.crawl_delay.unwrap_or_default().max(pace.delay.unwrap_or_default());
        even.max(asked).max(self.gap(pace))
    }

    /// Spreads the starts evenly over the time that one answer takes, and further after refusals.
    fn gap(&self, pace: &Pace) -> Duration {
        let even = self.latency / u64::from(pace.slots(self.lost_slots)) / 2;
        Duration::from_micros(even.max(self.gap)).min(MAX_GAP)
    }

    /// Half the rate, and a pause.
    fn back_off(&mut self, pace: &Pace, wait: Option<Duration>, now: Timestamp) {
        let slots = pace.slots(self.lost_slots);
        let halved = (slots / 2).max(1);
        self.lost_slots += slots - halved;
        // Once one slot is left, only a longer gap makes the rate smaller.
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
