//! Monitor of a browser's memory and CPU time, which kills a page with excessive memory instead of the whole browser.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, setpriority_process};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use super::memory::{self, Part};
use crate::settings::Settings;

/// Interval of searching for new processes; known ones are measured in every round.
const SEARCH: Duration = Duration::from_millis(400);
/// Niceness (out of 19) of a page by its CPU time so far: pages with the least CPU time are preferred.
const NICE: [(Duration, i32); 3] =
    [(Duration::from_secs(5), 19), (Duration::from_secs(2), 12), (Duration::from_millis(500), 5)];
/// Time limit for learning that a page that has ended was killed for its memory.
const HINDSIGHT: Duration = Duration::from_millis(400);
/// Time until an unclaimed end is forgotten: its visit was already over.
const MEMORY: Duration = Duration::from_secs(1);

/// Pages of a browser that ended because of their memory and were not claimed by their visits yet. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Overfed(Arc<Ended>);

#[derive(Default)]
struct Ended {
    unclaimed: Mutex<VecDeque<Instant>>,
    more: Notify,
}

impl Overfed {
    fn add(&self) {
        self.0.unclaimed.lock().push_back(Instant::now());
        self.0.more.notify_waiters();
    }

    /// Whether a page that has ended was killed for its memory. Each such end is claimed once.
    pub(crate) async fn claim(&self) -> bool {
        timeout(HINDSIGHT, async {
            loop {
                // Registered before `take`, so that no notification between the two is lost.
                let more = self.0.more.notified();
                tokio::pin!(more);
                more.as_mut().enable();
                if self.take() {
                    return;
                }
                more.await;
            }
        })
        .await
        .is_ok()
    }

    fn take(&self) -> bool {
        let mut unclaimed = self.0.unclaimed.lock();
        unclaimed.retain(|at| at.elapsed() < MEMORY);
        unclaimed.pop_front().is_some()
    }
}

/// Monitor of one browser.
pub(crate) struct Watch {
    group: u32,
    /// Memory of a page above which it is killed, in bytes; `None` means no limit.
    most_of_page: Option<u64>,
    /// Total memory above which the largest page is killed, in bytes.
    most: u64,
    parts: Vec<Part>,
    searched: Option<Instant>,
    /// Niceness of pages with lowered priority.
    nice: HashMap<u32, i32>,
    overfed: Overfed,
}

/// Result of a round.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Round {
    /// Total memory of all processes, in bytes.
    pub(crate) memory: u64,
    /// Whether the total exceeds its limit and no single page is the cause.
    pub(crate) is_beyond_help: bool,
}

impl Watch {
    pub(super) fn new(group: u32, settings: &Settings, overfed: Overfed) -> Self {
        let limit = |bytes: u64| Some(bytes).filter(|bytes| *bytes > 0);
        let most = limit(settings.max_memory).map_or(u64::MAX, |most| most.saturating_mul(2));
        let most_of_page = limit(settings.max_page_memory);
        Self { group, most_of_page, most, parts: Vec::new(), searched: None, nice: HashMap::new(), overfed }
    }

    /// Measures all processes, kills pages with excessive memory, and lowers the priority of busy ones. Blocking,
    /// because it reads files.
    pub(crate) fn round(&mut self) -> Round {
        let before = std::mem::take(&mut self.parts);
        if self.searched.is_none_or(|at| at.elapsed() >= SEARCH) {
            self.parts = memory::of_group(self.group);
            self.searched = Some(Instant::now());
        } else {
            self.parts = before.iter().filter_map(|part| memory::again(*part, self.group)).collect();
        }
        self.note_ends(&before);
        if let Some(most) = self.most_of_page {
            while let Some(page) = self.largest().filter(|page| page.own > most) {
                self.end(page, "a page exceeded browser.max_page_memory_mib; it is killed");
            }
        }
        self.calm_down();
        let memory = memory::total(&self.parts);
        if memory <= self.most {
            return Round { memory, is_beyond_help: false };
        }
        // A page counts as the cause if it has more than a quarter of the total.
        match self.largest().filter(|page| page.own > memory / 4) {
            Some(page) => {
                self.end(page, "a browser exceeded twice browser.max_memory_mib; its largest page is killed");
                Round { memory, is_beyond_help: false }
            }
            None => Round { memory, is_beyond_help: true },
        }
    }

    fn largest(&self) -> Option<Part> {
        self.parts.iter().filter(|part| part.is_renderer).max_by_key(|part| part.own).copied()
    }

    fn end(&mut self, page: Part, why: &str) {
        tracing::warn!(memory = page.own, "{why}");
        self.parts.retain(|part| part.pid != page.pid);
        // The pid may have been reused since the last search, but not within this process group.
        if memory::again(page, self.group).is_some()
            && let Some(pid) = number(page.pid)
        {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
            self.overfed.add();
        }
    }

    /// Records pages that ended with much memory without being killed here: a limit of Chromium or of the kernel did
    /// it.
    fn note_ends(&self, before: &[Part]) {
        let Some(most) = self.most_of_page else { return };
        let now: HashSet<u32> = self.parts.iter().map(|part| part.pid).collect();
        let ended = before.iter().filter(|part| part.is_renderer && !now.contains(&part.pid));
        ended.filter(|part| part.own > most / 2).for_each(|_| self.overfed.add());
    }

    fn calm_down(&mut self) {
        let Self { parts, nice, .. } = self;
        nice.retain(|pid, _| parts.iter().any(|part| part.pid == *pid));
        for page in parts.iter().filter(|part| part.is_renderer) {
            let Some((_, far)) = NICE.iter().find(|(time, _)| page.cpu >= *time) else { continue };
            if nice.insert(page.pid, *far) != Some(*far) {
                let_others_first(page.pid, *far);
            }
        }
    }
}

/// Sets the niceness of a process: of all its threads, and thereby of those that they start.
fn let_others_first(pid: u32, far: i32) {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return };
    let threads = threads.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    for thread in threads.filter_map(number) {
        // The thread may have ended meanwhile.
        let _ = setpriority_process(Some(thread), far);
    }
}

fn number(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn each_end_is_claimed_once() {
        let overfed = Overfed::default();
        assert!(!overfed.claim().await);
        overfed.add();
        assert!(overfed.claim().await && !overfed.claim().await);
        let later = overfed.clone();
        let (claimed, ()) = tokio::join!(overfed.claim(), async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            later.add();
        });
        assert!(claimed);
    }
}
