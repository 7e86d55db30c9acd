//! Repeated inspection of a page: its text, and signs of upcoming changes.

use std::time::Duration;

use cdp::CdpError;
use tokio::time::Instant;

use super::ahead::Ahead;
use super::pulse::Pulse;
use super::workers::Workers;
use crate::dom::{self, Text};
use crate::tab::Tab;

/// Factor for the pause after reading the text: three times the duration of the reading, so that it takes a fourth of
/// the time.
const REST: u32 = 3;
/// Time after the last change of digits until a counter is taken to have stopped.
const COUNTED: Duration = Duration::from_millis(300);
/// Duration of a look above which the page was blocked by its own scripts.
const BLOCKED: Duration = Duration::from_millis(400);
/// Time limit of the probe for upcoming changes.
const MAX_PROBE: Duration = Duration::from_millis(400);

/// Time for which a page that does not answer the probe counts as busy.
const UNKNOWN: Duration = Duration::from_millis(200);

/// Observations so far.
pub(super) struct Gaze {
    text: Text,
    pulse: Pulse,
    pulse_at: Instant,
    /// Earliest time of the next reading of the text.
    next_read: Instant,
    is_stale: bool,
    /// Number of changes of the text without digits, and the time of the last.
    changes: u32,
    last_change: Instant,
    /// Largest number of words so far, and the time when it grew.
    most_words: usize,
    last_growth: Instant,
    /// Time until which the page is known to be busy.
    restless: Instant,
    unblocked: Instant,
    workers: Workers,
    has_worker: bool,
}

impl Gaze {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            text: Text::default(),
            pulse: Pulse::default(),
            pulse_at: now,
            next_read: now,
            is_stale: true,
            changes: 0,
            last_change: now,
            most_words: 0,
            last_growth: now,
            restless: now,
            unblocked: now,
            workers: Workers::default(),
            has_worker: false,
        }
    }

    /// Starts over for another document.
    pub(super) fn begin_document(&mut self, now: Instant) {
        *self = Self { pulse: self.pulse, pulse_at: self.pulse_at, ..Self::new(now) };
    }

    pub(super) fn text(&self) -> Text {
        self.text.clone()
    }

    /// Whether the text has changed since it was first read.
    pub(super) fn has_changed(&self) -> bool {
        self.changes > 1
    }

    pub(super) fn last_change(&self) -> Instant {
        self.last_change
    }

    /// Returns the time when the text reached its largest number of words.
    pub(super) fn last_growth(&self) -> Instant {
        self.last_growth
    }

    /// Returns the time of the last change of the text after its first reading; otherwise `beginning`.
    pub(super) fn changed_after(&self, beginning: Instant) -> Instant {
        if self.has_changed() { self.last_change } else { beginning }
    }

    /// Returns the time until which the page is known to be busy, or its text is not up to date.
    pub(super) fn restless_until(&self) -> Instant {
        if self.is_stale { self.restless.max(self.next_read) } else { self.restless }
    }

    /// Returns the time when the page last responded after having been blocked.
    pub(super) fn unblocked_at(&self) -> Instant {
        self.unblocked
    }

    /// Returns the time when a worker last finished some work.
    pub(super) fn worked_until(&self) -> Option<Instant> {
        self.workers.worked_until()
    }

    /// Whether a service worker is about to control the page.
    pub(super) fn waits_for_worker(&self) -> bool {
        self.has_worker
    }

    /// Inspects the page once. Waits while the page is blocked.
    pub(super) async fn look(&mut self, tab: &Tab, until: Instant) -> Result<(), CdpError> {
        let began = Instant::now();
        let pulse = Pulse::read(tab, until).await?;
        let seconds = (began - self.pulse_at).as_secs_f64().max(0.001);
        if pulse.was_busy_since(&self.pulse, seconds) | self.workers.look(tab) {
            self.restless = self.restless.max(began + Duration::from_millis(100));
        }
        self.is_stale |= pulse.moved_since(&self.pulse);
        (self.pulse, self.pulse_at) = (pulse, began);
        let ahead = Ahead::read(tab, until.min(began + MAX_PROBE)).await;
        let busy_until = match ahead {
            Ok(ahead) => {
                self.has_worker = ahead.has_worker;
                ahead.until
            }
            // The page may be between two documents.
            Err(_) => Some(Instant::now() + UNKNOWN),
        };
        self.restless = busy_until.map_or(self.restless, |until| self.restless.max(until));
        if self.is_stale && Instant::now() >= self.next_read {
            self.read(tab, until).await?;
        }
        if began.elapsed() >= BLOCKED {
            self.unblocked = Instant::now();
        }
        Ok(())
    }

    async fn read(&mut self, tab: &Tab, until: Instant) -> Result<(), CdpError> {
        let began = Instant::now();
        let text = dom::snapshot(tab, until).await?.text();
        let now = Instant::now();
        self.next_read = now + (now - began) * REST;
        self.is_stale = false;
        if text.hash_without_digits != self.text.hash_without_digits {
            self.changes += 1;
            self.last_change = now;
        } else if text.hash != self.text.hash {
            self.restless = self.restless.max(now + COUNTED);
        }
        if text.words > self.most_words {
            (self.most_words, self.last_growth) = (text.words, now);
        }
        self.text = text;
        Ok(())
    }
}
