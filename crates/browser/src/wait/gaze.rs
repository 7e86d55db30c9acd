//! Looking at the page again and again: its text, and whether it is about to change.

use std::time::Duration;

use tokio::time::Instant;

use super::ahead::Ahead;
use super::pulse::Pulse;
use super::workers::Workers;
use crate::cdp::CdpError;
use crate::dom::{self, Text};
use crate::tab::Tab;

/// Reading a page may take a fourth of the time: the next look comes after three times as long as the last took.
const REST: u32 = 3;
/// How long after the last change a number that counts up is taken to have arrived.
const COUNTED: Duration = Duration::from_millis(300);
/// What holds up a look for so long is the page computing.
const BLOCKED: Duration = Duration::from_millis(400);
/// How long a probe may wait for the page.
const MAX_PROBE: Duration = Duration::from_millis(400);

/// How long a page that does not tell what it is about to do is taken to be busy.
const UNKNOWN: Duration = Duration::from_millis(200);

/// What was seen so far.
pub(super) struct Gaze {
    text: Text,
    pulse: Pulse,
    pulse_at: Instant,
    /// When the text may be read again.
    next_read: Instant,
    is_stale: bool,
    /// How often its letters changed, and when last.
    changes: u32,
    last_change: Instant,
    /// The most words that it has shown, and when it was more than before.
    most_words: usize,
    last_growth: Instant,
    /// Until when it is known to be busy with something.
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

    /// There is another document.
    pub(super) fn begin_document(&mut self, now: Instant) {
        *self = Self { pulse: self.pulse, pulse_at: self.pulse_at, ..Self::new(now) };
    }

    pub(super) fn text(&self) -> Text {
        self.text.clone()
    }

    /// Whether it shows something else than at first.
    pub(super) fn has_changed(&self) -> bool {
        self.changes > 1
    }

    pub(super) fn last_change(&self) -> Instant {
        self.last_change
    }

    /// When it showed more words than ever before.
    pub(super) fn last_growth(&self) -> Instant {
        self.last_growth
    }

    /// When its letters changed after they were read first; at the beginning otherwise.
    pub(super) fn changed_after(&self, beginning: Instant) -> Instant {
        if self.has_changed() { self.last_change } else { beginning }
    }

    /// Until when it is known to be busy, or not known well enough.
    pub(super) fn restless_until(&self) -> Instant {
        if self.is_stale { self.restless.max(self.next_read) } else { self.restless }
    }

    /// When the page last gave way after it had computed for long.
    pub(super) fn unblocked_at(&self) -> Instant {
        self.unblocked
    }

    /// When a worker has last computed what it was asked for.
    pub(super) fn worked_until(&self) -> Option<Instant> {
        self.workers.worked_until()
    }

    /// Whether a service worker gets ready to serve the page.
    pub(super) fn waits_for_worker(&self) -> bool {
        self.has_worker
    }

    /// Looks once. Waits while the page computes.
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
            // It may be between two documents.
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
