//! Connection limits: one in total, one per client, and a few slots beyond both that answer health checks and refuse
//! everything else, so that a fully occupied service does not look dead.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::Arc;

use boot::config;
use ipnet::IpNet;
use parking_lot::{Mutex, MutexGuard};
use tokio_util::sync::CancellationToken;
use wire::Code;

use crate::limits::network;

/// Number of slots reserved for clients with fewer than [`FEW`] connections.
const RESERVE: usize = 64;
/// Number of connections from which a client gets no reserved slots.
const FEW: usize = 4;
/// Number of connections beyond the limits at the same time; a new one evicts the oldest.
const MAX_BEYOND: usize = 64;

/// The connection slots of one listener.
#[derive(Debug, Clone)]
pub(super) struct Slots(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    max: usize,
    reserve: usize,
    /// Limit per client; 0 for none.
    per_client: usize,
    trusted: Vec<IpNet>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    open: usize,
    /// Number of connections by [`network`].
    clients: HashMap<IpAddr, usize>,
    /// Oldest first.
    beyond: VecDeque<(u64, CancellationToken)>,
    next: u64,
}

/// A slot of one connection, released when dropped.
#[derive(Debug)]
pub(super) enum Slot {
    /// A connection that is served.
    Served(#[expect(dead_code, reason = "held as long as the connection")] ServedSlot),
    /// A connection that gets only health checks.
    Excess(ExcessSlot),
}

/// A slot within the limits.
#[derive(Debug)]
pub(super) struct ServedSlot {
    slots: Arc<Inner>,
    client: IpAddr,
}

/// A slot beyond the limits.
#[derive(Debug)]
pub(super) struct ExcessSlot {
    slots: Arc<Inner>,
    number: u64,
    /// Error for all requests other than health checks.
    pub(super) refusal: (Code, &'static str),
    /// Signal that a newer connection needs the slot.
    pub(super) cut: CancellationToken,
}

impl Slots {
    pub(super) fn new(settings: &config::Server) -> Self {
        let max = settings.max_connections;
        Self(Arc::new(Inner {
            max,
            reserve: RESERVE.min(max / 4),
            per_client: settings.max_connections_per_address,
            trusted: settings.trusted_proxies.clone(),
            state: Mutex::default(),
        }))
    }

    /// Assigns a slot to a connection. Never waits, so that health checks are always answered.
    pub(super) fn admit(&self, peer: IpAddr) -> Slot {
        let peer = peer.to_canonical();
        let bounded = self.0.per_client > 0 && !self.0.trusted.iter().any(|network| network.contains(&peer));
        let client = network(peer);
        let mut state = self.0.lock();
        let held = state.clients.get(&client).copied().unwrap_or(0);
        if bounded && held >= self.0.per_client {
            let why = "too many connections from one address are open (server.max_connections_per_address)";
            return Slot::Excess(self.beyond(&mut state, Code::ConcurrencyLimited, why));
        }
        let max = if held < FEW { self.0.max } else { self.0.max - self.0.reserve };
        if state.open >= max {
            let why = "too many connections are open, try again later";
            return Slot::Excess(self.beyond(&mut state, Code::Overloaded, why));
        }
        state.open += 1;
        *state.clients.entry(client).or_default() += 1;
        Slot::Served(ServedSlot { slots: self.0.clone(), client })
    }

    fn beyond(&self, state: &mut State, code: Code, why: &'static str) -> ExcessSlot {
        if state.beyond.len() >= MAX_BEYOND
            && let Some((_, oldest)) = state.beyond.pop_front()
        {
            oldest.cancel();
        }
        let (number, cut) = (state.next, CancellationToken::new());
        state.next += 1;
        state.beyond.push_back((number, cut.clone()));
        ExcessSlot { slots: self.0.clone(), number, refusal: (code, why), cut }
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl Drop for ServedSlot {
    fn drop(&mut self) {
        let mut state = self.slots.lock();
        state.open -= 1;
        if let Some(held) = state.clients.get_mut(&self.client) {
            *held -= 1;
            if *held == 0 {
                state.clients.remove(&self.client);
            }
        }
    }
}

impl Drop for ExcessSlot {
    fn drop(&mut self) {
        self.slots.lock().beyond.retain(|(number, _)| *number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(max: usize, per_client: usize) -> Slots {
        let mut settings = config::Config::default().server;
        settings.max_connections = max;
        settings.max_connections_per_address = per_client;
        settings.trusted_proxies = vec!["10.0.0.0/8".parse().unwrap()];
        Slots::new(&settings)
    }

    /// Admits `number` connections from one address and returns the slots of those that are served.
    fn fill(slots: &Slots, peer: &str, number: usize) -> Vec<Slot> {
        let all = (0..number).map(|_| slots.admit(peer.parse().unwrap()));
        all.filter(|slot| matches!(slot, Slot::Served(_))).collect()
    }

    #[test]
    fn one_client_gets_its_share() {
        let slots = slots(1000, 3);
        let held = fill(&slots, "192.0.2.1", 10);
        assert_eq!(held.len(), 3);
        assert_eq!(fill(&slots, "::ffff:192.0.2.1", 1).len(), 0, "another spelling is the same client");
        assert_eq!(fill(&slots, "192.0.2.2", 10).len(), 3);
        let one_network = [fill(&slots, "2001:db8::1", 2), fill(&slots, "2001:db8::2", 2)];
        assert_eq!(one_network.map(|held| held.len()), [2, 1], "a /64 is one client");
        let first = fill(&slots, "2001:db8::1", 2);
        assert_eq!(fill(&slots, "2001:db8::ffff", 9).len(), 1);
        drop((held, first));
        assert_eq!(slots.0.lock().open, 0);
        assert!(slots.0.lock().clients.is_empty());
    }

    #[test]
    fn a_trusted_proxy_has_all_but_the_reserve() {
        let slots = slots(400, 3);
        let proxy = fill(&slots, "10.1.2.3", 1000);
        assert_eq!(proxy.len(), 400 - RESERVE);
        let others: Vec<_> = (0..RESERVE).map(|n| slots.admit(format!("192.0.2.{n}").parse().unwrap())).collect();
        assert!(others.iter().all(|slot| matches!(slot, Slot::Served(_))));
        let Slot::Excess(beyond) = slots.admit("192.0.2.200".parse().unwrap()) else { panic!("over the maximum") };
        assert_eq!(beyond.refusal.0, Code::Overloaded);
    }

    #[test]
    fn beyond_the_bounds_the_oldest_goes() {
        let slots = slots(1, 1);
        let _held = fill(&slots, "192.0.2.1", 1);
        let mut beyond: VecDeque<_> = (0..MAX_BEYOND).map(|_| slots.admit("192.0.2.1".parse().unwrap())).collect();
        let is_cut = |slot: &Slot| matches!(slot, Slot::Excess(beyond) if beyond.cut.is_cancelled());
        assert!(!beyond.iter().any(is_cut));
        beyond.push_back(slots.admit("192.0.2.1".parse().unwrap()));
        assert_eq!(beyond.iter().map(is_cut).filter(|cut| *cut).count(), 1);
        assert!(is_cut(&beyond.pop_front().unwrap()));
        assert_eq!(slots.0.lock().beyond.len(), MAX_BEYOND);
        drop(beyond);
        assert!(slots.0.lock().beyond.is_empty());
    }
}
