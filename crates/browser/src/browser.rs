//! The browser as others see it.

use std::sync::Arc;

use cpu::Cpu;
use cpu::line::{Line, Load};

use crate::ads::Ads;
use crate::holds::Holds;
use crate::noisy::Noisy;
use crate::pool::Pool;
use crate::settings::Settings;

/// Browsers to visit pages with. Cheap to clone; clones share everything. No process is started before somebody visits
/// a page, and none is kept when nobody has for a while.
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

/// What goes on at the moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Browsers that run.
    pub processes: usize,
    /// Visits that have a place.
    pub contexts: usize,
    /// Visits that wait for one.
    pub waiting: usize,
    /// Browsers that were started so far.
    pub launched: u64,
}

impl Browser {
    /// Browsers whose every connection goes through the guard of `client`. `cpu` has the places for what callers make our
    /// own threads do with pages.
    #[must_use]
    pub fn new(settings: Settings, client: net::Client, cpu: Cpu) -> Self {
        let places = usize::from(settings.processes) * usize::from(settings.contexts);
        let line = Line::new(places, settings.waiting.into());
        let noisy = Noisy::new(settings.aside);
        Self { client, cpu, pool: Pool::new(settings), line, ads: Ads::default(), holds: Holds::default(), noisy }
    }

    /// What goes on at the moment.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let (processes, contexts, launched) = self.pool.counts();
        Counts { processes, contexts, waiting: self.line.waiting(), launched }
    }

    /// Places for visits: how many are taken, and how many visits wait for one.
    #[must_use]
    pub fn load(&self) -> Load {
        self.line.load()
    }

    /// Numbers of the processes of the browsers that run, which are those of their process groups too.
    #[must_use]
    pub fn pids(&self) -> Vec<u32> {
        self.pool.pids()
    }

    /// What was set.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        self.pool.settings()
    }

    /// Ends all browsers, and with them the visits that are under way. Later visits fail.
    pub async fn close(&self) {
        self.pool.close().await;
    }
}

impl std::fmt::Debug for Browser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.counts().fmt(f)
    }
}
