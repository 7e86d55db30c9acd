//! The memory and the work of a browser, looked at again and again: a page that takes too much ends, and not its browser.

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

/// How often new processes are looked for; known ones are measured in every round.
const SEARCH: Duration = Duration::from_millis(400);
/// How far a page lets others go first that has taken so much time of processors, on a scale to 19: those that have had least
/// go first of all.
const NICE: [(Duration, i32); 3] =
    [(Duration::from_secs(5), 19), (Duration::from_secs(2), 12), (Duration::from_millis(500), 5)];
/// How long after the end of a page it may take until it is known that this was for its memory.
const HINDSIGHT: Duration = Duration::from_millis(400);
/// How long that is remembered: nobody asks for a page whose visit was over.
const MEMORY: Duration = Duration::from_secs(1);

/// Pages of a browser that have ended for their memory, and whose visits have not asked yet. Clones share it.
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

    /// Whether a page that is gone has ended for its memory. Each is told of once.
    pub(crate) async fn claim(&self) -> bool {
        timeout(HINDSIGHT, async {
            loop {
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

/// Looks at one browser.
pub(crate) struct Watch {
    group: u32,
    /// Bytes of a page, above which it ends; none is no limit.
    most_of_page: Option<u64>,
    /// Bytes of all, above which the largest page ends.
    most: u64,
    parts: Vec<Part>,
    searched: Option<Instant>,
    /// Pages that let others go first, and how far.
    nice: HashMap<u32, i32>,
    overfed: Overfed,
}

/// What a round has found.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Round {
    /// Bytes of all parts together.
    pub(crate) memory: u64,
    /// Whether that is far too much, and no page is to blame.
    pub(crate) is_beyond_help: bool,
}

impl Watch {
    pub(super) fn new(group: u32, settings: &Settings, overfed: Overfed) -> Self {
        let limit = |bytes: u64| Some(bytes).filter(|bytes| *bytes > 0);
        let most = limit(settings.max_memory).map_or(u64::MAX, |most| most.saturating_mul(2));
        let most_of_page = limit(settings.max_page_memory);
        Self { group, most_of_page, most, parts: Vec::new(), searched: None, nice: HashMap::new(), overfed }
    }

    /// Measures all parts, ends pages that have taken too much, and has busy ones let others go first. Reads files: not for
    /// the threads of async tasks.
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
                self.end(page, "a page takes too much memory and is ended");
            }
        }
        self.calm_down();
        let memory = memory::total(&self.parts);
        if memory <= self.most {
            return Round { memory, is_beyond_help: false };
        }
        match self.largest().filter(|page| page.own > memory / 4) {
            Some(page) => {
                self.end(page, "the pages of a browser take too much memory and the largest is ended");
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
        // Its number may be another's since the last search, but not within this group.
        if memory::again(page, self.group).is_some()
            && let Some(pid) = number(page.pid)
        {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
            self.overfed.add();
        }
    }

    /// A page that was about to have too much has met a limit of Chromium or of the kernel: it was not ended by us.
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

/// With all threads that there are, and those that they start.
fn let_others_first(pid: u32, far: i32) {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return };
    let threads = threads.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    for thread in threads.filter_map(number) {
        // It may have ended meanwhile.
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
