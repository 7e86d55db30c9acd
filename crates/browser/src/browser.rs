//! The browser service: the entry point of this crate.

use std::sync::Arc;

use cpu::Cpu;
use cpu::line::{Line, Load};

use crate::ads::Ads;
use crate::holds::Holds;
use crate::noisy::Noisy;
use crate::pool::Pool;
use crate::settings::Settings;

/// Browsers for visiting pages. Cheap to clone; clones share everything. The first visit starts a process; a process
/// without visits ends after its idle timeout.
#[derive(Clone)]
pub struct Browser {
    pub(crate) client: net::Client,
    pub(crate) cpu: Cpu,
    pub(crate) pool: Arc<Pool>,
    pub(crate) line: Line,
    pub(crate) ads: Ads,
    pub(crate) holds: Holds,
    pub(crate) noisy: Noisy,
}

/// Snapshot of the current load.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Running browsers.
    pub processes: usize,
    /// Visits that hold a slot.
    pub contexts: usize,
    /// Visits that wait for a slot.
    pub waiting: usize,
    /// Browsers started so far.
    pub launched: u64,
}

impl Browser {
    /// Creates the service. Every connection of its browsers goes through the guard of `client`. `cpu` provides permits
    /// for the work that pages cause on our own threads.
    #[must_use]
    pub fn new(settings: Settings, client: net::Client, cpu: Cpu) -> Self {
        let places = usize::from(settings.processes) * usize::from(settings.contexts);
        let line = Line::new(places, settings.waiting.into());
        let noisy = Noisy::new(settings.aside);
        Self { client, cpu, pool: Pool::new(settings), line, ads: Ads::default(), holds: Holds::default(), noisy }
    }

    /// Returns the current load.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let (processes, contexts, launched) = self.pool.counts();
        Counts { processes, contexts, waiting: self.line.waiting(), launched }
    }

    /// Returns how many slots are taken and how many visits wait for one.
    #[must_use]
    pub fn load(&self) -> Load {
        self.line.load()
    }

    /// Returns the process ids of the running browsers, which are also the ids of their process groups.
    #[must_use]
    pub fn pids(&self) -> Vec<u32> {
        self.pool.pids()
    }

    /// Returns the settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        self.pool.settings()
    }

    /// Kills all browsers and thereby aborts the visits in progress. Later visits fail.
    pub async fn close(&self) {
        self.pool.close().await;
    }
}

impl std::fmt::Debug for Browser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.counts().fmt(f)
    }
}
