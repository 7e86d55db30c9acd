//! Slots at hosts within this process. Claims set the limit of concurrent requests for each host; a claimed job starts
//! as soon as another one releases its slot, without a claim in between.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use politeness::HostAnswer;
use tokio::sync::oneshot;
use tokio::time::timeout;

/// Timeout of a job that waits for a slot; its claim expected milliseconds.
const PATIENCE: Duration = Duration::from_secs(1);

/// Hosts that are asked by this process. Cheap to clone; clones share their state.
#[derive(Clone, Default)]
pub(crate) struct Hosts(Arc<Mutex<HashMap<String, Host>>>);

#[derive(Default)]
struct Host {
    running: u32,
    /// Number of running requests that the host refused. Jobs claimed before the refusal is committed do not know of
    /// it.
    refused: u32,
    /// Queue of waiting jobs; empty if no request is running.
    waiting: VecDeque<Waiting>,
}

struct Waiting {
    /// Limit of running requests, including this one.
    slots: u32,
    turn: oneshot::Sender<HostPermit>,
}

/// Slot of a job at its host, held until [`Asking::over`] or the end of the job. Clones share the slot.
#[derive(Clone, Default)]
pub struct Asking(Option<Arc<HostPermit>>);

/// Running request; it stops counting when this is dropped, at the latest.
struct HostPermit {
    hosts: Hosts,
    name: String,
    is_refused: AtomicBool,
    is_over: AtomicBool,
}

impl Hosts {
    /// Waits in order until fewer than `slots` requests to a host run. `None` after a timeout or if the host has
    /// refused a request.
    pub(crate) async fn enter(&self, name: &str, slots: u32) -> Option<Asking> {
        let permit = match self.try_enter(name, slots) {
            Ok(permit) => permit,
            Err(turn) => timeout(PATIENCE, turn).await.ok()?.ok()?,
        };
        Some(Asking(Some(Arc::new(permit))))
    }

    fn try_enter(&self, name: &str, slots: u32) -> Result<HostPermit, oneshot::Receiver<HostPermit>> {
        let mut all = self.0.lock();
        let host = all.entry(name.to_owned()).or_default();
        host.waiting.retain(|waiting| !waiting.turn.is_closed());
        if host.running == 0 || (host.running < slots && host.waiting.is_empty() && host.refused == 0) {
            host.running += 1;
            return Ok(self.permit(name));
        }
        let (turn, told) = oneshot::channel();
        if host.refused == 0 {
            host.waiting.push_back(Waiting { slots, turn });
        }
        Err(told)
    }

    fn permit(&self, name: &str) -> HostPermit {
        let [is_refused, is_over] = [(); 2].map(|()| AtomicBool::new(false));
        HostPermit { hosts: self.clone(), name: name.to_owned(), is_refused, is_over }
    }

    /// Removes a request and starts those that have waited longest.
    fn leave(&self, name: &str, was_refused: bool) {
        let mut all = self.0.lock();
        let Some(host) = all.get_mut(name) else { return };
        host.running = host.running.saturating_sub(1);
        host.refused = host.refused.saturating_sub(was_refused.into());
        // Jobs that have given up must not block the queue.
        host.waiting.retain(|waiting| !waiting.turn.is_closed());
        while let Some(next) = host.waiting.pop_front_if(|next| host.running < next.slots) {
            match next.turn.send(self.permit(name)) {
                Ok(()) => host.running += 1,
                // The waiter gave up meanwhile.
                Err(permit) => permit.is_over.store(true, Ordering::Relaxed),
            }
        }
        if host.running == 0 {
            all.remove(name);
        }
    }

    /// Notes a refused request and sends all waiters away.
    fn refused(&self, name: &str) {
        if let Some(host) = self.0.lock().get_mut(name) {
            host.refused += 1;
            host.waiting.clear();
        }
    }
}

impl Asking {
    /// Releases the slot: the job sends no further request to its host, which gave this answer. After a refusal the
    /// slot is held until the commit, and until then jobs that wait for the host go back to the queue.
    pub fn over(&self, answer: HostAnswer) {
        let Some(permit) = &self.0 else { return };
        match answer {
            HostAnswer::Refused(_) => permit.refused(),
            _ => permit.leave(),
        }
    }

    /// Releases the slot at the end of the job, as [`Asking::over`].
    pub(crate) fn end(&self, answer: Option<HostAnswer>) {
        self.over(answer.unwrap_or(HostAnswer::Unknown));
    }

    /// Releases the slot for good, after the commit.
    pub(crate) fn leave(&self) {
        self.0.iter().for_each(|permit| permit.leave());
    }
}

impl HostPermit {
    fn refused(&self) {
        if !self.is_over.load(Ordering::Relaxed) && !self.is_refused.swap(true, Ordering::Relaxed) {
            self.hosts.refused(&self.name);
        }
    }

    fn leave(&self) {
        if !self.is_over.swap(true, Ordering::Relaxed) {
            self.hosts.leave(&self.name, self.is_refused.load(Ordering::Relaxed));
        }
    }
}

impl Drop for HostPermit {
    fn drop(&mut self) {
        self.leave();
    }
}

impl fmt::Debug for Asking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Asking").field(&self.0.as_ref().map(|permit| &permit.name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures_util::FutureExt;

    use super::*;

    const WELL: HostAnswer = HostAnswer::Unknown;

    fn enter(hosts: &Hosts, slots: u32) -> impl Future<Output = Option<Asking>> + 'static {
        let hosts = hosts.clone();
        async move { hosts.enter("h", slots).await }
    }

    #[tokio::test]
    async fn so_many_at_a_time_in_the_order_in_which_they_came() {
        let hosts = Hosts::default();
        let (one, two) = (enter(&hosts, 2).await.unwrap(), enter(&hosts, 2).await.unwrap());
        let (mut third, mut fourth) = (pin!(enter(&hosts, 2)), pin!(enter(&hosts, 2)));
        assert!((&mut third).now_or_never().is_none() && (&mut fourth).now_or_never().is_none());
        assert!(hosts.enter("other", 2).now_or_never().is_some(), "which has nothing to do with it");
        one.over(WELL);
        one.over(WELL);
        one.end(None);
        assert!((&mut fourth).now_or_never().is_none());
        let third = third.now_or_never().unwrap().unwrap();
        drop(two);
        let fourth = fourth.now_or_never().unwrap().unwrap();
        assert!(enter(&hosts, 2).now_or_never().is_none(), "and is gone again");
        third.leave();
        fourth.leave();
        assert!(hosts.0.lock().is_empty());
    }

    #[tokio::test]
    async fn who_wants_a_host_alone_waits_until_it_is_alone() {
        let hosts = Hosts::default();
        let (one, two) = (enter(&hosts, 2).await.unwrap(), enter(&hosts, 2).await.unwrap());
        let (mut alone, mut behind) = (pin!(enter(&hosts, 1)), pin!(enter(&hosts, 2)));
        assert!((&mut alone).now_or_never().is_none() && (&mut behind).now_or_never().is_none());
        one.over(WELL);
        assert!((&mut alone).now_or_never().is_none() && (&mut behind).now_or_never().is_none());
        two.over(WELL);
        assert!((&mut alone).now_or_never().is_some());
    }

    #[tokio::test]
    async fn a_refusal_sends_those_away_who_wait() {
        let hosts = Hosts::default();
        let one = enter(&hosts, 1).await.unwrap();
        let mut second = pin!(enter(&hosts, 1));
        assert!((&mut second).now_or_never().is_none());
        one.over(HostAnswer::Refused(None));
        one.end(Some(HostAnswer::Refused(None)));
        assert!(second.await.is_none());
        assert!(enter(&hosts, 2).await.is_none(), "nothing is written down yet");
        one.leave();
        assert!(enter(&hosts, 1).now_or_never().flatten().is_some());
    }

    #[tokio::test]
    async fn nobody_waits_for_long() {
        let hosts = Hosts::default();
        let one = enter(&hosts, 1).await.unwrap();
        assert!(enter(&hosts, 1).await.is_none());
        drop(one);
        assert!(hosts.0.lock().is_empty());
    }
}
