//! The jobs that this process runs, whose leases it holds.

use std::collections::{HashMap, HashSet};

use parking_lot::Mutex;
use store::jobs::Claimed;
use tokio_util::sync::CancellationToken;

/// Running jobs of this process, by id and token: the same job can be held twice, once under a lost token.
#[derive(Default)]
pub(crate) struct RunningJobs(Mutex<Jobs>);

#[derive(Default)]
struct Jobs {
    running: HashMap<Name, CancellationToken>,
    /// Whether all jobs are cancelled, including those that are added later.
    is_over: bool,
}

/// Id and token of a job.
pub(crate) type Name = (String, String);

impl RunningJobs {
    /// Adds a job; returns a token that is cancelled when its lease is lost.
    pub(crate) fn add(&self, job: &Claimed) -> CancellationToken {
        let cancelled = CancellationToken::new();
        let mut jobs = self.0.lock();
        if jobs.is_over {
            cancelled.cancel();
        }
        jobs.running.insert((job.id.clone(), job.token.clone()), cancelled.clone());
        cancelled
    }

    pub(crate) fn remove(&self, id: &str, token: &str) {
        self.0.lock().running.remove(&(id.to_owned(), token.to_owned()));
    }

    /// Cancels all jobs, including those that a commit still claims.
    pub(crate) fn cancel_all(&self) {
        let mut jobs = self.0.lock();
        jobs.is_over = true;
        jobs.running.values().for_each(CancellationToken::cancel);
    }

    /// Returns the running jobs.
    pub(crate) fn names(&self) -> Vec<Name> {
        self.0.lock().running.keys().cloned().collect()
    }

    /// Cancels those of the jobs `asked` for that are not among `ours`, by id.
    pub(crate) fn cancel_lost(&self, asked: &[Name], ours: &HashSet<String>) {
        let jobs = self.0.lock();
        let lost = asked.iter().filter(|(id, _)| !ours.contains(id)).filter_map(|name| jobs.running.get(name));
        lost.for_each(CancellationToken::cancel);
    }
}
