//! Pool of browser processes: started on demand, replaced by age, size or number of visits, ended after an idle
//! timeout.

mod attend;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use crate::error::BrowserError;
use crate::process::{Process, Round};
use crate::settings::Settings;

/// Number of separate browsers for noisy pages.
const MAX_ASIDE: usize = 1;

/// Browser processes and their leases.
pub(crate) struct Pool {
    settings: Settings,
    state: Mutex<State>,
    /// Notified when a browser may have capacity again.
    room: Notify,
}

#[derive(Default)]
struct State {
    slots: Vec<Slot>,
    /// Result of the launch in progress.
    launch: Option<watch::Receiver<Option<Result<(), String>>>>,
    launched: u64,
    closed: bool,
}

/// Group of browsers that a visit may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Company {
    /// The browsers for all visits.
    All,
    /// The separate browser for noisy pages ([`Noisy`](crate::noisy::Noisy)).
    Noisy,
}

struct Slot {
    process: Arc<Process>,
    company: Company,
    visits: usize,
    /// Pages that stay open for a client: they take no slot of a visit, but keep the browser alive.
    kept: usize,
    served: u32,
    /// Whether the browser takes no more visits and ends with its last one.
    retires: bool,
    idle_since: Instant,
}

/// A lease of a browser. Dropping it returns it.
pub(crate) struct Lease {
    pub(crate) process: Arc<Process>,
    pool: Weak<Pool>,
    is_kept: AtomicBool,
}

impl Slot {
    fn is_used(&self) -> bool {
        self.visits + self.kept > 0
    }
}

/// Result of looking for a browser.
enum Look {
    Found(Lease),
    Starting(watch::Receiver<Option<Result<(), String>>>),
    Full,
}

impl Pool {
    pub(crate) fn new(settings: Settings) -> Arc<Self> {
        Arc::new(Self { settings, state: Mutex::default(), room: Notify::new() })
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the numbers of running browsers, of their visits, and of browsers started so far.
    pub(crate) fn counts(&self) -> (usize, usize, u64) {
        let state = self.state.lock();
        (state.slots.len(), state.slots.iter().map(|slot| slot.visits).sum(), state.launched)
    }

    /// Returns the process ids of the browsers.
    pub(crate) fn pids(&self) -> Vec<u32> {
        self.state.lock().slots.iter().map(|slot| slot.process.pid()).collect()
    }

    /// Leases a browser of this group, starting one if necessary.
    ///
    /// # Errors
    /// `Unavailable` if none can be started, `Timeout` at the deadline.
    pub(crate) async fn lease(self: &Arc<Self>, company: Company, deadline: Instant) -> Result<Lease, BrowserError> {
        loop {
            // Registered before the look, so that no notification between the two is lost.
            let room = self.room.notified();
            tokio::pin!(room);
            room.as_mut().enable();
            match self.look(company)? {
                Look::Found(lease) => return Ok(lease),
                Look::Starting(mut launch) => {
                    let done = tokio::time::timeout_at(deadline, launch.wait_for(Option::is_some)).await;
                    let done = done.map_err(|_| BrowserError::Timeout)?;
                    // The launch task was dropped without a result, which happens when the runtime shuts down.
                    let failed = done.map_or(Some("the service is stopping".to_owned()), |end| {
                        end.as_ref().and_then(|end| end.as_ref().err().cloned())
                    });
                    if let Some(reason) = failed {
                        return Err(BrowserError::Unavailable { reason });
                    }
                }
                Look::Full => tokio::time::timeout_at(deadline, room).await.map_err(|_| BrowserError::Timeout)?,
            }
        }
    }

    fn look(self: &Arc<Self>, company: Company) -> Result<Look, BrowserError> {
        let mut state = self.state.lock();
        if state.closed {
            return Err(BrowserError::Unavailable { reason: "the service is stopping".to_owned() });
        }
        state.slots.retain(|slot| !slot.process.is_gone());
        let room = usize::from(self.settings.contexts);
        let ours = state.slots.iter_mut().filter(|slot| slot.company == company);
        let usable = ours.filter(|slot| !slot.retires && slot.visits < room);
        // The emptiest browser, so that the load is spread and one death costs the fewest pages.
        if let Some(slot) = usable.min_by_key(|slot| slot.visits) {
            slot.visits += 1;
            slot.served += 1;
            slot.retires = slot.served >= self.settings.max_pages;
            let (process, pool, is_kept) = (Arc::clone(&slot.process), Arc::downgrade(self), AtomicBool::new(false));
            return Ok(Look::Found(Lease { process, pool, is_kept }));
        }
        if let Some(launch) = &state.launch {
            return Ok(Look::Starting(launch.clone()));
        }
        // Retiring browsers do not count: their successors start while the last visits end.
        let lasting = state.slots.iter().filter(|slot| slot.company == company && !slot.retires).count();
        let most = if company == Company::Noisy { MAX_ASIDE } else { self.settings.processes.into() };
        if lasting >= most {
            return Ok(Look::Full);
        }
        let (sender, receiver) = watch::channel(None);
        state.launch = Some(receiver.clone());
        // A task of its own: the caller may go away, and the next one needs the browser as well.
        tokio::spawn(launch(Arc::downgrade(self), company, self.settings.clone(), sender));
        Ok(Look::Starting(receiver))
    }

    fn add(self: &Arc<Self>, process: Process, company: Company) {
        if company == Company::Noisy {
            process.go_last();
        }
        let process = Arc::new(process);
        tokio::spawn(attend::attend(Arc::downgrade(self), Arc::downgrade(&process), process.pid()));
        let mut state = self.state.lock();
        state.launched += 1;
        // After `close` the process is dropped here, and so killed.
        if !state.closed {
            state.slots.push(Slot {
                process,
                company,
                visits: 0,
                kept: 0,
                served: 0,
                retires: false,
                idle_since: Instant::now(),
            });
        }
    }

    fn give_back(&self, process: &Arc<Process>, is_kept: bool) {
        let mut state = self.state.lock();
        if let Some(slot) = state.slots.iter_mut().find(|slot| Arc::ptr_eq(&slot.process, process)) {
            slot.visits -= usize::from(!is_kept);
            slot.kept -= usize::from(is_kept);
            slot.idle_since = Instant::now();
        }
        state.slots.retain(|slot| !(slot.process.is_gone() || slot.retires && !slot.is_used()));
        drop(state);
        self.room.notify_waiters();
    }

    /// Retires a browser that is old or large, and ends one that is idle. Returns whether it is still there.
    fn review(&self, pid: u32, round: Round) -> bool {
        let mut state = self.state.lock();
        let Some(slot) = state.slots.iter_mut().find(|slot| slot.process.pid() == pid) else { return false };
        let settings = &self.settings;
        let most = if settings.max_memory == 0 { u64::MAX } else { settings.max_memory };
        slot.retires |= slot.process.started.elapsed() >= settings.max_age || round.memory > most;
        if round.is_beyond_help {
            tracing::warn!(
                round.memory,
                "a browser exceeded twice browser.max_memory_mib and no single page is the cause; it is killed with all its pages"
            );
            slot.process.kill();
        }
        let is_unused = !slot.is_used() && (slot.retires || slot.idle_since.elapsed() >= settings.idle);
        if is_unused || slot.process.is_gone() {
            state.slots.retain(|slot| slot.process.pid() != pid);
            drop(state);
            self.room.notify_waiters();
            return false;
        }
        true
    }

    /// Whether a browser has a lease.
    fn is_used(&self, pid: u32) -> bool {
        self.state.lock().slots.iter().any(|slot| slot.process.pid() == pid && slot.is_used())
    }

    /// Kills all browsers and waits until they have ended.
    pub(crate) async fn close(&self) {
        let slots = {
            let mut state = self.state.lock();
            state.closed = true;
            std::mem::take(&mut state.slots)
        };
        for slot in slots {
            slot.process.kill();
            slot.process.gone().await;
        }
        self.room.notify_waiters();
    }
}

impl Lease {
    /// Frees the slot of the visit; the browser stays alive for the kept page.
    pub(crate) fn keep(&self) {
        if self.is_kept.swap(true, Ordering::Relaxed) {
            return;
        }
        let Some(pool) = self.pool.upgrade() else { return };
        let mut state = pool.state.lock();
        if let Some(slot) = state.slots.iter_mut().find(|slot| Arc::ptr_eq(&slot.process, &self.process)) {
            slot.visits -= 1;
            slot.kept += 1;
        }
        drop(state);
        pool.room.notify_waiters();
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.upgrade() {
            pool.give_back(&self.process, self.is_kept.load(Ordering::Relaxed));
        }
    }
}

async fn launch(
    pool: Weak<Pool>,
    company: Company,
    settings: Settings,
    done: watch::Sender<Option<Result<(), String>>>,
) {
    let launched = Process::launch(&settings).await;
    let Some(pool) = pool.upgrade() else { return };
    let end = match launched {
        Ok(process) => {
            tracing::debug!(version = process.version, "browser started");
            pool.add(process, company);
            Ok(())
        }
        Err(BrowserError::Unavailable { reason }) => Err(reason),
        Err(error) => Err(error.to_string()),
    };
    if let Err(reason) = &end {
        tracing::warn!(reason, "no browser could be started; the visits that wait for it fail");
    }
    // The state changes before the result is sent: waiters look at the state again as soon as they receive it.
    pool.state.lock().launch = None;
    done.send_replace(Some(end));
}
