//! Forward proxies by strength, used in turn.

use std::sync::atomic::{AtomicUsize, Ordering};

use wire::{ProxyMode, ProxyUsed};

/// Forward proxies by strength. Proxies of one strength are used round-robin.
#[derive(Default)]
pub struct Proxies {
    basic: RoundRobin,
    enhanced: RoundRobin,
}

#[derive(Default)]
struct RoundRobin {
    proxies: Vec<net::Proxy>,
    turn: AtomicUsize,
}

impl Proxies {
    /// Creates the lists. Without basic proxies, basic means a direct connection; without enhanced ones, there is no
    /// enhanced step.
    #[must_use]
    pub fn new(basic: Vec<net::Proxy>, enhanced: Vec<net::Proxy>) -> Self {
        let turns = |proxies| RoundRobin { proxies, turn: AtomicUsize::new(0) };
        Self { basic: turns(basic), enhanced: turns(enhanced) }
    }

    /// Whether there are enhanced proxies.
    #[must_use]
    pub fn has_enhanced(&self) -> bool {
        !self.enhanced.proxies.is_empty()
    }

    /// Returns the strength that the first attempt uses in this mode.
    #[must_use]
    pub fn first(&self, mode: ProxyMode) -> ProxyUsed {
        self.strengths(mode).first().copied().unwrap_or(ProxyUsed::Basic)
    }

    /// Returns the strengths that this mode admits, in the order of the attempts; at least one.
    pub(crate) fn strengths(&self, mode: ProxyMode) -> &'static [ProxyUsed] {
        match mode {
            _ if !self.has_enhanced() => &[ProxyUsed::Basic],
            ProxyMode::Basic => &[ProxyUsed::Basic],
            ProxyMode::Enhanced | ProxyMode::Stealth => &[ProxyUsed::Stealth],
            ProxyMode::Auto => &[ProxyUsed::Basic, ProxyUsed::Stealth],
        }
    }

    /// Returns the next proxy of this strength; `None` means a direct connection.
    #[must_use]
    pub fn next(&self, strength: ProxyUsed) -> Option<net::Proxy> {
        let RoundRobin { proxies, turn } = match strength {
            ProxyUsed::Basic => &self.basic,
            ProxyUsed::Stealth => &self.enhanced,
        };
        let turn = turn.fetch_add(1, Ordering::Relaxed);
        proxies.get(turn.checked_rem(proxies.len())?).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_of_one_strength_take_turns() {
        let proxy = |name: &str| net::Proxy::new(format!("http://{name}.test/").parse().unwrap());
        let proxies = Proxies::new(vec![proxy("a"), proxy("b")], vec![proxy("c")]);
        let next = |strength| proxies.next(strength).map(|proxy| proxy.url.host_str().unwrap()[..1].to_owned());
        let turns = [ProxyUsed::Basic, ProxyUsed::Stealth, ProxyUsed::Basic, ProxyUsed::Stealth, ProxyUsed::Basic];
        assert_eq!(turns.map(|strength| next(strength).unwrap()), ["a", "c", "b", "c", "a"]);
        assert!(proxies.has_enhanced() && !Proxies::default().has_enhanced());
        assert!(Proxies::default().next(ProxyUsed::Basic).is_none());
        let first = |mode| (proxies.first(mode).as_str(), Proxies::default().first(mode).as_str());
        assert_eq!([ProxyMode::Auto, ProxyMode::Basic].map(first), [("basic", "basic"); 2]);
        assert_eq!([ProxyMode::Enhanced, ProxyMode::Stealth].map(first), [("stealth", "basic"); 2]);
    }
}
